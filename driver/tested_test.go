package driver

import "testing"

// A server of another version than those of the suite is said to be one.
func TestCaution(t *testing.T) {
	tested := Driver{Tested: []Tested{{"3.3.0.1", "built from source"}, {Version: "3.3.6"}}}
	userServer, never := tested, Driver{UserServer: &UserServer{}}
	userServer.UserServer = &UserServer{}
	for _, c := range []struct {
		of            *Driver
		version, want string
	}{
		{&tested, "1", ""},
		{&userServer, "3.3.0.1", ""},
		{&userServer, "3.3.6", ""},
		{&userServer, "3.3", "not verified against a server of this version (3.3), but against 3.3.0.1 (built from source), 3.3.6"},
		{&never, "7", "not verified against a server of this version (7)"},
		{&never, "", "not verified against a server of this version, which it does not report"},
	} {
		if got := c.of.Caution(c.version); got != c.want {
			t.Errorf("version %q of %v: %q, not %q", c.version, c.of.Tested, got, c.want)
		}
	}
	for d, want := range map[*Driver]string{&tested: "", &never: "not verified against a server of any version", &userServer: "verified against 3.3.0.1 (built from source), 3.3.6"} {
		if got := d.Adapter(); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// A release stands for its versions, and for no other release.
func TestTestedWith(t *testing.T) {
	for _, c := range []struct {
		version, release string
		want             bool
	}{
		{"15.20 (Debian)", "15", true}, {"15", "15", true}, {"150.2", "15", false}, {"1.150.0", "1.15", false}, {"", "15", false},
		{"v1.6.7", "1.6", false}, {"2.28.3", "2.28", true}, {"MariaDB 10.11.19", "MariaDB 10.11", true},
	} {
		d := Driver{Tested: []Tested{{Version: "0.1"}, {Version: c.release}}}
		if got := d.TestedWith(c.version); got != c.want {
			t.Errorf("%s with %s: %v", c.version, c.release, got)
		}
	}
}

package driver

import "testing"

// A server of another version than those of the suite is said to be one.
func TestCaution(t *testing.T) {
	b := &Brought{Verified: []Verified{{"3.3.0.1", "built from source"}, {Version: "3.3.6"}}}
	for _, c := range []struct {
		of            *Brought
		version, want string
	}{
		{nil, "1", ""},
		{b, "3.3.0.1", ""},
		{b, "3.3.6", ""},
		{b, "3.3", "not verified against a server of this version (3.3), but against 3.3.0.1 (built from source), 3.3.6"},
		{&Brought{}, "7", "not verified against a server of this version (7)"},
		{&Brought{}, "", "not verified against a server of this version, which it does not tell"},
	} {
		if got := c.of.Caution(c.version); got != c.want {
			t.Errorf("version %q of %v: %q, not %q", c.version, c.of, got, c.want)
		}
	}
	if got := (&Brought{}).String(); got != "not verified against a server of any version" {
		t.Error(got)
	}
}

package slowtest

import (
	"flag"
	"testing"
)

func TestShort(t *testing.T) {
	for _, c := range []struct {
		ci, run, short string
		want           bool
	}{
		{"", "", "false", true},
		{"", "TestShort", "false", false},
		{"true", "", "false", false},
		{"true", "", "true", true},
		{"", "TestShort", "true", true},
	} {
		t.Setenv("CI", c.ci)
		for name, value := range map[string]string{"test.run": c.run, "test.short": c.short} {
			of := flag.Lookup(name)
			before := of.Value.String()
			if err := flag.Set(name, value); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = flag.Set(name, before) }()
		}
		if got := Short(); got != c.want {
			t.Errorf("CI=%q -run %q -short=%s: short is %v", c.ci, c.run, c.short, got)
		}
	}
}

package setting

import (
	"io"
	"strings"
	"testing"
)

// Data is dropped only after a yes or with the place itself, and the loss is
// shown before.
func TestForce(t *testing.T) {
	for _, c := range []struct {
		places []string
		answer string // "none": nobody is there
		want   string // in the error; empty: dropping is allowed
	}{
		{[]string{"db1"}, "none", ""},
		{[]string{"db0", "db1"}, "none", ""},
		{[]string{confirmValue}, "yes\n", ""},
		{[]string{confirmValue}, "y\n", "it stays"},
		{[]string{confirmValue}, "no\nyes\n", "it stays"},
		{[]string{confirmValue}, "", "it stays"},
		{[]string{confirmValue}, "none", "--force=db1"},
		{[]string{"db0"}, "yes\n", "--force names db0"},
	} {
		var out strings.Builder
		var in io.Reader
		if c.answer != "none" {
			in = strings.NewReader(c.answer)
		}
		err := dropping{places: c.places, in: in, out: &out}.decide(t.Context(), "db1", []string{"table a", "table b"})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q, answer %q: %v, want %q", c.places, c.answer, err, c.want)
		}
		if err != nil && !strings.Contains(err.Error(), "from db1 would be lost: table a, table b") {
			t.Errorf("%q: %v does not name what would be lost", c.places, err)
		}
		if shown := out.String(); c.answer == "yes\n" && c.want == "" && !strings.HasPrefix(shown, "From db1 would be lost: table a, table b\n") {
			t.Errorf("the request for confirmation is %q", shown)
		}
	}
}

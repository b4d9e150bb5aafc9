package suggest

import "testing"

func TestEditDistance(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     int
	}{{"", "", 0}, {"", "ab", 2}, {"ab", "", 2}, {"kitten", "sitting", 3}, {"questdb", "qestbd", 3}, {"größe", "grösse", 2}} {
		if got := editDistance(c.from, c.to); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.from, c.to, got, c.want)
		}
	}
}

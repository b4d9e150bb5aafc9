package driver

import (
	"testing"
	"time"
)

func TestWrong(t *testing.T) {
	for name, c := range map[string]struct {
		wrong   func(string) bool
		yes, no []string
	}{
		"Is":          {Is("a", "b"), []string{"a", "b"}, []string{"", "c"}},
		"IsNot":       {IsNot("a", "b"), []string{"", "c"}, []string{"a", "b"}},
		"LessThan":    {LessThan(20), []string{"1", "19.5"}, []string{"0", "20", "1e9", "-1", "many", ""}},
		"ShorterThan": {ShorterThan(5 * time.Second), []string{"1ms", "4999ms"}, []string{"0s", "5s", "1h", "5", ""}},
	} {
		for _, v := range c.yes {
			if !c.wrong(v) {
				t.Errorf("%s: %q is not wrong", name, v)
			}
		}
		for _, v := range c.no {
			if c.wrong(v) {
				t.Errorf("%s: %q is wrong", name, v)
			}
		}
	}
}

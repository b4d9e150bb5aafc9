package lie_test

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance/lie"
)

// After a gap that is longer than most the guesser takes three answers for safe.
func TestGuesser(t *testing.T) {
	var g lie.Guesser
	now, lies := time.Now(), ""
	for n := range 40 {
		gap := time.Duration(1000-n) * time.Microsecond // ever shorter
		if n%10 == 7 {
			gap += time.Millisecond
		}
		now = now.Add(gap)
		if g.Safe(now) {
			lies += "L"
		} else {
			lies += "."
		}
	}
	if want := ".....LLLLL.......LLL.......LLL.......LLL"; lies != want {
		t.Errorf("lied in %s, want %s", lies, want)
	}
}

package engine

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/result"
)

// The text about a missed schedule names it as the user wrote it; a few waiting arrivals are not a
// backlog.
func TestSaturation(t *testing.T) {
	for _, test := range []struct {
		loop   result.OpenLoop
		done   float64
		behind time.Duration
		want   string
	}{
		{result.OpenLoop{Arrivals: 1000, Offered: 1000}, 1000, 0, ""},
		{result.OpenLoop{Arrivals: 1000, Offered: 1000, Waiting: 50}, 950, 0, ""},
		{result.OpenLoop{Arrivals: 1000, Offered: 1000, Waiting: 51}, 949, 0, "saturated: 949/s done of 1,000/s scheduled, 51 waiting at the end"},
		{result.OpenLoop{Arrivals: 10, Offered: 0.5, Waiting: 5}, 0.4, 0, ""},
		{result.OpenLoop{Arrivals: 10, Offered: 0.57, Waiting: 6}, 0.1234, 0, "saturated: 0.123/s done of 0.57/s scheduled, 6 waiting at the end"},
		{result.OpenLoop{Arrivals: 60_000, Offered: 1000, Dropped: 1034, Waiting: 64}, 812.4, 0, "saturated: 812/s done of 1,000/s scheduled, 1,034 arrivals dropped, 64 waiting at the end"},
		{result.OpenLoop{Arrivals: 60_000, Offered: 99.96, Dropped: 1}, 5.126, 0, "saturated: 5.13/s done of 100/s scheduled, 1 arrival dropped"},
		{result.OpenLoop{Arrivals: 1000, Offered: 1000, Waiting: 20}, 970, 30 * time.Millisecond, ""},
		{result.OpenLoop{Arrivals: 1000, Offered: 1000}, 940, 60 * time.Millisecond, "saturated: 940/s done of 1,000/s scheduled, the client itself 60ms behind the schedule"},
		{result.OpenLoop{Arrivals: 5, Offered: 1, Dropped: 5}, 0, 0, "saturated: 0/s done of 1/s scheduled, 5 arrivals dropped"},
	} {
		if got := saturation(&test.loop, test.done, test.behind); got != test.want {
			t.Errorf("%+v: %q, want %q", test.loop, got, test.want)
		}
	}
}

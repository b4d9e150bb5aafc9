package engine

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/result"
)

// A short load has a curve, a longer one no more points than are of use, and
// none loses a row.
func TestRatesOfShortLoads(t *testing.T) {
	for _, test := range []struct {
		period, load time.Duration
		least, most  int
	}{
		{10 * time.Second, time.Second, 4, 7},                      // a point every 156 ms
		{200 * time.Millisecond, 2500 * time.Millisecond, 65, 130}, // begins with every 10 ms
		{0, 50 * time.Millisecond, 1, 1},
	} {
		l := &loader{start: time.Now()}
		stop := l.recordRates(test.period)
		for time.Since(l.start) < test.load {
			l.rows.Add(1)
			time.Sleep(time.Millisecond)
		}
		stop()
		rows, at := int64(0), 0.0
		for _, p := range l.out.Rates {
			if p.At <= at {
				t.Fatalf("period %v: points out of order: %+v", test.period, l.out.Rates)
			}
			rows, at = rows+p.Rows, p.At
		}
		if n := len(l.out.Rates); n < test.least || n > test.most || rows != l.rows.Load() {
			t.Errorf("period %v, load %v: %d points with %d of %d rows; want %d to %d points", test.period, test.load, n, rows, l.rows.Load(), test.least, test.most)
		}
	}
}

func TestHalved(t *testing.T) {
	points := halved([]result.RatePoint{{At: 1, Rows: 10}, {At: 2, Rows: 20}, {At: 3, Rows: 5}})
	if len(points) != 2 || points[0] != (result.RatePoint{At: 2, Rows: 30}) || points[1] != (result.RatePoint{At: 3, Rows: 5}) {
		t.Errorf("%+v", points)
	}
}

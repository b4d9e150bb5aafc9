package measure

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// The twentieth of the shortest and of the longest durations do not count: of
// 19 none is left out, of 40 two at either end.
func TestMiddleMean(t *testing.T) {
	for _, c := range []struct {
		name string
		of   []time.Duration
		want time.Duration
	}{
		{"nothing", nil, 0},
		{"one", []time.Duration{7}, 7},
		{"nineteen", append(slices.Repeat([]time.Duration{10}, 18), 1720), 100}, // none left out: (180+1720)/19
		{"twenty", append(slices.Repeat([]time.Duration{10, 20}, 9), 1, 1000), 15},
		{"forty", append(slices.Repeat([]time.Duration{100, 200}, 18), 3, 5, 90_000, 80_000), 150},
		{"ends within a run of equals", append(slices.Repeat([]time.Duration{1000}, 30), slices.Repeat([]time.Duration{2000}, 10)...), (28*1000 + 8*2000) / 36},
	} {
		l := NewLatency()
		for _, d := range c.of {
			l.Record(d)
		}
		if got := time.Duration(math.Round(l.MiddleMean() * 1e9)); got != c.want {
			t.Errorf("%s: %d ns, want %d", c.name, got, c.want)
		}
	}
}

// Trimming a histogram removes the same durations as sorting, to three significant digits;
// untrimmed ends are exact.
func TestWithout(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		all := make([]float64, 1+r.IntN(300))
		l := NewLatency()
		for i := range all {
			d := time.Duration(r.ExpFloat64() * 1e6)
			all[i] = d.Seconds()
			l.Record(d)
		}
		slices.Sort(all)
		low, high := r.IntN(len(all)+1), r.IntN(len(all)+1)
		got := l.Trim(int64(low), int64(high))
		if low+high >= len(all) {
			if got.Count() != 0 || got.Summary() != (Summary{}) {
				t.Fatalf("%d durations left of %d without %d and %d", got.Count(), len(all), low, high)
			}
			continue
		}
		left := all[low : len(all)-high]
		sum := 0.0
		for _, v := range left {
			sum += v
		}
		s := got.Summary()
		if s.Count != int64(len(left)) || !isNear(s.Mean, sum/float64(len(left)), 1e-3) || !isNear(s.Min, left[0], 1e-3) || !isNear(s.Max, left[len(left)-1], 1e-3) {
			t.Fatalf("without %d and %d: %+v, want %d from %v to %v with mean %v", low, high, s, len(left), left[0], left[len(left)-1], sum/float64(len(left)))
		}
		if low == 0 && s.Min != all[0] || high == 0 && s.Max != all[len(all)-1] {
			t.Fatalf("an end that stays is not exact: %+v of %v to %v", s, all[0], all[len(all)-1])
		}
	}
}

// The sum survives being stored.
func TestSum(t *testing.T) {
	l := NewLatency()
	for _, d := range []time.Duration{time.Nanosecond, 30 * time.Minute, 2 * time.Hour, 123_456_789} {
		l.Record(d)
	}
	const want = 9_000_000_000_000 + 123_456_790
	if got := time.Duration(l.total.low); got != want {
		t.Errorf("sum %d, want %d", got, want)
	}
	encoded, err := l.Encode()
	if err != nil {
		t.Fatal(err)
	}
	restored, err := Restore(encoded, l.Summary())
	if err != nil {
		t.Fatal(err)
	}
	if got := time.Duration(restored.total.low); got < want-10 || got > want+10 {
		t.Errorf("restored sum %d, want %d", got, want)
	}
}

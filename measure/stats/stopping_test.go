package stats

import (
	"fmt"
	"math"
	"testing"

	"github.com/tsmark/tsmark/internal/slowtest"
)

// drawUntilStopped draws latencies whose logarithms have the given deviation and autocorrelation,
// until the rule has enough or there are most. It returns the interval and the number of latencies.
func drawUntilStopped(seed uint64, share, deviation, rho float64, most int) (Estimate, int) {
	latencies := logarithmic(process(seed, most, rho, deviation))
	rule := NewStopping(share)
	for {
		n := rule.Next()
		if n >= most {
			return EstimateRepeat(latencies), most
		}
		if rule.HasEnough(latencies[:n]) {
			return EstimateRepeat(latencies[:n]), n
		}
	}
}

// How often the interval contains the median if the rule ended the sample: checking
// it several times has a price. docs/measuring.md has these shares.
func TestStoppingCoverage(t *testing.T) {
	slowtest.Skip(t)
	const trials = 300
	for _, c := range []struct {
		name                  string
		share, deviation, rho float64
		least                 float64 // of intervals that must hold the median
	}{
		{"steady", 0.02, 0.1, 0, 0.93},
		{"varied", 0.05, 0.5, 0, 0.93},
		{"dependent", 0.02, 0.1, 0.5, 0.91},
		{"strongly dependent", 0.05, 0.2, 0.8, 0.89},
	} {
		t.Run(c.name, func(t *testing.T) {
			held, early, total := 0, 0, 0
			for seed := range uint64(trials) {
				e, n := drawUntilStopped(seed, c.share, c.deviation, c.rho, 20_000)
				if n < 20_000 {
					early++
				}
				total += n
				if e.Interval.Lo.Figure <= 1 && 1 <= e.Interval.Hi.Figure {
					held++
				}
			}
			share := float64(held) / trials
			t.Logf("%.1f %% hold the median, of as many figures without the rule %.1f %%; stopped at %d figures in the mean",
				100*share, 100*coverage(total/trials, c.deviation, c.rho, trials), total/trials)
			if early < trials {
				t.Errorf("%d of %d samples were not ended by the rule", trials-early, trials)
			}
			if share < c.least {
				t.Errorf("%.1f %% of intervals hold the median, want %.0f %% or more", 100*share, 100*c.least)
			}
		})
	}
}

// coverage is how often the interval of n figures holds the median where nobody
// looked before.
func coverage(n int, deviation, rho float64, trials uint64) float64 {
	held := 0
	for seed := range trials {
		i := EstimateRepeat(logarithmic(process(1000+seed, n, rho, deviation))).Interval
		if i.Lo.Figure <= 1 && 1 <= i.Hi.Figure {
			held++
		}
	}
	return float64(held) / float64(trials)
}

// logarithmic makes logarithms latencies.
func logarithmic(series []float64) []float64 {
	for i, x := range series {
		series[i] = math.Exp(x)
	}
	return series
}

func TestStopping(t *testing.T) {
	rule := NewStopping(0.01)
	var looks []int
	for range 5 {
		looks = append(looks, rule.Next())
		rule.HasEnough(make([]float64, rule.Next()))
	}
	if looks[0] != LeastToStop || looks[4] != 252 {
		t.Errorf("looks at %v", looks)
	}
	steady := make([]float64, 200)
	for i := range steady {
		steady[i] = 1 + 0.001*float64(i%7)
	}
	rule = NewStopping(0.01)
	if rule.HasEnough(steady[:50]) {
		t.Error("enough at the first look")
	}
	if !rule.HasEnough(steady[:75]) {
		t.Error("not enough at the second look at a steady sample")
	}
	for i := range steady { // half of them cut off: the median may be anything
		if i%2 == 0 {
			steady[i] = -steady[i]
		}
	}
	rule = NewStopping(0.5)
	if rule.HasEnough(steady[:50]) || rule.HasEnough(steady[:75]) {
		t.Error("enough values that were cut off")
	}
}

func BenchmarkStopping(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		latencies := logarithmic(process(1, n, 0.5, 0.1))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				NewStopping(0.02).HasEnough(latencies)
			}
		})
	}
}

package history

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
)

// spread is how much ratios of a metric differ from run to run of the same two versions: each run has
// processes and loads of its own, which the rounds within it share. It is pooled over all pairs that
// several runs compared, since two runs of one figure alone tell little about it.
type spread struct {
	variance float64 // of a run's ratio, on logarithms
	freedom  float64 // degrees of freedom of the variance
}

// independent is the number of figures of a pair that tell as much as if they were independent:
// the query types share processes, so that many types are worth hardly more than two.
const independent = 2

// leastFreedom is the least number of degrees of freedom of a spread: with one, an interval is four
// times as wide as with two, and one more run is worth more.
const leastFreedom = 2

// spreads returns the spread of each metric that a pair has several runs of.
func (h *History) spreads() map[compare.Metric]spread {
	type pair struct {
		metric compare.Metric
		a, b   int
	}
	sums, figures := make(map[pair]float64), make(map[pair]int)
	runs := make(map[pair]int)
	for i := range h.Lines {
		l := &h.Lines[i]
		for j := range l.Points {
			p := &l.Points[j]
			if p.Change == nil {
				continue
			}
			if v, n := p.Change.variance(); n > 1 {
				key := pair{l.Metric, p.From, j}
				sums[key], figures[key], runs[key] = sums[key]+v, figures[key]+1, max(runs[key], n)
			}
		}
	}
	found := make(map[compare.Metric]spread)
	for key, sum := range sums {
		s := found[key.metric]
		freedom := float64((runs[key] - 1) * min(figures[key], independent))
		s.variance += sum / float64(figures[key]) * freedom
		s.freedom += freedom
		found[key.metric] = s
	}
	for metric, s := range found {
		s.variance /= s.freedom
		found[metric] = s
	}
	return found
}

// variance returns the variance of the runs' ratios, on logarithms, and the number of runs with one.
func (c *Change) variance() (v float64, n int) {
	var logs []float64
	for _, f := range c.each {
		if f.Ratio.Bound == stats.Exact && f.Ratio.Figure > 0 {
			logs = append(logs, math.Log(f.Ratio.Figure))
		}
	}
	mean := stats.Mean(logs)
	for _, x := range logs {
		v += (x - mean) * (x - mean)
	}
	return v / float64(max(1, len(logs)-1)), len(logs)
}

// widen extends the intervals of all changes by what differs from run to run, which rounds do not show.
// A figure that differs more than others of its metric has its own variance.
func (h *History) widen() {
	spreads := h.spreads()
	for i := range h.Lines {
		l := &h.Lines[i]
		s, known := spreads[l.Metric]
		for j := range l.Points {
			if c := l.Points[j].Change; c != nil && known && s.freedom >= leastFreedom {
				c.spread = s
				c.widen(s)
			}
		}
	}
}

func (c *Change) widen(s spread) {
	if c.Interval == nil || c.Ratio.Bound != stats.Exact || c.Method != compare.AcrossRepeats {
		return
	}
	own, n := c.variance()
	if n < 2 {
		own = 0
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: s.freedom}.Quantile((1 + stats.Confidence) / 2)
	reach := math.Exp(t * math.Sqrt(max(own, s.variance)/float64(max(1, n))))
	wide := *c.Interval
	if wide.Lo.Bound == stats.Exact {
		wide.Lo.Figure = min(wide.Lo.Figure, c.Ratio.Figure/reach)
	}
	if wide.Hi.Bound == stats.Exact {
		wide.Hi.Figure = max(wide.Hi.Figure, c.Ratio.Figure*reach)
	}
	c.Interval = &wide
}

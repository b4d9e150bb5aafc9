package history

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
)

// spread is how much ratios of a figure differ from run to run of the same two versions: each run has
// processes and loads of its own, which the rounds within it share. Two runs of one figure tell little
// about it, so that all pairs that several runs compared count, and all figures of a metric by their
// median: a query type whose time depends on how a server happens to store its data does not hide
// the steps of others. Such a type has the variance of its own ratios. (Of 100 simulated histories with one,
// the step of 10 % of another type was found in all by the median, and in 2 by the mean.)
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

// spreads returns the spread of each line, in their order; those of lines whose metric no pair has
// several runs of are zero.
func (h *History) spreads() []spread {
	type group struct {
		expected []float64 // for each figure of a pair: the variance that has its own as the median
		figures  map[[2]int]int
		freedom  map[[2]int]int // of one figure
	}
	groups := make(map[compare.Metric]*group)
	list := make([]spread, len(h.Lines))
	for i := range h.Lines {
		l := &h.Lines[i]
		own := &list[i]
		for j := range l.Points {
			p := &l.Points[j]
			if p.Change == nil {
				continue
			}
			v, n := p.Change.variance()
			if n < 2 {
				continue
			}
			g := groups[l.Metric]
			if g == nil {
				g = &group{figures: make(map[[2]int]int), freedom: make(map[[2]int]int)}
				groups[l.Metric] = g
			}
			freedom, pair := float64(n-1), [2]int{p.From, j}
			g.expected = append(g.expected, v*freedom/distuv.ChiSquared{K: freedom}.Quantile(0.5))
			g.figures[pair]++
			g.freedom[pair] = max(g.freedom[pair], n-1)
			own.variance += v * freedom
			own.freedom += freedom
		}
	}
	for i := range list {
		g, own := groups[h.Lines[i].Metric], &list[i]
		if g == nil {
			continue
		}
		usual := stats.Median(g.expected)
		if own.freedom > 0 && own.variance/own.freedom > usual {
			own.variance /= own.freedom
			continue
		}
		*own = spread{variance: usual}
		for pair, n := range g.freedom {
			own.freedom += float64(n * min(g.figures[pair], independent))
		}
	}
	return list
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
// A figure of a pair that differs more than others of its line has its own variance.
func (h *History) widen() {
	spreads := h.spreads()
	for i := range h.Lines {
		l, s := &h.Lines[i], spreads[i]
		for j := range l.Points {
			if c := l.Points[j].Change; c != nil && s.freedom >= leastFreedom {
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
	wide.Level = min(wide.Level, stats.Confidence) // the reach below has no higher one
	if wide.Lo.Bound == stats.Exact {
		wide.Lo.Figure = min(wide.Lo.Figure, c.Ratio.Figure/reach)
	}
	if wide.Hi.Bound == stats.Exact {
		wide.Hi.Figure = max(wide.Hi.Figure, c.Ratio.Figure*reach)
	}
	c.Interval = &wide
}

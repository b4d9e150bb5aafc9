package stats

import "math"

// Stopping decides when a growing sample is large enough: when the interval of its median, from
// Within, lies within a share of the median on both sides.
//
// A rule that looks after every figure and stops at the first narrow interval selects intervals
// that are narrow by chance, which contain the median less often than their level says (Armitage,
// McPherson and Rowe 1969, Journal of the Royal Statistical Society A 132). Stopping therefore
// looks rarely, each time after half as many figures again, not before LeastToStop figures, and
// requires two narrow intervals in a row.
type Stopping struct {
	share  float64
	next   int
	narrow bool // it was at the last look
}

// LeastToStop is the number of figures at the first evaluation.
const LeastToStop = 50

// NewStopping returns a rule for a share above 0, such as 0.02.
func NewStopping(share float64) *Stopping { return &Stopping{share: share, next: LeastToStop} }

// Next returns of how many figures the next look is.
func (s *Stopping) Next() int { return s.next }

// HasEnough looks at latencies in order of time, as EstimateRepeat takes them, and reports
// whether they tell enough.
func (s *Stopping) HasEnough(latencies []float64) bool {
	s.next += s.next / 2
	m, i, _ := spansOf(latencies).estimateMedian()
	before := s.narrow
	s.narrow = reach(m, i) <= s.share && i.Level >= Confidence
	return before && s.narrow
}

// Reach returns the larger distance of the interval's ends from the median, as a share of it;
// infinite: there is no interval, or figures were cut off.
func (e *Estimate) Reach() float64 { return reach(e.Median, e.Interval) }

func reach(m Value, i *Interval) float64 {
	if i == nil || m.Bound != Exact || i.Lo.Bound != Exact || i.Hi.Bound != Exact {
		return math.Inf(1)
	}
	return max(i.Hi.Figure-m.Figure, m.Figure-i.Lo.Figure) / m.Figure
}

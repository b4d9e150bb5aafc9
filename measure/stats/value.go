package stats

import (
	"fmt"
	"math"
	"slices"
)

// Bound says how a Value is bounded.
type Bound string

// The bounds.
const (
	Exact   Bound = ""         // the figure itself
	AtLeast Bound = "at least" // figures were cut off: it is this or more
	AtMost  Bound = "at most"  // it is this or less
	Unknown Bound = "unknown"  // it may be anything; the figure is 0
)

// Value is a figure or its known bounds.
type Value struct {
	Figure float64 `json:"figure"`
	Bound  Bound   `json:"bound,omitempty"`
}

// Mark returns the sign to print before the figure: "", "≥" or "≤", or "?" if nothing is known.
func (v Value) Mark() string {
	switch v.Bound {
	case AtLeast:
		return "≥"
	case AtMost:
		return "≤"
	case Unknown:
		return "?"
	}
	return ""
}

// String is the value with three significant digits.
func (v Value) String() string {
	if v.Bound == Unknown {
		return v.Mark()
	}
	return v.Mark() + fmt.Sprintf("%.3g", v.Figure)
}

// Ratio returns v divided by other, as far as the two are known.
func (v Value) Ratio(other Value) Value {
	known := v.Bound != Unknown && other.Bound != Unknown && v.Figure >= 0 && other.Figure > 0
	inverse := map[Bound]Bound{Exact: Exact, AtLeast: AtMost, AtMost: AtLeast}[other.Bound]
	switch {
	case !known, v.Bound != Exact && inverse != Exact && v.Bound != inverse:
		return Value{0, Unknown}
	case v.Bound == Exact:
		return Value{v.Figure / other.Figure, inverse}
	}
	return Value{v.Figure / other.Figure, v.Bound}
}

// valueOf returns the Value of a figure between lo and hi, which may be infinite.
func valueOf(lo, hi float64) Value {
	switch {
	case lo == hi:
		return Value{lo, Exact}
	case lo > 0:
		return Value{lo, AtLeast}
	case hi < math.Inf(1):
		return Value{hi, AtMost}
	}
	return Value{0, Unknown}
}

// exp is valueOf where lo and hi are logarithms.
func exp(lo, hi float64) Value { return valueOf(math.Exp(lo), math.Exp(hi)) }

// spans is a sample with a lower and an upper bound of each figure. The k-th smallest figure lies
// between the k-th smallest of lo and of hi, so order statistics, and medians, are bounded by those
// of lo and hi.
type spans struct{ lo, hi []float64 }

// spansOf is a sample as Summarize and others take it.
func spansOf(sample []float64) spans {
	s := spans{make([]float64, len(sample)), make([]float64, len(sample))}
	for i, x := range sample {
		s.lo[i], s.hi[i] = math.Abs(x), x
		if x < 0 {
			s.hi[i] = math.Inf(1)
		}
	}
	return s
}

func (s spans) sortBounds() spans {
	sorted := spans{slices.Clone(s.lo), slices.Clone(s.hi)}
	slices.Sort(sorted.lo)
	slices.Sort(sorted.hi)
	return sorted
}

// bounds returns the bounds of the k-th smallest figure, from 0; s is sorted.
func (s spans) bounds(k int) (lo, hi float64) { return s.lo[k], s.hi[k] }

// median returns the bounds of the median; s is sorted and not empty.
func (s spans) median() (lo, hi float64) {
	return middle(s.lo), middle(s.hi)
}

// middle is the median of a sorted sample. It has no subtraction, so that
// infinite figures stand.
func middle(sorted []float64) float64 {
	n := len(sorted)
	return sorted[(n-1)/2]/2 + sorted[n/2]/2
}

func magnitudes(sample []float64) []float64 {
	m := make([]float64, len(sample))
	for i, x := range sample {
		m[i] = math.Abs(x)
	}
	return m
}

func countCensored(sample []float64) int {
	n := 0
	for _, x := range sample {
		if x < 0 {
			n++
		}
	}
	return n
}

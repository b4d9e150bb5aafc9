package compare

import (
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/measure/stats"
)

// Figure is one figure of both sides.
type Figure struct {
	Subject string    `json:"subject"` // a query type, AllTypes, LoadSubject or MixedSubject
	Metric  Metric    `json:"metric"`
	Unit    Unit      `json:"unit"`
	Better  Direction `json:"better"`
	Method  Method    `json:"method"`
	// Queries is how many different queries both sides have in common; 0: not
	// about queries.
	Queries int `json:"questions,omitempty"`
	// Types is how many query types a geometric mean is over: those that both
	// sides have.
	Types int `json:"types,omitempty"`
	// MissingA and MissingB are why a side has no figure; empty: it has one.
	MissingA string `json:"missing_a,omitempty"`
	MissingB string `json:"missing_b,omitempty"`
	// NoisyA and NoisyB are why the host of a side was noisy meanwhile; empty: it
	// was not, or nobody looked. Noise does not change the verdict: within a run it
	// may have hit both sides alike.
	NoisyA string `json:"noisy_a,omitempty"`
	NoisyB string `json:"noisy_b,omitempty"`
	stats.Comparison
	// Family is how many figures are judged together with this one, itself
	// included: so many comparisons Adjusted is corrected for. The headline
	// figures of two targets (the medians of all types, their geometric mean,
	// rates and size of loads) are one family, so that in 95 of 100 comparisons
	// of a target with itself none of them shows a difference; each further
	// metric is one of its own.
	Family   int     `json:"family"`
	Adjusted float64 `json:"p_adjusted"` // P after Holm
	Verdict  Verdict `json:"verdict"`
	Why      string  `json:"why,omitempty"` // of the verdict, where it does not speak for itself
}

// Decidable reports whether so many repeats could show a difference at all.
func (f *Figure) Decidable() bool {
	return f.MissingA == "" && f.MissingB == "" && f.Method == AcrossRepeats && f.SmallestP*float64(f.Family) < stats.Alpha
}

// Significant reports whether a difference was shown.
func (f *Figure) Significant() bool { return f.Decidable() && f.Adjusted < stats.Alpha }

// headline are the metrics whose figures are judged together.
func headline() []Metric { return []Metric{Median, GeoMean, Load, Acked, Sent, Disk} }

// judge corrects the p-values of each family for their number, and says what
// they come to.
func judge(figures []Figure) {
	families := [][]Metric{headline()}
	for _, m := range Metrics() {
		if !slices.Contains(headline(), m) {
			families = append(families, []Metric{m})
		}
	}
	for _, metrics := range families {
		var family []*Figure
		var p []float64
		for i := range figures {
			f := &figures[i]
			if !slices.Contains(metrics, f.Metric) {
				continue
			}
			if f.Adjusted = 1; f.MissingA == "" && f.MissingB == "" {
				family, p = append(family, f), append(p, f.P)
			}
		}
		for i, adjusted := range stats.Holm(p) {
			family[i].Adjusted, family[i].Family = adjusted, len(p)
		}
	}
	for i := range figures {
		figures[i].Verdict, figures[i].Why = figures[i].verdict()
	}
}

func (f *Figure) verdict() (verdict Verdict, why string) {
	switch {
	case f.MissingA != "" && f.MissingA == f.MissingB:
		return NotCompared, f.MissingA
	case f.MissingA != "" && f.MissingB != "":
		return NotCompared, "A: " + f.MissingA + "; B: " + f.MissingB
	case f.MissingA != "":
		return NotCompared, "A: " + f.MissingA
	case f.MissingB != "":
		return NotCompared, "B: " + f.MissingB
	case f.Method == WithinRepeat:
		return CannotTell, fmt.Sprintf("one repeat a side does not show what differs from repeat to repeat, %d a side would", enough(f.Family))
	case !f.Decidable():
		return CannotTell, fmt.Sprintf("too few repeats: %d and %d, %d a side would do", f.A.N, f.B.N, enough(f.Family))
	case !f.Significant():
		return NoDifference, ""
	}
	more := f.Ratio.Figure > 1
	switch {
	case f.Unit == Bytes && more:
		return Larger, ""
	case f.Unit == Bytes:
		return Smaller, ""
	case more == (f.Better == Higher):
		return Faster, ""
	}
	return Slower, ""
}

// enough is how many repeats a side can show a difference in a family of
// comparisons.
func enough(family int) int {
	n := 2
	for stats.SmallestP(n, n)*float64(family) >= stats.Alpha {
		n++
	}
	return n
}

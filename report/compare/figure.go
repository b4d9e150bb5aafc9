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
	// Queries is the number of different queries that both sides have in common. It is 0 for
	// figures that are not about queries.
	Queries int `json:"queries,omitempty"`
	// Types is the number of query types in a geometric mean: the types that both
	// sides have.
	Types int `json:"types,omitempty"`
	// MissingA and MissingB are why a side has no figure. They are empty if it has one.
	MissingA string `json:"missing_a,omitempty"`
	MissingB string `json:"missing_b,omitempty"`
	// NoisyA and NoisyB are why the host of a side was noisy during the measurement. They are
	// empty if it was quiet, or was not watched. Noise does not change the verdict: within a run it
	// may have affected both sides alike.
	NoisyA string `json:"noisy_a,omitempty"`
	NoisyB string `json:"noisy_b,omitempty"`
	stats.Comparison
	// Family is the number of figures that are judged together, including this
	// one: the number of comparisons that Adjusted is corrected for. The headline
	// figures of two targets (the medians of all types, their geometric mean,
	// rates and size of loads) are one family, so that in 95 of 100 comparisons
	// of a target with itself none of them shows a difference; each further
	// metric is one of its own.
	Family   int     `json:"family"`
	Adjusted float64 `json:"p_adjusted"` // P after Holm
	Verdict  Verdict `json:"verdict"`
	Why      string  `json:"why,omitempty"` // reason for the verdict, if it is not obvious
	// Cause is the cause of a missing verdict.
	Cause Cause `json:"cause,omitempty"`

	barred    Cause // rules out any verdict, unless empty
	barredWhy string
	ofA, ofB  []float64 // the repeats' figures; nil: one repeat a side
}

// Cause is why there is no verdict, in a few words.
type Cause string

// The causes.
const (
	OneRepeat      Cause = "one repeat"
	TooFewRepeats  Cause = "too few repeats"
	TooFewCrashes  Cause = "too few crashes" // of a kind
	NotRanked      Cause = "not ranked"      // a side: see terms.ReasonUnranked
	DifferentTerms Cause = "different terms" // see Target.Terms
	// Contradictory is the cause where the ratio of the medians lies outside the interval of
	// the ratios of the repeats.
	Contradictory Cause = "contradictory repeats"
	// Scattered is the cause if no difference was shown and the ratio may still be
	// anything within mostOfTie and beyond.
	Scattered Cause = "scattered repeats"
)

// mostOfTie is the largest distance from 1, as a factor, of a ratio's interval for the verdict
// NoDifference.
const mostOfTie = 2

// Decidable reports whether this number of repeats could show a difference at all.
func (f *Figure) Decidable() bool { return f.Verdict != NoVerdict && f.testable() }

// testable reports whether a test of the repeats is worth anything.
func (f *Figure) testable() bool {
	return f.MissingA == "" && f.MissingB == "" && f.barred == "" && f.Method == AcrossRepeats && f.SmallestP*float64(f.Family) < stats.Alpha
}

// Significant reports whether a difference was shown.
func (f *Figure) Significant() bool { return f.Decidable() && f.Adjusted < stats.Alpha }

// bar keeps the figure from any verdict.
func (f *Figure) bar(cause Cause, why string) {
	if f.barred == "" {
		f.barred, f.barredWhy = cause, why
	}
}

// headline returns the metrics whose figures are judged together.
func headline() []Metric { return []Metric{Median, GeoMean, Load, Acked, Sent, Disk} }

// judge corrects the p-values of each family for their number, and sets the
// verdicts.
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
		f := &figures[i]
		f.Verdict = ""
		f.Verdict, f.Cause, f.Why = f.verdict()
	}
}

func (f *Figure) verdict() (verdict Verdict, cause Cause, why string) {
	not := func(why string) (Verdict, Cause, string) { return NotCompared, "", why }
	switch {
	case f.MissingA != "" && f.MissingA == f.MissingB:
		return not(f.MissingA)
	case f.MissingA != "" && f.MissingB != "":
		return not("A: " + f.MissingA + "; B: " + f.MissingB)
	case f.MissingA != "":
		return not("A: " + f.MissingA)
	case f.MissingB != "":
		return not("B: " + f.MissingB)
	case f.barred != "":
		return NoVerdict, f.barred, f.barredWhy
	case f.Method == WithinRepeat:
		return NoVerdict, OneRepeat, fmt.Sprintf("one repeat a side does not show what differs from repeat to repeat, %d a side would", leastRepeatsFor(f.Family))
	case !f.testable():
		cause := TooFewRepeats
		if f.Metric.isOfCrashes() {
			cause = TooFewCrashes
		}
		return NoVerdict, cause, fmt.Sprintf("%s: %d and %d, %d a side would do", cause, f.A.N, f.B.N, leastRepeatsFor(f.Family))
	case f.Unit == Share && f.Adjusted >= stats.Alpha:
		return NoDifference, "", ""
	case f.Unit == Share && f.B.Median.Figure > f.A.Median.Figure:
		return More, "", ""
	case f.Unit == Share:
		return Fewer, "", ""
	case f.Ratio.Bound == stats.Unknown && f.A.Median.Bound == stats.Exact && f.B.Median.Bound == stats.Exact:
		return NoVerdict, Contradictory, "the ratio of the medians lies outside the interval of the ratios of the repeats"
	case f.Ratio.Bound == stats.Unknown:
		return NoVerdict, Scattered, "both were cut off, so that nothing is known of the ratio"
	case f.Adjusted >= stats.Alpha:
		return f.tie()
	}
	more := f.Ratio.Figure > 1
	switch {
	case f.Unit == Bytes && more:
		return Larger, "", ""
	case f.Unit == Bytes:
		return Smaller, "", ""
	case more == (f.Better == Higher):
		return Faster, "", ""
	}
	return Slower, "", ""
}

// tie returns the verdict on a figure without a proven difference. Its interval becomes
// the one of the level at which the figure was judged, which includes 1: one among many
// comparisons is judged more carefully than at 95 %.
func (f *Figure) tie() (verdict Verdict, cause Cause, why string) {
	within := stats.Interval{Lo: stats.Value{Figure: 1. / mostOfTie}, Hi: stats.Value{Figure: mostOfTie}}
	switch i := f.Interval; {
	case i == nil || i.Lo.Bound != stats.Exact || i.Hi.Bound != stats.Exact:
		return NoVerdict, Scattered, "nothing is known of the ratio"
	case !within.Holds(i.Lo) || !within.Holds(i.Hi):
		return NoVerdict, Scattered, "the ratio may be anything from " + i.Lo.String() + " to " + i.Hi.String()
	}
	one := stats.Value{Figure: 1}
	if f.Interval != nil && !f.Interval.Holds(one) {
		if f.Interval = stats.RatioInterval(f.ofA, f.ofB, stats.Alpha/float64(f.Family)); f.Interval != nil && !f.Interval.Holds(one) {
			f.Interval = nil
		}
	}
	return NoDifference, "", ""
}

// leastRepeatsFor returns the minimum number of repeats a side for showing a difference in a family of
// comparisons.
func leastRepeatsFor(family int) int {
	n := 2
	for stats.SmallestP(n, n)*float64(family) >= stats.Alpha {
		n++
	}
	return n
}

// Testable reports whether a test of the repeats is worth anything, whatever its verdict is.
func (f *Figure) Testable() bool { return f.testable() }

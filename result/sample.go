package result

import "math"

// Sample describes how the answers of a query type were selected for comparison with the oracle's.
type Sample struct {
	Wanted int `json:"wanted,omitempty"` // answers to compare of each type in a repeat
	Early  int `json:"early,omitempty"`  // further answers to unmeasured queries, compared before the measurement
	// Captured is the number of measured queries whose answers were kept for comparison, selected
	// at random. Every answer is read in the same way, so their times count like all others.
	Captured int64 `json:"captured,omitempty"`
	// Agreed is the number of further answers with as many rows as those of other systems to the
	// same queries, if answers are verified by agreement.
	Agreed int64 `json:"agreed,omitempty"`
	// Uncounted is the number of measured answers with an unknown number of rows: the system documents another
	// one than the expected answer's, a group may be missing, or the text is not tsmark's.
	Uncounted int64 `json:"uncounted,omitempty"`
	// Different is the number of different queries with a time, over all repeats.
	Different int `json:"different,omitempty"`
	// Repeated says that the type has too few different queries for each repeat to have its own, so
	// all repeats run the same queries.
	Repeated bool `json:"repeated,omitempty"`
	// Short says that the time box ended before LeastDifferent queries had a time, although it was
	// extended.
	Short bool `json:"short,omitempty"`
}

// LeastDifferent is the number of different queries, over all repeats, that a comparison of a type
// requires: fewer may be chance.
const LeastDifferent = 5

// TooSlow reports whether the time box was too short for a target to support any conclusion about
// the type.
func (q *Queries) TooSlow() bool {
	return q != nil && q.Sample.Short && q.Sample.Different < LeastDifferent
}

// CountedAnswers is the number of answers with only the number of rows compared: with the oracle's,
// or with those of other systems. The reference text does not count. There may be a few more: answers of
// the sample may have an unknown number of rows.
func (q *Queries) CountedAnswers() int64 {
	if q.By != "" {
		return q.Sample.Agreed
	}
	return max(q.Executed-q.AtLeast-int64(q.Verdict.Checked)-q.Sample.Uncounted, 0)
}

// DetectableShare is the smallest share of wrong answers among the measured ones, anywhere in the
// phase, that the comparison would have detected with a probability of 95 %. 0: unknown. For a
// random sample of k answers it is 1 - 0.05^(1/k). Pooled repeats have a sample of Sample.Wanted
// answers each, and that size counts, because all wrong answers may be in one repeat.
func (q *Queries) DetectableShare() float64 {
	k := min(q.Verdict.Checked, q.Sample.Wanted)
	if k == 0 {
		return 0
	}
	return 1 - math.Pow(0.05, 1/float64(k))
}

// Times returns the recorded times (see Each) in the order of the queries; negative: cut off after
// that time.
func (q *Queries) Times() []float64 {
	times := make([]float64, 0, len(q.Each))
	for _, seconds := range q.Each {
		if seconds != 0 {
			times = append(times, seconds)
		}
	}
	return times
}

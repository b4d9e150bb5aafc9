package result

import "math"

// Sample is how the answers of a query type were chosen that were compared with
// the oracle's.
type Sample struct {
	Wanted int `json:"wanted,omitempty"` // answers to be compared of each type in a repeat
	Early  int `json:"early,omitempty"`  // further answers that were compared before: to queries that are not measured
	// Captured is how many of the measured queries had their answers kept to be compared,
	// chosen at random. Every answer is read in the same way, so they have a time as others.
	Captured int64 `json:"captured,omitempty"`
	// Agreed is how many further answers had as many rows as those of other systems
	// to the same queries, where only that they agree can tell.
	Agreed int64 `json:"agreed,omitempty"`
	// Different is how many different queries have a time, all repeats together.
	Different int `json:"different,omitempty"`
	// Repeated says that the type has too few different queries for each repeat
	// to have its own, so that all repeats run the same.
	Repeated bool `json:"repeated,omitempty"`
	// Short says that the time box ended before LeastDifferent queries had a
	// time, although it was extended.
	Short bool `json:"short,omitempty"`
}

// LeastDifferent is how many different queries a comparison needs of a type, all
// repeats together: fewer may be chance.
const LeastDifferent = 5

// TooSlow reports whether the time box was too short for a target to say
// anything of the type: then nothing is concluded from its figures.
func (q *Queries) TooSlow() bool {
	return q != nil && q.Sample.Short && q.Sample.Different < LeastDifferent
}

// CountedAnswers is how many answers had only their number of rows compared: with the
// oracle's, or with those of other systems. A reference is not asked about them.
func (q *Queries) CountedAnswers() int64 {
	if q.By != "" {
		return q.Sample.Agreed
	}
	return max(q.Executed-q.AtLeast-int64(q.Verdict.Checked), 0)
}

// DetectableShare is a share of wrong answers: if so many of those measured, or more, were
// wrong, wherever in the phase, the comparison would have found one with a
// probability of 95 %. 0: not known. Of a random sample of k answers that is
// 1 - 0.05^(1/k). Of repeats taken together each has a sample of its own, of Sample.Wanted
// answers: that is what counts, since the wrong answers may all be in one of them.
func (q *Queries) DetectableShare() float64 {
	k := min(q.Verdict.Checked, q.Sample.Wanted)
	if k == 0 {
		return 0
	}
	return 1 - math.Pow(0.05, 1/float64(k))
}

// Times are the service times that were recorded, in the order of the queries;
// less than 0: cut off after so long.
func (q *Queries) Times() []float64 {
	times := make([]float64, 0, len(q.Each))
	for _, seconds := range q.Each {
		if seconds != 0 {
			times = append(times, seconds)
		}
	}
	return times
}

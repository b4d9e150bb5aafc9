package result

import (
	"slices"
	"time"
)

// Budget is how a run divides its time for queries among rounds.
type Budget struct {
	Seconds float64 `json:"seconds"` // for all rounds of queries together, with up to half of it for Loads
	Loads   float64 `json:"loads"`   // time of loads and checks
	Spent   float64 `json:"spent"`   // by the rounds so far, including the time for opening targets
	Fixed   int     `json:"fixed"`   // number of the first rounds, which run all query types
	// Further are the query types of each round after these: types whose medians were not yet known
	// within Precision.
	Further [][]string `json:"further,omitempty" redact:"-"`
	Ended   bool       `json:"ended"` // no further rounds follow
}

// Precision is the largest distance of the interval's ends from a median, as a share of it, with
// which a query type needs no further rounds.
const Precision = 0.1

// Add adds the time of a job, which belongs to a round of queries or precedes the rounds.
func (b *Budget) Add(ofQueries bool, took time.Duration) {
	switch {
	case b == nil:
	case ofQueries:
		b.Spent += took.Seconds()
	default:
		b.Loads += took.Seconds()
	}
}

// FurtherRounds returns the number of rounds after the first ones.
func (b *Budget) FurtherRounds() int {
	if b == nil {
		return 0
	}
	return len(b.Further)
}

// Runs reports whether a round, from 1, runs a query type. Without a budget all rounds run all types.
func (b *Budget) Runs(round int, queryType string) bool {
	return b == nil || round <= b.Fixed || slices.Contains(b.Further[round-b.Fixed-1], queryType)
}

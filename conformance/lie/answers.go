package lie

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
)

// Answers lists lies about answers, told to at least thirty queries of a type.
func Answers() []Lie {
	return []Lie{
		answering("empty-but-counts", func(Answer) [][]query.Value { return nil }),
		answering("rounds-values", func(a Answer) [][]query.Value {
			return eachFloat(a.Rows, func(x float64) float64 { return math.Round(x*1000) / 1000 })
		}),
		answering("answers-infinity", func(a Answer) [][]query.Value {
			return eachFloat(a.Rows, func(float64) float64 { return math.Inf(1) })
		}),
		answering("misorders", func(a Answer) [][]query.Value {
			rows := slices.Clone(a.Rows)
			slices.Reverse(rows)
			return rows
		}),
		answersOlderQuery(),
		answering("cuts-answers", func(a Answer) [][]query.Value { return a.Rows[:len(a.Rows)/2] }),
		staleCache(),
		answering("lies-between-tenths", func(a Answer) [][]query.Value {
			if a.Nth <= 10 || a.Nth%10 == 0 {
				return a.Rows
			}
			return withoutMiddle(a.Rows)
		}),
		answering("loses-middle-row", func(a Answer) [][]query.Value { return withoutMiddle(a.Rows) }),
		guessesByGaps("guesses-and-loses-row", withoutMiddle),
		answering("truncates-late", func(a Answer) [][]query.Value {
			if a.Nth <= 20 || len(a.Rows) == 0 {
				return a.Rows
			}
			return a.Rows[:len(a.Rows)-1]
		}),
	}
}

// ChangedAnswers lists lies that change one number of some answers, and keep the number of rows. They
// know tsmark and the experiment, but not the sample of answers that are compared.
func ChangedAnswers() []Lie {
	return []Lie{
		// A cache that goes stale after a while.
		changingSome("honest-ten-times", func(a Answer) bool { return a.Nth > 10 }),
		// It counts the answers that are compared before anything is measured.
		changingSome("honest-while-checked", func(a Answer) bool { return a.Nth > 2 }),
		// The first time is measured, and the second time is compared.
		changingSome("lies-at-first", func(a Answer) bool { return a.Nth > 5 && a.Before == 0 }),
		// It answers from a cache that it filled wrongly.
		changingSome("lies-when-run-again", func(a Answer) bool { return a.Before > 0 }),
		// It expects the first of each three answers to be compared.
		changingSome("lies-between-samples", func(a Answer) bool { return a.Nth > 2 && (a.Nth-1)%3 != 0 }),
		guessesByGaps("guesses-by-gaps", changeNumber),
	}
}

// Stalls is honest, and holds three answers of thirty back for the delay.
func Stalls(delay time.Duration) Lie {
	return Lie{Name: "stalls", Delay: func(a Answer) time.Duration {
		if n := a.Nth % 30; n >= 15 && n < 18 {
			return delay
		}
		return 0
	}}
}

// Breaks fails on the connection that runs the query number at, counted over all queries of a
// type, and on that connection from then on. A nil error means that it never answers. If gone is
// true, the server cannot be reached from then on.
func Breaks(at int, failure error, gone bool) Lie {
	queries, broken := 0, int64(-1)
	return Lie{
		Name: "breaks",
		Answer: func(a Answer) ([][]query.Value, error) {
			if a.Type != "" {
				if queries++; queries == at {
					broken = a.Connection
				}
			}
			if a.Connection == broken {
				return a.Rows, failure
			}
			return a.Rows, nil
		},
		Delay: func(a Answer) time.Duration {
			if a.Connection == broken {
				return math.MaxInt64
			}
			return 0
		},
		Describe: func() error {
			if gone && broken >= 0 {
				return fmt.Errorf("the server %w", driver.ErrUnreachable)
			}
			return nil
		},
	}
}

// answering changes answers to queries of a type. It finds each row that tsmark looks for: the
// comparison of answers has to find the lie.
func answering(name string, change func(Answer) [][]query.Value) Lie {
	return Lie{Name: name, Answer: func(a Answer) ([][]query.Value, error) {
		if a.Type == "" {
			return a.Rows, nil
		}
		return change(a), nil
	}}
}

// changingSome changes a number of the answers that lies selects.
func changingSome(name string, lies func(Answer) bool) Lie {
	return answering(name, func(a Answer) [][]query.Value {
		if lies(a) {
			return changeNumber(a.Rows)
		}
		return a.Rows
	})
}

// answersOlderQuery answers each query with the answer of the one before on the same connection.
func answersOlderQuery() Lie {
	last := make(map[int64][][]query.Value) // by connection
	return answering("answers-older-query", func(a Answer) [][]query.Value {
		older, ok := last[a.Connection]
		last[a.Connection] = a.Rows
		if !ok {
			return a.Rows
		}
		return older
	})
}

// staleCache answers ten queries of a type, and all later ones with the tenth answer.
func staleCache() Lie {
	tenth := make(map[string][][]query.Value) // by type
	return answering("stale-cache", func(a Answer) [][]query.Value {
		if a.Nth == 10 {
			tenth[a.Type] = a.Rows
		}
		if a.Nth > 10 {
			return tenth[a.Type]
		}
		return a.Rows
	})
}

// guessesByGaps changes the answers that a Guesser believes are not compared.
func guessesByGaps(name string, change func([][]query.Value) [][]query.Value) Lie {
	var all Guesser // of the types, one after the other
	return answering(name, func(a Answer) [][]query.Value {
		if all.Safe(time.Now()) {
			return change(a.Rows)
		}
		return a.Rows
	})
}

// withoutMiddle omits the middle row, and repeats the first row in its place if there are two.
func withoutMiddle(rows [][]query.Value) [][]query.Value {
	if len(rows) < 2 {
		return nil
	}
	middle := len(rows) / 2
	return slices.Concat(rows[:1], rows[:middle], rows[middle+1:])
}

// eachFloat changes all floats.
func eachFloat(rows [][]query.Value, change func(float64) float64) [][]query.Value {
	for _, row := range rows {
		for i := range row {
			row[i].Float = change(row[i].Float)
		}
	}
	return rows
}

// changeNumber changes the last number of the first row that has one.
func changeNumber(rows [][]query.Value) [][]query.Value {
	for _, row := range rows {
		for i := len(row) - 1; i >= 0; i-- {
			if row[i].Kind == query.Float || row[i].Kind == query.Int {
				row[i].Float++
				row[i].Int++
				return rows
			}
		}
	}
	return rows
}

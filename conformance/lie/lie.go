// Package lie is a proxy in front of a database server that deceives whoever
// measures it: it stores other values than it was sent, loses a row in many, or
// answers from an old answer. It speaks HTTP with line protocol, JSON, annotated CSV
// and ClickHouse's blocks, the protocols of PostgreSQL, MySQL, ClickHouse, Cassandra,
// GridDB and TDengine (WebSocket and REST), and IoTDB's Thrift; others pass unchanged.
//
// The tests of tsmark put it in front of every server driver: a lie that is
// measured must not end in a figure.
package lie

import (
	"math"
	"regexp"
	"slices"
	"time"
)

// Lie is one way to deceive. Nil functions leave things as they are.
type Lie struct {
	Name string
	// Store says what becomes of a row that is written, rows being numbered from
	// 0 over all connections.
	Store func(row int64) Fate
	// Answer returns which rows of an answer reach the client, and in which
	// order. Answers are numbered from 1, over all connections, among those to
	// queries that differ by numbers and texts alone.
	Answer func(nth int64, rows int) []int
	// ByGaps has Answer deceive only where a Guesser takes it for safe, by the time since the
	// answer before.
	ByGaps bool
	// OldAfter is the number of the last honest answer of a kind: all later ones
	// are that one again. 0: answers are not kept.
	OldAfter int64
	// Delay is how long an answer is held back.
	Delay func(nth int64) time.Duration
}

// Fate is what becomes of a row.
type Fate uint8

// The fates of a row.
const (
	Keep  Fate = iota
	Drop       // it is acknowledged and not stored
	Twice      // it is stored twice
	Zero       // each of its values is stored as 0
	Swap       // its values and those of the row before, in the same message, are exchanged
)

// copies is how many times a row of the fate is stored.
func (f Fate) copies() int {
	switch f {
	case Drop:
		return 0
	case Twice:
		return 2
	}
	return 1
}

// The lies. Their numbers are such that a dataset of 15,000 rows and 60 answers
// of a kind meet each of them.
var (
	// Zeroes stores 0 for each value.
	Zeroes = Lie{Name: "zeroes", Store: func(int64) Fate { return Zero }}
	// Swapped exchanges the values of neighbouring rows: counts, sums, minima and
	// maxima stay as they are.
	Swapped = Lie{Name: "swapped values", Store: func(row int64) Fate {
		if row%2 == 1 {
			return Swap
		}
		return Keep
	}}
	// DropsFew loses one row in 10,000.
	DropsFew = Lie{Name: "drops one row in 10,000", Store: once(10_000, Drop)}
	// DropsSome loses one row in 600, where there are no 10,000.
	DropsSome = Lie{Name: "drops one row in 600", Store: once(600, Drop)}
	// Duplicates stores one row in 1,000 twice.
	Duplicates = Lie{Name: "duplicates", Store: once(1_000, Twice)}
	// Both loses one row in 1,000, and stores another one twice for it.
	Both = Lie{Name: "duplicates for lost rows", Store: func(row int64) Fate {
		switch row % 1_000 {
		case 321:
			return Drop
		case 654:
			return Twice
		}
		return Keep
	}}
	// Stale answers ten queries of a kind, and every later one from a cache.
	Stale = Lie{Name: "stale cache after ten answers", OldAfter: 10}
	// Between is honest for the first ten queries of a kind and for every tenth
	// later one: a check of the first answers, or of every tenth, finds nothing.
	Between = Lie{Name: "lies between samples", Answer: func(nth int64, rows int) []int {
		if nth <= 10 || nth%10 == 0 {
			return all(rows)
		}
		return withoutMiddle(rows)
	}}
	// NoMiddle leaves the middle row of each answer out, and sends its first row
	// twice for it where there is one: the number of rows is right.
	NoMiddle = Lie{Name: "middle row missing", Answer: func(_ int64, rows int) []int { return withoutMiddle(rows) }}
	// Truncated leaves out the last row of each answer, after twenty honest ones.
	Truncated = Lie{Name: "truncated late", Answer: func(nth int64, rows int) []int {
		if nth <= 20 {
			return all(rows)
		}
		return all(max(0, rows-1))
	}}
	// Guesses leaves the middle row out where the gaps between queries say that an answer has
	// just been kept.
	Guesses = Lie{Name: "guesses by gaps", ByGaps: true, Answer: func(_ int64, rows int) []int { return withoutMiddle(rows) }}
	// Stalls is honest and holds three answers of thirty, one after the other, back
	// for a second each.
	Stalls = Lie{Name: "a second's stall", Delay: func(nth int64) time.Duration {
		if n := nth % 30; n >= 15 && n < 18 {
			return time.Second
		}
		return 0
	}}
)

// once gives one row in so many a fate. It is none of the first.
func once(in int64, f Fate) func(int64) Fate {
	return func(row int64) Fate {
		if row%in == in*7/10 {
			return f
		}
		return Keep
	}
}

func all(rows int) []int {
	order := make([]int, rows)
	for i := range order {
		order[i] = i
	}
	return order
}

func withoutMiddle(rows int) []int {
	order := all(rows)
	if rows < 2 {
		return order[:0]
	}
	order[rows/2] = 0
	slices.Sort(order)
	return order
}

// within returns which rows of an order are of a block of so many rows from the first
// on, numbered from the block's first.
func within(order []int, first, rows int) (own []int) {
	for _, row := range order {
		if row >= first && row < first+rows {
			own = append(own, row-first)
		}
	}
	return own
}

// reads finds queries that read rows of a table, leaving out the statements by
// which tsmark counts, lists and explains.
var (
	reads  = regexp.MustCompile(`(?is)^\s*(select|with)\b`)
	counts = regexp.MustCompile(`(?i)\b(count|sum|pg_\w+|information_schema)\b`)
	// present is the condition that there are rows, in queries of IoTDB's tree model.
	present = regexp.MustCompile(`HAVING count\([^()]*\) > 0`)
	// samples finds queries of metrics, and figures those that tsmark counts by.
	samples = regexp.MustCompile(`_over_time\(`)
	figures = regexp.MustCompile(`tsmark_figure|^(count|group)\(`)
	// points finds queries of KairosDB, and counted those that tsmark counts by.
	points  = regexp.MustCompile(`^\{"start_absolute":`)
	counted = regexp.MustCompile(`"name":"(first|count)"`)
	// puts finds queries of OpenTSDB, and tallied those that tsmark counts by.
	puts    = regexp.MustCompile(`^\{"start":`)
	tallied = regexp.MustCompile(`-count"`)
	// constant is what tells queries of one kind apart.
	constant = regexp.MustCompile(`'[^']*'|\d+`)
)

// kind returns what the queries have in common of which this is one; empty: it is
// none.
func kind(text string) string {
	sql, metrics := reads.MatchString(text) && !counts.MatchString(present.ReplaceAllString(text, "")), samples.MatchString(text) && !figures.MatchString(text)
	kairos, opentsdb := points.MatchString(text) && !counted.MatchString(text), puts.MatchString(text) && !tallied.MatchString(text)
	if !sql && !metrics && !kairos && !opentsdb && !fluxRows.MatchString(text) {
		return ""
	}
	return constant.ReplaceAllString(text, "?")
}

// never is after how many answers a liar that keeps none repeats itself.
const never = math.MaxInt64

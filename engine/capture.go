package engine

import (
	"slices"
	"sync"

	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/query"
)

// Capture keeps a sample of the answers to the queries of one type while they are measured. Every
// answer is read in the same way, on the clock: whole or into a digest. The zero value keeps
// nothing, and rows are only counted.
//
// A Capture serves one phase, or the consecutive phases of a search.
type Capture struct {
	Sample Sample
	// Counts keeps the number of rows of every answer outside the sample too, and only that of the
	// first run of a query.
	Counts bool

	Begun   int64   // operations of earlier phases
	first   int     // place of the first query of the phase
	rows    []int64 // with Counts, indexed by place minus first: rows of the answer plus 1; 0: no answer
	mu      sync.Mutex
	kept    reservoir
	counted []Answered // by other clients
}

// begin prepares for a phase of count queries; first is the place of the first one.
func (c *Capture) begin(first, count int) {
	if c == nil {
		return
	}
	c.kept.Sample = c.Sample
	if c.Counts && c.rows == nil {
		c.first, c.rows = first, make([]int64, count)
	}
}

// count records the number of rows of the answer at a place of the phase. No two workers call it
// for the same place.
func (c *Capture) count(place int, rows int64) {
	if c != nil && c.rows != nil {
		c.rows[place] = rows + 1
	}
}

// reads reports whether answers are read, rather than only their rows counted.
func (c *Capture) reads() bool { return c != nil && c.Sample.wanted > 0 }

// end ends a phase with the given number of operations.
func (c *Capture) end(operations int64) {
	if c != nil {
		c.Begun += operations
	}
}

// Take adds the Answers of another client of the same phase.
func (c *Capture) Take(answers []Answered) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept.Sample = c.Sample
	for i := range answers {
		a := &answers[i]
		if a.Answer != nil || a.Digest != nil {
			a = c.kept.offer(a)
		}
		if c.Counts && a != nil {
			c.counted = append(c.counted, Answered{Place: a.Place, Rows: a.Rows})
		}
	}
}

// offer offers an answer to the sample.
func (c *Capture) offer(a *Answered) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept.offer(a)
}

// SampleSize returns the number of answers in the sample.
func (c *Capture) SampleSize() int64 {
	if c == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return int64(len(c.kept.kept))
}

// Answers returns the answers of the sample, in no particular order. With Counts it also returns
// the answers whose number of rows alone is known.
func (c *Capture) Answers() []Answered {
	answers := slices.Clone(c.kept.kept)
	sampled := make(map[int]bool, len(answers))
	for i := range answers {
		sampled[answers[i].Place] = true
	}
	for _, a := range c.counted {
		if !sampled[a.Place] {
			answers = append(answers, a)
		}
	}
	for at, rows := range c.rows {
		if place := c.first + at; rows > 0 && !sampled[place] {
			answers = append(answers, Answered{Place: place, Rows: rows - 1})
		}
	}
	return answers
}

// read returns the sink for an answer, which keeps the answer whole or as a digest that can be
// compared with the oracle's.
func (a *Answered) read(whole bool, columns []query.Column) query.Sink {
	if !whole {
		a.Digest = query.NewDigest(columns)
		return a.Digest
	}
	a.Answer = &query.Answer{}
	return &limit.Sink{To: a.Answer, Rows: maxKept, Bytes: limit.OwnBytes}
}

// maxKept is the maximum number of rows of an answer that is kept for checking.
const maxKept = 2_000_000

package engine

import (
	"slices"
	"sync"
)

// Capture takes the answers of a sample of the queries of one type while they
// are measured. What is taken is not recorded: taking an answer costs the client
// time. Its zero value takes nothing.
//
// One Capture is for one phase, or for the phases of a search one after the
// other. The position of an operation in the sample is its number among those of
// its own repeat times the repeats, plus its repeat: so of a type that is slow
// the first queries of the repeats are in one stretch, of which one is taken.
type Capture struct {
	Sample          Sample
	Repeat, Repeats int // this one, from 0, and how many there are
	// Counts says that the number of rows of every other answer is kept too, of
	// queries that several run again that of one of them.
	Counts bool

	Begun int64   // operations of earlier phases
	first int     // place of the first query of the phase
	rows  []int64 // with Counts, by place from first on: rows of the answer, and 1; 0: there is none
	mu    sync.Mutex
	kept  []Answered
}

// begin prepares for a phase of so many queries from a place on.
func (c *Capture) begin(first, count int) {
	if c != nil && c.Counts && c.rows == nil {
		c.first, c.rows = first, make([]int64, count)
	}
}

// count notes how many rows the answer at a place of the phase had, which no
// two workers run at once.
func (c *Capture) count(place int, rows int64) {
	if c != nil && c.rows != nil {
		c.rows[place] = rows + 1
	}
}

// wants reports whether the answer to the i-th operation of this phase is taken.
func (c *Capture) wants(i int64) bool {
	return c != nil && i >= 0 && c.Sample.Has((c.Begun+i)*int64(c.Repeats)+int64(c.Repeat))
}

// end ends a phase of so many operations.
func (c *Capture) end(operations int64) {
	if c != nil {
		c.Begun += operations
	}
}

// Take takes answers that another client of the same phase took.
func (c *Capture) Take(answers []Answered) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = append(c.kept, answers...)
}

func (c *Capture) keep(a Answered) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept = append(c.kept, a)
}

// Answers are those that were taken, in no order, and with Counts those of which
// only the number of rows is known.
func (c *Capture) Answers() []Answered {
	answers := slices.Clone(c.kept)
	for place, rows := range c.rows {
		if rows > 0 {
			answers = append(answers, Answered{Place: c.first + place, Rows: rows - 1})
		}
	}
	return answers
}

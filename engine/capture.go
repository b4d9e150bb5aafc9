package engine

import "sync"

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

	Begun int64 // operations of earlier phases
	mu    sync.Mutex
	kept  []Answered
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

// Answers are those that were taken, in no order.
func (c *Capture) Answers() []Answered { return c.kept }

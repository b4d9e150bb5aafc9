package record

import (
	"time"

	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/result"
)

// NoDisplay shows nothing.
type NoDisplay struct{}

func (NoDisplay) Start(string, string, int64) Task { return NoDisplay{} }

func (NoDisplay) Overall(Overall) {}

func (NoDisplay) Add(int64) {}

func (NoDisplay) Finish(string) {}

func (NoDisplay) Fail(string) {}

// Display shows what is going on.
type Display interface {
	// Start begins to show a piece of work of the given total, 0 where it is
	// not known, counted in the unit.
	Start(label, unit string, total int64) Task
	// Overall shows that a step of the run begins; the zero value that the run
	// has ended.
	Overall(Overall)
}

// Task is a piece of work that is shown. Add may be called from several
// goroutines at once.
type Task interface {
	Add(n int64)
	Finish(note string) // it ended well; the note says what came of it
	Fail(note string)   // it ended otherwise; without a note nothing is shown
}

// Overall is how far a whole run is.
type Overall struct {
	Step, Steps int           // the cell at hand, from 1, of all; 0: there is no run
	Expected    time.Duration // about what the cell at hand takes in all; 0: not known
	Rest        time.Duration // about what the cells behind it take
	More        bool          // of some of those nobody knows it
}

// Observer sees runs while they go on. It holds nothing up: what it is given comes
// from goroutines that others wait for.
type Observer interface {
	// Begin says that a run begins, or goes on. What a run saw before is over.
	Begin(Beginning)
	// Opened says what answers for a target, as soon as that is known.
	Opened(*result.Target)
	// Operations shows operations of a cell soon after they ended, whose times count
	// from the start of their log. It keeps nothing of ops.
	Operations(start time.Time, c oplog.Cell, ops []oplog.Op)
}

// Beginning is what an observer is told of a run that begins.
type Beginning struct {
	ID, Name, Command string
	Workload          string // empty: what the targets hold, which is not known yet
	Targets           []string
	Started           time.Time // where its time line begins, which of one that goes on is long ago
	// Resources returns the last readings of each source, so many at most, which has no
	// total. It may be called at any time, also when the run has ended.
	Resources func(readings int) []result.Resources
}

package record

import (
	"time"

	"github.com/tsmark/tsmark/driver"
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

// Display shows the progress of work.
type Display interface {
	// Start begins to display a task with the given total (0: unknown) in the unit. Without a unit
	// nothing is counted, and the total Wait is that of a wait.
	Start(label, unit string, total int64) Task
	// Overall displays the start of a step of the run; the zero value means that the run has ended.
	Overall(Overall)
}

// Wait is the total of a task without a unit that waits for something: it is named at once also
// where tasks are shown at their ends only.
const Wait = -1

// Waiting displays the long waits for a target.
func Waiting(d Display, target string) driver.Waiting {
	return func(doing string) (end func()) {
		task := d.Start(target+": "+doing, "", Wait)
		return func() { task.Fail("") }
	}
}

// Task is a displayed task. Add may be called from several goroutines at once.
type Task interface {
	Add(n int64)
	Finish(note string) // success; the note describes the result
	Fail(note string)   // failure; without a note nothing is displayed
}

// Next returns a function for the parts of some work. It returns a function for how much of a part is done, and
// of how much: when that is 0, the current task ends and that of the part begins.
func Next(d Display, current *Task) func(label, unit string) func(done, all int) {
	return func(label, unit string) func(done, all int) {
		shown := 0
		return func(done, all int) {
			if done == 0 {
				(*current).Finish("")
				*current, shown = d.Start(label, unit, int64(all)), 0
			}
			(*current).Add(int64(done - shown))
			shown = done
		}
	}
}

// Overall is the progress of a whole run.
type Overall struct {
	Step, Steps int           // number of the current job, from 1, and of all jobs; 0: no run
	Expected    time.Duration // expected duration of the current job; 0: unknown
	Rest        time.Duration // expected duration of the remaining jobs
	More        bool          // the duration of some of these is unknown
}

// Observer observes runs in progress. Its methods must not block, because other goroutines wait for
// the callers.
type Observer interface {
	// Begin reports that a run begins, or is continued. The previous run is over.
	Begin(Beginning)
	// TargetOpened reports the system of a target, as soon as it is known.
	TargetOpened(*result.Target)
	// Operations reports operations of a cell soon after they ended, with times since the start of
	// their log. It must not retain ops.
	Operations(start time.Time, c oplog.Cell, ops []oplog.Op)
}

// Beginning describes a run that begins.
type Beginning struct {
	ID, Name, Command string
	Workload          string // empty: the dataset in the targets, which is not known yet
	Targets           []string
	Started           time.Time // origin of its time line, long ago for a continued run
	// Resources returns up to n of the latest readings of each source, without totals. It may be
	// called at any time, even after the run.
	Resources func(readings int) []result.Resources
}

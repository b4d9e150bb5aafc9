package progress

import (
	"slices"
	"time"
)

// State is a snapshot of a display, for other displays of it.
type State struct {
	Step, Steps int           // the step of the run at hand, from 1, of all; 0: there is no run
	Left        time.Duration // approximate remaining time of the run; 0: unknown
	More        bool          // a lower bound: the duration of some steps is unknown
	Running     []Running     // tasks, in the order of their start
	Ended       []Ended       // the newest that ended with a text, the last one last
}

// Running is a task that has not ended.
type Running struct {
	Label, Unit string // the unit is a plural: rows, queries; empty: nothing is counted
	Started     time.Time
	Done, Total int64         // in that unit; a total of at most 0: not known
	PerSecond   float64       // over the last seconds
	Left        time.Duration // at that rate; 0: not known
}

// Ended is the summary of a task at its end.
type Ended struct {
	At          time.Time
	Label, Text string
	Failed      bool
}

// keptEnded is the number of ended tasks that are kept.
const keptEnded = 50

// keep stores the end of a task, and drops the oldest if there are too many. The caller holds the
// lock.
func (d *Display) keep(e Ended) {
	if len(d.ended) == keptEnded {
		d.ended = slices.Delete(d.ended, 0, 1)
	}
	d.ended = append(d.ended, e)
}

// State returns what the display shows now, also after Close.
func (d *Display) State() State {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := State{Step: d.overall.Step, Steps: d.overall.Steps, Ended: slices.Clone(d.ended)}
	if s.Steps > 0 {
		s.Left, s.More = d.timeLeft(d.now())
	}
	for _, t := range d.running {
		s.Running = append(s.Running, Running{
			Label: t.label, Unit: t.unit, Started: t.started, Done: t.n.Load(), Total: t.total,
			PerSecond: t.rate.perSecond(), Left: time.Duration(t.secondsLeft() * float64(time.Second)),
		})
	}
	return s
}

package runner

import (
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/stage"
)

// longLoads reports whether loads are not repeated although several targets are compared: the user
// set no number, and the first loads show that all would take too long. A resumed run decides the
// same, because these loads are recorded.
func (x *execution) longLoads() bool {
	repeats, ifShort := x.plan.Experiment.LoadRepeats()
	if !ifShort {
		return false
	}
	seconds := 0.0
	for i := range x.record.Doc.Targets {
		for _, r := range x.record.Doc.Targets[i].Repeats {
			if l := r.Load; r.Number == 1 && l != nil {
				seconds += l.Prepare + l.Settled
				if l.Mixed != nil {
					seconds += l.Mixed.Wall + l.Mixed.Writes.Settled
				}
			}
		}
	}
	return seconds*float64(repeats) > experiment.LongestLoads.Seconds()
}

// isDone reports whether the run already has a job's results, as a resumed run does.
func (x *execution) isDone(c plan.Job) bool {
	t := &x.record.Doc.Targets[c.Target]
	switch c.Kind {
	case plan.Load:
		l := t.RepeatOf(c.Repeat).Load
		return l != nil && (l.Settled > 0 || l.UnsupportedReason() != "")
	case plan.Check:
		for _, q := range x.subject.Queries {
			if t.RepeatOf(1).Type(q.Type.Name) == nil {
				return false
			}
		}
		return len(x.subject.Queries) > 0
	case plan.Compare:
		return len(stage.PendingAnswers(t)) == 0
	case plan.Crash:
		return t.Crash != nil
	}
	for _, q := range x.subject.Queries {
		if x.record.Doc.Budget.Runs(c.Repeat, q.Type.Name) && !stage.Finished(t, c.Repeat, q.Type.Name) {
			return false
		}
	}
	return len(x.subject.Queries) > 0
}

package runner

import (
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
)

// job is what is done on a target between opening and closing it.
type job uint8

const (
	loading   job = iota // load, settle, count
	checking             // count where nothing was loaded; compare answers
	querying             // measure queries
	comparing            // compare the answers that were taken meanwhile
)

// cell is a job on one target in one repeat, the smallest part of a run that
// is done anew when the run is resumed, but for query types, of which those
// finished stay.
type cell struct {
	job    job
	target int // index in the plan
	repeat int // from 1
}

// order returns the work of a plan, part by part: all loads, then the checks,
// then rounds of queries, then the comparison of the answers that were taken in
// these. Within a round each target of the part has its turn, so that whatever
// drifts on the machine while the run goes on hits all of them alike. Each turn
// opens the target anew, so that all repeats begin alike.
func (p *Plan) order() []cell {
	var cells []cell
	for _, part := range p.parts() {
		round := func(j job, repeat int) {
			for _, i := range part {
				cells = append(cells, cell{j, i, repeat})
			}
		}
		if p.steps.Load {
			for n := range p.loads() {
				round(loading, n+1)
			}
		}
		if p.steps.Verify {
			round(checking, 1)
		}
		if p.steps.Query {
			for n := range p.experiment.QueryRepeats() {
				round(querying, n+1)
			}
			round(comparing, 1)
		}
	}
	return cells
}

// loads is how often each target is loaded, if not cut short: see
// execution.longLoads. The command that only loads does so once, where nobody
// said otherwise.
func (p *Plan) loads() int {
	repeats, ifShort := p.experiment.LoadRepeats()
	if ifShort && !p.compares {
		return 1
	}
	return repeats
}

// longLoads reports whether loads are not repeated, though several targets are
// compared: nobody said how often, and all would take too long by their first
// ones. A run that is resumed decides as before, since those are recorded.
func (x *execution) longLoads() bool {
	repeats, ifShort := x.plan.experiment.LoadRepeats()
	if !ifShort {
		return false
	}
	seconds := 0.0
	for i := range x.run.Targets {
		for _, r := range x.run.Targets[i].Repeats {
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

// done reports whether the run has a cell's results already, as one that is
// resumed does.
func (x *execution) done(c cell) bool {
	t := &x.run.Targets[c.target]
	switch c.job {
	case loading:
		l := t.RepeatOf(c.repeat).Load
		return l != nil && (l.Settled > 0 || l.Unsupported() != "")
	case checking:
		for _, q := range x.queries {
			if t.RepeatOf(1).Type(q.queryType.Name) == nil {
				return false
			}
		}
		return len(x.queries) > 0
	case comparing:
		return len(undecided(t)) == 0
	}
	for _, q := range x.queries {
		if !finished(t, c.repeat, q.queryType.Name) {
			return false
		}
	}
	return len(x.queries) > 0
}

// finished reports whether a type needs nothing more in a repeat: it was run, or
// has no figure.
func finished(t *result.Target, repeat int, queryType string) bool {
	if first := t.RepeatOf(1).Type(queryType); first != nil && first.WithoutFigure() {
		return true
	}
	q := t.RepeatOf(repeat).Type(queryType)
	return q != nil && (q.Executed > 0 || q.WithoutFigure())
}

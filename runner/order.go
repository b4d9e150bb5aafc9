package runner

import "github.com/tsmark/tsmark/result"

// job is what is done on a target between opening and closing it.
type job uint8

const (
	loading  job = iota // load, settle, count
	checking            // count where nothing was loaded; compare answers
	asking              // measure queries
)

// cell is a job on one target in one repeat, the smallest part of a run that
// is done anew when the run is resumed, but for query types, of which those
// finished stay.
type cell struct {
	job    job
	target int // index in the plan
	repeat int // from 1
}

// order returns the work of a plan: all loads, then the checks, then rounds of
// questions. Within a round each target has its turn, so that whatever drifts
// on the machine while the run goes on hits all of them alike. Each turn opens
// the target anew, so that all repeats begin alike.
func (p *Plan) order() []cell {
	var cells []cell
	round := func(j job, repeat int) {
		for i := range p.targets {
			cells = append(cells, cell{j, i, repeat})
		}
	}
	if p.steps.Load {
		for n := range p.experiment.Load.Repeats {
			round(loading, n+1)
		}
	}
	if p.steps.Verify {
		round(checking, 1)
	}
	if p.steps.Ask {
		for n := range p.experiment.QueryRepeats() {
			round(asking, n+1)
		}
	}
	return cells
}

// done reports whether the run has a cell's results already, as one that is
// resumed does.
func (x *execution) done(c cell) bool {
	if c.target >= len(x.run.Targets) {
		return false
	}
	t := &x.run.Targets[c.target]
	switch c.job {
	case loading:
		l := t.RepeatOf(c.repeat).Load
		return l != nil && l.Settled > 0
	case checking:
		for _, q := range x.questions {
			if t.RepeatOf(1).Type(q.kind.Name) == nil {
				return false
			}
		}
		return len(x.questions) > 0
	}
	for _, q := range x.questions {
		if !x.asked(t, c.repeat, q.kind.Name) {
			return false
		}
	}
	return len(x.questions) > 0
}

// asked reports whether a type needs no asking in a repeat: it was asked, or
// has no figure.
func (x *execution) asked(t *result.Target, repeat int, queryType string) bool {
	if first := t.RepeatOf(1).Type(queryType); first != nil && (first.Withheld != "" || first.Unsupported != "") {
		return true
	}
	q := t.RepeatOf(repeat).Type(queryType)
	return q != nil && (q.Asked > 0 || q.Withheld != "")
}

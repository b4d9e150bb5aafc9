package runner

import (
	"time"

	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
)

// durations is how long the cells of a run took that have ended, by what was done on
// which target: all repeats are one.
type durations map[plan.Job]cellTime

type cellTime struct {
	took  time.Duration
	cells int
}

// add notes how long a cell took.
func (p durations) add(c plan.Job, took time.Duration) {
	c.Repeat = 0
	p[c] = cellTime{p[c].took + took, p[c].cells + 1}
}

// estimate is about how long a cell takes: as those of its kind did, of its target, or
// else of all; 0: there were none.
func (p durations) estimate(c plan.Job) time.Duration {
	c.Repeat = 0
	of, ok := p[c]
	if !ok {
		for other, t := range p {
			if other.Kind == c.Kind {
				of = cellTime{of.took + t.took, of.cells + t.cells}
			}
		}
	}
	return of.took / time.Duration(max(of.cells, 1))
}

// progress says how far the run is when the first of these cells begins, after so
// many others.
func (x *execution) progress(cells []plan.Job, finished int) record.Overall {
	o := record.Overall{Step: finished + 1, Steps: finished + 1, Expected: x.estimate(cells[0])}
	for _, c := range cells[1:] {
		if c.Kind != plan.Compare && x.skips(c) { // answers to be compared are still to be taken
			continue
		}
		took := x.estimate(c)
		o.Steps, o.Rest, o.More = o.Steps+1, o.Rest+took, o.More || took == 0
	}
	return o
}

// estimate is about how long a cell takes; 0: nobody knows. Of the kinds that have
// not had their turn, queries are known by their time box, and comparing is
// mostly a pass over the dataset, as before, for all targets together.
func (x *execution) estimate(c plan.Job) time.Duration {
	took := x.durations.estimate(c)
	switch {
	case took > 0:
		return took
	case c.Kind == plan.Query:
		return time.Duration(len(x.subject.Queries)) * x.plan.Experiment.TimeBoxOfRepeat()
	case c.Kind == plan.Compare:
		return x.subject.Passed / time.Duration(len(x.plan.Targets))
	}
	return 0
}

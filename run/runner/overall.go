package runner

import (
	"time"

	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
)

// durations has the durations of a run's finished jobs, by the work and its target, over all
// repeats.
type durations map[plan.Job]cellTime

type cellTime struct {
	took  time.Duration
	cells int
}

// add records the duration of a job.
func (p durations) add(c plan.Job, took time.Duration) {
	c.Repeat = 0
	p[c] = cellTime{p[c].took + took, p[c].cells + 1}
}

// estimate returns the expected duration of a job: as other jobs of its kind on its target, or else
// on all targets; 0: none has finished.
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

// progress returns the progress of the run when the first of these jobs begins, after the given
// number of others.
func (x *execution) progress(cells []plan.Job, finished int) record.Overall {
	o := record.Overall{Step: finished + 1, Steps: finished + 1, Expected: x.estimate(cells[0])}
	for _, c := range cells[1:] {
		if c.Kind != plan.Compare && x.skips(c) { // answers to compare are still to be recorded
			continue
		}
		took := x.estimate(c)
		o.Steps, o.Rest, o.More = o.Steps+1, o.Rest+took, o.More || took == 0
	}
	if b := x.record.Doc.Budget; b != nil && !b.Ended {
		o.More = true
	}
	return o
}

// estimate returns the expected duration of a job; 0: unknown. For kinds of jobs that have not run
// yet, the time box determines queries, and comparing is mostly another pass over the dataset,
// shared by all targets.
func (x *execution) estimate(c plan.Job) time.Duration {
	took := x.durations.estimate(c)
	switch {
	case took > 0:
		return took
	case c.Kind == plan.Query:
		types := len(x.subject.Queries)
		return time.Duration(types) * x.plan.Experiment.TimeBoxOfRepeat(types)
	case c.Kind == plan.Compare:
		return x.subject.Passed / time.Duration(len(x.plan.Targets))
	}
	return 0
}

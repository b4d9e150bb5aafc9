package runner

import (
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/workload"
)

// view is what a target makes of rows that have the same series and time.
type view int

const (
	everyRow   view = iota // it keeps all of them
	latestRows             // it keeps the one that came last
	views
)

// viewed is the dataset as a target holds it.
type viewed struct {
	dataset workload.Dataset // nil: no target of the run holds it so
	survey  *oracle.Survey
}

// expectations are what is known of the answers to the queries of a type.
type expectations struct {
	full    []oracle.Expectation // of the verified ones, once the dataset has been passed over
	counted []int64              // rows of each answer, where queries are measured
}

// setViews finds out how the run's targets hold the dataset, of which the
// latest rows are those given; nil: all are. Times repeat by the settings named.
func (s *subject) setViews(spec workload.Spec, latest workload.Dataset, repeats string) error {
	s.viewed = [views]viewed{everyRow: {dataset: s.dataset}}
	if latest == nil {
		return nil
	}
	e := s.plan.experiment
	problem := func(path, what string) *experiment.Problem {
		return e.Problem(path, "the dataset writes times again, and %s: leave it out, or %s", what, repeats)
	}
	switch {
	case spec.Limit > 0:
		return problem("load.limit", "which of them the first rows hold is not known")
	case e.Mixed.On():
		return problem("mixed", "what is there while it is loaded is not known")
	}
	for i := range s.plan.targets {
		if t := &s.plan.targets[i]; t.caps.Dedupes {
			if e.Load.Workers > 1 && s.owner == nil {
				return problem("load.workers", "of several writers nobody knows whose row is the last")
			}
			s.viewed[latestRows].dataset = latest
		}
	}
	return nil
}

// latestOf returns the dataset with one row of each series and time; nil where
// that is all it has.
func latestOf(d workload.Dataset) workload.Dataset {
	r, ok := d.(workload.Repeating)
	if !ok {
		return nil
	}
	if latest := r.Latest(); latest != d {
		return latest
	}
	return nil
}

// viewOf returns how a target holds the dataset.
func (s *subject) viewOf(planned *plannedTarget) view {
	if planned.caps.Dedupes && s.viewed[latestRows].dataset != nil {
		return latestRows
	}
	return everyRow
}

// surveyFor is the size of the dataset as a target holds it. Of the rows of a
// file only one view is known.
func (s *subject) surveyFor(planned *plannedTarget) *oracle.Survey {
	if survey := s.viewed[s.viewOf(planned)].survey; survey != nil {
		return survey
	}
	return &s.expected.Survey
}

package subject

import (
	"slices"

	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/workload"
)

// viewed is the dataset as stored by a target.
type viewed struct {
	Dataset workload.Dataset // nil: no target of the run stores it in this way
	survey  *oracle.Survey
	// collisions are those of all rows, if the dataset is without the earlier row of each.
	collisions []oracle.Collision
}

// setViews determines how the run's targets store the dataset. latest is its latest rows; nil: all
// are. The named settings cause repeated times.
func (s *Subject) setViews(spec workload.Spec, latest workload.Dataset, repeats string) error {
	s.Viewed = [plan.Views]viewed{plan.EveryRow: {Dataset: s.Dataset}}
	if latest == nil {
		return nil
	}
	e := s.Plan.Experiment
	problem := func(path, what string) *experiment.Problem {
		return e.Problem(path, "the dataset writes times again, and %s: leave it out, or %s", what, repeats)
	}
	switch {
	case e.Crash.Enabled():
		return problem("crash", "nobody knows which of these rows a crash loses")
	case spec.Limit > 0:
		return problem("load.limit", "the number of repeated times among the first rows is unknown")
	case e.Mixed.Enabled():
		return problem("mixed", "the contents during the load are unknown")
	case e.Life.Enabled():
		return problem("life", "the contents after each event are unknown")
	}
	for i := range s.Plan.Targets {
		if t := &s.Plan.Targets[i]; t.Caps.Dedupes {
			if t.Workers > 1 && s.dealt == nil {
				return problem(e.WorkersPath(i), "of several writers nobody knows whose row is the last")
			}
			s.Viewed[plan.LatestRows].Dataset = latest
		}
	}
	return nil
}

// latestOf returns the dataset with one row per series and time; nil: it has no others.
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

// ViewOf returns how a target stores the dataset.
func (s *Subject) ViewOf(planned *plan.Target) plan.View {
	if planned.Caps.Dedupes && s.Viewed[plan.LatestRows].Dataset != nil {
		return plan.LatestRows
	}
	return plan.EveryRow
}

// SurveyOf returns the size of the dataset as stored by a target. For the rows of a file only one
// view is known.
func (s *Subject) SurveyOf(planned *plan.Target) *oracle.Survey {
	if survey := s.Viewed[s.ViewOf(planned)].survey; survey != nil {
		return survey
	}
	return &s.Expected.Survey
}

// keepOne determines how the run's targets store a dataset with collisions, unless that is known.
func (s *Subject) keepOne(collisions []oracle.Collision) {
	latest := &s.Viewed[plan.LatestRows]
	dedupes := slices.ContainsFunc(s.Plan.Targets, func(t plan.Target) bool { return t.Caps.Dedupes })
	if len(collisions) == 0 || latest.Dataset != nil || !dedupes {
		return
	}
	var older []int64
	for i := range collisions {
		older = append(older, collisions[i].Older)
	}
	latest.Dataset, latest.collisions = workload.WithoutRows(s.Dataset, older), collisions
}

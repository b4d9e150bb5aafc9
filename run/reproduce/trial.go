package reproduce

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/reproduce/document"
	"github.com/tsmark/tsmark/run/store"
)

// Trial repeats points of experiments at another setting.
type Trial struct {
	Suffix  string   // of its runs' names: batch-half
	Setting string   // in words: load.batch-size=5000 in place of 10000
	Systems []string // drivers that take part
	change  func(*experiment.Experiment) (setting string, ok bool)
}

// Trials lists the settings at which a comparison is repeated. Subject has parameters that stay as
// they are. Weaker is the driver of the system to tune; empty: none.
func (r *Request) Trials(queries bool, systems, subject []string, weaker string) []Trial {
	var list []Trial
	// A target's own number replaces the experiment's, and changes by the same factor.
	add := func(suffix, path string, most int, number func(*experiment.Experiment) *int, times float64, own func(*experiment.Target) *int) {
		if slices.Contains(subject, path) {
			return
		}
		list = append(list, Trial{Suffix: suffix, Systems: systems, change: func(e *experiment.Experiment) (string, bool) {
			n := number(e)
			was := *n
			*n = int(float64(was) * times)
			setting, ok := fmt.Sprintf("%s=%d in place of %d", path, *n, was), *n > 0 && *n <= most
			for i := range e.Targets {
				if n := own(&e.Targets[i]); *n > 0 {
					was := *n
					*n = int(float64(was) * times)
					setting, ok = fmt.Sprintf("%s, %s %d in place of %d", setting, e.Targets[i].Name, *n, was), ok && *n > 0 && *n <= most
				}
			}
			return setting, ok
		}})
	}
	workers, workersPath := func(e *experiment.Experiment) *int { return &e.Load.Workers }, "load.workers"
	ownWorkers := func(t *experiment.Target) *int { return &t.Workers }
	if queries {
		workers, workersPath = func(e *experiment.Experiment) *int { return &e.Queries.Workers }, "queries.workers"
		ownWorkers = func(*experiment.Target) *int { return new(int) }
	} else {
		batch, ownBatch := func(e *experiment.Experiment) *int { return &e.Load.BatchSize }, func(t *experiment.Target) *int { return &t.BatchSize }
		add("batch-half", "load.batch-size", experiment.MaxBatchSize, batch, 0.5, ownBatch)
		add("batch-twice", "load.batch-size", experiment.MaxBatchSize, batch, 2, ownBatch)
	}
	add("workers-half", workersPath, experiment.MaxWorkers, workers, 0.5, ownWorkers)
	add("workers-twice", workersPath, experiment.MaxWorkers, workers, 2, ownWorkers)
	if s, ok := r.Document.System(weaker); ok && !s.Tuned.IsZero() {
		profile := r.profile(weaker, s.Tuned.Profile)
		list = append(list, Trial{Suffix: "tuned-" + weaker, Systems: systems, change: func(e *experiment.Experiment) (string, bool) {
			for i := range e.Targets {
				t := &e.Targets[i]
				if t.Driver != weaker {
					continue
				}
				t.Profile = s.Tuned.Profile
				options := make(experiment.Options)
				for name, value := range t.Options {
					if _, tuned := profile[name]; !tuned { // or it would override the profile
						options[name] = value
					}
				}
				maps.Copy(options, s.Tuned.Options)
				t.Options = options
			}
			return fmt.Sprintf("%s tuned (%s)", weaker, s.Tuned.Words), true
		}})
	}
	return list
}

// profile returns the options of a driver's profile.
func (r *Request) profile(driver, name string) map[string]string {
	kind, err := r.Catalog.Driver(driver)
	if err != nil {
		return nil // so nothing of it runs
	}
	for _, p := range kind.Profiles {
		if p.Name == name {
			return p.Options
		}
	}
	return nil
}

// Apply changes the experiment of a point to the trial's setting. It returns false if the setting
// does not exist, such as half a worker, or is more than an experiment may have.
func (t *Trial) Apply(d *document.Document, e *document.Experiment, size document.Size, point *experiment.Experiment) (*experiment.Experiment, bool) {
	changed := *point
	changed.Name = d.RunName(e, size) + "-" + t.Suffix
	changed.Matrix, changed.Include, changed.Exclude, changed.Expect = nil, nil, nil, experiment.Expect{}
	changed.Load.Replace = true
	changed.Targets = slices.DeleteFunc(slices.Clone(point.Targets), func(own experiment.Target) bool { return !slices.Contains(t.Systems, own.Driver) })
	changed.Load.After = slices.DeleteFunc(slices.Clone(point.Load.After), func(step string) bool {
		return !slices.ContainsFunc(t.Systems, func(system string) bool { return slices.Contains(e.After[system], step) })
	})
	setting, ok := t.change(&changed)
	t.Setting = setting
	changed.Notes = append(slices.Clone(point.Notes), "sensitivity: "+setting)
	return &changed, ok
}

// PointOf returns the experiment of a stored run: that of the edition's point with the same
// parameters, or, if the edition does not run, the stored one.
func (e *Edition) PointOf(run *result.Run) (*experiment.Experiment, error) {
	if e.Sweep != nil {
		for _, p := range e.Sweep.Points() {
			if slices.Equal(p.Parameters, run.Parameters) {
				return p.Experiment, nil
			}
		}
	}
	return experiment.Parse("experiment of "+run.ID, []byte(run.Experiment))
}

// FindTrial returns the newest complete run of a trial's point, or nil. The experiment is as the
// results have it. The function read reads a run by its ID.
func FindTrial(read func(id string) (*result.Run, error), summaries []store.Summary, point *experiment.Experiment) (*result.Run, error) {
	for _, s := range summaries {
		if s.Name != point.Name || s.Status != result.Complete {
			continue
		}
		run, err := read(s.ID)
		if err != nil {
			return nil, err
		}
		if Difference(point, run.Experiment, run) == "" {
			return run, nil
		}
	}
	return nil, nil
}

// PlanTrial plans a trial's point, and returns its experiment as the results have it.
func (r *Request) PlanTrial(point *experiment.Experiment) (*plan.Sweep, *experiment.Experiment, error) {
	steps, _ := plan.StepsOf("run")
	sweep, err := plan.NewSweep(point, r.Catalog, steps)
	if err != nil {
		return nil, nil, err
	}
	public, err := sweep.Public()
	return sweep, public, err
}

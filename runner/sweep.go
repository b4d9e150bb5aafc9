package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/experiment"
	"github.com/tsmark/tsmark/internal/secret"
	"github.com/tsmark/tsmark/result"
)

// Sweep is the plans of all runs that an experiment stands for: one, or one for
// each point of its matrix.
type Sweep struct {
	experiment *experiment.Experiment
	catalog    Catalog
	secrets    *secret.Redactor
	points     []experiment.Point
	plans      []*Plan
}

// NewSweep plans all runs of an experiment. Its error is as NewPlan's.
func NewSweep(e *experiment.Experiment, c Catalog, steps Steps) (*Sweep, error) {
	s := &Sweep{experiment: e, catalog: c, secrets: newRedactor(e, c)}
	if err := s.plan(steps); err != nil {
		return nil, s.secrets.Error(err)
	}
	return s, nil
}

func (s *Sweep) plan(steps Steps) error {
	err := s.openly()
	if err != nil {
		return err
	}
	if s.points, err = s.experiment.Expand(); err != nil {
		return err
	}
	var problems []error
	for _, p := range s.points {
		plan, err := NewPlan(p.Experiment, s.catalog, steps)
		problems = append(problems, err)
		s.plans = append(s.plans, plan)
	}
	return errors.Join(problems...)
}

// openly refuses secrets as parameters, which names of targets and reports
// show.
func (s *Sweep) openly() error {
	e := s.experiment
	var problems []error
	look := func(at, path string, values ...string) {
		for _, v := range values {
			s.secrets.Learn(v)
		}
		hidden := func(v string) bool { return s.secrets.Text(v) != v }
		if s.secretOption(path) || slices.ContainsFunc(values, hidden) {
			problems = append(problems, e.Problem(at, "is secret, and a sweep shows its parameters; name several targets instead"))
		}
	}
	for _, a := range e.Matrix {
		look("matrix."+a.Path, a.Path, a.Values...)
	}
	for i, entry := range e.Include {
		for _, p := range entry {
			look(fmt.Sprintf("include[%d].%s", i, p.Path), p.Path, p.Value)
		}
	}
	return errors.Join(problems...)
}

// secretOption reports whether a path is that of a secret option.
func (s *Sweep) secretOption(path string) bool {
	for _, t := range s.experiment.Targets {
		kind, err := s.catalog.Kind(t.Kind)
		if err != nil {
			continue // a plan says so
		}
		for _, o := range kind.Options {
			if o.Secret && path == "targets."+t.Name+"."+o.Name {
				return true
			}
		}
	}
	return false
}

// Points are the runs that the sweep consists of.
func (s *Sweep) Points() []experiment.Point { return s.points }

// Single returns the plan where it is the only one and no parameter is swept
// over: then it is a run like any other. Else it returns nil.
func (s *Sweep) Single() *Plan {
	if len(s.plans) == 1 && len(s.points[0].Parameters) == 0 {
		return s.plans[0]
	}
	return nil
}

// YAML returns the experiment with its matrix as it may be stored and shown:
// see Plan.YAML.
func (s *Sweep) YAML() ([]byte, error) {
	public := *s.experiment
	public.Targets = slices.Clone(public.Targets)
	p := &Plan{secrets: s.secrets}
	for i := range public.Targets {
		t := &public.Targets[i]
		kind, err := s.catalog.Kind(t.Kind)
		if err != nil {
			return nil, err
		}
		t.Options = p.withoutSecrets(&kind, t.Options)
	}
	return experiment.Marshal(&public)
}

// BeginSweep stores that a sweep begins.
func (r *Runner) BeginSweep(ctx context.Context, s *Sweep, command string, args []string) (*result.Sweep, error) {
	yaml, err := s.YAML()
	if err != nil {
		return nil, err
	}
	record := &result.Sweep{
		Name: s.experiment.Name, Command: command, Experiment: string(yaml), Started: time.Now().UTC(), Points: len(s.plans),
	}
	for _, arg := range args {
		record.Args = append(record.Args, s.secrets.Text(arg))
	}
	return record, r.Store.BeginSweep(ctx, record)
}

// RunSweep executes the points of a sweep that runs, which belong to it, have
// not completed: it goes on with those that were begun, and begins the others.
// done is called with each as it ends. A target that gives up ends its run and
// not the sweep; what ends all of it is as for Run.
func (r *Runner) RunSweep(ctx context.Context, s *Sweep, record *result.Sweep, runs []*result.Run, done func(*result.Run) error) error {
	unlock, err := r.lock("sweep", record.ID)
	if err != nil {
		return err
	}
	defer unlock()
	kept := len(runs)
	var ids []string
	for i, plan := range s.plans {
		point := s.points[i]
		plan.place = result.Place{Sweep: record.ID, Point: i + 1, Points: len(s.plans), Parameters: slices.Clone(point.Parameters)}
		plan.earlier = ids
		at := slices.IndexFunc(runs, func(run *result.Run) bool { return run.Point == i+1 })
		var run *result.Run
		switch {
		case at < 0:
			run, err = r.Run(ctx, plan, record.Command, record.Args)
		case runs[at].Status == result.Complete:
			ids = append(ids, runs[at].ID)
			continue
		default:
			run, err = r.Resume(ctx, plan, runs[at])
		}
		if run != nil {
			kept++
			ids = append(ids, run.ID)
			err = errors.Join(err, done(run))
		}
		if err != nil && kept == 0 {
			return both(err, r.Store.DiscardSweep(context.WithoutCancel(ctx), record.ID))
		}
		if err != nil {
			return fmt.Errorf("point %d of %d, %s: %w", i+1, len(s.plans), parameters(point.Parameters), err)
		}
	}
	return nil
}

// parameters are the parameters of a point on a line.
func parameters(list []result.Parameter) string {
	texts := make([]string, len(list))
	for i, p := range list {
		texts[i] = p.Path + "=" + p.Value
	}
	return strings.Join(texts, ", ")
}

package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/secret"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/allow"
	"github.com/tsmark/tsmark/run/experiment"
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
	if len(s.points) > 1 && s.experiment.Load.File == "-" {
		problems = append(problems, s.experiment.Problem("load.file", "standard input can be read only once; name a file, or sweep over nothing"))
	}
	for _, p := range s.points {
		plan, err := NewPlan(p.Experiment, s.catalog, steps)
		problems = append(problems, err)
		s.plans = append(s.plans, plan)
	}
	return errors.Join(problems...)
}

// CheckAgents says why so many agents cannot share all runs; nil: they can.
func (s *Sweep) CheckAgents(agents int) error {
	for _, p := range s.plans {
		if err := p.CheckAgents(agents); err != nil {
			return err
		}
	}
	return nil
}

// Needs is what each agent must allow to take part in all runs.
func (s *Sweep) Needs() (n allow.Needs, err error) {
	for _, p := range s.plans {
		of, err := p.Needs()
		if err != nil {
			return n, err
		}
		n.Add(of)
	}
	return n, nil
}

// openly refuses secrets as parameters, which names of targets and reports
// show. Where a target has an option that is none, whose value is then kept as if it
// were secret, the plans say what is wrong.
func (s *Sweep) openly() error {
	e := s.experiment
	if slices.ContainsFunc(e.Targets, s.mistyped) {
		return nil
	}
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

// mistyped reports whether a target has an option that its kind has not.
func (s *Sweep) mistyped(t experiment.Target) bool {
	kind, err := s.catalog.Driver(t.Driver)
	if err != nil {
		return false // a plan says so
	}
	for name := range t.Options {
		if !slices.ContainsFunc(kind.Options, func(o driver.Option) bool { return o.Name == name }) {
			return true
		}
	}
	return false
}

// secretOption reports whether a path is that of a secret option.
func (s *Sweep) secretOption(path string) bool {
	for _, t := range s.experiment.Targets {
		kind, err := s.catalog.Driver(t.Driver)
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
	p := &Plan{secrets: s.secrets}
	public := p.openly(s.experiment)
	for i := range public.Targets {
		kind, err := s.catalog.Driver(public.Targets[i].Driver)
		if err != nil {
			return nil, err
		}
		public.Targets[i] = p.public(public.Targets[i], &kind, nil)
	}
	return experiment.Marshal(public)
}

// BeginSweep stores that a sweep begins.
func (r *Runner) BeginSweep(ctx context.Context, s *Sweep, command string, args []string) (*result.Sweep, error) {
	yaml, err := s.YAML()
	if err != nil {
		return nil, err
	}
	begun := &result.Sweep{
		Name: s.experiment.Name, Command: command, Args: s.secrets.Args(args), Experiment: string(yaml), Started: time.Now().UTC(), Points: len(s.plans),
	}
	return begun, guardedStore{Store: r.Store, secrets: s.secrets}.BeginSweep(ctx, begun)
}

// RunSweep executes the points of a sweep that runs, which belong to it, have
// not completed: it goes on with those that were begun, and begins the others.
// done is called with each as it ends. It returns all runs in the order of
// their points. A target that fails ends its run and not the sweep, and
// a point none of whose targets can be reached is passed over, until the error of the
// first one is returned; what ends all of it is as for Run. A sweep of which there is no run is not kept. The servers
// that were started for the sweep have ended when it returns.
func (r *Runner) RunSweep(ctx context.Context, s *Sweep, begun *result.Sweep, runs []*result.Run, done func(*result.Run) error) (all []*result.Run, err error) {
	unlock, err := r.lock(ctx, "sweep", begun.ID)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := r.orphans(ctx, runs...); err != nil { // which may load what another point loads
		return runs, err
	}
	if r.Standing == nil {
		own := NewStanding(filepath.Join(r.Dir, begun.ID))
		defer func() {
			stopped := own.Stop(context.WithoutCancel(ctx))
			if len(all) == 0 {
				discard(own.of)
			}
			if err == nil {
				err = stopped
			}
		}()
		withOwn := *r
		withOwn.Standing = own
		r = &withOwn
	}
	kept := slices.Clone(runs)
	var unreached error // of the first point none of whose targets could be reached
	for i, p := range s.plans {
		place := result.Place{Sweep: begun.ID, Point: i + 1, Points: len(s.plans), Parameters: slices.Clone(s.Points()[i].Parameters)}
		at := slices.IndexFunc(kept, func(run *result.Run) bool { return run.Point == place.Point })
		if at >= 0 && kept[at].Status == result.Complete {
			continue
		}
		p.place, p.earlier = place, ids(kept)
		r.Display.Start(fmt.Sprintf("point %d of %d", place.Point, place.Points), "", 0).Finish(place.Parameters.String())
		run, err := r.point(ctx, p, begun, kept, at)
		if run != nil {
			if at >= 0 {
				kept[at] = run
			} else {
				kept = append(kept, run)
			}
			err = errors.Join(err, done(run))
		}
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			continue
		}
		err = fmt.Errorf("point %d of %d, %s: %w", place.Point, place.Points, place.Parameters, err)
		if nobody := (*UnreachedError)(nil); !errors.As(err, &nobody) {
			return kept, r.ended(ctx, begun, kept, err)
		}
		unreached = cmp.Or(unreached, err)
	}
	if unreached != nil {
		return kept, r.ended(ctx, begun, kept, unreached)
	}
	return kept, nil
}

// point executes a point, whose run is at that position of runs; -1: it has
// none yet.
func (r *Runner) point(ctx context.Context, p *Plan, begun *result.Sweep, runs []*result.Run, at int) (*result.Run, error) {
	if at < 0 {
		return r.Run(ctx, p, begun.Command, begun.Args)
	}
	if !slices.Equal(runs[at].Parameters, p.place.Parameters) {
		return nil, fmt.Errorf("%w: the run that was begun, %s, has %s; run the sweep again from the start", ErrInput, runs[at].ID, runs[at].Parameters)
	}
	run, err := r.resume(ctx, p, runs[at])
	return run, p.secrets.Error(err)
}

// ended forgets a sweep that ended before any run of it was kept.
func (r *Runner) ended(ctx context.Context, begun *result.Sweep, kept []*result.Run, err error) error {
	if len(kept) > 0 {
		return err
	}
	return both(err, outlast(ctx, func(ctx context.Context) error { return r.Store.DiscardSweep(ctx, begun.ID) }))
}

func ids(runs []*result.Run) []string {
	list := make([]string, len(runs))
	for i, run := range runs {
		list[i] = run.ID
	}
	return list
}

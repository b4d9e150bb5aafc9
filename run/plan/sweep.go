package plan

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/secret"
	"github.com/tsmark/tsmark/run/allow"
	"github.com/tsmark/tsmark/run/compatible"
	"github.com/tsmark/tsmark/run/experiment"
)

// Sweep is the plans of an experiment's runs: one, or one for each point of its matrix.
type Sweep struct {
	Experiment *experiment.Experiment
	catalog    Catalog
	Secrets    *secret.Redactor
	points     []experiment.Point
	Plans      []*Plan
}

// NewSweep plans all runs of an experiment. Its error is as NewPlan's.
func NewSweep(e *experiment.Experiment, c Catalog, steps Steps) (*Sweep, error) {
	e = e.SplitLevels(func(t *experiment.Target) (levels []string) {
		kind, _ := compatible.Lookup(c.Driver, t) // a plan reports the error
		for _, level := range kind.Durabilities {
			levels = append(levels, level.Name)
		}
		return levels
	})
	s := &Sweep{Experiment: e, catalog: c, Secrets: newRedactor(e, c)}
	if err := s.planPoints(steps); err != nil {
		return nil, s.Secrets.Error(err)
	}
	return s, nil
}

func (s *Sweep) planPoints(steps Steps) error {
	err := s.checkParameters()
	if err != nil {
		return err
	}
	if s.points, err = s.Experiment.Expand(); err != nil {
		return err
	}
	var problems []error
	if len(s.points) > 1 && s.Experiment.Load.File == "-" {
		problems = append(problems, s.Experiment.Problem("load.file", "standard input can be read only once; name a file, or sweep over nothing"))
	}
	for _, p := range s.points {
		plan, err := NewPlan(p.Experiment, s.catalog, steps)
		problems = append(problems, err)
		s.Plans = append(s.Plans, plan)
	}
	return errors.Join(problems...)
}

// CheckAgents says why the given number of agents cannot share all runs; nil: they can.
func (s *Sweep) CheckAgents(agents int) error {
	for _, p := range s.Plans {
		if err := p.CheckAgents(agents); err != nil {
			return err
		}
	}
	return nil
}

// Needs returns the permissions that each agent needs for all runs.
func (s *Sweep) Needs() (n allow.Needs, err error) {
	for _, p := range s.Plans {
		of, err := p.Needs()
		if err != nil {
			return n, err
		}
		n.Add(of)
	}
	return n, nil
}

// checkParameters refuses secrets as parameters, because names of targets and reports show
// parameters. If a target has an unknown option, whose value then counts as secret, the plans
// report that option.
func (s *Sweep) checkParameters() error {
	e := s.Experiment
	if slices.ContainsFunc(e.Targets, s.mistyped) {
		return nil
	}
	var problems []error
	look := func(at, path string, values ...string) {
		for _, v := range values {
			s.Secrets.Learn(v)
		}
		hidden := func(v string) bool { return s.Secrets.Text(v) != v }
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

// mistyped reports whether a target has an option that its driver lacks.
func (s *Sweep) mistyped(t experiment.Target) bool {
	kind, err := compatible.Lookup(s.catalog.Driver, &t)
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

// secretOption reports whether a path is the path of a secret option.
func (s *Sweep) secretOption(path string) bool {
	for _, t := range s.Experiment.Targets {
		kind, err := compatible.Lookup(s.catalog.Driver, &t)
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

// One returns a sweep with the plan as its only run.
func One(p *Plan) *Sweep {
	return &Sweep{Experiment: p.Experiment, catalog: p.Catalog, Secrets: p.Secrets, points: []experiment.Point{{Experiment: p.Experiment}}, Plans: []*Plan{p}}
}

// Points are the runs of the sweep.
func (s *Sweep) Points() []experiment.Point { return s.points }

// Single returns the plan if it is the only one and no parameter is swept: then it is a run like
// any other. Otherwise it returns nil.
func (s *Sweep) Single() *Plan {
	if len(s.Plans) == 1 && len(s.points[0].Parameters) == 0 {
		return s.Plans[0]
	}
	return nil
}

// Public returns the experiment of the sweep as the results have it.
func (s *Sweep) Public() (*experiment.Experiment, error) {
	text, err := s.YAML()
	if err != nil {
		return nil, err
	}
	return experiment.Parse("experiment", text)
}

// YAML returns the experiment with its matrix in the form to store and show: see Plan.YAML, which
// it is for a single run.
func (s *Sweep) YAML() ([]byte, error) {
	if single := s.Single(); single != nil {
		return single.YAML()
	}
	p := &Plan{Secrets: s.Secrets}
	public := p.PublicCopy(s.Experiment)
	for i := range public.Targets {
		kind, err := compatible.Lookup(s.catalog.Driver, &public.Targets[i])
		if err != nil {
			return nil, err
		}
		public.Targets[i] = p.publicTarget(public.Targets[i], &kind, nil)
	}
	return experiment.Marshal(public)
}

// Package history compares targets that have an order, such as the versions of a system, each with
// the one before it.
//
// A comparison is an ordinary run of two targets, whose rounds take turns. There is no other record:
// the runs of a history are found in the results by their name, targets and settings. So a history
// goes on where it ended, and one more version costs one more run.
package history

import (
	"context"
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/internal/secret"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/reproduce"
	"github.com/tsmark/tsmark/run/store"
)

// Series is targets in their order, and how they are compared.
type Series struct {
	// Experiment has the settings of all runs, and all targets. Each run has two of these.
	Experiment *experiment.Experiment
	Catalog    plan.Catalog
	Store      *store.Store
	Host       *result.Host // this machine: runs of others do not count
	// Execute executes a run of a pair, or goes on with the unfinished one. A target that fails is
	// recorded in the run and ends it.
	Execute func(ctx context.Context, p *Pair, sweep *plan.Sweep) (*result.Run, error)

	secrets   *secret.Redactor // of all targets
	summaries []store.Summary
	pairs     []*Pair
}

// Pair is two targets, by their indexes, and the runs that compared them.
type Pair struct {
	A, B int
	Runs []*result.Run // that have ended, oldest first
	// Unfinished is a run that was interrupted; nil: none.
	Unfinished *result.Run
}

// Failure returns why a target of the pair, by its index, failed; empty: it did not.
func (p *Pair) Failure(target int) string {
	for _, r := range p.Runs {
		if t := &r.Targets[btoi(target == p.B)]; t.Failure != "" {
			return t.Failure
		}
	}
	return ""
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// failed reports whether a target of the pair failed, so that further runs are of no use.
func (p *Pair) failed() bool { return p.Failure(p.A) != "" || p.Failure(p.B) != "" }

// Pairs returns the pairs with runs that ended, in the order of their targets.
func (s *Series) Pairs() []*Pair {
	list := slices.DeleteFunc(slices.Clone(s.pairs), func(p *Pair) bool { return len(p.Runs) == 0 })
	slices.SortFunc(list, func(p, q *Pair) int {
		if p.B != q.B {
			return p.B - q.B
		}
		return p.A - q.A
	})
	return list
}

// Check returns an error if the experiment is wrong, or has parameters that vary.
func (s *Series) Check() error {
	steps, _ := plan.StepsOf("run")
	all, err := plan.NewSweep(s.Experiment, s.Catalog, steps)
	if err != nil {
		return err
	}
	if s.secrets = all.Secrets; all.Single() == nil {
		return s.Experiment.Problem("matrix", "is a sweep, and the runs of a history differ in their targets alone; leave it out")
	}
	return nil
}

// PublicArgs returns a command line without the secrets of the targets, once Check has found these.
func (s *Series) PublicArgs(args []string) []string { return s.secrets.Args(slices.Clone(args)) }

// plan plans the run of two targets. It also returns the experiment as the results have it.
func (s *Series) plan(a, b int) (*plan.Sweep, *experiment.Experiment, error) {
	e := *s.Experiment
	e.Targets = []experiment.Target{s.Experiment.Targets[a], s.Experiment.Targets[b]}
	e.Load.Replace = true // the data of the run before
	steps, _ := plan.StepsOf("run")
	sweep, err := plan.NewSweep(&e, s.Catalog, steps)
	if err != nil {
		return nil, nil, err
	}
	public, err := sweep.Public()
	return sweep, public, err
}

// Run returns the run that would compare two targets.
func (s *Series) Run(a, b int) (*plan.Sweep, error) {
	sweep, _, err := s.plan(a, b)
	return sweep, err
}

// pair returns the pair of two targets with the runs that the results have.
func (s *Series) pair(ctx context.Context, a, b int) (*Pair, error) {
	if i := slices.IndexFunc(s.pairs, func(p *Pair) bool { return p.A == a && p.B == b }); i >= 0 {
		return s.pairs[i], nil
	}
	_, public, err := s.plan(a, b)
	if err != nil {
		return nil, err
	}
	if s.summaries == nil {
		if s.summaries, err = s.Store.Runs(ctx); err != nil {
			return nil, err
		}
	}
	p := &Pair{A: a, B: b}
	names := []string{public.Targets[0].Name, public.Targets[1].Name}
	for _, known := range s.summaries { // newest first
		if known.Name != public.Name || known.Command != "run" || known.Imported || !slices.Equal(known.TargetNames(), names) {
			continue
		}
		run, err := s.Store.Run(ctx, known.ID)
		if err != nil {
			return nil, err
		}
		if !result.SameMachine(&run.Host, s.Host) || reproduce.Difference(public, run.Experiment, run) != "" {
			continue
		}
		switch {
		case run.Ended():
			p.Runs = append([]*result.Run{run}, p.Runs...)
		case p.Unfinished == nil && !s.Store.GoingOn(ctx, run.ID):
			p.Unfinished = run
		}
	}
	s.pairs = append(s.pairs, p)
	return p, nil
}

// Compare makes sure that two targets were compared by the given number of runs, unless one of them
// failed.
func (s *Series) Compare(ctx context.Context, a, b, runs int) (*Pair, error) {
	return s.compareUntil(ctx, a, b, func(p *Pair) bool { return len(p.Runs) >= runs })
}

// compareUntil compares two targets until their runs are enough, or one of them failed.
func (s *Series) compareUntil(ctx context.Context, a, b int, enough func(*Pair) bool) (*Pair, error) {
	p, err := s.pair(ctx, a, b)
	for err == nil && !enough(p) && !p.failed() {
		sweep, _, wrong := s.plan(a, b)
		if wrong != nil {
			return p, wrong
		}
		var run *result.Run
		if run, err = s.Execute(ctx, p, sweep); err == nil && !run.Ended() {
			err = fmt.Errorf("run %s did not end: %s", run.ID, run.Reason)
		}
		if err == nil {
			p.Runs, p.Unfinished = append(p.Runs, run), nil
		}
	}
	return p, err
}

// Walk compares each target with the last one before it that works.
func (s *Series) Walk(ctx context.Context) error {
	return s.walk(func(a, b int) (*Pair, error) { return s.Compare(ctx, a, b, 1) })
}

// Ahead returns the runs that Walk will execute if no further target fails.
func (s *Series) Ahead(ctx context.Context) (list []*plan.Sweep, err error) {
	err = s.walk(func(a, b int) (*Pair, error) {
		p, err := s.pair(ctx, a, b)
		if err != nil || len(p.Runs) > 0 {
			return p, err
		}
		sweep, _, err := s.plan(a, b)
		list = append(list, sweep)
		return p, err
	})
	return list, err
}

func (s *Series) walk(visit func(a, b int) (*Pair, error)) error {
	last := 0
	for next := 1; next < len(s.Experiment.Targets); next++ {
		p, err := visit(last, next)
		if err != nil {
			return err
		}
		if p.Failure(next) == "" {
			last = next // even if the one before failed: it may be the first
		}
	}
	return nil
}

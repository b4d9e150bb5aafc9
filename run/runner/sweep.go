package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/launch"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
)

// Work is the input of a Runner: the runs of an experiment, or the remaining ones.
type Work struct {
	Sweep   *plan.Sweep
	Command string   // recorded in new runs
	Args    []string // likewise, the command line
	// Record is the sweep if it was begun, and Runs are the runs that were begun; nil: none.
	Record *result.Sweep
	Runs   []*result.Run
	// Done is called with each run of a sweep as it ends; nil: not called.
	Done func(*result.Run) error
}

// Execute executes the runs of an experiment: one, or one for each point of a sweep. It continues
// the incomplete runs that were begun, and begins the others. It returns the record of the sweep,
// nil for a single run, and all runs in the order of their points.
//
// Errors of a single target, such as a server that fails, are in its run. The returned error is for
// failures that end everything: ctx's end, plan.ErrInput, or a store that does not work. A sweep
// skips a point that cannot begin, and the error of the first such point is returned at the end. A run
// without results that ended with plan.ErrInput or an UnreachedError is not stored, nor is a sweep
// without runs. All started servers have ended.
//
// No secret of the plans is stored, shown or returned.
func (r *Runner) Execute(ctx context.Context, w Work) (*result.Sweep, []*result.Run, error) {
	s := &sweeping{runner: r, work: w, runs: slices.Clone(w.Runs)}
	err := s.begin(ctx)
	for i := 0; i < len(w.Sweep.Plans) && err == nil; i++ {
		var run *result.Run
		x, failure := s.next(ctx, i)
		switch {
		case x != nil:
			run, failure = x.execute(ctx)
		case failure == nil:
			continue // it is complete
		}
		err = s.put(ctx, i, run, failure)
	}
	return s.end(ctx, err)
}

// sweeping is the work of a Runner in progress.
type sweeping struct {
	runner    *Runner
	work      Work // with the record of a sweep once it was begun
	runs      []*result.Run
	servers   *launch.Pool // started for this sweep only; nil: none
	unreached error        // error of the first point that could not begin
	unlock    func()       // allows other processes to use the sweep; nil: a single run, or not locked
}

func (s *sweeping) single() bool { return s.work.Sweep.Single() != nil }

// begin stores a new sweep and locks it. A single run needs neither.
func (s *sweeping) begin(ctx context.Context) (err error) {
	if s.single() {
		return nil
	}
	if s.work.Record == nil {
		if err := s.store(ctx); err != nil {
			return err
		}
	}
	if s.unlock, err = s.runner.lock(ctx, "sweep", s.work.Record.ID); err != nil {
		s.runs = nil
		return err
	}
	if err := s.runner.waitForOrphans(ctx, s.runs...); err != nil { // they may be loading the tables of another point
		return err
	}
	if s.runner.Servers == nil {
		s.servers = launch.NewPool(filepath.Join(s.runner.Dir, s.work.Record.ID))
		withServers := *s.runner
		withServers.Servers = s.servers
		s.runner = &withServers
	}
	return nil
}

func (s *sweeping) store(ctx context.Context) error {
	p := s.work.Sweep
	yaml, err := p.YAML()
	if err != nil {
		return err
	}
	begun := &result.Sweep{
		Name: p.Experiment.Name, Command: s.work.Command, Args: p.Secrets.Args(s.work.Args), Experiment: string(yaml), Started: time.Now().UTC(), Points: len(p.Plans),
	}
	if err := (record.GuardedStore{Store: s.runner.Store, Secrets: p.Secrets}).BeginSweep(ctx, begun); err != nil {
		return err
	}
	s.work.Record = begun
	return nil
}

// next returns the run of a plan, ready for execution; nil: it is complete.
func (s *sweeping) next(ctx context.Context, i int) (*execution, error) {
	p := s.work.Sweep.Plans[i]
	if s.single() {
		if len(s.runs) == 0 {
			return s.runner.begin(ctx, p, s.work.Command, s.work.Args)
		}
		return s.runner.reopen(ctx, p, s.runs[0], s.runs[0])
	}
	at := s.index(i)
	if at >= 0 && s.runs[at].Status == result.Complete {
		return nil, nil
	}
	place := result.Place{Sweep: s.work.Record.ID, Point: i + 1, Points: len(s.work.Sweep.Plans), Parameters: slices.Clone(s.work.Sweep.Points()[i].Parameters)}
	p.Place, p.Earlier = place, runIDs(s.runs)
	s.runner.Display.Start(fmt.Sprintf("point %d of %d", place.Point, place.Points), "", 0).Finish(place.Parameters.String())
	if at < 0 {
		return s.runner.begin(ctx, p, s.work.Record.Command, s.work.Record.Args)
	}
	if run := s.runs[at]; !slices.Equal(run.Parameters, place.Parameters) {
		return nil, fmt.Errorf("%w: the run that was begun, %s, has %s; run the sweep again from the start", plan.ErrInput, run.ID, run.Parameters)
	}
	return s.runner.reopen(ctx, p, s.runs[at])
}

// index returns the index of a point's run among the runs; -1: not begun yet.
func (s *sweeping) index(i int) int {
	return slices.IndexFunc(s.runs, func(run *result.Run) bool { return run.Point == i+1 })
}

// put adds a run that has ended, and returns an error that ends everything.
func (s *sweeping) put(ctx context.Context, i int, run *result.Run, err error) error {
	p := s.work.Sweep.Plans[i]
	err = p.Secrets.Error(err)
	if s.single() {
		if s.runs = nil; run != nil {
			s.runs = []*result.Run{run}
		}
		return err
	}
	if run != nil {
		if at := s.index(i); at >= 0 {
			s.runs[at] = run
		} else { // a later point may have been begun already
			s.runs = append(s.runs, run)
			slices.SortStableFunc(s.runs, func(a, b *result.Run) int { return cmp.Compare(a.Point, b.Point) })
		}
		if s.work.Done != nil {
			err = errors.Join(err, s.work.Done(run))
		}
	}
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		return nil
	}
	err = fmt.Errorf("point %d of %d, %s: %w", p.Place.Point, p.Place.Points, p.Place.Parameters, err)
	if nobody := (*UnreachedError)(nil); errors.As(err, &nobody) {
		s.unreached = cmp.Or(s.unreached, err)
		return nil
	}
	return err
}

// end stops the servers of a sweep, and discards the sweep if it has no stored run.
func (s *sweeping) end(ctx context.Context, err error) (*result.Sweep, []*result.Run, error) {
	err = cmp.Or(err, s.unreached)
	if s.unlock == nil {
		return s.work.Record, s.runs, err
	}
	defer s.unlock()
	if err != nil && len(s.runs) == 0 {
		err = record.JoinStoreError(err, record.Outlast(ctx, func(ctx context.Context) error { return s.runner.Store.DiscardSweep(ctx, s.work.Record.ID) }))
	}
	if s.servers != nil {
		stopped := s.servers.Stop(context.WithoutCancel(ctx))
		if len(s.runs) == 0 {
			launch.RemoveFolders(s.servers.Servers)
		}
		err = cmp.Or(err, stopped)
	}
	return s.work.Record, s.runs, err
}

func runIDs(runs []*result.Run) []string {
	list := make([]string, len(runs))
	for i, run := range runs {
		list[i] = run.ID
	}
	return list
}

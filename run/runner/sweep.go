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

// BeginSweep stores that a sweep begins.
func (r *Runner) BeginSweep(ctx context.Context, s *plan.Sweep, command string, args []string) (*result.Sweep, error) {
	yaml, err := s.YAML()
	if err != nil {
		return nil, err
	}
	begun := &result.Sweep{
		Name: s.Experiment.Name, Command: command, Args: s.Secrets.Args(args), Experiment: string(yaml), Started: time.Now().UTC(), Points: len(s.Plans),
	}
	return begun, record.GuardedStore{Store: r.Store, Secrets: s.Secrets}.BeginSweep(ctx, begun)
}

// RunSweep executes the points of a sweep that runs, which belong to it, have
// not completed: it goes on with those that were begun, and begins the others.
// done is called with each as it ends. It returns all runs in the order of
// their points. A target that fails ends its run and not the sweep, and
// a point none of whose targets can be reached is passed over, until the error of the
// first one is returned; what ends all of it is as for Run. A sweep of which there is no run is not kept. The servers
// that were started for the sweep have ended when it returns.
func (r *Runner) RunSweep(ctx context.Context, s *plan.Sweep, begun *result.Sweep, runs []*result.Run, done func(*result.Run) error) (all []*result.Run, err error) {
	unlock, err := r.lock(ctx, "sweep", begun.ID)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := r.waitForOrphans(ctx, runs...); err != nil { // which may load what another point loads
		return runs, err
	}
	if r.Servers == nil {
		own := launch.NewPool(filepath.Join(r.Dir, begun.ID))
		defer func() {
			stopped := own.Stop(context.WithoutCancel(ctx))
			if len(all) == 0 {
				launch.RemoveFolders(own.Servers)
			}
			if err == nil {
				err = stopped
			}
		}()
		withOwn := *r
		withOwn.Servers = own
		r = &withOwn
	}
	kept := slices.Clone(runs)
	var unreached error // of the first point none of whose targets could be reached
	for i, p := range s.Plans {
		place := result.Place{Sweep: begun.ID, Point: i + 1, Points: len(s.Plans), Parameters: slices.Clone(s.Points()[i].Parameters)}
		at := slices.IndexFunc(kept, func(run *result.Run) bool { return run.Point == place.Point })
		if at >= 0 && kept[at].Status == result.Complete {
			continue
		}
		p.Place, p.Earlier = place, runIDs(kept)
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
			return kept, r.forgetEmpty(ctx, begun, kept, err)
		}
		unreached = cmp.Or(unreached, err)
	}
	if unreached != nil {
		return kept, r.forgetEmpty(ctx, begun, kept, unreached)
	}
	return kept, nil
}

// point executes a point, whose run is at that position of runs; -1: it has
// none yet.
func (r *Runner) point(ctx context.Context, p *plan.Plan, begun *result.Sweep, runs []*result.Run, at int) (*result.Run, error) {
	if at < 0 {
		return r.Run(ctx, p, begun.Command, begun.Args)
	}
	if !slices.Equal(runs[at].Parameters, p.Place.Parameters) {
		return nil, fmt.Errorf("%w: the run that was begun, %s, has %s; run the sweep again from the start", plan.ErrInput, runs[at].ID, runs[at].Parameters)
	}
	run, err := r.resume(ctx, p, runs[at])
	return run, p.Secrets.Error(err)
}

// forgetEmpty forgets a sweep that ended before any run of it was kept.
func (r *Runner) forgetEmpty(ctx context.Context, begun *result.Sweep, kept []*result.Run, err error) error {
	if len(kept) > 0 {
		return err
	}
	return record.JoinStoreError(err, record.Outlast(ctx, func(ctx context.Context) error { return r.Store.DiscardSweep(ctx, begun.ID) }))
}

func runIDs(runs []*result.Run) []string {
	list := make([]string, len(runs))
	for i, run := range runs {
		list[i] = run.ID
	}
	return list
}

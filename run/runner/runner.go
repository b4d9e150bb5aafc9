// Package runner executes plans: it runs the stages in order, and stores the measurements of each
// as soon as it is finished.
//
// The path from tsmark run to the query of a database has ten functions:
//
//	run.(*Executor).runCommand   reads the flags (cli/run)
//	run.(*Executor).execute      plans the experiment, and reports it in the end
//	runner.(*Runner).Execute     takes run by run
//	runner.(*execution).execute  takes job by job: load, check, query or compare a target
//	stage.(*Querier).Query       takes query type by query type
//	stage.(*Querier).measure     measures a type, again if other processes disturbed it
//	engine.Query                 is a closed loop
//	engine.(*loop).run           connects the workers
//	engine.(*worker).query       runs and records a query
//	engine.(*clock).run          calls q.Do and times it
//
// TestPathToQuery in package cli checks this list against the code.
package runner

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/monitor"
	"github.com/tsmark/tsmark/monitor/process"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/launch"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/run/shared"
	"github.com/tsmark/tsmark/session"
)

// Runner executes plans.
type Runner struct {
	Store    record.Store
	Dir      string // results folder; each run has a folder of its own in it
	Display  record.Display
	Observer record.Observer   // nil: none
	Loaded   func(*result.Run) // called with the run after each load; nil: not called
	Tool     result.Tool
	Host     result.Host
	Modules  func(paths []string) []result.Module // versions of linked modules; nil: unknown
	Force    session.Confirm                      // confirms dropping data that tsmark did not create; nil: nothing may be dropped
	Input    io.Reader                            // standard input, for an experiment that reads rows from it
	Expected string                               // how long the work takes, displayed once its first job has begun; empty: unknown
	// Reach returns the largest distance of the interval's ends from the median of a query type on a
	// target, as a share of it; infinite: unknown. Budgets of queries depend on it. Nil: always unknown.
	Reach func(run *result.Run, t *result.Target, queryType string) float64
	// Agents execute shares of all phases; nil: this process executes them alone.
	Agents shared.Agents
	// Children records the running servers that a run started, for a caller that must stop at once;
	// nil: not recorded.
	Children *process.Children
	// Servers are the servers of targets with experiment.ForSweep, which the caller stops; nil: each
	// sweep has its own.
	Servers *launch.Pool
	// StopOnFailure ends a run once one of its targets has failed: nothing is left to compare.
	StopOnFailure bool
	// Profile reports whether a query type gets a CPU profile of each server that offers one. It is
	// called once all rounds of a target were measured. Nil: no type does.
	Profile func(run *result.Run, queryType string) bool
	// DropData removes the data of the servers that a run started, once it is stored. A resumed run
	// loads them again.
	DropData bool
}

// begin stores a new run, and returns it ready for execution.
func (r *Runner) begin(ctx context.Context, p *plan.Plan, command string, args []string) (*execution, error) {
	yaml, err := p.YAML()
	if err != nil {
		return nil, err
	}
	x, err := newExecution(r, p)
	if err != nil {
		return nil, err
	}
	x.isNew = true
	x.record.Doc = result.Run{
		Name: p.Experiment.Name, Command: command, Args: p.Secrets.Args(slices.Clone(args)), Experiment: string(yaml), Notes: slices.Clone(p.Experiment.Notes),
		Started: time.Now().UTC(), Tool: r.Tool, Host: r.Host, Place: p.Place,
	}
	if budget := p.Experiment.Queries.Time; budget > 0 && p.Steps.Query {
		x.record.Doc.Budget = &result.Budget{Seconds: budget.Seconds(), Fixed: p.Experiment.QueryRepeats()}
	}
	if err := x.prepare(ctx); err != nil {
		return nil, err
	}
	if err := x.record.Store.Begin(ctx, &x.record.Doc); err != nil {
		return nil, err
	}
	if x.unlock, err = r.lock(ctx, "run", x.record.Doc.ID); err != nil {
		return nil, x.discard(ctx, err)
	}
	x.start(ctx)
	if x.record.Doc.OtherDatabases, err = monitor.OtherDatabases(ctx, 0, os.Getpid()); err != nil {
		x.record.Doc.OtherDatabases = nil // if processes cannot be listed, no old entry remains
	}
	return x, nil
}

// reopen returns a run that was begun, ready to be continued. It waits for the agents of killed
// runs.
func (r *Runner) reopen(ctx context.Context, p *plan.Plan, run *result.Run, killed ...*result.Run) (x *execution, err error) {
	if x, err = newExecution(r, p); err != nil {
		return nil, err
	}
	x.record.Doc = *run
	if err := x.prepare(ctx); err != nil {
		return nil, err
	}
	if x.unlock, err = r.lock(ctx, "run", x.record.Doc.ID); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			x.unlock()
		}
	}()
	if err := r.waitForOrphans(ctx, killed...); err != nil {
		return nil, err
	}
	if err := x.record.Answers().RemoveUnfinished(); err != nil {
		return nil, fmt.Errorf("%w: removing unfinished files of the run: %w", plan.ErrInput, err)
	}
	// If it is killed again, it was running, regardless of how it ended before.
	x.record.Doc.Status, x.record.Doc.Reason = result.Running, ""
	if err := x.record.Store.Save(ctx, &x.record.Doc); err != nil {
		return nil, err
	}
	x.start(ctx)
	return x, nil
}

// UnreachedError says why a run could not begin: targets could not be reached, refused the user, or
// cannot take the load. It has measured nothing, and is not stored.
type UnreachedError struct {
	failures []string // of each target that failed
}

func (e *UnreachedError) Error() string { return strings.Join(e.failures, "\n") }

// unreachedTargets returns an UnreachedError if targets failed before they were loaded or queried, and
// nothing was measured. A run that started the server of such a target is stored, because its log
// explains the failure.
func (x *execution) unreachedTargets() error {
	if x.hasResults() {
		return nil
	}
	var failures []string
	for i := range x.record.Doc.Targets {
		switch t := &x.record.Doc.Targets[i]; {
		case t.Failure == "":
		case !x.unopened[t.Name] || x.plan.Targets[i].Start != "":
			return nil
		default:
			failures = append(failures, fmt.Sprintf("target %s failed: %s", t.Name, printable.OneLine(t.Failure)))
		}
	}
	if failures == nil {
		return nil
	}
	return &UnreachedError{failures}
}

// start starts observing resources and logging operations of a run that has its ID.
func (x *execution) start(ctx context.Context) {
	x.watch.Start(ctx, x.record.Doc.Started, x.record.Dir)
	x.record.Log.Dir, x.record.Log.Header = filepath.Join(x.record.Dir, x.record.Doc.ID), oplog.Header{Run: x.record.Doc.ID, Tool: x.record.Tool.Version}
	x.team.Enlist(false)
	if x.record.Observer == nil {
		return
	}
	x.record.Log.Observer = x.record.Observer
	b := record.Beginning{ID: x.record.Doc.ID, Name: x.record.Doc.Name, Command: x.record.Doc.Command, Workload: x.record.Doc.Dataset.Spec.Name, Started: x.record.Doc.Started, Resources: x.watch.Sampler.Last}
	for i := range x.plan.Targets {
		b.Targets = append(b.Targets, x.plan.Targets[i].Name)
	}
	x.record.Observer.Begin(b)
}

// lock locks the run or sweep against other processes that would resume it. Errors call it by the
// argument what.
func (r *Runner) lock(ctx context.Context, what, id string) (unlock func(), err error) {
	dir := filepath.Join(r.Dir, id)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("%w: making the %s's folder: %w", plan.ErrInput, what, err)
	}
	release, err := r.Store.Lock(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("%w: %s %w", plan.ErrInput, what, err)
	}
	return func() {
		release()
		_ = os.Remove(dir) // fails if the run left files in it, which is intended
	}, nil
}

// finish stores the outcome of the run.
func (x *execution) finish(ctx context.Context, err error) (*result.Run, error) {
	x.record.Doc.Resources = append(x.record.Doc.Resources, x.watch.Sampler.Stop()...) // a resumed run keeps its earlier readings
	lost, closed := x.record.Log.Close()
	x.record.Doc.LostOperations += lost
	if err == nil {
		err = closed
	}
	x.team.Enlist(true)
	x.record.Doc.Finished = time.Now().UTC()
	x.record.Doc.Reason = ""
	switch {
	case ctx.Err() != nil:
		x.record.Doc.Status, x.record.Doc.Reason = result.Incomplete, "interrupted"
	case err != nil:
		x.record.Doc.Status, x.record.Doc.Reason = result.Incomplete, err.Error()
	case x.record.Doc.FailedTarget() != "":
		x.record.Doc.Status, x.record.Doc.Reason = result.Incomplete, x.record.Doc.FailedTarget()
	default:
		x.record.Doc.Status = result.Complete
		// A kill between storing a verdict and dropping the answers leaves the answers behind. They
		// are removed before the run is stored as complete, because nothing resumes it then.
		if left := os.RemoveAll(string(x.record.Answers())); left != nil {
			err = fmt.Errorf("removing answers that were compared: %w", left)
		}
	}
	// An interrupted run is stored too, and says that it was interrupted.
	if saveErr := record.Outlast(ctx, func(ctx context.Context) error { return x.record.Store.Save(ctx, &x.record.Doc) }); saveErr != nil {
		err = record.JoinStoreError(err, &NotStoredError{x.record.Doc.ID, saveErr})
	}
	pooled, poolErr := x.record.Doc.Pool()
	if poolErr != nil {
		return &x.record.Doc, cmp.Or(err, poolErr)
	}
	return pooled, err
}

// NotStoredError says that the final state of a run could not be stored: the store has at most the
// phases that were stored one by one.
type NotStoredError struct {
	Run   string // its ID
	cause error
}

func (e *NotStoredError) Error() string { return e.cause.Error() }

func (e *NotStoredError) Unwrap() error { return e.cause }

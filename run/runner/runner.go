package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/internal/printable"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/monitor"
	"github.com/tsmark/tsmark/monitor/process"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/session"
	"github.com/tsmark/tsmark/workload/ingest"
)

// Store keeps a run piece by piece.
type Store interface {
	// Begin keeps a run that begins, and gives it its ID.
	Begin(context.Context, *result.Run) error
	// Append keeps a piece of a run, which has it already, as soon as it is
	// finished.
	Append(context.Context, *result.Run, *result.Piece) error
	// Save keeps the run as it is now, in the place of all that was kept of it.
	Save(context.Context, *result.Run) error
	// Discard removes a run.
	Discard(ctx context.Context, runID string) error
	BeginSweep(context.Context, *result.Sweep) error
	// DiscardSweep removes a sweep without runs.
	DiscardSweep(ctx context.Context, id string) error
	// Loaded returns the ids of the runs that loaded a target of the name and
	// kind, newest first.
	Loaded(ctx context.Context, target, kind string) ([]string, error)
	// Lock keeps every other process from the run or sweep until unlock; its error
	// wraps ErrInput where one is at it.
	Lock(ctx context.Context, id string) (unlock func(), err error)
}

// Display shows what is going on.
type Display interface {
	// Start begins to show a piece of work of the given total, 0 where it is
	// not known, counted in the unit.
	Start(label, unit string, total int64) Task
	// Overall shows that a step of the run begins; the zero value that the run
	// has ended.
	Overall(Overall)
}

// Task is a piece of work that is shown. Add may be called from several
// goroutines at once.
type Task interface {
	Add(n int64)
	Finish(note string) // it ended well; the note says what came of it
	Fail(note string)   // it ended otherwise; without a note nothing is shown
}

// Overall is how far a whole run is.
type Overall struct {
	Step, Steps int           // the cell at hand, from 1, of all; 0: there is no run
	Expected    time.Duration // about what the cell at hand takes in all; 0: not known
	Rest        time.Duration // about what the cells behind it take
	More        bool          // of some of those nobody knows it
}

// Observer sees runs while they go on. It holds nothing up: what it is given comes
// from goroutines that others wait for.
type Observer interface {
	// Begin says that a run begins, or goes on. What a run saw before is over.
	Begin(Beginning)
	// Opened says what answers for a target, as soon as that is known.
	Opened(*result.Target)
	// Operations shows operations of a cell soon after they ended, whose times count
	// from the start of their log. It keeps nothing of ops.
	Operations(start time.Time, c oplog.Cell, ops []oplog.Op)
}

// Beginning is what an observer is told of a run that begins.
type Beginning struct {
	ID, Name, Command string
	Workload          string // empty: what the targets hold, which is not known yet
	Targets           []string
	Started           time.Time // where its time line begins, which of one that goes on is long ago
	// Resources returns the last readings of each source, so many at most, which has no
	// total. It may be called at any time, also when the run has ended.
	Resources func(readings int) []result.Resources
}

// Runner executes plans.
type Runner struct {
	Store    Store
	Dir      string // results folder; each run has a folder of its own in it
	Display  Display
	Observer Observer // nil: nobody looks
	Tool     result.Tool
	Host     result.Host
	Modules  func(paths []string) []result.Module // versions of linked modules; nil: not known
	Force    session.Confirm                      // what may be dropped of data that tsmark did not create; nil: nothing
	Input    io.Reader                            // standard input, for an experiment whose rows come from there
	// Agents do all phases, a share each; nil: this process does them alone.
	Agents Agents
	// Children lists the servers that a run started and that run, for who must
	// end at once; nil: nobody does.
	Children *process.Children
	// Standing are servers of targets with experiment.ForSweep, which whoever made them
	// stops; nil: each sweep has its own.
	Standing *Standing
}

// ErrInput is wrapped by errors about what the user gave that only show once
// a target is open: the database holds something else, or nothing.
var ErrInput = errors.New("cannot go on")

// badInput wraps an error in ErrInput, unless it is one already: it is said once.
func badInput(err error) error {
	if errors.Is(err, ErrInput) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrInput, err)
}

// Run executes a plan and returns the run as it was stored. What
// concerns one target, such as a server that fails, is in the run; the
// error is for what ends all of it: ctx's end, ErrInput, or a store that does
// not work. Of a run that ErrInput ended before anything was measured, or none of
// whose targets could be reached (an UnreachedError), nothing is kept. args is the command line, for the record.
//
// Secrets of the plan are in none of what is stored, shown or returned.
func (r *Runner) Run(ctx context.Context, p *Plan, command string, args []string) (*result.Run, error) {
	run, err := r.begin(ctx, p, command, slices.Clone(args))
	return run, p.secrets.Error(err)
}

func (r *Runner) begin(ctx context.Context, p *Plan, command string, args []string) (*result.Run, error) {
	yaml, err := p.YAML()
	if err != nil {
		return nil, err
	}
	if r.Agents != nil {
		if err := p.CheckAgents(len(r.Agents.Members())); err != nil {
			return nil, err
		}
	}
	x := newExecution(r, p)
	x.record.doc = result.Run{
		Name: p.experiment.Name, Command: command, Args: p.secrets.Args(args), Experiment: string(yaml), Notes: slices.Clone(p.experiment.Notes),
		Started: time.Now().UTC(), Tool: r.Tool, Host: r.Host, Place: p.place,
	}
	if err := x.look(ctx); err != nil {
		return nil, err
	}
	if err := r.Store.Begin(ctx, &x.record.doc); err != nil {
		return nil, err
	}
	unlock, err := r.lock(ctx, "run", x.record.doc.ID)
	if err != nil {
		return nil, err
	}
	defer unlock()
	x.start(ctx)
	if x.record.doc.OtherDatabases, err = monitor.OtherDatabases(ctx, 0, os.Getpid()); err != nil {
		x.record.doc.OtherDatabases = nil // where processes cannot be listed, nobody is named
	}
	err = x.execute(ctx)
	if err == nil && ctx.Err() == nil {
		err = x.unreachedTargets()
	}
	nobody := (*UnreachedError)(nil)
	if (errors.Is(err, ErrInput) || errors.As(err, &nobody)) && ctx.Err() == nil && !x.measured() {
		x.record.operations.discard()
		discard(x.servers.of)
		return nil, both(err, outlast(ctx, func(ctx context.Context) error { return r.Store.Discard(ctx, x.record.doc.ID) }))
	}
	return x.finish(ctx, err)
}

// UnreachedError says of a run that none of its targets could be reached, and that so
// nothing was measured: of such a run nothing is kept.
type UnreachedError struct {
	failures []string // of each target
}

func (e *UnreachedError) Error() string { return strings.Join(e.failures, "\n") }

// unreachedTargets returns an UnreachedError where no target could be reached before
// anything was measured. A run that started servers is kept, since their logs say why.
func (x *execution) unreachedTargets() error {
	if x.measured() {
		return nil
	}
	var failures []string
	for i := range x.record.doc.Targets {
		if !x.unreached[x.record.doc.Targets[i].Name] || x.plan.targets[i].start != "" {
			return nil
		}
		failures = append(failures, fmt.Sprintf("target %s failed: %s", x.record.doc.Targets[i].Name, printable.OneLine(x.record.doc.Targets[i].Failure)))
	}
	return &UnreachedError{failures}
}

// Resume goes on with a run that was interrupted or killed, at the first piece
// that it has not finished. The plan is that of the run's experiment. What is
// finished stays as it is and is not done again; a load that was not finished
// begins anew.
func (r *Runner) Resume(ctx context.Context, p *Plan, run *result.Run) (*result.Run, error) {
	resumed, err := r.resume(ctx, p, run, run)
	return resumed, p.secrets.Error(err)
}

// resume is Resume, which waits for the orphans of some runs.
func (r *Runner) resume(ctx context.Context, p *Plan, run *result.Run, killed ...*result.Run) (*result.Run, error) {
	if r.Agents != nil {
		if err := p.CheckAgents(len(r.Agents.Members())); err != nil {
			return nil, err
		}
	}
	x := newExecution(r, p)
	x.record.doc = *run
	if err := x.look(ctx); err != nil {
		return nil, err
	}
	unlock, err := r.lock(ctx, "run", x.record.doc.ID)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := r.orphans(ctx, killed...); err != nil {
		return nil, err
	}
	if err := x.record.taken().sweep(); err != nil {
		return nil, fmt.Errorf("%w: removing unfinished files of the run: %w", ErrInput, err)
	}
	// Killed once more, it was running, whatever had ended it before.
	x.record.doc.Status, x.record.doc.Reason = result.Running, ""
	if err := x.record.store.Save(ctx, &x.record.doc); err != nil {
		return nil, err
	}
	x.start(ctx)
	return x.finish(ctx, x.execute(ctx))
}

// start begins to watch, and to log what is measured, of a run that has its id.
func (x *execution) start(ctx context.Context) {
	x.watch.begin(ctx, x.record.doc.Started, x.record.dir)
	x.record.operations.dir, x.record.operations.of = filepath.Join(x.record.dir, x.record.doc.ID), oplog.Header{Run: x.record.doc.ID, Tool: x.record.tool.Version}
	x.team.enlistAgents(false)
	if x.record.observer == nil {
		return
	}
	x.record.operations.observer = x.record.observer
	b := Beginning{ID: x.record.doc.ID, Name: x.record.doc.Name, Command: x.record.doc.Command, Workload: x.record.doc.Dataset.Spec.Name, Started: x.record.doc.Started, Resources: x.watch.sampler.Last}
	for i := range x.plan.targets {
		b.Targets = append(b.Targets, x.plan.targets[i].name)
	}
	x.record.observer.Begin(b)
}

// lock keeps other processes from resuming the run or sweep, which is what it
// is called in errors, while this one is at it.
func (r *Runner) lock(ctx context.Context, what, id string) (unlock func(), err error) {
	dir := filepath.Join(r.Dir, id)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("%w: making the %s's folder: %w", ErrInput, what, err)
	}
	release, err := r.Store.Lock(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("%w: %s %w", ErrInput, what, err)
	}
	return func() {
		release()
		_ = os.Remove(dir) // fails, and stays, where the run left something in it
	}, nil
}

// finish stores how the run ended.
func (x *execution) finish(ctx context.Context, err error) (*result.Run, error) {
	x.record.doc.Resources = append(x.record.doc.Resources, x.watch.sampler.Stop()...) // of a run that was resumed the earlier part stays
	lost, closed := x.record.operations.close()
	x.record.doc.LostOperations += lost
	if err == nil {
		err = closed
	}
	x.team.enlistAgents(true)
	x.record.doc.Finished = time.Now().UTC()
	x.record.doc.Reason = ""
	switch {
	case ctx.Err() != nil:
		x.record.doc.Status, x.record.doc.Reason = result.Incomplete, "interrupted"
	case err != nil:
		x.record.doc.Status, x.record.doc.Reason = result.Incomplete, err.Error()
	case x.record.doc.FailedTarget() != "":
		x.record.doc.Status, x.record.doc.Reason = result.Incomplete, x.record.doc.FailedTarget()
	default:
		x.record.doc.Status = result.Complete
		// A kill between storing a verdict and dropping the answers leaves them. They go before
		// the run is stored as complete: nothing resumes it then.
		if left := os.RemoveAll(string(x.record.taken())); left != nil {
			err = fmt.Errorf("removing answers that were compared: %w", left)
		}
	}
	// An interrupted run is stored all the same, and says that it was.
	if saveErr := outlast(ctx, func(ctx context.Context) error { return x.record.store.Save(ctx, &x.record.doc) }); saveErr != nil {
		err = both(err, &NotStoredError{x.record.doc.ID, saveErr})
	}
	pooled, poolErr := x.record.doc.Pool()
	if poolErr != nil {
		return &x.record.doc, cmp.Or(err, poolErr)
	}
	return pooled, err
}

// NotStoredError says that a run could not be stored as it ended: the store has at most those
// of its phases that were stored one by one.
type NotStoredError struct {
	Run   string // its ID
	cause error
}

func (e *NotStoredError) Error() string { return e.cause.Error() }
func (e *NotStoredError) Unwrap() error { return e.cause }

// both is an error, on one line, and what then happened to storing it.
func both(err, stored error) error {
	if err == nil || stored == nil {
		return errors.Join(err, stored)
	}
	return fmt.Errorf("%w (and it could not be stored: %w)", err, stored)
}

// errStore is wrapped where a result could not be stored, which is no fault of
// the target's and ends the run.
var errStore = errors.New("results cannot be stored")

// outlast stores something also when ctx has ended: in the time that limit.Grace says, so
// that nobody waits for results that do not answer.
func outlast(ctx context.Context, store func(context.Context) error) error {
	longer, end := limit.Outlive(ctx)
	defer end()
	return store(longer)
}

// stored returns the error of a store, marked as one.
func stored(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", errStore, err)
}

// fail ends a task that an error ended. The error is told where the run ends, and not
// here too: of one that ends the whole run that is at once.
func fail(ctx context.Context, task Task, err error) {
	switch {
	case ctx.Err() != nil:
		task.Fail(reason(ctx, err))
	case endsRun(err):
		task.Fail("")
	default:
		task.Fail(leftOut)
	}
}

// leftOut is what is said of a target when it fails.
const leftOut = "the target takes no further part"

// endsRun reports whether an error is about what the user gave, the results or
// the host, and not about one target.
func endsRun(err error) bool {
	var beyond *driver.NotHeldError
	return errors.Is(err, ErrInput) || errors.Is(err, ingest.ErrSource) || errors.As(err, &beyond) || errors.Is(err, driver.ErrExisting) ||
		errors.Is(err, errStore) || errors.Is(err, ErrNotQuiet) || errors.Is(err, ErrNoAgents)
}

// reason is an error as a line for people.
func reason(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return "interrupted"
	}
	return err.Error()
}

package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/tsmark/tsmark/experiment"
	"github.com/tsmark/tsmark/ingest"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/target"
	"github.com/tsmark/tsmark/workload"
)

// execution is one run on its way.
type execution struct {
	*Runner
	plan  *Plan
	steps Steps
	run   result.Run

	spec      workload.Spec
	dataset   workload.Dataset
	owner     func(*series.Batch) int // the writer of a batch; nil: whoever is free
	viewed    [views]viewed
	questions []questions
	expected  *oracle.Expectations // once the dataset has been passed over
	file      *ingest.Source       // where the rows come from; nil: they are generated
	parsed    *ingest.Dataset      // the file's rows, once a target needed them
	*observer
	operations operations
	servers    servers
}

func newExecution(r *Runner, p *Plan) *execution {
	guarded := *r
	guarded.Store, guarded.Display = guardedStore{r.Store, p.secrets}, guardedDisplay{r.Display, p.secrets}
	return &execution{Runner: &guarded, plan: p, steps: p.steps, servers: make(servers)}
}

// look finds out what can be known before anything is stored or loaded, such
// as questions that are impossible.
func (x *execution) look() error {
	if !x.steps.Load {
		return nil
	}
	if err := x.openFile(); err != nil {
		return err
	}
	if x.unknown() {
		return nil
	}
	spec := x.plan.experiment.Workload
	spec.Limit = x.plan.experiment.Load.Limit
	return x.prepare(spec)
}

// prepare fixes the dataset and draws the queries.
func (x *execution) prepare(spec workload.Spec) error {
	w, types, err := x.plan.dataset(spec)
	if err != nil {
		return err
	}
	if x.questions, err = x.plan.draw(w, types, spec, x.plan.experiment.Queries.PerType()); err != nil {
		return err
	}
	x.run.Questions = nil
	for _, q := range x.questions {
		x.run.Questions = append(x.run.Questions, q.record)
	}
	d, err := w.Dataset(spec)
	if err != nil {
		return x.plan.specProblem(err)
	}
	if spec.Limit >= spec.RowsAtMost(len(d.Schema().Tables)) {
		spec.Limit = 0 // all of it: the same dataset as without a limit
	}
	x.spec = spec
	if d, err = x.deal(d); err != nil {
		return err
	}
	x.dataset = d
	if spec.Limit > 0 {
		x.dataset = workload.Limited(d, spec.Limit)
	}
	if err := x.setViews(spec, latestOf(d)); err != nil {
		return err
	}
	known := &x.run.Dataset
	known.Spec, known.Fingerprint, known.Series = spec, spec.Fingerprint(), d.Schema().Series
	return nil
}

// deal has each of several writers write series of its own, where the dataset
// knows how and its rows are generated.
func (x *execution) deal(d workload.Dataset) (workload.Dataset, error) {
	load := &x.plan.experiment.Load
	dealt, ok := d.(workload.Dealt)
	if !ok || !x.steps.Load || load.Workers < 2 || x.file != nil {
		return d, nil
	}
	d, err := dealt.Deal(load.Workers, load.BatchSize)
	if err != nil {
		return nil, x.plan.experiment.Problem("load.workers", "%v", err)
	}
	x.owner = func(b *series.Batch) int { return dealt.Client(b.Runs[0].Series[0], load.Workers) }
	return d, nil
}

// measured reports whether the run has any result.
func (x *execution) measured() bool {
	for i := range x.run.Targets {
		for _, r := range x.run.Targets[i].Repeats {
			if r.Load != nil || len(r.Queries) > 0 {
				return true
			}
		}
	}
	return false
}

// failed says which targets gave up.
func (x *execution) failed() string {
	for i := range x.run.Targets {
		if t := &x.run.Targets[i]; t.Failure != "" {
			return fmt.Sprintf("target %s: %s", t.Name, t.Failure)
		}
	}
	return ""
}

// execute works off the cells that are not done yet. A target that gives up
// takes no further part. The servers that it started have ended when it
// returns.
func (x *execution) execute(ctx context.Context) (err error) {
	defer func() {
		if stopped := x.servers.stop(context.WithoutCancel(ctx)); err == nil {
			err = stopped
		}
	}()
	for i := range x.run.Targets {
		x.run.Targets[i].Failure = "" // of the time before it was resumed
	}
	for _, c := range x.plan.order() {
		if x.done(c) || c.target < len(x.run.Targets) && x.run.Targets[c.target].Failure != "" {
			continue
		}
		planned := &x.plan.targets[c.target]
		if c.target == len(x.run.Targets) {
			x.run.Targets = append(x.run.Targets, result.Target{
				Name: planned.name, Kind: planned.kind.Name, Embedded: planned.kind.Caps.Embedded,
				Options: planned.shown, Changes: planned.changes, Profile: planned.profile, Durability: planned.durability,
			})
			if planned.start != "" {
				x.run.Targets[c.target].Idle = planned.idle
			}
		}
		out := &x.run.Targets[c.target]
		if x.Modules != nil {
			out.Modules = x.Modules(planned.kind.Modules)
		}
		err := x.perform(ctx, c, planned, out)
		if errors.Is(err, syscall.ENOSPC) && planned.kind.Caps.Embedded {
			err = fmt.Errorf("%w: %w", ErrInput, err) // tsmark's own disk, not a server's
		}
		if errors.Is(err, ingest.ErrSource) {
			err = fmt.Errorf("%w: %w", ErrInput, err)
		}
		if err != nil && (ctx.Err() != nil || errors.Is(err, ErrInput) || errors.Is(err, errStore)) {
			return err
		}
		if err != nil {
			out.Failure = err.Error()
		}
		if err := x.Store.SaveTarget(context.WithoutCancel(ctx), x.run.ID, out); err != nil {
			return err
		}
	}
	return nil
}

// perform does a cell.
func (x *execution) perform(ctx context.Context, c cell, planned *plannedTarget, out *result.Target) error {
	env, err := x.env(ctx, c, planned)
	if err != nil {
		return err
	}
	if planned, err = x.servers.turn(ctx, planned, env); err != nil {
		return err
	}
	if c.job == asking && x.plan.experiment.Queries.Cache == experiment.CacheCold {
		return x.askCold(ctx, c, planned, env, out)
	}
	if c.job == loading {
		defer removeEmpty(env.Dir) // where the database has a path of its own
	}
	t, err := planned.kind.Open(ctx, env, planned.options)
	if errors.Is(err, target.ErrForeign) && c.job == loading {
		t, err = x.openCleared(ctx, planned, env, err)
	}
	if err != nil {
		// No server is down: the path, or what is there, is not right.
		if ctx.Err() == nil && !errors.Is(err, ErrInput) && (planned.kind.Caps.Embedded || errors.Is(err, target.ErrForeign)) {
			err = fmt.Errorf("%w: %w", ErrInput, err)
		}
		return err
	}
	defer t.Close() // everything that matters was flushed, and checked, before
	var mark target.Mark
	if c.job == loading || !planned.kind.Caps.Discards {
		if mark, err = x.face(ctx, c.job, t); err != nil {
			return err
		}
	}
	if out.Description, err = t.Describe(ctx); err != nil {
		return fmt.Errorf("asking for version and settings: %w", err)
	}
	out.Types = planned.kind.Mapped(x.schema(), planned.options)
	if err := x.watchServer(ctx, t, out); err != nil {
		return err
	}
	if err := x.watchRemote(ctx, planned); err != nil {
		return err
	}
	defer x.watchInside(planned.name, t)()
	if err := x.Store.SaveTarget(ctx, x.run.ID, out); err != nil {
		return stored(err)
	}
	// What is discarded as it is needs no survey, which would take longer.
	if x.expected == nil && !x.unknown() && !(planned.kind.Caps.Discards && x.asLines(t, planned)) {
		if err := x.expect(ctx); err != nil {
			return err
		}
	}
	if c.job != checking && !planned.kind.Caps.Embedded {
		if err := x.calibrate(ctx); err != nil {
			return err
		}
	}
	switch c.job {
	case loading:
		return x.load(ctx, t, c, planned, mark, out)
	case checking:
		return x.check(ctx, t, planned, mark, out)
	}
	return x.ask(ctx, t, c, planned, out)
}

// removeEmpty removes a folder of a run, and the run's own, if nothing is in
// them.
func removeEmpty(dir string) {
	if os.Remove(dir) == nil {
		_ = os.Remove(filepath.Dir(dir)) // fails, and stays, where something else is in it
	}
}

// env gives a loaded target a folder within this run's, and an existing one
// the folder it was loaded in.
func (x *execution) env(ctx context.Context, c cell, planned *plannedTarget) (target.Env, error) {
	id := x.run.ID
	if !x.steps.Load {
		var err error
		if id, err = x.Store.LastLoad(ctx, planned.name, planned.kind.Name); err != nil {
			return target.Env{}, err
		}
		if id == "" && planned.kind.Caps.Embedded && planned.options["path"] == "" {
			return target.Env{}, fmt.Errorf("%w: no target %s of kind %s has been loaded into %s; load it with tsmark load, or give its path",
				ErrInput, planned.name, planned.kind.Name, x.Dir)
		}
	}
	env := target.Env{Dir: filepath.Join(x.Dir, id, planned.name), Existing: c.job != loading}
	if c.job == loading && planned.kind.Caps.Embedded {
		if err := os.MkdirAll(env.Dir, 0o777); err != nil {
			return env, fmt.Errorf("%w: making the run's folder: %w", ErrInput, err)
		}
	}
	return env, nil
}

// face reads the mark and decides whether a job may go on with what the
// database holds.
func (x *execution) face(ctx context.Context, j job, t target.Target) (target.Mark, error) {
	mark, err := t.ReadMark(ctx)
	unmarked := errors.Is(err, target.ErrNoMark)
	switch {
	case errors.Is(err, target.ErrForeign) && j == loading:
		return x.newMark(), x.makeRoom(ctx, t, x.schema(), err)
	case errors.Is(err, target.ErrForeign):
		return mark, fmt.Errorf("%w: %w", ErrInput, err)
	case err != nil && !unmarked:
		return mark, err
	}
	if j == loading {
		// Runs of a sweep take the place of each other.
		if own := mark.Run != "" && (mark.Run == x.run.ID || slices.Contains(x.plan.earlier, mark.Run)); !unmarked && !own && !x.plan.experiment.Load.Replace {
			return mark, fmt.Errorf("%w: the database holds dataset %s already (%s, %d of %d rows); add --replace to load it anew, or use tsmark query",
				ErrInput, mark.Fingerprint, mark.Dataset.Name, mark.RowsAcked, mark.RowsExpected)
		}
		return x.newMark(), nil
	}
	switch {
	case !unmarked && x.steps.Load && x.run.Sweep != "" && mark.Run != x.run.ID:
		return mark, fmt.Errorf("another point of the sweep has been loaded into the database since; tsmark rerun %s measures this one", x.run.ID)
	case unmarked:
		return mark, fmt.Errorf("%w: %w; load one with tsmark load", ErrInput, err)
	case mark.Unverified != "":
		return mark, fmt.Errorf("%w: %s; load the file again with --replace and the flags that say what generated it, as in --use-case cpu-only --scale 100",
			ErrInput, mark.Unverified)
	case !mark.Complete:
		return mark, fmt.Errorf("%w: the load of dataset %s ended after %d of %d rows; load it again with --replace",
			ErrInput, mark.Fingerprint, mark.RowsAcked, mark.RowsExpected)
	case x.dataset == nil && x.run.Dataset.Fingerprint == "":
		return mark, x.adopt(mark)
	case mark.Fingerprint != x.run.Dataset.Fingerprint:
		return mark, fmt.Errorf("%w: the targets hold different datasets, %s and %s; ask them one by one",
			ErrInput, x.run.Dataset.Fingerprint, mark.Fingerprint)
	case x.dataset == nil: // resumed
		return mark, x.adopt(mark)
	}
	return mark, nil
}

// schema is the dataset's; nil: nobody knows it.
func (x *execution) schema() *series.Schema {
	if x.dataset == nil {
		return nil
	}
	return x.dataset.Schema()
}

// adopt makes the marked dataset the one that this run is about.
func (x *execution) adopt(mark target.Mark) error {
	if mark.Dataset.Fingerprint() != mark.Fingerprint {
		return fmt.Errorf("%w: the dataset was loaded as %s, and this tsmark generates %s from the same settings; load it again with --replace",
			ErrInput, mark.Fingerprint, mark.Dataset.Fingerprint())
	}
	if err := x.prepare(mark.Dataset); err != nil {
		return fmt.Errorf("%w: %w", ErrInput, err)
	}
	// The record shows the experiment that would repeat this.
	adopted := *x.plan.experiment
	adopted.Workload, adopted.Load.Limit = mark.Dataset, mark.Dataset.Limit
	yaml, err := x.plan.yaml(&adopted)
	if err != nil {
		return err
	}
	x.run.Experiment = string(yaml)
	return nil
}

func (x *execution) newMark() target.Mark {
	return target.Mark{
		Dataset: x.run.Dataset.Spec, Fingerprint: x.run.Dataset.Fingerprint, RowsExpected: -1,
		Loaded: time.Now().UTC(), Tool: x.Tool.Version, Unverified: x.run.Dataset.Unverified, Run: x.run.ID,
	}
}

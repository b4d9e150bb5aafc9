package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/session"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/ingest"
)

// execution is one run on its way. It goes through the plan from cell to cell,
// opens the target of each, and gives it to a stage.
type execution struct {
	*stage
	plan    *Plan
	steps   Steps
	compare *compareStage // of the part of the run that has its turn
	slow    map[slowType]bool
}

func newExecution(r *Runner, p *Plan) *execution {
	guarded := *r
	guarded.Store, guarded.Display = guardedStore{r.Store, p.secrets}, guardedDisplay{r.Display, p.secrets}
	s := &stage{Runner: &guarded, watch: newWatch(p), servers: newServers(r.Children)}
	s.force.Dropped = func(place string, named []string) {
		guarded.Display.Start("dropping from "+place, "", 0).Done(strings.Join(named, ", "))
	}
	if r.Force != nil {
		s.force.Ask = func(ctx context.Context, place string, named []string) error {
			if err := r.Force(ctx, place, named); err != nil {
				return fmt.Errorf("%w: %w", ErrInput, err)
			}
			return nil
		}
	}
	s.subject = &subject{plan: p, display: guarded.Display, input: r.Input, record: &s.run.Dataset}
	return &execution{stage: s, plan: p, steps: p.steps, compare: &compareStage{stage: s}, slow: make(map[slowType]bool)}
}

// look finds out what can be known before anything is stored or loaded, such
// as queries that are impossible.
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

// prepare fixes the dataset and draws the queries, and sees that they are those
// that the experiment expects.
func (x *execution) prepare(spec workload.Spec) error {
	if err := x.subject.prepare(spec, x.run.CheckSeed); err != nil {
		return err
	}
	x.run.QuerySets = x.drawn()
	return x.asExpected()
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
	x.enlist()
	x.plan.tell(x.Display)
	if err := x.Store.Save(ctx, &x.run); err != nil { // with its targets in their order
		return stored(err)
	}
	if ready, err := x.inspect(ctx); err != nil || !ready {
		return err
	}
	part := 0
	for _, c := range x.plan.order() {
		planned, out := &x.plan.targets[c.target], &x.run.Targets[c.target]
		if x.done(c) || out.Failure != "" && (c.job != comparing || x.dataset == nil) {
			continue
		}
		if c.job == loading && c.repeat > 1 && x.longLoads() {
			continue
		}
		if t := out.Turn; t != nil && t.Part != part {
			part = t.Part
			x.announce(part)
			x.compare = &compareStage{stage: x.stage} // other answers are taken in it
		}
		if err := x.kept(ctx, planned, out, x.perform(ctx, c, planned, out)); err != nil {
			return err
		}
	}
	return nil
}

// enlist puts all targets into the run. Of one that is resumed some are there.
func (x *execution) enlist() {
	for i := range x.plan.targets {
		planned := &x.plan.targets[i]
		if i == len(x.run.Targets) {
			t := result.Target{
				Name: planned.name, Twin: planned.twin, Kind: planned.driver.Name, Embedded: planned.caps.Embedded,
				Options: planned.shown, Changes: planned.changes, Profile: planned.profile, Durability: planned.durability,
			}
			if planned.start != "" {
				t.Idle = planned.idle
			}
			x.run.Targets = append(x.run.Targets, t)
		}
		out := &x.run.Targets[i]
		out.Failure = "" // of the time before it was resumed
		out.Turn = x.plan.turnOf(i)
		if x.Modules != nil {
			out.Modules = x.Modules(planned.driver.Modules)
		}
	}
}

// kept keeps the error of a target as its failure, and returns those that end
// the whole run.
func (x *execution) kept(ctx context.Context, planned *plannedTarget, out *result.Target, err error) error {
	if errors.Is(err, syscall.ENOSPC) && planned.caps.Embedded {
		err = fmt.Errorf("%w: %w", ErrInput, err) // tsmark's own disk, not a server's
	}
	var beyond *driver.NotHeldError
	if errors.Is(err, ingest.ErrSource) || errors.As(err, &beyond) || errors.Is(err, driver.ErrExisting) && !errors.Is(err, ErrInput) {
		err = fmt.Errorf("%w: %w", ErrInput, err)
	}
	if err != nil && (ctx.Err() != nil || errors.Is(err, ErrInput) || errors.Is(err, errStore) || errors.Is(err, ErrNotQuiet)) {
		return err
	}
	if err != nil {
		out.Failure = err.Error()
	}
	return x.keepTarget(context.WithoutCancel(ctx), out)
}

// perform does a cell.
func (x *execution) perform(ctx context.Context, c cell, planned *plannedTarget, out *result.Target) error {
	if c.job == comparing && x.dataset != nil {
		// What agrees, and of what gave up all, needs no target.
		doubtful, err := x.compare.confirm(ctx, nil, planned, out)
		if err != nil || !doubtful {
			return err
		}
	}
	env, err := x.env(ctx, c, planned)
	if err != nil {
		return err
	}
	if planned, err = x.servers.turn(ctx, planned, env); err != nil {
		return err
	}
	if c.job == loading {
		defer removeEmpty(env.Dir) // where the database has a path of its own
	}
	on := &turn{cell: c, planned: planned, env: env, out: out}
	if err := x.enter(ctx, on); err != nil {
		return err
	}
	queries := &queryStage{x.stage, x.slow}
	if c.job == querying && x.plan.experiment.Queries.Cache == experiment.CacheCold {
		if err := on.db.Close(); err != nil {
			return err
		}
		return queries.queryCold(ctx, on)
	}
	defer on.db.Close() // everything that matters was flushed, and checked, before
	defer x.internals(planned.name, on.db)()
	if (c.job == loading || c.job == querying) && !planned.caps.Embedded {
		if err := x.calibrate(ctx); err != nil {
			return err
		}
	}
	switch c.job {
	case loading:
		return (&loadStage{x.stage}).loadQuietly(ctx, on)
	case checking:
		return (&checkStage{x.stage, x.slow}).check(ctx, on)
	case querying:
		return queries.query(ctx, on)
	}
	_, err = x.compare.confirm(ctx, on.db, planned, out)
	return err
}

// enter opens a target for a cell, sees that the cell may go on with what is
// there, and finds out what must be known before: what the target is, and which
// answers are right.
func (x *execution) enter(ctx context.Context, on *turn) (err error) {
	planned := on.planned
	if on.db, err = open(ctx, planned, on.env); err != nil {
		return err
	}
	if on.job == loading || !planned.caps.Discards {
		on.mark, err = x.face(ctx, on.cell, planned, on.db)
	}
	if err == nil && on.job == loading && planned.start != "" {
		err = x.usable(ctx, on.db) // it did not run when the others were looked at
	}
	if err == nil {
		err = x.describe(ctx, on.db, planned, on.out)
	}
	if err == nil {
		err = x.digest(ctx)
	}
	// What is discarded as it is needs no survey, which would take longer.
	if err == nil && x.expected == nil && !x.unknown() && !(planned.caps.Discards && x.asLines(on.db, planned)) {
		err = x.expect(ctx)
	}
	if err != nil {
		_ = on.db.Close() // the first error says what is wrong
	}
	return err
}

// open opens a target. Where no server is down the error is the input's: the
// path, or what is there, is not right.
func open(ctx context.Context, planned *plannedTarget, env driver.Env) (driver.DB, error) {
	t, err := planned.driver.Open(ctx, env, planned.options)
	if err != nil && ctx.Err() == nil && (planned.caps.Embedded || errors.Is(err, driver.ErrExisting)) {
		return nil, fmt.Errorf("%w: %w", ErrInput, err)
	}
	return t, err
}

// describe records what an open target says of itself, and begins to watch it.
func (x *execution) describe(ctx context.Context, t driver.DB, planned *plannedTarget, out *result.Target) (err error) {
	if out.Description, err = t.Describe(ctx); err != nil {
		return fmt.Errorf("reading version and settings: %w", err)
	}
	x.remark(x.plan.experiment.Expect.OtherTarget(out.Name, out.Description.Version))
	out.Types = planned.caps.Mapped(x.schema())
	here, port, err := x.server(ctx, out.Name, t)
	if err != nil {
		return err
	}
	if out.CoLocated = here; port > 0 {
		x.run.OtherDatabases = others(ctx, x.run.OtherDatabases, port)
	}
	x.attend(ctx, planned.name, t, out.CoLocated)
	if err := x.remote(ctx, planned); err != nil {
		return err
	}
	return x.keepTarget(ctx, out)
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
func (x *execution) env(ctx context.Context, c cell, planned *plannedTarget) (driver.Env, error) {
	id := x.run.ID
	if !x.steps.Load {
		loaded, err := x.Store.Loaded(ctx, planned.name, planned.driver.Name)
		if err != nil {
			return driver.Env{}, err
		}
		id = x.lastHere(loaded, planned)
		if id == "" && planned.caps.Embedded && planned.options["path"] == "" {
			return driver.Env{}, fmt.Errorf("%w: no target %s with driver %s has been loaded into %s; load it with tsmark load, or give its path",
				ErrInput, planned.name, planned.driver.Name, x.Dir)
		}
	}
	env := driver.Env{Dir: filepath.Join(x.Dir, id, planned.name), Create: c.job == loading}
	if c.job == loading && planned.caps.Embedded {
		if err := os.MkdirAll(env.Dir, 0o777); err != nil {
			return env, fmt.Errorf("%w: making the run's folder: %w", ErrInput, err)
		}
	}
	return env, nil
}

// lastHere is the first of these runs whose folder for the target is on this
// machine: those of a store that several machines share may be elsewhere. Where
// there is none it is the first, or "".
func (x *execution) lastHere(runs []string, planned *plannedTarget) string {
	for _, id := range runs {
		if _, err := os.Stat(filepath.Join(x.Dir, id, planned.name)); err == nil {
			return id
		}
	}
	return cmp.Or(append(runs, "")...)
}

// adopt makes the marked dataset the one that this run is about.
func (x *execution) adopt(mark session.Mark) error {
	w, err := x.plan.catalog.Workload(mark.Dataset.Name)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInput, err)
	}
	if now := workload.Fingerprint(w, mark.Dataset); now != mark.Fingerprint {
		return fmt.Errorf("%w: the dataset was loaded as %s, and this tsmark generates %s from the same settings; load it again with --replace",
			ErrInput, mark.Fingerprint, now)
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

package runner

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	random "math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/launch"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/run/shared"
	"github.com/tsmark/tsmark/run/stage"
	"github.com/tsmark/tsmark/run/subject"
	"github.com/tsmark/tsmark/run/watch"
	"github.com/tsmark/tsmark/session"
)

// calibrate measures the client itself, once per run, if a target has its own process.
func (x *execution) calibrate(ctx context.Context) error {
	if x.team != nil {
		return x.team.Calibrate(ctx)
	}
	if x.record.Doc.Calibration != nil || x.subject.Dataset == nil {
		return nil
	}
	e, target, span := x.plan.Experiment, x.plan.CalibrationTarget(), x.plan.Catalog.CalibrationSpan()
	dataset, owner, err := x.subject.DealTo(target)
	if err != nil {
		return err
	}
	task := x.record.Display.Start("calibrating the client", "rows", 0)
	found, err := engine.Calibrate(ctx, engine.LoadConfig{
		Workers: target.Workers, BatchSize: target.BatchSize, Period: span, Owner: owner, // the calibration load has as many readers
	}, e.Queries.Workers, dataset, span)
	if err != nil {
		task.Fail("") // the reason is reported with the target's failure
		return fmt.Errorf("calibrating the client: %w", err)
	}
	task.Finish(fmt.Sprintf("%.0f rows/s, %.0f queries/s at most", found.RowsPerSecond, found.QueriesPerSecond))
	found.Boundary = x.measureBoundary(ctx, target, dataset, owner)
	x.record.Doc.Calibration = &found
	return nil
}

// execution is a run in progress. It executes the plan job by job: it opens the target of each, and
// passes it to a stage.
type execution struct {
	runner    *Runner
	plan      *plan.Plan
	subject   *subject.Subject
	watch     *watch.Watch
	record    *record.Record
	servers   launch.Servers
	force     session.Force
	team      *shared.Team // nil: no agents
	opening   *stage.Opener
	compare   *stage.Comparer // for the current part of the run
	slow      map[stage.SlowType]bool
	durations durations
	placed    map[int]int // the last further round of each group that is in the order of jobs
	// unopened has the names of the targets that failed before they were loaded or queried.
	unopened map[string]bool
	isNew    bool   // a new run: if it produces no results it is discarded
	unlock   func() // allows other processes to use the run
}

func newExecution(r *Runner, p *plan.Plan) (*execution, error) {
	if r.Agents != nil {
		if err := p.CheckAgents(len(r.Agents.Members())); err != nil {
			return nil, err
		}
	}
	record := &record.Record{
		Store: record.GuardedStore{Store: r.Store, Secrets: p.Secrets}, Display: record.GuardedDisplay{Display: r.Display, Secrets: p.Secrets}, Observer: r.Observer, Dir: r.Dir, Tool: r.Tool,
	}
	x := &execution{
		runner: r, plan: p, watch: watch.NewWatch(p), record: record, servers: launch.NewServers(r.Children, r.Servers),
		subject: &subject.Subject{Plan: p, Display: record.Display, Scratch: r.Dir, Input: r.Input, Record: &record.Doc.Dataset},
		slow:    make(map[stage.SlowType]bool), durations: make(durations), placed: make(map[int]int), unopened: make(map[string]bool),
	}
	if r.Agents != nil {
		x.team = &shared.Team{Agents: r.Agents, Plan: p, Subject: x.subject, Watch: x.watch, Record: record}
	}
	x.force.Dropped = func(place string, named []string) {
		record.Display.Start("dropping from "+place, "", 0).Finish(strings.Join(named, ", "))
	}
	if r.Force != nil {
		x.force.Confirm = func(ctx context.Context, place string, named []string) error {
			if err := r.Force(ctx, place, named); err != nil {
				return plan.BadInput(err)
			}
			return nil
		}
	}
	if p.Experiment.Crash.Enabled() {
		x.servers.ForCrashes(p.Experiment.Crash.Has(result.CrashPower))
	}
	x.opening = &stage.Opener{Plan: p, Subject: x.subject, Watch: x.watch, Record: record, Servers: x.servers, Force: x.force}
	x.compare = stage.NewComparer(x.subject, record)
	return x, nil
}

// prepare detects problems before anything is stored or loaded, such as impossible queries, or a
// host that is not quiet.
func (x *execution) prepare(ctx context.Context) error {
	e := x.plan.Experiment
	x.record.Doc.CheckSeed = cmp.Or(x.record.Doc.CheckSeed, e.Queries.CheckSeed, rand.Text())
	x.subject.Seed = x.record.Doc.CheckSeed
	x.record.Doc.OrderSeed = cmp.Or(x.record.Doc.OrderSeed, x.plan.OrderSeed, rand.Text())
	x.record.Doc.QuerySeed = cmp.Or(x.record.Doc.QuerySeed, x.plan.QuerySeed, e.Queries.Seed, newQuerySeed())
	if x.plan.Steps.Load || e.Adopt { // otherwise the targets' marks name the dataset
		if err := x.subject.OpenFile(); err != nil {
			return err
		}
		spec := e.Workload
		spec.Limit = e.Load.Limit
		if err := stage.Fix(x.subject, x.record, spec); err != nil {
			return err
		}
		if err := x.subject.CheckHead(); err != nil {
			return err
		}
	}
	return x.watch.RequireQuiet(ctx)
}

// newQuerySeed returns a random seed for queries. TSBS's random stream distinguishes only these
// seeds.
func newQuerySeed() int64 { return 1 + random.Int64N(math.MaxInt32-1) }

// hasResults reports whether the run has any result.
func (x *execution) hasResults() bool {
	for i := range x.record.Doc.Targets {
		for _, r := range x.record.Doc.Targets[i].Repeats {
			if r.Load != nil || len(r.Queries) > 0 {
				return true
			}
		}
	}
	return false
}

// execute runs the jobs that are not done yet, and stores the outcome of the run. It skips the
// remaining jobs of a failed target. The servers started by the run have ended when it returns,
// unless other runs use them too.
func (x *execution) execute(ctx context.Context) (*result.Run, error) {
	defer x.unlock()
	order, err := x.begin(ctx)
	group, finished := 0, 0
	for i := 0; i < len(order) && err == nil; i++ {
		further, notStored := x.furtherRounds(ctx, order, i)
		if err = notStored; err != nil {
			break
		}
		order = slices.Insert(order, i, further...)
		c := order[i]
		if x.skips(c) {
			continue
		}
		planned, out := &x.plan.Targets[c.Target], &x.record.Doc.Targets[c.Target]
		if t := out.Group; t != nil && t.Number != group {
			group = t.Number
			x.announceGroup(group)
			x.compare = stage.NewComparer(x.subject, x.record) // the part has other answers
		}
		x.record.Display.Overall(x.progress(order[i:], finished))
		begin, passed, aside := time.Now(), x.subject.Passed, time.Duration(0)
		on, closeTarget, failure := x.open(ctx, c, planned, out)
		if failure == nil && x.runner.Expected != "" {
			x.record.Display.Start("expected", "", 0).Finish(x.runner.Expected)
			x.runner.Expected = ""
		}
		switch {
		case on == nil:
		case c.Kind == plan.Load:
			failure = (&stage.Loader{Plan: x.plan, Subject: x.subject, Watch: x.watch, Record: x.record, Force: x.force, Servers: x.servers, Team: x.team}).Load(ctx, on)
		case c.Kind == plan.Check:
			failure = (&stage.Checker{Plan: x.plan, Subject: x.subject, Record: x.record, Slow: x.slow}).Check(ctx, on)
		case c.Kind == plan.Query:
			q := &stage.Querier{Plan: x.plan, Subject: x.subject, Watch: x.watch, Record: x.record, Servers: x.servers, Team: x.team, Slow: x.slow}
			failure = q.Query(ctx, on)
			aside = q.Observed
		case c.Kind == plan.Crash:
			failure = (&stage.Crasher{Plan: x.plan, Subject: x.subject, Record: x.record, Servers: x.servers}).Crash(ctx, on)
		default:
			_, failure = x.compareAnswers(ctx, on.DB, on.Planned, out)
		}
		closeTarget()
		if c.Kind == plan.Compare && failure == nil {
			since := time.Now()
			failure = x.profile(ctx, c, planned, out)
			aside = time.Since(since)
		}
		finished++
		took := time.Since(begin) - (x.subject.Passed - passed) - aside // other jobs of the kind need neither
		x.durations.add(c, took)
		x.record.Doc.Budget.Add(c.Kind == plan.Query, took)
		denied := (*driver.DeniedError)(nil)
		x.unopened[out.Name] = on == nil || errors.As(failure, &denied)
		err = x.keepFailure(ctx, planned, out, failure)
		if c.Kind == plan.Load && x.runner.Loaded != nil {
			x.runner.Loaded(&x.record.Doc)
		}
		if x.runner.StopOnFailure && out.Failure != "" {
			break
		}
	}
	return x.end(ctx, err)
}

// begin lists the targets and inspects the ones to load. It returns the order of the jobs; none if
// the run cannot begin.
func (x *execution) begin(ctx context.Context) ([]plan.Job, error) {
	x.listTargets()
	for _, r := range x.plan.Remarks {
		x.record.Display.Start(r.About, "", 0).Finish(r.Text)
	}
	if err := x.record.Save(ctx); err != nil { // with its targets in order
		return nil, err
	}
	if ready, err := x.inspect(ctx); err != nil || !ready {
		return nil, err
	}
	return x.plan.Order(x.record.Doc.OrderSeed), nil
}

// end stops the processes of the run, and stores its outcome. A new run without results is
// discarded.
func (x *execution) end(ctx context.Context, err error) (*result.Run, error) {
	x.record.Display.Overall(record.Overall{})
	if stopped := x.servers.Leave(context.WithoutCancel(ctx)); err == nil {
		err = stopped
	}
	if left := x.subject.References.Close(); err == nil {
		err = left
	}
	if x.isNew && err == nil && ctx.Err() == nil {
		err = x.unreachedTargets()
	}
	nobody := (*UnreachedError)(nil)
	if x.isNew && (errors.Is(err, plan.ErrInput) || errors.As(err, &nobody)) && ctx.Err() == nil && !x.hasResults() {
		x.record.Log.Discard()
		launch.RemoveFolders(x.servers.Own)
		return nil, x.discard(ctx, err)
	}
	run, err := x.finish(ctx, err)
	if x.runner.DropData {
		launch.RemoveData(x.servers.Own)
	}
	return run, err
}

// discard removes a run without results from the store, and returns the error for which it ended.
func (x *execution) discard(ctx context.Context, err error) error {
	return record.JoinStoreError(err, record.Outlast(ctx, func(ctx context.Context) error { return x.record.Store.Discard(ctx, x.record.Doc.ID) }))
}

// skips reports whether a job has nothing to do.
func (x *execution) skips(c plan.Job) bool {
	failed := x.record.Doc.Targets[c.Target].Failure != ""
	return x.isDone(c) || failed && (c.Kind != plan.Compare || x.subject.Dataset == nil) ||
		c.Kind == plan.Load && c.Repeat > 1 && x.longLoads()
}

// listTargets adds all targets to the run. A resumed run already has some.
func (x *execution) listTargets() {
	for i := range x.plan.Targets {
		planned := &x.plan.Targets[i]
		if i == len(x.record.Doc.Targets) {
			t := result.Target{
				Name: planned.Name, Twin: planned.Twin, Driver: planned.Driver.Name, Embedded: planned.Caps.Embedded, External: planned.Driver.External,
				Options: planned.Shown, Changes: planned.Changes, Profile: planned.Profile, Durability: planned.Durability,
				ResultCache: planned.Driver.ResultCacheOf(x.plan.Experiment.Queries.Verbatim()),
			}
			if planned.Start != "" {
				t.Idle, t.ServerMemory, t.ServerSettings = planned.Idle, planned.Memory, planned.Server
			}
			x.record.Doc.Targets = append(x.record.Doc.Targets, t)
		}
		out := &x.record.Doc.Targets[i]
		out.Failure = "" // from before it was resumed
		out.Group = x.plan.GroupOf(i)
		if x.runner.Modules != nil {
			out.Modules = x.runner.Modules(planned.Driver.Modules)
		}
	}
}

// keepFailure records an error as the failure of its target. It returns an error that ends the
// whole run.
func (x *execution) keepFailure(ctx context.Context, planned *plan.Target, out *result.Target, err error) error {
	ownDisk := errors.Is(err, syscall.ENOSPC) && planned.Caps.Embedded // tsmark's, not a server's
	switch {
	case err != nil && ctx.Err() != nil, errors.Is(err, plan.ErrInput), errors.Is(err, record.ErrStore), errors.Is(err, record.ErrNotQuiet), errors.Is(err, record.ErrNoAgents):
		return err
	case ownDisk, record.EndsRun(err):
		return plan.BadInput(err)
	}
	if err != nil {
		out.Failure = err.Error()
	}
	return record.Outlast(ctx, func(ctx context.Context) error { return x.record.KeepTarget(ctx, out) })
}

// open opens the target of a job, and calibrates the client before a measurement. It returns no
// target if the job needs none: comparing an answer that matches needs no target. The function
// closes the target and is never nil.
func (x *execution) open(ctx context.Context, c plan.Job, planned *plan.Target, out *result.Target) (on *stage.Opened, closeTarget func(), err error) {
	closeTarget = func() {}
	if c.Kind == plan.Compare && x.subject.Dataset != nil {
		if doubtful, err := x.compareAnswers(ctx, driver.DB{}, planned, out); err != nil || !doubtful {
			return nil, closeTarget, err
		}
	}
	if on, err = x.opening.Open(ctx, c, planned, out); err != nil {
		return nil, closeTarget, err
	}
	// Each query opens it again, or each crash.
	if c.Kind == plan.Query && x.plan.Experiment.Queries.Cache == experiment.CacheCold || c.Kind == plan.Crash {
		if err := on.DB.Close(); err != nil {
			return nil, closeTarget, err
		}
		return on, closeTarget, nil
	}
	end := x.watch.WatchInternals(planned.Name, on.DB)
	closeTarget = func() {
		end()
		_ = on.DB.Close() // all results were flushed, and checked, before
		if c.Kind == plan.Load {
			stage.RemoveEmpty(on.Env.Dir) // for a database with its own path
		}
	}
	if (c.Kind == plan.Load || c.Kind == plan.Query) && !planned.Caps.Embedded {
		if err = x.calibrate(ctx); err != nil {
			closeTarget()
			return nil, func() {}, err
		}
	}
	return on, closeTarget, nil
}

// compareAnswers compares answers and puts the verdicts into the record.
func (x *execution) compareAnswers(ctx context.Context, db driver.DB, planned *plan.Target, out *result.Target) (doubtful bool, err error) {
	found, doubtful, err := x.compare.Compare(ctx, db, planned, out)
	return doubtful, cmp.Or(x.compare.Decide(ctx, out, found), err)
}

// profile takes CPU profiles of a target whose rounds are over.
func (x *execution) profile(ctx context.Context, c plan.Job, planned *plan.Target, out *result.Target) error {
	if x.runner.Profile == nil || out.Failure != "" {
		return nil
	}
	var types []string
	for i := range x.subject.Queries {
		if name := x.subject.Queries[i].Type.Name; x.runner.Profile(&x.record.Doc, name) {
			types = append(types, name)
		}
	}
	if len(types) == 0 {
		return nil
	}
	on, err := x.opening.Open(ctx, c, planned, out)
	if err != nil { // the figures are there all the same
		x.record.Remark(fmt.Sprintf("%s: no CPU profiles: %v", out.Name, err))
		return ctx.Err()
	}
	defer on.DB.Close() // nothing was written
	return (&stage.Querier{Subject: x.subject, Record: x.record}).Profile(ctx, on, types)
}

// inspect checks all targets to load before the first row is loaded anywhere: whether they answer,
// accept rows and queries from this user, and hold no data that must be kept. It reports whether
// the run can begin; it cannot if a target fails before anything was measured. Targets whose
// servers tsmark starts are checked later, when they run.
func (x *execution) inspect(ctx context.Context) (ready bool, err error) {
	if !x.plan.Steps.Load {
		return true, nil
	}
	ready = true
	loaded := make(map[string]bool) // places that an earlier target will have loaded into
	var reloaded []*result.Target
	for i := range x.plan.Targets {
		planned, out := &x.plan.Targets[i], &x.record.Doc.Targets[i]
		loads, more := x.pending(i)
		if !loads && more && (planned.ForSweep() || x.plan.Experiment.Crash.Enabled() || x.opening.IsGone(ctx, planned, loaded[planned.Place])) {
			loads, reloaded = true, append(reloaded, out)
		}
		var err error
		if loads {
			err = x.opening.Inspect(ctx, planned)
			x.unopened[out.Name] = true
		}
		if err := x.keepFailure(ctx, planned, out, err); err != nil {
			return false, err
		}
		alive := out.Failure == ""
		loaded[planned.Place] = loaded[planned.Place] || alive && loads && planned.Place != ""
		ready = ready && alive
	}
	if !ready && !x.hasResults() {
		return false, nil
	}
	for _, out := range reloaded {
		if err := x.startOver(ctx, out); err != nil {
			return false, err
		}
	}
	return true, nil
}

// pending reports whether a target has loads that are not done yet, and other such jobs.
func (x *execution) pending(index int) (loads, more bool) {
	for _, c := range x.plan.Order(x.record.Doc.OrderSeed) {
		if c.Target != index || x.isDone(c) {
			continue
		}
		if c.Kind == plan.Load {
			loads = true
		} else {
			more = true
		}
	}
	return loads, more
}

// startOver discards the measurements of a target, which then starts from scratch: its figures
// would otherwise come from different loads.
func (x *execution) startOver(ctx context.Context, out *result.Target) error {
	why := "the data of its server is gone"
	if out.Group != nil {
		why = fmt.Sprintf("another target has been loaded into %s since", out.Group.Place)
	}
	if x.plan.Experiment.Crash.Enabled() {
		why = "its crashes follow a load at once"
	}
	x.record.Display.Start(out.Name+" begins again", "", 0).Finish(why)
	out.Repeats, out.Crash = nil, nil
	return record.StoreError(x.record.Store.Save(ctx, &x.record.Doc))
}

// announceGroup displays that a group of targets begins.
func (x *execution) announceGroup(group int) {
	groups := x.plan.Groups()
	var named []string
	for _, i := range groups[group-1] {
		said := x.plan.Targets[i].Name
		if t := x.record.Doc.Targets[i].Group; len(t.Shares) > 0 {
			said += fmt.Sprintf(", which shares %s with %s", t.Place, strings.Join(t.Shares, ", "))
		}
		named = append(named, said)
	}
	x.record.Display.Start(fmt.Sprintf("group %d of %d", group, len(groups)), "", 0).Finish(strings.Join(named, "; "))
}

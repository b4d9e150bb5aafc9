package runner

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	random "math/rand/v2"
	"strings"
	"syscall"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/session"
)

// execution is one run on its way. It goes through the plan from cell to cell,
// opens the target of each, and gives it to a stage.
type execution struct {
	runner  *Runner
	plan    *Plan
	subject *subject
	watch   *watch
	record  *record
	servers servers
	force   session.Force
	team    *team // nil: no agents
	opening *openStage
	compare *compareStage // of the part of the run that has its turn
	slow    map[slowType]bool
	paces   paces
	// unreached has the names of the targets that could not be reached when they failed.
	unreached map[string]bool
}

func newExecution(r *Runner, p *Plan) *execution {
	record := &record{
		store: guardedStore{Store: r.Store, secrets: p.secrets}, display: guardedDisplay{Display: r.Display, secrets: p.secrets}, observer: r.Observer, dir: r.Dir, tool: r.Tool,
	}
	x := &execution{
		runner: r, plan: p, watch: newWatch(p), record: record, servers: newServers(r.Children, r.Standing),
		subject: &subject{plan: p, display: record.display, scratch: r.Dir, input: r.Input, record: &record.doc.Dataset},
		slow:    make(map[slowType]bool), paces: make(paces), unreached: make(map[string]bool),
	}
	if r.Agents != nil {
		x.team = &team{agents: r.Agents, plan: p, subject: x.subject, watch: x.watch, record: record}
	}
	x.force.Dropped = func(place string, named []string) {
		record.display.Start("dropping from "+place, "", 0).Finish(strings.Join(named, ", "))
	}
	if r.Force != nil {
		x.force.Confirm = func(ctx context.Context, place string, named []string) error {
			if err := r.Force(ctx, place, named); err != nil {
				return badInput(err)
			}
			return nil
		}
	}
	x.opening = &openStage{plan: p, subject: x.subject, watch: x.watch, record: record, servers: x.servers, force: x.force}
	x.compare = newCompareStage(x.subject, record)
	return x
}

// look finds out what can be known before anything is stored or loaded, such
// as queries that are impossible, or a host that is not quiet.
func (x *execution) look(ctx context.Context) error {
	e := x.plan.experiment
	x.record.doc.CheckSeed = cmp.Or(x.record.doc.CheckSeed, e.Queries.CheckSeed, rand.Text())
	x.subject.seed = x.record.doc.CheckSeed
	x.record.doc.OrderSeed = cmp.Or(x.record.doc.OrderSeed, x.plan.orderSeed, rand.Text())
	x.record.doc.QuerySeed = cmp.Or(x.record.doc.QuerySeed, x.plan.querySeed, e.Queries.Seed, newQuerySeed())
	if x.plan.steps.Load {
		if err := x.subject.openFile(); err != nil {
			return err
		}
		spec := e.Workload
		spec.Limit = e.Load.Limit
		if err := fix(x.subject, x.record, spec); err != nil {
			return err
		}
		if err := x.subject.lookAtHead(); err != nil {
			return err
		}
	}
	if x.plan.experiment.Adopt {
		spec := e.Workload
		spec.Limit = e.Load.Limit
		if err := fix(x.subject, x.record, spec); err != nil {
			return err
		}
	}
	return x.watch.lookForQuiet(ctx)
}

// newQuerySeed draws a seed of queries. The random stream of TSBS tells just these apart.
func newQuerySeed() int64 { return 1 + random.Int64N(math.MaxInt32-1) }

// measured reports whether the run has any result.
func (x *execution) measured() bool {
	for i := range x.record.doc.Targets {
		for _, r := range x.record.doc.Targets[i].Repeats {
			if r.Load != nil || len(r.Queries) > 0 {
				return true
			}
		}
	}
	return false
}

// execute works off the cells that are not done yet. A target that fails
// takes no further part. The servers that it started have ended when it
// returns, but for those that are there for other runs, too.
func (x *execution) execute(ctx context.Context) (err error) {
	defer func() {
		if stopped := x.servers.leave(context.WithoutCancel(ctx)); err == nil {
			err = stopped
		}
		if left := x.subject.references.drop(); err == nil {
			err = left
		}
	}()
	x.enlist()
	for _, r := range x.plan.remarks {
		x.record.display.Start(r.About, "", 0).Finish(r.Text)
	}
	if err := x.record.store.Save(ctx, &x.record.doc); err != nil { // with its targets in their order
		return stored(err)
	}
	if ready, err := x.inspect(ctx); err != nil || !ready {
		return err
	}
	defer x.record.display.Overall(Overall{})
	part, finished, order := 0, 0, x.plan.order(x.record.doc.OrderSeed)
	for i, c := range order {
		planned, out := &x.plan.targets[c.target], &x.record.doc.Targets[c.target]
		if x.leftOut(c) {
			continue
		}
		if t := out.RunPart; t != nil && t.Part != part {
			part = t.Part
			x.announce(part)
			x.compare = newCompareStage(x.subject, x.record) // other answers are taken in it
		}
		x.record.display.Overall(x.overall(order[i:], finished))
		begin, passed := time.Now(), x.subject.passed
		err := x.perform(ctx, c, planned, out)
		finished++
		x.paces.add(c, time.Since(begin)-(x.subject.passed-passed)) // other cells of the kind need no pass
		if err := x.kept(ctx, planned, out, err); err != nil {
			return err
		}
	}
	return nil
}

// leftOut reports whether nothing is to be done for a cell.
func (x *execution) leftOut(c cell) bool {
	failed := x.record.doc.Targets[c.target].Failure != ""
	return x.done(c) || failed && (c.kind != comparing || x.subject.dataset == nil) ||
		c.kind == loading && c.repeat > 1 && x.longLoads()
}

// enlist puts all targets into the run. Of one that is resumed some are there.
func (x *execution) enlist() {
	for i := range x.plan.targets {
		planned := &x.plan.targets[i]
		if i == len(x.record.doc.Targets) {
			t := result.Target{
				Name: planned.name, Twin: planned.twin, Driver: planned.driver.Name, Embedded: planned.caps.Embedded,
				Options: planned.shown, Changes: planned.changes, Profile: planned.profile, Durability: planned.durability,
				ResultCache: planned.driver.ResultCacheOf(x.plan.experiment.Queries.Verbatim()),
			}
			if planned.start != "" {
				t.Idle, t.ServerMemory = planned.idle, planned.memory
			}
			x.record.doc.Targets = append(x.record.doc.Targets, t)
		}
		out := &x.record.doc.Targets[i]
		out.Failure = "" // of the time before it was resumed
		out.RunPart = x.plan.turnOf(i)
		if x.runner.Modules != nil {
			out.Modules = x.runner.Modules(planned.driver.Modules)
		}
	}
}

// kept keeps the error of a target as its failure, and returns those that end
// the whole run.
func (x *execution) kept(ctx context.Context, planned *plannedTarget, out *result.Target, err error) error {
	ownDisk := errors.Is(err, syscall.ENOSPC) && planned.caps.Embedded // tsmark's, not a server's
	switch {
	case err != nil && ctx.Err() != nil, errors.Is(err, ErrInput), errors.Is(err, errStore), errors.Is(err, ErrNotQuiet), errors.Is(err, ErrNoAgents):
		return err
	case ownDisk, endsRun(err):
		return badInput(err)
	}
	if err != nil {
		out.Failure = err.Error()
		x.unreached[out.Name] = errors.Is(err, driver.ErrUnreachable)
	}
	return outlast(ctx, func(ctx context.Context) error { return x.record.keepTarget(ctx, out) })
}

// perform does a cell: it opens the target, gives it to the stage of the cell, and
// closes it.
func (x *execution) perform(ctx context.Context, c cell, planned *plannedTarget, out *result.Target) error {
	if c.kind == comparing && x.subject.dataset != nil {
		// What agrees, and of what failed all, needs no target.
		if doubtful, err := x.judge(ctx, driver.DB{}, planned, out); err != nil || !doubtful {
			return err
		}
	}
	on, err := x.opening.open(ctx, c, planned, out)
	if err != nil {
		return err
	}
	if c.kind == loading {
		defer removeEmpty(on.env.Dir) // where the database has a path of its own
	}
	queries := &queryStage{plan: x.plan, subject: x.subject, watch: x.watch, record: x.record, servers: x.servers, team: x.team, slow: x.slow}
	if c.kind == querying && x.plan.experiment.Queries.Cache == experiment.CacheCold {
		if err := on.db.Close(); err != nil {
			return err
		}
		return queries.queryCold(ctx, on)
	}
	defer on.db.Close() // everything that matters was flushed, and checked, before
	defer x.watch.internals(planned.name, on.db)()
	if (c.kind == loading || c.kind == querying) && !planned.caps.Embedded {
		if err := x.calibrate(ctx); err != nil {
			return err
		}
	}
	switch c.kind {
	case loading:
		return (&loadStage{plan: x.plan, subject: x.subject, watch: x.watch, record: x.record, force: x.force, team: x.team}).load(ctx, on)
	case checking:
		return (&checkStage{plan: x.plan, subject: x.subject, record: x.record, slow: x.slow}).check(ctx, on)
	case querying:
		return queries.query(ctx, on)
	}
	_, err = x.judge(ctx, on.db, on.planned, out)
	return err
}

// judge compares answers and puts the verdicts into the record.
func (x *execution) judge(ctx context.Context, db driver.DB, planned *plannedTarget, out *result.Target) (doubtful bool, err error) {
	found, doubtful, err := x.compare.compare(ctx, db, planned, out)
	return doubtful, cmp.Or(x.compare.decide(ctx, out, found), err)
}

// inspect looks at all targets that are to be loaded before the first row is
// loaded anywhere: whether they answer, take rows and queries from this user,
// and hold nothing that must stay. It reports whether the run can begin, which
// it cannot before anything is measured where a target fails. Those whose
// servers tsmark starts are looked at when they run.
func (x *execution) inspect(ctx context.Context) (ready bool, err error) {
	if !x.plan.steps.Load {
		return true, nil
	}
	ready = true
	loaded := make(map[string]bool) // places that a target before will have loaded into
	var anew []*result.Target
	for i := range x.plan.targets {
		planned, out := &x.plan.targets[i], &x.record.doc.Targets[i]
		loads, more := x.pending(i)
		if !loads && more && (planned.forSweep() || x.opening.overwritten(ctx, planned, loaded[planned.shares])) {
			loads, anew = true, append(anew, out)
		}
		var err error
		if loads {
			err = x.opening.inspect(ctx, planned)
		}
		if err := x.kept(ctx, planned, out, err); err != nil {
			return false, err
		}
		alive := out.Failure == ""
		loaded[planned.shares] = loaded[planned.shares] || alive && loads && planned.shares != ""
		ready = ready && alive
	}
	if !ready && !x.measured() {
		return false, nil
	}
	for _, out := range anew {
		if err := x.startOver(ctx, out); err != nil {
			return false, err
		}
	}
	return true, nil
}

// pending reports whether loads of a target are not done yet, and other cells.
func (x *execution) pending(index int) (loads, more bool) {
	for _, c := range x.plan.order(x.record.doc.OrderSeed) {
		if c.target != index || x.done(c) {
			continue
		}
		if c.kind == loading {
			loads = true
		} else {
			more = true
		}
	}
	return loads, more
}

// startOver forgets what was measured of a target, which then begins anew: its
// figures would else be of different loads.
func (x *execution) startOver(ctx context.Context, out *result.Target) error {
	why := "its server was there for other runs since"
	if out.RunPart != nil {
		why = fmt.Sprintf("another target has been loaded into %s since", out.RunPart.Place)
	}
	x.record.display.Start(out.Name+" begins again", "", 0).Finish(why)
	out.Repeats = nil
	return stored(x.record.store.Save(ctx, &x.record.doc))
}

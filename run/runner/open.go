package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/check"
	"github.com/tsmark/tsmark/session"
	"github.com/tsmark/tsmark/workload"
)

// openStage looks at the targets that are to be loaded before anything is, and
// opens each for its cells. It decides whether a cell may go on with what the
// database holds.
type openStage struct {
	plan    *Plan
	subject *subject
	watch   *watch
	record  *record
	servers servers
	force   session.Force
}

// open opens a target for a cell, whose server it has running before. It sees that
// the cell may go on with what is there, and finds out what must be known before:
// what the target is, and, unless it is only loaded, which answers are right.
func (x *openStage) open(ctx context.Context, c cell, planned *plannedTarget, out *result.Target) (on *turn, err error) {
	env, err := x.env(ctx, c, planned)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil && c.kind == loading {
			removeEmpty(env.Dir)
		}
	}()
	if planned, err = x.servers.turn(ctx, planned, env); err != nil {
		return nil, err
	}
	on = &turn{job: c, planned: planned, env: env, out: out}
	if on.db, err = planned.open(ctx, env); err != nil {
		return nil, err
	}
	on.mark, err = x.face(ctx, c, planned, on.db)
	if errors.Is(err, driver.ErrExisting) && x.plan.experiment.Adopt {
		on.mark, on.adopted = x.adopted(planned), true
		err = x.accept(on.mark, planned)
	}
	if err == nil && on.job.kind == loading && planned.start != "" {
		err = x.usable(ctx, planned, on.db) // it did not run when the others were looked at
	}
	if err == nil && on.job.kind == querying && !x.plan.steps.Load {
		err = connectable(ctx, on.db, x.plan.experiment.Queries.Workers)
	}
	if err == nil {
		err = x.describe(ctx, on.db, planned, on.out)
	}
	if err == nil && (on.job.kind == checking || on.job.kind == querying || on.job.kind == loading && x.subject.mixes()) {
		err = x.subject.learn(ctx, on.db, planned)
	}
	if err != nil {
		_ = on.db.Close() // the first error says what is wrong
	}
	return on, err
}

// describe records what an open target says of itself, and begins to watch it.
func (x *openStage) describe(ctx context.Context, t driver.DB, planned *plannedTarget, out *result.Target) (err error) {
	if out.Description, err = check.Describe(ctx, t); err != nil {
		return fmt.Errorf("reading version and settings: %w", err)
	}
	x.record.remark(x.plan.experiment.Expect.OtherTarget(out.Name, out.Description.Version))
	out.Adapter = planned.driver.Caution(out.Description.Version)
	if x.record.observer != nil {
		x.record.observer.Opened(out)
	}
	out.Types = planned.caps.Mapped(x.subject.schema())
	ports, err := x.watch.server(ctx, t, out)
	if err != nil {
		return err
	}
	if len(ports) > 0 {
		x.record.doc.OtherDatabases = others(ctx, x.record.doc.OtherDatabases, ports)
	}
	x.watch.attend(ctx, planned.name)
	if err := x.watch.remote(ctx, planned); err != nil {
		return err
	}
	return x.record.keepTarget(ctx, out)
}

// env gives a loaded target a folder within this run's, and an existing one
// the folder it was loaded in.
func (x *openStage) env(ctx context.Context, c cell, planned *plannedTarget) (driver.Env, error) {
	id := x.record.doc.ID
	if !x.plan.steps.Load {
		loaded, err := x.record.store.Loaded(ctx, planned.name, planned.driver.Name)
		if err != nil {
			return driver.Env{}, err
		}
		id = x.lastHere(loaded, planned)
		if id == "" && planned.caps.Embedded && planned.options["path"] == "" {
			return driver.Env{}, fmt.Errorf("%w: no target %s with driver %s has been loaded into %s; load it with tsmark load, or give its path",
				ErrInput, planned.name, planned.driver.Name, x.record.dir)
		}
	}
	env := driver.Env{Dir: filepath.Join(x.record.dir, id, planned.name), Create: c.kind == loading}
	if c.kind == loading && planned.caps.Embedded {
		if err := os.MkdirAll(env.Dir, 0o777); err != nil {
			return env, fmt.Errorf("%w: making the run's folder: %w", ErrInput, err)
		}
	}
	return env, nil
}

// lastHere is the first of these runs whose folder for the target is on this
// machine: those of a store that several machines share may be elsewhere. Where
// there is none it is the first, or "".
func (x *openStage) lastHere(runs []string, planned *plannedTarget) string {
	for _, id := range runs {
		if _, err := os.Stat(filepath.Join(x.record.dir, id, planned.name)); err == nil {
			return id
		}
	}
	return cmp.Or(append(runs, "")...)
}

// removeEmpty removes a folder of a run, and the run's own, if nothing is in
// them.
func removeEmpty(dir string) {
	if os.Remove(dir) == nil {
		_ = os.Remove(filepath.Dir(dir)) // fails, and stays, where something else is in it
	}
}

// adopt makes the marked dataset the one that this run is about.
func (x *openStage) adopt(mark session.Mark) error {
	w, err := x.plan.catalog.Workload(mark.Dataset.Name)
	if err != nil {
		return badInput(err)
	}
	if now := workload.Fingerprint(w, mark.Dataset); now != mark.Fingerprint {
		return fmt.Errorf("%w: the dataset was loaded as %s, and this tsmark generates %s from the same settings; load it again with --replace",
			ErrInput, mark.Fingerprint, now)
	}
	if err := fix(x.subject, x.record, mark.Dataset); err != nil {
		return badInput(err)
	}
	// The record shows the experiment that would repeat this.
	adopted := *x.plan.experiment
	adopted.Workload, adopted.Load.Limit = mark.Dataset, mark.Dataset.Limit
	yaml, err := x.plan.yaml(&adopted)
	if err != nil {
		return err
	}
	x.record.doc.Experiment = string(yaml)
	return nil
}

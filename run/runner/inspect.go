package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/run/check"
	"github.com/tsmark/tsmark/session"
)

// overwritten reports whether what a target of a resumed run had loaded is not
// there any more when its turn comes: a target that shares its place was loaded
// since, or will be. What else is wrong with it shows at its turn.
func (x *openStage) overwritten(ctx context.Context, planned *plannedTarget, willBe bool) bool {
	if willBe || len(x.plan.sharing(planned)) == 0 {
		return willBe
	}
	t, err := planned.open(ctx, driver.Env{Dir: filepath.Join(x.record.dir, x.record.doc.ID, planned.name)})
	if err != nil {
		return false
	}
	defer t.Close() // nothing was changed
	mark, err := session.New(t).Mark(ctx)
	return err == nil && mark.Run == x.record.doc.ID && !x.own(mark, planned)
}

// inspect looks at a target that is to be loaded.
func (x *openStage) inspect(ctx context.Context, planned *plannedTarget) error {
	embedded := planned.caps.Embedded
	if planned.start != "" || embedded && (planned.shares == "" || nothingAt(planned.shares)) {
		return nil // there is nothing to look at yet
	}
	t, err := planned.open(ctx, driver.Env{Dir: filepath.Join(x.record.dir, x.record.doc.ID, planned.name), Create: !embedded})
	if err != nil {
		return err
	}
	defer t.Close() // nothing was changed
	mark, err := session.New(t).Mark(ctx)
	switch {
	case err == nil:
		err = x.replaces(mark, planned)
	case errors.Is(err, session.ErrNoMark):
		err = nil
	}
	if err := x.letGo(ctx, t, err); err != nil {
		return err
	}
	return x.usable(ctx, planned, t)
}

// usable returns an error where a load into an open target, or the queries after
// it, could not be done.
func (x *openStage) usable(ctx context.Context, planned *plannedTarget, t driver.DB) error {
	err := x.watch.limits.InStatement(ctx, "looking at the ports of target "+planned.name, func(ctx context.Context) error {
		return check.Reach(ctx, &planned.driver, planned.options, x.plan.steps.Verify)
	})
	if err != nil {
		return err
	}
	if err := x.letGo(ctx, t, session.New(t).Inspect(ctx, x.subject.schema())); err != nil {
		return err
	}
	e, workers := x.plan.experiment, 0
	if x.plan.steps.Load {
		workers = e.Load.Workers
		if e.Mixed.On() {
			workers += x.plan.settings.mixed.Queriers // at the same time
		}
	}
	if x.plan.steps.Query {
		workers = max(workers, e.Queries.Workers)
	}
	if err := connectable(ctx, t, workers); err != nil {
		return err
	}
	if !x.plan.steps.Verify {
		return nil
	}
	q, err := t.NewQuerier(ctx, 0)
	if err != nil {
		return err
	}
	return q.Close()
}

// connectable returns an error where a server never takes as many connections as there are
// workers. Where others have too many of them, that shows when the workers connect.
func connectable(ctx context.Context, t driver.DB, workers int) error {
	if t.ConnectionLimit == nil {
		return nil
	}
	bound, err := t.ConnectionLimit(ctx)
	if err == nil && bound.Most > 0 && int64(workers) > bound.Most {
		err = fmt.Errorf("%d workers need as many connections, and the server takes %d of this user: %s", workers, bound.Most, bound.Why)
	}
	return err
}

// letGo returns an error of a session's unless it is about data that the user
// lets go. It drops nothing, since another target may refuse yet.
func (x *openStage) letGo(ctx context.Context, t driver.DB, err error) error {
	if !errors.Is(err, driver.ErrExisting) {
		return err
	}
	_, _, err = x.force.Allow(ctx, session.New(t), x.subject.schema(), err)
	return err
}

// nothingAt reports whether a file is not there, and can be made.
func nothingAt(path string) bool {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	info, err := os.Stat(filepath.Dir(path))
	return err == nil && info.IsDir()
}

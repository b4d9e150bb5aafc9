package stage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/run/check"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/session"
)

// IsOverwritten reports whether what a target of a resumed run had loaded is not
// there any more when its turn comes: a target that shares its place was loaded
// since, or will be. What else is wrong with it shows at its turn.
func (x *Opener) IsOverwritten(ctx context.Context, planned *plan.Target, willBe bool) bool {
	if willBe || len(x.Plan.Sharers(planned)) == 0 {
		return willBe
	}
	t, err := planned.Open(ctx, driver.Env{Dir: filepath.Join(x.Record.Dir, x.Record.Doc.ID, planned.Name)})
	if err != nil {
		return false
	}
	defer t.Close() // nothing was changed
	mark, err := session.New(t).Mark(ctx)
	return err == nil && mark.Run == x.Record.Doc.ID && !x.ownsMark(mark, planned)
}

// Inspect looks at a target that is to be loaded.
func (x *Opener) Inspect(ctx context.Context, planned *plan.Target) error {
	embedded := planned.Caps.Embedded
	if planned.Start != "" || embedded && (planned.Place == "" || nothingAt(planned.Place)) {
		return nil // there is nothing to look at yet
	}
	t, err := planned.Open(ctx, driver.Env{Dir: filepath.Join(x.Record.Dir, x.Record.Doc.ID, planned.Name), Create: !embedded})
	if err != nil {
		return err
	}
	defer t.Close() // nothing was changed
	mark, err := session.New(t).Mark(ctx)
	switch {
	case err == nil:
		err = x.checkReplace(mark, planned)
	case errors.Is(err, session.ErrNoMark):
		err = nil
	}
	if err := x.allowDrop(ctx, t, err); err != nil {
		return err
	}
	return x.checkUsable(ctx, planned, t)
}

// checkUsable returns an error where a load into an open target, or the queries after
// it, could not be done.
func (x *Opener) checkUsable(ctx context.Context, planned *plan.Target, t driver.DB) error {
	err := x.Watch.Limits.InStatement(ctx, "looking at the ports of target "+planned.Name, func(ctx context.Context) error {
		return check.Reach(ctx, &planned.Driver, planned.Options, x.Plan.Steps.Verify)
	})
	if err != nil {
		return err
	}
	if err := x.allowDrop(ctx, t, session.New(t).Inspect(ctx, x.Subject.Schema())); err != nil {
		return err
	}
	e, workers := x.Plan.Experiment, 0
	if x.Plan.Steps.Load {
		workers = e.Load.Workers
		if e.Mixed.On() {
			workers += x.Plan.Settings.Mixed.Queriers // at the same time
		}
	}
	if x.Plan.Steps.Query {
		workers = max(workers, e.Queries.Workers)
	}
	if err := checkConnections(ctx, t, workers); err != nil {
		return err
	}
	if !x.Plan.Steps.Verify {
		return nil
	}
	q, err := t.NewQuerier(ctx, 0)
	if err != nil {
		return err
	}
	return q.Close()
}

// checkConnections returns an error where a server never takes as many connections as there are
// workers. Where others have too many of them, that shows when the workers connect.
func checkConnections(ctx context.Context, t driver.DB, workers int) error {
	if t.ConnectionLimit == nil {
		return nil
	}
	bound, err := t.ConnectionLimit(ctx)
	if err == nil && bound.Most > 0 && int64(workers) > bound.Most {
		err = fmt.Errorf("%d workers need as many connections, and the server takes %d of this user: %s", workers, bound.Most, bound.Why)
	}
	return err
}

// allowDrop returns an error of a session's unless it is about data that the user
// lets go. It drops nothing, since another target may refuse yet.
func (x *Opener) allowDrop(ctx context.Context, t driver.DB, err error) error {
	if !errors.Is(err, driver.ErrExisting) {
		return err
	}
	_, _, err = x.Force.Allow(ctx, session.New(t), x.Subject.Schema(), err)
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

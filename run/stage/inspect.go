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
	"github.com/tsmark/tsmark/run/launch"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/session"
)

// IsGone reports whether the data that a target of a resumed run had loaded is gone: that of its server
// was removed, or a target that shares its place was loaded since, or will be. Other errors are found
// when its job starts.
func (x *Opener) IsGone(ctx context.Context, planned *plan.Target, willBe bool) bool {
	if planned.Start != "" && !launch.HasData(filepath.Join(x.Record.Dir, x.Record.Doc.ID, planned.Name)) {
		return true
	}
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

// Inspect checks a target that is to be loaded, or installs the server that tsmark starts for it.
func (x *Opener) Inspect(ctx context.Context, planned *plan.Target) error {
	embedded, waiting := planned.Caps.Embedded, record.Waiting(x.Record.Display, planned.Name)
	if planned.Start != "" {
		return launch.Install(ctx, planned, waiting)
	}
	if embedded && (planned.Place == "" || nothingAt(planned.Place)) {
		return nil // there is nothing to look at yet
	}
	t, err := planned.Open(ctx, driver.Env{Dir: filepath.Join(x.Record.Dir, x.Record.Doc.ID, planned.Name), Create: !embedded, Waiting: waiting})
	if err != nil {
		return err
	}
	defer t.Close() // nothing was changed
	if x.Plan.Experiment.Crash.Enabled() {
		if err := session.New(t).CheckAlone(ctx); err != nil {
			return plan.BadInput(fmt.Errorf("a target that crashes may hold nothing else: %w", err))
		}
	}
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

// checkUsable returns an error if a load into an open target, or the queries after it, are
// impossible.
func (x *Opener) checkUsable(ctx context.Context, planned *plan.Target, t driver.DB) error {
	limits := x.Watch.Limits
	limits.Waiting = record.Waiting(x.Record.Display, planned.Name)
	err := limits.InStatement(ctx, "looking at the ports of target "+planned.Name, func(ctx context.Context) error {
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
		workers = planned.Workers
		if e.QueriesBesideWrites() {
			workers += x.Plan.Settings.Queriers // at the same time
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

// checkConnections returns an error if a server never accepts as many connections as there are
// workers. If other clients use too many connections, connecting fails later.
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

// allowDrop returns a session's error unless it concerns data that the user allows to drop. It
// drops nothing, because another target may still refuse.
func (x *Opener) allowDrop(ctx context.Context, t driver.DB, err error) error {
	if !errors.Is(err, driver.ErrExisting) {
		return err
	}
	_, _, err = x.Force.Allow(ctx, session.New(t), x.Subject.Schema(), err)
	return err
}

// nothingAt reports whether a file does not exist and can be created.
func nothingAt(path string) bool {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	info, err := os.Stat(filepath.Dir(path))
	return err == nil && info.IsDir()
}

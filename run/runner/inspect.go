package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/session"
)

// inspect looks at all targets that are to be loaded before the first row is
// loaded anywhere: whether they answer, take rows and queries from this user,
// and hold nothing that must stay. It reports whether the run can begin, which
// it cannot before anything is measured where a target gives up. Those whose
// servers tsmark starts are looked at when they run.
func (x *execution) inspect(ctx context.Context) (ready bool, err error) {
	if !x.steps.Load {
		return true, nil
	}
	ready = true
	loaded := make(map[string]bool) // places that a target before will have loaded into
	var anew []*result.Target
	for i := range x.plan.targets {
		planned, out := &x.plan.targets[i], &x.run.Targets[i]
		loads, more := x.pending(i)
		if !loads && more && x.overwritten(ctx, planned, loaded[planned.shares]) {
			loads, anew = true, append(anew, out)
		}
		var err error
		if loads {
			err = x.inspectTarget(ctx, planned)
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
	for _, c := range x.plan.order() {
		if c.target != index || x.done(c) {
			continue
		}
		if c.job == loading {
			loads = true
		} else {
			more = true
		}
	}
	return loads, more
}

// overwritten reports whether what a target of a resumed run had loaded is not
// there any more when its turn comes: a target that shares its place was loaded
// since, or will be. What else is wrong with it shows at its turn.
func (x *execution) overwritten(ctx context.Context, planned *plannedTarget, willBe bool) bool {
	if willBe || !x.plan.sharesAny(planned) {
		return willBe
	}
	t, err := open(ctx, planned, driver.Env{Dir: filepath.Join(x.Dir, x.run.ID, planned.name)})
	if err != nil {
		return false
	}
	defer t.Close() // nothing was changed
	mark, err := session.Of(t).Mark(ctx)
	return err == nil && mark.Run == x.run.ID && !x.own(mark, planned)
}

// startOver forgets what was measured of a target, which then begins anew: its
// figures would else be of different loads.
func (x *execution) startOver(ctx context.Context, out *result.Target) error {
	x.Display.Start(out.Name+" begins again", "", 0).Done(fmt.Sprintf("another target has been loaded into %s since", out.Turn.Place))
	out.Repeats = nil
	return stored(x.Store.Save(ctx, &x.run))
}

// inspectTarget looks at a target that is to be loaded.
func (x *execution) inspectTarget(ctx context.Context, planned *plannedTarget) error {
	embedded := planned.caps.Embedded
	if planned.start != "" || embedded && (planned.shares == "" || nothingAt(planned.shares)) {
		return nil // there is nothing to look at yet
	}
	t, err := open(ctx, planned, driver.Env{Dir: filepath.Join(x.Dir, x.run.ID, planned.name), Create: !embedded})
	if err != nil {
		return err
	}
	defer t.Close() // nothing was changed
	mark, err := session.Of(t).Mark(ctx)
	switch {
	case err == nil:
		err = x.replaces(mark, planned)
	case errors.Is(err, session.ErrNoMark):
		err = nil
	}
	if err := x.letGo(ctx, t, err); err != nil {
		return err
	}
	return x.usable(ctx, t)
}

// usable returns an error where a load into an open target, or the queries after
// it, could not be done.
func (x *execution) usable(ctx context.Context, t driver.DB) error {
	if err := x.letGo(ctx, t, session.Of(t).Inspect(ctx, x.schema())); err != nil {
		return err
	}
	if !x.steps.Verify {
		return nil
	}
	q, err := t.NewQuerier(ctx, 0)
	if err != nil {
		return err
	}
	return q.Close()
}

// letGo returns an error of a session's unless it is about data that the user
// lets go. It drops nothing, since another target may refuse yet.
func (x *execution) letGo(ctx context.Context, t driver.DB, err error) error {
	if !errors.Is(err, driver.ErrExisting) {
		return err
	}
	_, _, err = x.force.Allow(ctx, session.Of(t), x.schema(), err)
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

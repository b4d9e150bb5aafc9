package stage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/session"
)

// newMark returns the mark that a load leaves in the target.
func (x *Opener) newMark(c plan.Job, planned *plan.Target) session.Mark {
	return session.Mark{
		Dataset: x.Record.Doc.Dataset.Spec, Fingerprint: x.Record.Doc.Dataset.Fingerprint, RowsExpected: -1, RowsAtMost: x.Subject.Rows,
		Loaded: time.Now().UTC(), Tool: x.Record.Tool.Version,
		Run: x.Record.Doc.ID, Target: planned.Name, Driver: planned.Driver.Name, Repeat: c.Repeat, Layout: planned.Driver.LayoutOf(planned.Options),
	}
}

// checkMark reads the mark and decides whether a job may use the contents of the database. For a
// load it returns the new mark.
func (x *Opener) checkMark(ctx context.Context, c plan.Job, planned *plan.Target, t driver.DB) (session.Mark, error) {
	mark, err := session.New(t).Mark(ctx)
	switch {
	case errors.Is(err, driver.ErrExisting) && c.Kind == plan.Load:
		err = x.Force.MakeRoom(ctx, session.New(t), x.Subject.Schema(), err)
	case errors.Is(err, session.ErrNoMark) && c.Kind == plan.Load:
		err = nil
	case errors.Is(err, session.ErrNoMark):
		err = fmt.Errorf("%w: %w; load one with tsmark load", plan.ErrInput, err)
	case err == nil && c.Kind == plan.Load:
		err = x.checkReplace(mark, planned)
	case err == nil:
		err = x.checkAccept(mark, planned)
	}
	if c.Kind == plan.Load {
		mark = x.newMark(c, planned)
	}
	return mark, err
}

// checkReplace returns an error if a marked dataset must not be replaced by that of a target.
func (x *Opener) checkReplace(mark session.Mark, planned *plan.Target) error {
	switch {
	case mark.Run == x.Record.Doc.ID && mark.Target != "" && !x.Plan.SamePlace(planned, mark.Target):
		return x.aliasError(planned.Name, mark.Target)
	case mark.Run != "" && (mark.Run == x.Record.Doc.ID || slices.Contains(x.Plan.Earlier, mark.Run)):
		return nil // runs of a sweep, targets of a run, and repeats of a run replace each other's data
	case !x.Plan.Experiment.Load.Replace:
		return fmt.Errorf("%w: the database of target %s holds dataset %s already (%s, %s); add --replace to load it again, or use tsmark query",
			plan.ErrInput, planned.Name, mark.Fingerprint, mark.Dataset.Name, rowsOf(&mark))
	}
	return nil
}

// checkAccept returns an error if answers from a marked dataset would differ from those of a target
// of this run.
func (x *Opener) checkAccept(mark session.Mark, planned *plan.Target) error {
	switch other := mark.Target != planned.Name; {
	case x.ownsMark(mark, planned):
	case mark.Run == x.Record.Doc.ID && other && mark.Target != "" && !x.Plan.SamePlace(planned, mark.Target):
		return x.aliasError(mark.Target, planned.Name)
	case mark.Run == x.Record.Doc.ID:
		return fmt.Errorf("the database holds another load of this run%s; tsmark rerun %s measures target %s", loadedBy(mark), x.Record.Doc.ID, planned.Name)
	case x.Record.Doc.Sweep != "":
		return fmt.Errorf("another point of the sweep has been loaded into the database since; tsmark rerun %s measures this one", x.Record.Doc.ID)
	default:
		return fmt.Errorf("another dataset has been loaded into the database since%s; tsmark rerun %s measures this one", loadedBy(mark), x.Record.Doc.ID)
	}
	if differs := mark.Differs(&planned.Driver, planned.Options); differs != "" {
		return fmt.Errorf("%w: the data of target %s %s%s; give it the options that it was loaded with, or load it again with --replace",
			plan.ErrInput, planned.Name, differs, loadedBy(mark))
	}
	switch {
	case !mark.Complete:
		return fmt.Errorf("%w: the load of dataset %s ended after %s; load it again with --replace",
			plan.ErrInput, mark.Fingerprint, rowsOf(&mark))
	case x.Subject.Dataset == nil && x.Record.Doc.Dataset.Fingerprint == "":
		return x.adopt(mark)
	case mark.Fingerprint != x.Record.Doc.Dataset.Fingerprint:
		return fmt.Errorf("%w: the targets hold different datasets, %s and %s; query them one by one",
			plan.ErrInput, x.Record.Doc.Dataset.Fingerprint, mark.Fingerprint)
	case x.Subject.Dataset == nil: // resumed
		return x.adopt(mark)
	}
	return nil
}

// ownsMark reports whether a mark belongs to the load that this run queries: if the run loads, the
// target's last one.
func (x *Opener) ownsMark(mark session.Mark, planned *plan.Target) bool {
	return !x.Plan.Steps.Load || mark.Run == x.Record.Doc.ID && mark.Target == planned.Name && mark.Repeat == x.lastLoaded(planned.Name)
}

// lastLoaded returns the number of a target's last load; 0: none.
func (x *Opener) lastLoaded(name string) int {
	last := 0
	for i := range x.Record.Doc.Targets {
		for _, r := range x.Record.Doc.Targets[i].Repeats {
			if x.Record.Doc.Targets[i].Name == name && r.Load != nil {
				last = max(last, r.Number)
			}
		}
	}
	return last
}

// aliasError is the error for two targets that overwrite each other although their settings differ.
// It names them in the order of the experiment.
func (x *Opener) aliasError(a, b string) error {
	place := func(name string) int {
		return slices.IndexFunc(x.Plan.Targets, func(t plan.Target) bool { return t.Name == name })
	}
	if place(b) < place(a) {
		a, b = b, a
	}
	where := func(name string) string {
		for i := range x.Plan.Targets {
			if t := &x.Plan.Targets[i]; t.Name == name && t.Place != "" {
				return name + " (" + t.Place + ")"
			}
		}
		return name
	}
	return fmt.Errorf("%w: targets %s and %s are one place under two names, and overwrite each other; write the place alike in both, so that they take turns, or give each its own",
		plan.ErrInput, where(a), where(b))
}

// rowsOf formats the number of rows in a mark.
func rowsOf(mark *session.Mark) string {
	switch {
	case mark.RowsExpected >= 0:
		return fmt.Sprintf("%d of %d rows", mark.RowsAcked, mark.RowsExpected)
	case mark.RowsAtMost > 0:
		return fmt.Sprintf("%d of at most %d rows", mark.RowsAcked, mark.RowsAtMost)
	}
	return fmt.Sprintf("%d rows", mark.RowsAcked)
}

// loadedBy names the origin of a mark, as the end of a phrase; empty: unknown.
func loadedBy(mark session.Mark) string {
	if mark.Target == "" {
		return ""
	}
	return fmt.Sprintf(", by target %s of run %s", mark.Target, mark.Run)
}

package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/session"
)

// newMark is what a load leaves in the target.
func (x *openStage) newMark(c cell, planned *plannedTarget) session.Mark {
	return session.Mark{
		Dataset: x.record.doc.Dataset.Spec, Fingerprint: x.record.doc.Dataset.Fingerprint, RowsExpected: -1, RowsAtMost: x.subject.rows,
		Loaded: time.Now().UTC(), Tool: x.record.tool.Version,
		Run: x.record.doc.ID, Target: planned.name, Driver: planned.driver.Name, Repeat: c.repeat, Layout: planned.driver.LayoutOf(planned.options),
	}
}

// face reads the mark and decides whether a cell may go on with what the
// database holds. For a load it returns the new mark.
func (x *openStage) face(ctx context.Context, c cell, planned *plannedTarget, t driver.DB) (session.Mark, error) {
	mark, err := session.New(t).Mark(ctx)
	switch {
	case errors.Is(err, driver.ErrExisting) && c.kind == loading:
		err = x.force.MakeRoom(ctx, session.New(t), x.subject.schema(), err)
	case errors.Is(err, session.ErrNoMark) && c.kind == loading:
		err = nil
	case errors.Is(err, session.ErrNoMark):
		err = fmt.Errorf("%w: %w; load one with tsmark load", ErrInput, err)
	case err == nil && c.kind == loading:
		err = x.replaces(mark, planned)
	case err == nil:
		err = x.accept(mark, planned)
	}
	if c.kind == loading {
		mark = x.newMark(c, planned)
	}
	return mark, err
}

// replaces returns an error where a marked dataset may not make room for that of
// a target.
func (x *openStage) replaces(mark session.Mark, planned *plannedTarget) error {
	switch {
	case mark.Run == x.record.doc.ID && mark.Target != "" && !x.plan.together(planned, mark.Target):
		return x.alias(planned.name, mark.Target)
	case mark.Run != "" && (mark.Run == x.record.doc.ID || slices.Contains(x.plan.earlier, mark.Run)):
		return nil // runs of a sweep take the place of each other, as do targets of a run
	case !x.plan.experiment.Load.Replace:
		return fmt.Errorf("%w: the database of target %s holds dataset %s already (%s, %s); add --replace to load it again, or use tsmark query",
			ErrInput, planned.name, mark.Fingerprint, mark.Dataset.Name, rowsOf(&mark))
	}
	return nil
}

// accept returns an error where answers from a marked dataset would not be those
// of a target of this run.
func (x *openStage) accept(mark session.Mark, planned *plannedTarget) error {
	switch other := mark.Target != planned.name; {
	case x.own(mark, planned):
	case mark.Run == x.record.doc.ID && other && mark.Target != "" && !x.plan.together(planned, mark.Target):
		return x.alias(mark.Target, planned.name)
	case mark.Run == x.record.doc.ID:
		return fmt.Errorf("the database holds another load of this run%s; tsmark rerun %s measures target %s", loadedBy(mark), x.record.doc.ID, planned.name)
	case x.record.doc.Sweep != "":
		return fmt.Errorf("another point of the sweep has been loaded into the database since; tsmark rerun %s measures this one", x.record.doc.ID)
	default:
		return fmt.Errorf("another dataset has been loaded into the database since%s; tsmark rerun %s measures this one", loadedBy(mark), x.record.doc.ID)
	}
	if differs := mark.Differs(&planned.driver, planned.options); differs != "" {
		return fmt.Errorf("%w: the data of target %s %s%s; give it the options that it was loaded with, or load it again with --replace",
			ErrInput, planned.name, differs, loadedBy(mark))
	}
	switch {
	case !mark.Complete:
		return fmt.Errorf("%w: the load of dataset %s ended after %s; load it again with --replace",
			ErrInput, mark.Fingerprint, rowsOf(&mark))
	case x.subject.dataset == nil && x.record.doc.Dataset.Fingerprint == "":
		return x.adopt(mark)
	case mark.Fingerprint != x.record.doc.Dataset.Fingerprint:
		return fmt.Errorf("%w: the targets hold different datasets, %s and %s; query them one by one",
			ErrInput, x.record.doc.Dataset.Fingerprint, mark.Fingerprint)
	case x.subject.dataset == nil: // resumed
		return x.adopt(mark)
	}
	return nil
}

// own reports whether a mark is of the load whose data this run queries: where
// it loads, the target's last one.
func (x *openStage) own(mark session.Mark, planned *plannedTarget) bool {
	return !x.plan.steps.Load || mark.Run == x.record.doc.ID && mark.Target == planned.name && mark.Repeat == x.lastLoaded(planned.name)
}

// lastLoaded is the number of a target's last load; 0: it has none.
func (x *openStage) lastLoaded(name string) int {
	last := 0
	for i := range x.record.doc.Targets {
		for _, r := range x.record.doc.Targets[i].Repeats {
			if x.record.doc.Targets[i].Name == name && r.Load != nil {
				last = max(last, r.Number)
			}
		}
	}
	return last
}

// alias is the error of two targets that overwrite each other without looking
// alike in the experiment, in whose order it names them.
func (x *openStage) alias(a, b string) error {
	place := func(name string) int {
		return slices.IndexFunc(x.plan.targets, func(t plannedTarget) bool { return t.name == name })
	}
	if place(b) < place(a) {
		a, b = b, a
	}
	where := func(name string) string {
		for i := range x.plan.targets {
			if t := &x.plan.targets[i]; t.name == name && t.shares != "" {
				return name + " (" + t.shares + ")"
			}
		}
		return name
	}
	return fmt.Errorf("%w: targets %s and %s are one place under two names, and overwrite each other; write the place alike in both, so that they take turns, or give each its own",
		ErrInput, where(a), where(b))
}

// rowsOf says how many rows a mark tells of.
func rowsOf(mark *session.Mark) string {
	switch {
	case mark.RowsExpected >= 0:
		return fmt.Sprintf("%d of %d rows", mark.RowsAcked, mark.RowsExpected)
	case mark.RowsAtMost > 0:
		return fmt.Sprintf("%d of at most %d rows", mark.RowsAcked, mark.RowsAtMost)
	}
	return fmt.Sprintf("%d rows", mark.RowsAcked)
}

// loadedBy says who left a mark, as the end of a phrase; empty: nobody knows.
func loadedBy(mark session.Mark) string {
	if mark.Target == "" {
		return ""
	}
	return fmt.Sprintf(", by target %s of run %s", mark.Target, mark.Run)
}

package stage

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/session"
)

// adoptedMark returns a mark for data that tsmark did not load: with the run's dataset. It is not
// written to the database.
func (x *Opener) adoptedMark(planned *plan.Target) session.Mark {
	return session.Mark{
		Dataset: x.Record.Doc.Dataset.Spec, Fingerprint: x.Record.Doc.Dataset.Fingerprint, RowsExpected: -1, RowsAtMost: x.Subject.Rows, Complete: true,
		Driver: planned.Driver.Name, Layout: planned.Driver.LayoutOf(planned.Options),
	}
}

// compareAdopted compares data that tsmark did not load with the dataset. Its error, which wraps
// ErrInput, describes the difference: the expected answers would then be unknown.
func (x *Checker) compareAdopted(ctx context.Context, on *Opened) error {
	census, err := x.adoptedCensus(ctx, on)
	rows := int64(0)
	for _, c := range census {
		if err == nil && c.Problem != "" {
			err = errors.New(c.Problem)
		}
		rows += max(c.Counted, 0)
	}
	switch {
	case err == nil:
	case ctx.Err() != nil || errors.Is(err, driver.ErrUnreachable) || driver.AsTemporary(err) != nil:
		return err
	default:
		return fmt.Errorf("%w: target %s does not hold dataset %s, which these settings make: %w; give the flags by which it was generated (--use-case, --scale, --seed, --log-interval, --timestamp-start …), or have tsmark load it",
			plan.ErrInput, on.Planned.Name, x.Record.Doc.Dataset.Fingerprint, err)
	}
	tables := "tables"
	if len(census) == 1 {
		tables = "table"
	}
	on.out.Adopted = fmt.Sprintf("%d %s counted and compared with the generator", len(census), tables)
	if rows > 0 {
		on.out.Adopted += fmt.Sprintf(", %d rows", rows)
	}
	return x.Record.KeepTarget(ctx, on.out)
}

// adoptedCensus counts the existing data, if all tables exist.
func (x *Checker) adoptedCensus(ctx context.Context, on *Opened) ([]result.CensusResult, error) {
	planned, err := on.DB.Plan(x.Subject.Schema())
	if err != nil {
		return nil, err
	}
	present, err := on.DB.Objects(ctx)
	if err != nil {
		return nil, err
	}
	for _, o := range planned {
		if o.Kind == sqlkit.KindTable && !slices.ContainsFunc(present, o.Clashes) {
			return nil, fmt.Errorf("there is no %s", o)
		}
	}
	return census(ctx, x.Subject, on, verify.Sent{}, nil, 0)
}

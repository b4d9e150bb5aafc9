package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
)

// adopts returns an error where a driver with the options cannot query data that TSBS
// loaded.
func adopts(k *driver.Driver, s *series.Schema, o driver.Options) error {
	if k.Adopts == nil {
		return fmt.Errorf("n/a: tsmark does not know how TSBS lays data out in %s; leave out adopt, and have tsmark load it", k.Name)
	}
	if err := k.Adopts(s, o); err != nil {
		return fmt.Errorf("n/a: %w", err)
	}
	return nil
}

// adopted returns the mark that data would have which tsmark did not load: it is of the
// run's dataset, and written nowhere.
func (x *openStage) adopted(planned *plannedTarget) session.Mark {
	return session.Mark{
		Dataset: x.record.doc.Dataset.Spec, Fingerprint: x.record.doc.Dataset.Fingerprint, RowsExpected: -1, RowsAtMost: x.subject.rows, Complete: true,
		Driver: planned.driver.Name, Layout: planned.driver.LayoutOf(planned.options),
	}
}

// compareAdopted compares data that tsmark did not load with the dataset. Its error, which wraps
// ErrInput, says what of it differs: nobody knows then what answers should be.
func (x *checkStage) compareAdopted(ctx context.Context, on *turn) error {
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
			ErrInput, on.planned.name, x.record.doc.Dataset.Fingerprint, err)
	}
	tables := "tables"
	if len(census) == 1 {
		tables = "table"
	}
	on.out.Adopted = fmt.Sprintf("%d %s counted and compared with the generator", len(census), tables)
	if rows > 0 {
		on.out.Adopted += fmt.Sprintf(", %d rows", rows)
	}
	return x.record.keepTarget(ctx, on.out)
}

// adoptedCensus counts what is there, once all tables are.
func (x *checkStage) adoptedCensus(ctx context.Context, on *turn) ([]result.CensusResult, error) {
	planned, err := on.db.Plan(x.subject.schema())
	if err != nil {
		return nil, err
	}
	present, err := on.db.Objects(ctx)
	if err != nil {
		return nil, err
	}
	for _, o := range planned {
		if o.Kind == sqlkit.KindTable && !slices.ContainsFunc(present, o.Clashes) {
			return nil, fmt.Errorf("there is no %s", o)
		}
	}
	return census(ctx, x.subject, on, verify.Sent{}, nil)
}

package influxdb

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/influx"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// errGeminiAggregates says why openGemini has no aggregates.
var errGeminiAggregates = fmt.Errorf("%w: aggregates of openGemini were not tried", query.ErrUnsupported)

// PlanAggregate implements driver.DB: an aggregate is a measurement.
func (d *database) PlanAggregate(s *series.Schema, m *query.Materialized) ([]driver.Object, error) {
	t := s.Table(m.Table)
	if d.settings.gemini() {
		return nil, errGeminiAggregates
	}
	if err := influx.CheckAggregate(m, t); err != nil {
		return nil, err
	}
	columns := influx.AggregateColumns(m, t)
	for i := range t.Tags {
		if !t.Tags[i].Numeric() {
			columns = append(columns, "tag "+t.Tags[i].Key)
		}
	}
	return []driver.Object{{Name: measurement + m.Name(), Columns: columns}}, nil
}

// notKept says why no continuous query maintains an aggregate.
const notKept = "a continuous query of InfluxDB computes the interval that has just ended by the clock, but the rows of a dataset have other times; SELECT … INTO fills in the missing intervals"

// Materialize implements driver.DB with SELECT … INTO, with which users fill in the data that a
// continuous query has not computed.
func (d *database) Materialize(ctx context.Context, s *series.Schema, m *query.Materialized, keep bool) error {
	t := s.Table(m.Table)
	if err := influx.CheckAggregate(m, t); err != nil {
		return err
	}
	if keep {
		return fmt.Errorf("%w: %s", query.ErrUnsupported, notKept)
	}
	var times driver.Content
	if err := d.readTimes(ctx, t, &times); err != nil {
		return fmt.Errorf("making the aggregate %s: %w", m.Name(), err)
	}
	return influx.InSlices(m, &times, func(from, to time.Time) error {
		return d.own.Exec(ctx, influx.Backfill(m, d.settings.retention, from, to))
	})
}

// CountCovered implements driver.DB.
func (d *database) CountCovered(ctx context.Context, m *query.Materialized) (int64, error) {
	rows, err := d.own.Query(ctx, influx.Compute(d.settings.product, "sum", []string{query.RowCount}, d.settings.retention, m.Name()))
	if err != nil {
		return -1, fmt.Errorf("counting the rows of the aggregate %s: %w", m.Name(), err)
	}
	if len(rows) == 0 {
		return 0, nil
	}
	at := slices.IndexFunc(rows[0], func(v query.Value) bool { return v.Kind == query.Int })
	if at < 0 {
		return -1, fmt.Errorf("counting the rows of the aggregate %s: found %v", m.Name(), rows[0])
	}
	return rows[0][at].Int, nil
}

// AggregateFootprint implements driver.DB. InfluxDB reports the sizes of files, which contain all
// measurements.
func (d *database) AggregateFootprint(context.Context, *query.Materialized) (int64, error) {
	return -1, nil
}

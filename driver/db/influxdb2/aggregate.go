package influxdb2

import (
	"context"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/influx"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// aggregateOf returns the measurement of an aggregate as a table in which each row has all fields.
func aggregateOf(m *query.Materialized, s *series.Schema) (*series.Table, error) {
	t := s.Table(m.Table)
	if err := influx.CheckAggregate(m, t); err != nil {
		return nil, err
	}
	of := &series.Table{Name: m.Name(), Dense: true}
	for i := range t.Tags {
		if !t.Tags[i].Numeric() {
			of.Tags = append(of.Tags, t.Tags[i])
		}
	}
	var err error
	if of.Fields, err = m.StoredFields(t); err != nil {
		return nil, err
	}
	return of, nil
}

// renderFrom renders a query that is answered from an aggregate.
func renderFrom(q *query.Query, m *query.Materialized, s *series.Schema, o driver.Options) (driver.Request, error) {
	if o[optionLanguage] == languageInfluxQL {
		return influx.RenderFrom(q, m, s)
	}
	request, err := fluxFrom(q, m, s, o[optionBucket])
	if err != nil {
		return driver.Request{}, fmt.Errorf("query %s: %w", q.Type, err)
	}
	return request, nil
}

// fluxFrom is flux for a query that is answered from an aggregate. Stored aggregates are folded like
// values, sums and counts by adding them up; means are computed last, from sums and counts.
func fluxFrom(q *query.Query, m *query.Materialized, s *series.Schema, bucket string) (driver.Request, error) {
	of, err := aggregateOf(m, s)
	if err == nil {
		err = m.Answers(q)
	}
	if err == nil {
		err = q.Check(s.Table(m.Table))
	}
	if err != nil {
		return driver.Request{}, err
	}
	shape := q.Shape.(query.Buckets) // Answers has checked it
	for _, key := range append(q.Demands(), shape.GroupBy) {
		if key != "" && of.Tag(key) == nil {
			return driver.Request{}, fmt.Errorf("%w: the aggregate %s is of series, and %s is a number in a field", query.ErrUnsupported, m.Name(), key)
		}
	}
	if q.In != nil && of.Tag(q.In.Key) == nil {
		return driver.Request{}, fmt.Errorf("%w: the aggregate %s is of series, and %s is a number in a field", query.ErrUnsupported, m.Name(), q.In.Key)
	}
	from := *q
	from.Table = of.Name
	folded, columns := shape, []string(nil)
	for _, field := range shape.Fields {
		kept := []query.Aggregate{shape.Aggregate}
		if shape.Aggregate == query.Avg {
			kept = []query.Aggregate{query.Sum, query.Count}
		}
		for _, a := range kept {
			columns = append(columns, m.Column(a, field))
		}
	}
	folded.Fields = columns
	if shape.Aggregate == query.Avg || shape.Aggregate == query.Count {
		folded.Aggregate = query.Sum
	}
	from.Shape = folded
	r := renderer{q: &from, table: of, bucket: bucket}
	steps, answer := r.buckets(folded)
	if shape.Aggregate == query.Avg {
		answer = answer[:len(answer)-len(columns)]
		for _, field := range shape.Fields {
			sum, count := m.Column(query.Sum, field), m.Column(query.Count, field)
			steps = steps.pipe(setColumn(field, fmt.Sprintf("%s / float(v: %s)", member(sum), member(count))))
			answer = append(answer, column{name: field})
		}
	}
	text := header(answer)
	for _, d := range r.definitions {
		text += d + "\n\n"
	}
	return driver.Request{Text: text + steps.String(), Plan: answer}, nil
}

// PlanAggregate implements driver.DB: an aggregate is a measurement.
func (d *database) PlanAggregate(s *series.Schema, m *query.Materialized) ([]driver.Object, error) {
	of, err := aggregateOf(m, s)
	if err != nil {
		return nil, err
	}
	return d.Plan(&series.Schema{Tables: []*series.Table{of}, Series: s.Series})
}

// notKept says why no task maintains an aggregate.
const notKept = "a task of InfluxDB 2 computes the interval that has just ended by the clock, but the rows of a dataset have other times; a query that ends in to() fills in the missing intervals"

// Materialize implements driver.DB, with the queries of a task, run over the times of rows.
func (d *database) Materialize(ctx context.Context, s *series.Schema, m *query.Materialized, keep bool) error {
	if _, err := aggregateOf(m, s); err != nil {
		return err
	}
	if keep {
		return fmt.Errorf("%w: %s", query.ErrUnsupported, notKept)
	}
	t := s.Table(m.Table)
	var times driver.Content
	if err := d.readTimes(ctx, t, &times); err != nil {
		return fmt.Errorf("making the aggregate %s: %w", m.Name(), err)
	}
	return influx.InSlices(m, &times, func(from, to time.Time) error {
		for _, f := range d.fills(t, m, from, to) {
			if _, err := d.own.queryRows(ctx, f, valueColumn); err != nil {
				return err
			}
		}
		return nil
	})
}

// fills returns the queries that write an aggregate of the rows from a time to before another, both on
// bucket boundaries: one query for each stored aggregate, and one that counts rows. The queries drop
// their results, which are the points they have written.
func (d *database) fills(t *series.Table, m *query.Materialized, from, to time.Time) (all []flow) {
	r := renderer{q: &query.Query{Start: from, End: to}, table: t, bucket: d.settings.bucket}
	fill := func(a query.Aggregate, name string, fields ...string) {
		f := r.source(fields...)
		if a == query.Sum {
			f = f.pipe("toFloat()") // means need it
		}
		all = append(all, f.pipe(window(m.Bucket, functions()[a]),
			"set(key: \"_measurement\", value: "+text(m.Name())+")", setColumn(fieldColumn, name),
			"to(bucket: "+text(d.settings.bucket)+", org: "+text(d.settings.org)+")", filter("false")))
	}
	fill(query.Count, text(query.RowCount), m.Fields[0])
	for _, a := range m.StoredAggregates() {
		fill(a, text(m.Column(a, ""))+" + "+member(fieldColumn), m.Fields...)
	}
	return all
}

// CountCovered implements driver.DB.
func (d *database) CountCovered(ctx context.Context, m *query.Materialized) (int64, error) {
	of := &series.Table{Name: m.Name(), Fields: []series.Field{{Name: query.RowCount, Type: series.Int}}}
	rows, err := d.own.queryRows(ctx, d.all(of, query.RowCount).pipe("group()", "sum()"), valueColumn)
	if err != nil {
		return -1, fmt.Errorf("counting the rows of the aggregate %s: %w", m.Name(), err)
	}
	if len(rows) == 0 {
		return 0, nil
	}
	return rows[0][0].Int, nil
}

// AggregateFootprint implements driver.DB. InfluxDB reports the sizes of files, which contain all
// measurements.
func (d *database) AggregateFootprint(context.Context, *query.Materialized) (int64, error) {
	return -1, nil
}

package tdengine

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/poll"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// aggregateOf returns the super table of an aggregate as a table of a schema: its fields are the stored
// aggregates, and its tags are those of the rows.
func (d *design) aggregateOf(m *query.Materialized, s *series.Schema) (*series.Table, error) {
	t := s.Table(m.Table)
	switch {
	case t == nil:
		return nil, fmt.Errorf("aggregate %s: there is no table %q", m.Name(), m.Table)
	case m.Bucket <= 0 || m.Bucket%d.unit != 0:
		return nil, fmt.Errorf("%w: TDengine cannot have buckets of %v, its times are multiples of %v", query.ErrUnsupported, m.Bucket, d.unit)
	}
	of := &series.Table{Name: m.Name(), Tags: t.Tags}
	var err error
	if of.Fields, err = m.StoredFields(t); err != nil {
		return nil, err
	}
	return of, d.check(&series.Schema{Tables: append([]*series.Table{of}, s.Tables...), Series: s.Series})
}

// renderFrom is render of a query that an aggregate answers.
func renderFrom(q *query.Query, m *query.Materialized, s *series.Schema, d *design) (string, error) {
	of, err := d.aggregateOf(m, s)
	if err == nil {
		err = m.Answers(q)
	}
	if err == nil {
		err = q.Check(s.Table(m.Table))
	}
	if err != nil {
		return "", fmt.Errorf("query %s: %w", q.Type, err)
	}
	from := *q
	from.Table = of.Name
	r := renderer{design: d, q: &from, table: of, aggregate: m}
	if err := r.check(); err != nil {
		return "", fmt.Errorf("query %s: %w", q.Type, err)
	}
	return r.render()
}

// mergedAggregate is the aggregate of a field, of an aggregate's rows.
func (r *renderer) mergedAggregate(a query.Aggregate, field string) string {
	kept := func(by, kept query.Aggregate) string {
		return fmt.Sprintf("%s(%s)", by, r.Ident(r.aggregate.Column(kept, field)))
	}
	switch a {
	case query.Avg:
		return kept(query.Sum, query.Sum) + " / " + kept(query.Sum, query.Count)
	case query.Count:
		return kept(query.Sum, a)
	}
	return kept(a, a)
}

// stream returns the statement that creates the stream of an aggregate. The stream computes with each
// batch: with MAX_DELAY, under which loads were not faster, 3.3.0.1 sometimes never wrote the last
// window, and WINDOW_CLOSE waits for rows after the window. A closed window is computed again for late
// rows, which loads with several writers have. The stream's tables have the tags of the series' table,
// so that the aggregate has them too. The server names these tables: names composed of other names have
// no bound on their length. The stream fills in the history even if the table is empty: without it,
// rows that came soon after were lost.
func (d *database) stream(m *query.Materialized, t *series.Table, of *series.Table) string {
	r := renderer{design: d.design, q: &query.Query{Table: m.Table}, table: t}
	columns, made := []string{d.design.time(), query.RowCount}, []string{"_wstart", "count(*)"}
	for _, field := range m.Fields {
		for _, a := range m.StoredAggregates() {
			columns, made = append(columns, d.design.Ident(m.Column(a, field))), append(made, r.aggregates(a, []string{field})...)
		}
	}
	var tags []string
	for i := range of.Tags {
		tags = append(tags, d.design.Ident(of.Tags[i].Key))
	}
	list := strings.Join(tags, ", ")
	return fmt.Sprintf("CREATE STREAM `%s` TRIGGER AT_ONCE IGNORE EXPIRED 0 IGNORE UPDATE 0 FILL_HISTORY 1\nINTO %s (%s) TAGS (%s)\nAS SELECT %s\nFROM %s%s",
		d.streamOf(m), d.qualify(of.Name), strings.Join(columns, ", "), list,
		strings.Join(made, ", "), d.qualify(m.Table), r.partition(append([]string{"tbname"}, tags...), m.Bucket))
}

// streamOf is the name of an aggregate's stream. All streams of the server share one namespace.
func (d *database) streamOf(m *query.Materialized) string { return d.name + "_" + m.Name() }

// PlanAggregate implements driver.DB.
func (d *database) PlanAggregate(s *series.Schema, m *query.Materialized) ([]driver.Object, error) {
	of, err := d.design.aggregateOf(m, s)
	if err != nil {
		return nil, err
	}
	if name := d.streamOf(m); len(name) >= maxName {
		return nil, fmt.Errorf("the stream of the aggregate would be called %s, and TDengine's names have fewer than %d bytes; shorten the database's", name, maxName)
	}
	return []driver.Object{{Kind: kindStable, Name: of.Name}, {Kind: kindStream, Name: d.streamOf(m)}}, nil
}

// Materialize implements driver.DB with a stream, which fills in existing rows by itself, and uses the
// times of rows.
func (d *database) Materialize(ctx context.Context, s *series.Schema, m *query.Materialized, keep bool) error {
	of, err := d.design.aggregateOf(m, s)
	if err != nil {
		return err
	}
	if err = d.patiently(ctx, d.createIn(of)); err == nil {
		err = d.patiently(ctx, d.stream(m, s.Table(m.Table), of))
	}
	if err == nil {
		err = d.ready(ctx, m)
	}
	if err == nil && !keep {
		err = d.awaitFill(ctx, m)
	}
	if err != nil {
		return fmt.Errorf("making the aggregate %s: %w", m.Name(), err)
	}
	return nil
}

// ready returns when the stream accepts rows.
func (d *database) ready(ctx context.Context, m *query.Materialized) error {
	return poll.Wait(ctx, 10*time.Millisecond, 500*time.Millisecond, func() (bool, error) {
		rows, err := sqlkit.QueryRows(ctx, d.admin, "SELECT status FROM information_schema.ins_streams WHERE stream_name = "+d.design.Text(d.streamOf(m)))
		return len(rows) > 0 && rows[0][0].String() == "ready", err
	})
}

// awaitFill returns when the aggregate covers every row of its table.
func (d *database) awaitFill(ctx context.Context, m *query.Materialized) error {
	row, err := sqlkit.QueryRow(ctx, d.admin, "SELECT count(*) FROM "+d.qualify(m.Table))
	if err != nil {
		return err
	}
	return poll.Wait(ctx, 10*time.Millisecond, 500*time.Millisecond, func() (bool, error) {
		covered, err := d.CountCovered(ctx, m)
		return covered == row[0].Int, err
	})
}

// CountCovered implements driver.DB.
func (d *database) CountCovered(ctx context.Context, m *query.Materialized) (int64, error) {
	rows, err := sqlkit.QueryRows(ctx, d.admin, fmt.Sprintf("SELECT sum(%s) FROM %s", query.RowCount, d.qualify(m.Name())))
	if err != nil {
		return -1, fmt.Errorf("counting the rows of the aggregate %s: %w", m.Name(), err)
	}
	if len(rows) == 0 || rows[0][0].Kind == query.Null {
		return 0, nil
	}
	return rows[0][0].Int, nil
}

// AggregateFootprint implements driver.DB. The rows that the stream has written may still be in memory;
// they are first written to files. The server does not report the size of files that hold few rows of
// each series.
func (d *database) AggregateFootprint(ctx context.Context, m *query.Materialized) (int64, error) {
	if err := d.Settle(ctx); err != nil {
		return -1, err
	}
	sum, err := d.readDistribution(ctx, m.Name())
	if err != nil {
		return -1, fmt.Errorf("measuring the aggregate %s: %w", m.Name(), err)
	}
	if sum.pending > 0 || sum.bytes == 0 {
		return -1, nil
	}
	return sum.bytes, nil
}

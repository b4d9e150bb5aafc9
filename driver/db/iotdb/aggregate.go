package iotdb

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// errNoInto says why the table model has no aggregates.
var errNoInto = fmt.Errorf("%w: the table model of IoTDB 2.0.1 has no INSERT of a query (Only support insert by values, error 701); %s=%s has aggregates", query.ErrUnsupported, optionModel, modelTree)

// aggregateOf returns the devices of an aggregate as a table in which each row has all measurements.
func (l *tree) aggregateOf(m *query.Materialized, s *series.Schema) (*series.Table, error) {
	t := s.Table(m.Table)
	switch {
	case t == nil:
		return nil, fmt.Errorf("aggregate %s: there is no table %q", m.Name(), m.Table)
	case l.template:
		return nil, fmt.Errorf("%w: aggregates of devices with a template were not tried; %s=auto has them", query.ErrUnsupported, optionSchema)
	case m.Bucket <= 0 || m.Bucket%l.unit != 0:
		return nil, fmt.Errorf("%w: IoTDB cannot have buckets of %v, its times are multiples of %v", query.ErrUnsupported, m.Bucket, l.unit)
	case !t.Dense || t.Widths != nil:
		return nil, fmt.Errorf("%w: rows of %s may lack values, and SELECT INTO does not create measurements that a device has no value of", query.ErrUnsupported, m.Table)
	}
	texts, _ := split(t)
	of := &series.Table{Name: m.Name(), Dense: true}
	for _, tag := range texts {
		of.Tags = append(of.Tags, *tag)
	}
	var err error
	if of.Fields, err = m.StoredFields(t); err != nil {
		return nil, err
	}
	return of, nil
}

// renderFrom renders a query that an aggregate answers.
func renderFrom(q *query.Query, m *query.Materialized, s *series.Schema, o driver.Options) (driver.Request, error) {
	if o[optionModel] == modelTable {
		return driver.Request{}, errNoInto
	}
	l := newTree(o)
	of, err := l.aggregateOf(m, s)
	if err == nil {
		err = m.Answers(q)
	}
	if err == nil {
		err = q.Check(s.Table(m.Table))
	}
	if err != nil {
		return driver.Request{}, fmt.Errorf("query %s: %w", q.Type, err)
	}
	keys := append(q.Demands(), q.Shape.(query.Buckets).GroupBy) // Answers has checked it
	if q.In != nil {
		keys = append(keys, q.In.Key)
	}
	for _, key := range keys {
		if key != "" && of.Tag(key) == nil {
			return driver.Request{}, fmt.Errorf("%w: the aggregate %s is of devices, and %s is a number in a measurement", query.ErrUnsupported, m.Name(), key)
		}
	}
	from := *q
	from.Table = of.Name
	r := treeRenderer{tree: l, q: &from, table: of, schema: s, aggregate: m}
	r.texts, _ = split(of)
	r.shape()
	if r.err != nil {
		return driver.Request{}, fmt.Errorf("query %s: %w", q.Type, r.err)
	}
	r.plan.Columns = len(r.columns)
	return r.plan.request()
}

// fillStatement returns the statement that fills an aggregate with the rows from a time to before another, in
// the server's unit, both on bucket boundaries.
func (l *tree) fillStatement(m *query.Materialized, t, of *series.Table, from, to int64) string {
	columns := []string{call("count", node(witness(t)))}
	for _, field := range m.Fields {
		for _, a := range m.StoredAggregates() {
			columns = append(columns, call(functions()[a], node(field)))
		}
	}
	path := l.path(of.Name)
	for i := range of.Tags {
		path += fmt.Sprintf(".${%d}", l.level()+1+i)
	}
	names := make([]string, len(of.Fields))
	for i := range of.Fields {
		names[i] = node(of.Fields[i].Name)
	}
	word := "INTO "
	if l.aligned {
		word = "INTO ALIGNED "
	}
	return fmt.Sprintf("SELECT %s\n%s%s(%s)\nFROM %s\nGROUP BY ([%d, %d), %s)\nHAVING %s > 0\nALIGN BY DEVICE",
		strings.Join(columns, ", "), word, path, strings.Join(names, ", "), l.devices(t), from, to, duration(m.Bucket), columns[0])
}

// treeOf returns the tree model of a database.
func (d *database) treeOf() (*tree, error) {
	if l, ok := d.model.(*tree); ok {
		return l, nil
	}
	return nil, errNoInto
}

// PlanAggregate implements driver.DB.
func (d *database) PlanAggregate(s *series.Schema, m *query.Materialized) ([]driver.Object, error) {
	l, err := d.treeOf()
	if err != nil {
		return nil, err
	}
	of, err := l.aggregateOf(m, s)
	if err != nil {
		return nil, err
	}
	return []driver.Object{{Kind: d.kind(), Name: of.Name, Columns: d.columns(of)}}, nil
}

// notKept says why no continuous query maintains an aggregate.
const notKept = "a continuous query of IoTDB computes the interval that has just ended by the clock, but the rows of a dataset have other times; SELECT INTO fills in the missing intervals"

// slice is the time range that one statement fills: the time-out of the option applies to each
// statement.
const slice = 24 * time.Hour

// Materialize implements driver.DB with SELECT INTO.
func (d *database) Materialize(ctx context.Context, s *series.Schema, m *query.Materialized, keep bool) error {
	l, err := d.treeOf()
	if err != nil {
		return err
	}
	of, err := l.aggregateOf(m, s)
	if err != nil {
		return err
	}
	if keep {
		return fmt.Errorf("%w: %s", query.ErrUnsupported, notKept)
	}
	if err := d.backfill(ctx, l, m, s.Table(m.Table), of); err != nil {
		return fmt.Errorf("making the aggregate %s: %w", m.Name(), err)
	}
	return nil
}

func (d *database) backfill(ctx context.Context, l *tree, m *query.Materialized, t, of *series.Table) error {
	by := l.counting(t)
	rows, err := sqlkit.QueryRows(ctx, d.admin, fmt.Sprintf("SELECT %s, %s FROM %s%s", by.first, by.last, by.from, by.together))
	if err != nil || len(rows) == 0 || rows[0][0].Kind != query.Int {
		return err // no rows
	}
	width, step := int64(m.Bucket/l.unit), int64(max(slice/m.Bucket, 1)*m.Bucket/l.unit)
	for at := bucket(rows[0][0].Int, width); at <= rows[0][1].Int; at += step {
		if err := d.admin.Exec(ctx, l.fillStatement(m, t, of, at, at+step)); err != nil {
			return err
		}
	}
	return nil
}

// CountCovered implements driver.DB.
func (d *database) CountCovered(ctx context.Context, m *query.Materialized) (int64, error) {
	l, err := d.treeOf()
	if err != nil {
		return -1, err
	}
	rows, err := sqlkit.QueryRows(ctx, d.admin, fmt.Sprintf("SELECT sum(%s) FROM %s.** GROUP BY LEVEL = %d", query.RowCount, l.path(m.Name()), l.level()))
	if err != nil {
		return -1, fmt.Errorf("counting the rows of the aggregate %s: %w", m.Name(), err)
	}
	if len(rows) == 0 || len(rows[0]) == 0 {
		return 0, nil
	}
	return int64(rows[0][0].Float), nil
}

// AggregateFootprint implements driver.DB. IoTDB reports the sizes of files, which contain all devices
// of a region.
func (d *database) AggregateFootprint(context.Context, *query.Materialized) (int64, error) {
	return -1, nil
}

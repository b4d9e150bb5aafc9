package influx

import (
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// CheckAggregate returns an error if an aggregate of a table is not supported.
func CheckAggregate(m *query.Materialized, t *series.Table) error {
	if t == nil {
		return fmt.Errorf("aggregate %s: there is no table %q", m.Name(), m.Table)
	}
	about := Rows{&query.Query{}, t}
	for _, field := range m.Fields {
		switch i := t.FieldIndex(field); {
		case i < 0:
			return fmt.Errorf("aggregate %s: table %s has no field %q", m.Name(), m.Table, field)
		case !t.Fields[i].Type.Numeric():
			return fmt.Errorf("aggregate %s: the values of field %s are not numbers", m.Name(), field)
		case !about.Sure(field):
			return fmt.Errorf("%w: rows of %s may lack a value of %s, and InfluxDB's aggregates know values and no rows", query.ErrUnsupported, m.Table, field)
		}
	}
	return nil
}

// RenderFrom is Render for a query that is answered from an aggregate, a measurement of its own with
// the fields of AggregateColumns.
func RenderFrom(q *query.Query, m *query.Materialized, s *series.Schema) (driver.Request, error) {
	table := s.Table(m.Table)
	if err := CheckAggregate(m, table); err != nil {
		return driver.Request{}, err
	}
	if err := m.Answers(q); err != nil {
		return driver.Request{}, err
	}
	from := *q
	from.Table = m.Name()
	r := renderer{q: &from, table: table, schema: s, aggregate: m}
	text, err := r.render()
	if err != nil {
		return driver.Request{}, fmt.Errorf("query %s: %w", q.Type, err)
	}
	return driver.Request{Text: text}, nil
}

// mergedAggregate is the aggregate of a field over the points of an aggregate.
func mergedAggregate(m *query.Materialized, a query.Aggregate, field string) string {
	switch a {
	case query.Avg:
		return call("sum", m.Column(query.Sum, field)) + " / " + call("sum", m.Column(query.Count, field))
	case query.Count:
		return call("sum", m.Column(a, field))
	}
	return call(functions()[a], m.Column(a, field))
}

// aggregateOf is the expression of an aggregate of a field, over rows or over the points of an
// aggregate.
func (r *renderer) aggregateOf(a query.Aggregate, field string) string {
	if r.aggregate != nil {
		return mergedAggregate(r.aggregate, a, field)
	}
	return call(functions()[a], field)
}

// AggregateColumns returns the fields of an aggregate with their types, as in driver.Object.
func AggregateColumns(m *query.Materialized, t *series.Table) []string {
	kinds := Types()
	columns := []string{kinds[series.Int].As + " " + query.RowCount}
	for _, field := range m.Fields {
		for _, a := range m.StoredAggregates() {
			kind := t.Fields[t.FieldIndex(field)].Type
			switch a {
			case query.Count:
				kind = series.Int
			case query.Sum:
				kind = series.Float
			}
			columns = append(columns, kinds[kind].As+" "+m.Column(a, field))
		}
	}
	return columns
}

// Backfill returns the statement that fills an aggregate with the rows from a time to before another,
// both on bucket boundaries. The policy is the retention policy of both; empty: the connection's.
func Backfill(m *query.Materialized, policy string, from, to time.Time) string {
	columns := []string{alias(call("count", m.Fields[0]), query.RowCount)}
	for _, field := range m.Fields {
		for _, a := range m.StoredAggregates() {
			value := call(functions()[a], field)
			if a == query.Sum {
				value += " * 1.0" // otherwise a subquery's mean of it is a whole number
			}
			columns = append(columns, alias(value, m.Column(a, field)))
		}
	}
	in := ""
	if policy != "" {
		in = Ident(policy) + "."
	}
	return fmt.Sprintf("SELECT\n  %s\nINTO %s\nFROM %s\nWHERE time >= %s\n  AND time < %s\nGROUP BY time(%s), * fill(none)",
		strings.Join(columns, ",\n  "), in+Ident(m.Name()), in+Ident(m.Table), instant(from), instant(to), duration(m.Bucket))
}

// slice is the time range that one statement backfills: the time-out of the option applies to each
// statement.
const slice = 24 * time.Hour

// InSlices backfills an aggregate of rows in the range of times, slice by slice, on bucket boundaries.
// It calls fill for each slice, and stops at its first error. It does nothing if there are no rows.
func InSlices(m *query.Materialized, times *driver.Content, fill func(from, to time.Time) error) error {
	if times.Min.Kind != query.Time {
		return nil
	}
	step := max(slice/m.Bucket, 1) * m.Bucket
	last := time.Unix(0, times.Max.Int)
	for at := time.Unix(0, query.BucketOf(times.Min.Int, m.Bucket)); !at.After(last); at = at.Add(step) {
		if err := fill(at, at.Add(step)); err != nil {
			return fmt.Errorf("making the aggregate %s: %w", m.Name(), err)
		}
	}
	return nil
}

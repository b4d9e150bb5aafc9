package sql

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// RenderFrom is Render of a query that is answered from an aggregate. The aggregate has
// the columns of MaterializedColumns. Its error wraps query.ErrUnsupported where the
// aggregate has not what the query needs.
func (d *Dialect) RenderFrom(q *query.Query, m *query.Materialized, s *series.Schema) (string, error) {
	if err := d.checkMaterialized(m, s); err != nil {
		return "", err
	}
	if err := m.Answers(q); err != nil {
		return "", err
	}
	r := renderer{Dialect: d, q: q, table: s.Table(q.Table), aggregate: m}
	if err := r.check(); err != nil {
		return "", fmt.Errorf("query %s: %w", q.Type, err)
	}
	r.rows, r.tags = d.Ident(m.Name()), d.Ident(TagsTable(s, r.table))
	r.writeBuckets(q.Shape.(query.Buckets))
	return strings.TrimSuffix(r.text.String(), "\n"), nil
}

// checkMaterialized returns why an aggregate cannot be had of a schema.
func (d *Dialect) checkMaterialized(m *query.Materialized, s *series.Schema) error {
	t := s.Table(m.Table)
	switch {
	case t == nil:
		return fmt.Errorf("aggregate %s: there is no table %q", m.Name(), m.Table)
	case d.Narrow:
		return fmt.Errorf("%w: tsmark aggregates no tables of a row a value", query.ErrUnsupported)
	case m.Bucket <= 0 || m.Bucket%d.Precision != 0:
		return fmt.Errorf("%w: %s cannot have buckets of %v, its times are multiples of %v", query.ErrUnsupported, d.Name, m.Bucket, d.Precision)
	}
	for _, field := range m.Fields {
		switch i := t.FieldIndex(field); {
		case i < 0:
			return fmt.Errorf("aggregate %s: table %s has no field %q", m.Name(), m.Table, field)
		case !t.Fields[i].Type.Numeric():
			return fmt.Errorf("aggregate %s: the values of field %s are not numbers", m.Name(), field)
		}
	}
	return d.CheckNames(t)
}

// MaterializedColumn is a column of an aggregate.
type MaterializedColumn struct {
	Name       string // as SQL
	Expression string // that makes it of rows
	Value      string // the aggregated expression of a row; empty: a column that rows are grouped by, or the number of rows
	// Aggregate is the aggregate of the field; empty: rows are grouped by the column. That of
	// query.RowCount is query.Count.
	Aggregate query.Aggregate
	Field     string // that is aggregated; empty: none
}

// MaterializedColumns returns the columns of an aggregate: the time, the columns that identify
// series, the aggregates, and the number of rows. row is the prefix of the columns of rows, and may
// be empty.
func (d *Dialect) MaterializedColumns(m *query.Materialized, s *series.Schema, row string) ([]MaterializedColumn, error) {
	if err := d.checkMaterialized(m, s); err != nil {
		return nil, err
	}
	t, time := s.Table(m.Table), d.Ident(cmp.Or(d.TimeName, TimeColumn))
	columns := []MaterializedColumn{{Name: time, Expression: d.Bucket(m.Bucket, row+time)}}
	key := func(name string) {
		columns = append(columns, MaterializedColumn{Name: d.Ident(name), Expression: row + d.Ident(name)})
	}
	if d.Wide {
		for i := range t.Tags {
			key(t.Tags[i].Key)
		}
	} else {
		key(TagsIDColumn)
	}
	for _, field := range m.Fields {
		f := &t.Fields[t.FieldIndex(field)]
		kind := f.Type
		for _, a := range m.StoredAggregates() {
			value := row + d.Ident(field)
			switch {
			case a == query.Sum && (kind != series.Float || d.DecimalMeans && d.DecimalType(f) != ""):
				value += " * 1e0" // as in renderer.aggregates, and means are quotients of it
			case a == query.Count:
				value = d.CountExpression(kind, value)
			}
			columns = append(columns, MaterializedColumn{d.Ident(m.Column(a, field)), fmt.Sprintf("%s(%s)", a, value), value, a, field})
		}
	}
	return append(columns, MaterializedColumn{d.Ident(query.RowCount), "count(*)", "", query.Count, ""}), nil
}

// OfOne returns the expression of the column of a single row.
func (c *MaterializedColumn) OfOne() string {
	switch {
	case c.Aggregate == "":
		return c.Expression
	case c.Value == "":
		return "1"
	case c.Aggregate == query.Count:
		return fmt.Sprintf("CASE WHEN %s IS NULL THEN 0 ELSE 1 END", c.Value)
	}
	return c.Value
}

// Merge returns the expression of the column once a new value of it was added. Least and
// Greatest are the functions of the lesser and the greater of two values.
func (c *MaterializedColumn) Merge(old, fresh, least, greatest string) string {
	function := greatest
	switch c.Aggregate {
	case query.Count:
		return old + " + " + fresh
	case query.Sum:
		return fmt.Sprintf("coalesce(%s + %s, %[1]s, %[2]s)", old, fresh)
	case query.Min:
		function = least
	}
	return fmt.Sprintf("%s(coalesce(%s, %s), coalesce(%[3]s, %[2]s))", function, old, fresh)
}

// SelectMaterialized returns the query that makes the rows of an aggregate with these columns.
func (d *Dialect) SelectMaterialized(m *query.Materialized, columns []MaterializedColumn) string {
	expressions, keys := make([]string, len(columns)), 0
	for i, c := range columns {
		if expressions[i] = c.Expression; c.Expression != c.Name {
			expressions[i] += " AS " + c.Name
		}
		if c.Aggregate == "" {
			keys++
		}
	}
	return fmt.Sprintf("SELECT\n  %s\nFROM %s\nGROUP BY %s", strings.Join(expressions, ",\n  "), d.Ident(m.Table), numbers(keys))
}

// mergeColumns returns the columns of fields aggregated once more, of an aggregate's rows.
func (r *renderer) mergeColumns(from string, a query.Aggregate, fields []string) []string {
	answer := r.q.Columns(r.table)
	answer = answer[len(answer)-len(fields):]
	columns := make([]string, len(fields))
	for i, field := range fields {
		stored := func(a query.Aggregate) string { return from + r.Ident(r.aggregate.Column(a, field)) }
		var value string
		switch a {
		case query.Avg:
			value = fmt.Sprintf("sum(%s) / sum(%s)", stored(query.Sum), stored(query.Count))
		case query.Count:
			value = fmt.Sprintf("CAST(sum(%s) AS %s)", stored(query.Count), r.IntegerType()) // else a type of more bits
		default:
			value = fmt.Sprintf("%s(%s)", a, stored(a))
		}
		columns[i] = value + " AS " + r.Ident(answer[i].Name)
	}
	return columns
}

// bucketOf returns the expression of the bucket of a row's time. An aggregate has its
// own buckets already.
func (r *renderer) bucketOf(s query.Buckets, time string) string {
	if r.aggregate != nil && r.aggregate.Bucket == s.Width {
		return time
	}
	return r.Bucket(s.Width, time)
}

// Keys returns the names of the columns by which an aggregate's rows are grouped.
func Keys(columns []MaterializedColumn) []string {
	columns = slices.DeleteFunc(slices.Clone(columns), func(c MaterializedColumn) bool { return c.Aggregate != "" })
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return names
}

package query

import (
	"slices"

	"github.com/tsmark/tsmark/series"
)

// Column is a column of an answer.
type Column struct {
	Name string
	Kind Kind
}

// outline returns the outline of the query's shape.
func (q *Query) outline() outline {
	if q.Shape == nil {
		return outline{}
	}
	return q.Shape.outline()
}

// ShapeName returns the stored name of the query's shape. Shapes that differ in details share a
// name.
func (q *Query) ShapeName() string { return q.outline().name }

// Keys returns the number of columns, the first ones, that tell the rows of an
// answer apart.
func (q *Query) Keys() int {
	o := q.outline()
	if o.time == "" {
		return len(o.keys) + o.keyed
	}
	return 1 + len(o.keys) + o.keyed
}

// Values returns the number of value columns of the answer: all columns except its time and tags.
func (q *Query) Values() int { return len(q.outline().values) }

// Columns returns the columns of the answer to q: its time, tags, and values.
// The comments on the shapes list them. Aggregated fields are named by the
// aggregate and the field, as max_<field>, but mean_<field>.
func (q *Query) Columns(table *series.Table) []Column {
	if w, ok := q.WrittenText(); ok {
		return w.Columns
	}
	if s, ok := q.AsPromQL(); ok {
		return s.columns(table)
	}
	o := q.outline()
	var columns []Column
	if o.time != "" {
		columns = append(columns, Column{o.time, Time})
	}
	for _, key := range slices.Concat(o.keys, o.tags) {
		kind := Text
		if table.Tag(key).Numeric() {
			kind = Float
		}
		columns = append(columns, Column{key, kind})
	}
	for _, v := range o.values {
		if v.kind == Null {
			v.kind = KindOf(table.Fields[table.FieldIndex(v.field)].Type)
		}
		columns = append(columns, Column{v.name, v.kind})
	}
	return columns
}

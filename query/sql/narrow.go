package sql

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// fromRows writes the source of rows: their table, or a subquery that makes rows of a narrow
// table's values, with the conditions on series and times, and with a further condition unless that
// is empty.
func (r *renderer) fromRows(indent, further string) {
	if !r.Narrow {
		r.line("%sFROM %s", indent, r.rows)
		return
	}
	fields := r.q.NamedFields()
	first := r.table.Fields[0].Name
	whole := r.wholeRows(fields)
	if (whole || r.q.Activity() == nil) && !slices.Contains(fields, first) && !r.needsAboveFields(fields) {
		fields = append(fields, first) // which every row has
	}
	columns := []string{r.time(), r.tagsID()}
	names := make([]string, len(fields))
	for i, name := range fields {
		names[i] = r.Text(name)
		value := r.valueOf(name)
		switch {
		case whole:
			value = r.FilterAggregate("max", value, FieldColumn+" = "+names[i])
		case len(fields) > 1:
			value = fmt.Sprintf("CASE WHEN %s = %s THEN %s END", FieldColumn, names[i], value)
		}
		columns = append(columns, value+" AS "+r.Ident(name))
	}
	r.line("%sFROM (", indent)
	r.line("%s  SELECT", indent)
	r.list(indent+"    ", columns)
	r.line("%s  FROM %s", indent, r.rows)
	conditions := []string{fmt.Sprintf("%s IN (%s)", FieldColumn, strings.Join(names, ", "))}
	if further != "" {
		conditions = append(conditions, further)
	}
	if r.q.In != nil {
		conditions = append(conditions, r.inSeries())
	}
	r.conditions(indent+"  ", append(conditions, r.ofTime("")...))
	if whole {
		r.line("%s  GROUP BY 1, 2", indent)
	}
	r.line("%s) AS %s", indent, r.rows)
}

// needsAboveFields reports whether every row that matches has a value of the only
// field.
func (r *renderer) needsAboveFields(fields []string) bool {
	return r.q.Filter != nil && len(fields) == 1
}

// wholeRows reports whether the query needs the values of a row together, not
// only the fields' one by one.
func (r *renderer) wholeRows(fields []string) bool {
	if r.needsAboveFields(fields) {
		return false
	}
	means, _ := r.q.Shape.(query.Means)
	return r.q.Stored() || r.q.Filter != nil || len(means.MeanTags) > 0 // a row counts once, however many values it has
}

// NarrowColumn returns the column in which a narrow table has values of a type.
func (d *Dialect) NarrowColumn(t series.Type) string {
	switch {
	case t.Textual():
		return TextColumn
	case t == series.Timestamp:
		return TimestampColumn
	case t == series.Date:
		return DayColumn
	case d.Integers && t.UsesInts():
		return WholeColumn
	}
	return ValueColumn
}

// NarrowColumns returns the columns of values that a narrow table has for the
// fields of a table, in their order.
func (d *Dialect) NarrowColumns(t *series.Table) []string {
	return slices.DeleteFunc([]string{ValueColumn, WholeColumn, TextColumn, TimestampColumn, DayColumn}, func(column string) bool {
		return !slices.ContainsFunc(t.Fields, func(f series.Field) bool { return d.NarrowColumn(f.Type) == column })
	})
}

func (r *renderer) valueOf(field string) string {
	return r.NarrowColumn(r.table.Fields[r.table.FieldIndex(field)].Type)
}

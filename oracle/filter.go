package oracle

import (
	"math"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// valueFilter is a query's value filter on fields of a table; the zero value keeps all rows.
type valueFilter struct {
	fields  []int
	compare query.Comparison
	value   float64
}

// newValueFilter returns the filter of a query, which may have none.
func newValueFilter(table *series.Table, f *query.ValueFilter) valueFilter {
	if f == nil {
		return valueFilter{}
	}
	return valueFilter{fieldsOf(table, f.Fields()), f.Compare, f.Value}
}

// keeps reports whether the values of all fields in a row fulfil the comparison. NULL never does.
func (f *valueFilter) keeps(run *series.Run, row int) bool {
	for _, field := range f.fields {
		if run.Lacks(field, row) {
			return false
		}
		c := &run.Columns[field]
		if run.Table.Fields[field].Type.UsesInts() {
			if !f.compare.HoldsWhole(c.Ints[row], f.value) {
				return false
			}
		} else if !f.compare.Holds(c.Floats[row], f.value) {
			return false
		}
	}
	return true
}

// appendKept appends the rows of a run that the filter keeps.
func (f *valueFilter) appendKept(to []int32, run *series.Run) []int32 {
	field := f.fields[0]
	c := &run.Columns[field]
	if len(f.fields) == 1 && f.compare == query.Greater && run.Table.Widths == nil && c.Nulls == nil && run.Table.Fields[field].Type.UsesInts() && math.Abs(f.value) < 1<<53 {
		for row, v := range c.Ints[:run.Rows()] {
			if float64(v) > f.value {
				to = append(to, int32(row))
			}
		}
		return to
	}
	for row := range run.Times {
		if f.keeps(run, row) {
			to = append(to, int32(row))
		}
	}
	return to
}

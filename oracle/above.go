package oracle

import (
	"math"

	"github.com/tsmark/tsmark/series"
)

// allExceed reports whether the values of all fields in a row are above the
// threshold.
func allExceed(run *series.Run, fields []int, row int, threshold float64) bool {
	for _, f := range fields {
		if !exceeds(run, f, row, threshold) {
			return false
		}
	}
	return true
}

// exceeding appends the rows of a run in which the values of all fields are
// above the threshold.
func exceeding(to []int32, run *series.Run, fields []int, threshold float64) []int32 {
	c := &run.Columns[fields[0]]
	if len(fields) == 1 && run.Table.Widths == nil && c.Nulls == nil && run.Table.Fields[fields[0]].Type.UsesInts() && math.Abs(threshold) < 1<<53 {
		for row, v := range c.Ints[:run.Rows()] {
			if float64(v) > threshold {
				to = append(to, int32(row))
			}
		}
		return to
	}
	for row := range run.Times {
		if allExceed(run, fields, row, threshold) {
			to = append(to, int32(row))
		}
	}
	return to
}

// exceeds reports whether the field's value in a row is above the threshold.
// NULL never is.
func exceeds(run *series.Run, field, row int, threshold float64) bool {
	if run.Lacks(field, row) {
		return false
	}
	c := &run.Columns[field]
	if run.Table.Fields[field].Type.UsesInts() {
		return wholeExceeds(c.Ints[row], threshold)
	}
	return c.Floats[row] > threshold
}

// wholeExceeds compares an integer exactly; beyond 2^53 a float64 cannot represent every integer.
func wholeExceeds(v int64, threshold float64) bool {
	if math.Abs(threshold) < 1<<53 {
		return float64(v) > threshold
	}
	switch {
	case !(threshold < 1<<63): // or it is NaN
		return false
	case threshold < -1<<63:
		return true
	}
	return v > int64(threshold) // which is whole
}

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

// exceeds reports whether the field's value in a row is above the threshold.
// NULL never is.
func exceeds(run *series.Run, field, row int, threshold float64) bool {
	if run.Lacks(field, row) {
		return false
	}
	c := &run.Columns[field]
	if run.Table.Fields[field].Type.Whole() {
		return wholeExceeds(c.Ints[row], threshold)
	}
	return c.Floats[row] > threshold
}

// wholeExceeds compares a whole number, of which doubles do not tell all apart
// beyond 2^53.
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

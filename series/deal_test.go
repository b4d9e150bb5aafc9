package series_test

import (
	"math"
	"slices"
	"testing"

	"github.com/tsmark/tsmark/series"
)

// Rows are appended to the parts in order, including their NULLs and missing tags.
func TestDeal(t *testing.T) {
	table := &series.Table{Name: "t", Fields: []series.Field{{Name: "a", Type: series.Int}, {Name: "b", Type: series.Float}}}
	var b series.Batch
	if first, last := b.Times(); first != math.MaxInt64 || last != math.MinInt64 {
		t.Errorf("no row has times from %d to %d", first, last)
	}
	for n := range 2 {
		run := b.Add(table)
		run.Grow(10)
		for row := range 10 {
			run.Series[row], run.Times[row] = uint32(row), int64(100*n+row)
			run.Columns[0].Ints[row], run.Columns[1].Floats[row] = int64(row), float64(n)
			if row%4 == 0 {
				run.SetNull(0, row)
			}
		}
	}
	if first, last := b.Times(); first != 0 || last != 109 {
		t.Errorf("times from %d to %d", first, last)
	}
	parts := make([]series.Batch, 3)
	for round := range 2 {
		for p := range parts {
			parts[p].Reset()
		}
		b.Deal(parts, func(run *series.Run, row int) int { return int(run.Series[row]) % 2 * 2 })
		for p, want := range [][]int64{{0, 2, 4, 6, 8, 100, 102, 104, 106, 108}, nil, {1, 3, 5, 7, 9, 101, 103, 105, 107, 109}} {
			var times []int64
			for i := range parts[p].Runs {
				run := &parts[p].Runs[i]
				times = append(times, run.Times...)
				for row, s := range run.Series {
					if run.Lacks(0, row) != (s%4 == 0) || run.Columns[1].Floats[row] != float64(run.Times[row]/100) {
						t.Errorf("part %d, row %d of series %d has other values", p, row, s)
					}
				}
			}
			if !slices.Equal(times, want) {
				t.Errorf("round %d: part %d has the rows of %v, want %v", round, p, times, want)
			}
		}
	}
}

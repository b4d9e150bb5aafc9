package series_test

import (
	"testing"

	"github.com/tsmark/tsmark/series"
)

func table() *series.Table {
	return &series.Table{Name: "t", Fields: []series.Field{{Name: "i", Type: series.Int}, {Name: "f", Type: series.Float}}}
}

// A run keeps its rows and NULLs as it grows, and loses them when its memory is
// used again.
func TestGrowKeepsRows(t *testing.T) {
	var b series.Batch
	tab := table()
	for round := range 3 {
		b.Reset()
		run := b.Add(tab)
		for row := range 200 {
			run.Grow(row + 1)
			run.Columns[0].Ints[row] = int64(row + round)
			if (row+round)%3 == 0 {
				run.SetNull(1, row)
			}
		}
		nulls := 0
		for row := range 200 {
			if run.Columns[0].Ints[row] != int64(row+round) || run.Columns[1].Nulls.Has(row) != ((row+round)%3 == 0) {
				t.Fatalf("round %d: row %d was lost", round, row)
			}
			if run.Columns[1].Nulls.Has(row) {
				nulls++
			}
		}
		if run.Values(1) != 200-nulls || run.Values(0) != 200 {
			t.Errorf("round %d: %d values, want %d", round, run.Values(1), 200-nulls)
		}
	}
}

// Runs of several tables in any order allocate nothing in the steady state.
func TestBatchIsReused(t *testing.T) {
	var b series.Batch
	tables := []*series.Table{table(), table()}
	fill := func() {
		b.Reset()
		for i := range 20 {
			run := b.Add(tables[i*i%3%2])
			run.Grow(100)
			run.SetNull(0, i)
		}
	}
	fill()
	if n := testing.AllocsPerRun(100, fill); n > 0 {
		t.Errorf("%v allocations a batch", n)
	}
}

func TestBitmapCount(t *testing.T) {
	b := make(series.Bitmap, 3)
	for _, r := range []int{0, 63, 64, 127, 130} {
		b.Set(r)
	}
	for n, want := range map[int]int{0: 0, 1: 1, 63: 1, 64: 2, 65: 3, 128: 4, 130: 4, 131: 5, 192: 5} {
		if got := b.Count(n); got != want {
			t.Errorf("%d of the first %d rows, want %d", got, n, want)
		}
	}
}

package workload_test

import (
	"iter"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/iotdb"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// drawings are the query types that take the most and the least to draw.
func drawings(t testing.TB, windows workload.Windows, n int) map[string]iter.Seq[query.Query] {
	t.Helper()
	drawn := map[string]iter.Seq[query.Query]{}
	for _, of := range []struct {
		workload.Workload
		types []string
	}{
		{tsbs.CPUOnly(), []string{"single-groupby-1-1-1", "cpu-max-all-32-24", "lastpoint"}},
		{tsbs.IoT(), []string{"stationary-trucks"}},
		{iotdb.Workload(), []string{"value-range", "set-operation"}},
	} {
		spec := day()
		spec.Name = of.Name()
		for _, name := range of.types {
			queries, err := windows.Draw(of, spec, name, n, true)
			if err != nil {
				t.Fatal(err)
			}
			drawn[name] = queries
		}
	}
	return drawn
}

// However many queries are drawn, none is kept.
func TestDrawingKeepsNothing(t *testing.T) {
	const n, most = 200_000, 2 << 20 // ten bytes a query
	for name, queries := range drawings(t, workload.Recent, n) {
		var before, after runtime.MemStats
		place := 0
		for range queries {
			switch place++; place {
			case n / 10: // everything allocated once exists now
				runtime.GC()
				runtime.ReadMemStats(&before)
			case n:
				runtime.GC()
				runtime.ReadMemStats(&after)
			}
		}
		if place != n {
			t.Errorf("%s: %d queries drawn, want %d", name, place, n)
		}
		if held := int64(after.HeapAlloc) - int64(before.HeapAlloc); held > most {
			t.Errorf("%s: drawing %d queries holds %d bytes more than drawing a tenth", name, n, held)
		}
		perQuery := float64(after.TotalAlloc-before.TotalAlloc) / (n - n/10)
		if name == "single-groupby-1-1-1" && perQuery > 200 {
			t.Errorf("%s: %.0f bytes are allocated for each query", name, perQuery)
		}
	}
}

// A sequence of queries is the same each time, and may be left early.
func TestDrawingAgain(t *testing.T) {
	for name, queries := range drawings(t, workload.Uniform, 50) {
		all := slices.Collect(queries)
		for q := range queries {
			if diff := cmp.Diff(all[q.ID], q); diff != "" {
				t.Fatalf("%s %d (-first +again):\n%s", name, q.ID, diff)
			}
			if q.ID == 20 {
				break
			}
		}
		if diff := cmp.Diff(all, slices.Collect(queries)); len(all) != 50 || diff != "" {
			t.Errorf("%s, %d queries (-first +again):\n%s", name, len(all), diff)
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	for name, queries := range drawings(b, workload.Uniform, 1<<40) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			place := 0
			for range queries {
				if place++; place >= b.N {
					break
				}
			}
		})
	}
}

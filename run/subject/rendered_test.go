package subject

import (
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// drawnForTest generates queries of a type, for a subject that can render them.
func drawnForTest(t *testing.T, queryType string, n, repeats int) (*Subject, *plan.Target, *plan.TypeQueries) {
	t.Helper()
	e := experiment.Default()
	e.Queries.Repeats, e.Queries.Count = repeats, n
	w := tsbs.CPUOnly()
	p := &plan.Plan{Experiment: e, Steps: plan.Steps{Load: true, Verify: true, Query: true}}
	types := w.QueryTypes()
	types = types[slices.IndexFunc(types, func(t workload.QueryType) bool { return t.Name == queryType }):][:1]
	drawn, err := p.Draw(w, types, e.Workload, n, "seed")
	if err != nil {
		t.Fatal(err)
	}
	d, err := w.Dataset(e.Workload)
	if err != nil {
		t.Fatal(err)
	}
	q := &drawn[0]
	counted := make([]int64, n)
	for place := range counted {
		counted[place] = int64(place)
	}
	q.Expected[plan.EveryRow].Counted = map[string][]int64{"": counted}
	render := func(q *query.Query, _ *series.Schema, _ driver.Options) (driver.Request, error) {
		return driver.Request{Text: q.Table + q.Start.String() + q.End.String()}, nil
	}
	return &Subject{Plan: p, Dataset: d}, &plan.Target{Driver: driver.Driver{Render: render}}, q
}

// Each target is expected to return the number of rows that its own semantics define.
func TestRenderedBySemantics(t *testing.T) {
	x, planned, q := drawnForTest(t, "lastpoint", 2, 1)
	q.Expected[plan.EveryRow].Counted["other"] = []int64{engine.AnyRows, 7}
	planned.Driver.Semantics = "other"
	source := x.OpenSource(planned, q, 1, driver.DB{})
	defer source.Close()
	list, err := source.Render(t.Context(), 0)
	if err != nil || len(list) != 2 || list[0].Rows != engine.AnyRows || list[1].Rows != 7 {
		t.Errorf("%+v, %v", list, err)
	}
}

// Whatever block is rendered, and from whatever index, the queries are the same, and each has its
// counted number of rows.
func TestRendered(t *testing.T) {
	const n, repeats = 1000, 6
	for _, queryType := range []string{"single-groupby-1-1-1", "cpu-max-all-8", "lastpoint"} {
		x, planned, q := drawnForTest(t, queryType, n, repeats)
		for repeat := 1; repeat <= repeats; repeat++ {
			whole, blocks := x.OpenSource(planned, q, repeat, driver.DB{}), x.OpenSource(planned, q, repeat, driver.DB{})
			defer whole.Close()
			defer blocks.Close()
			blocks.Most = 7
			first, _ := q.Blocks.Range(repeat)
			want, err := whole.Render(t.Context(), 0)
			if err != nil || len(want) != whole.Len() {
				t.Fatal(len(want), err)
			}
			for place := range want {
				if want[place].ID != whole.ID(place) || want[place].Rows != int64(first+place) {
					t.Fatalf("%s, repeat %d, place %d: query %d with %d rows", queryType, repeat, place, want[place].ID, want[place].Rows)
				}
			}
			var got engine.List
			for len(got) < len(want) {
				block, err := blocks.Render(t.Context(), len(got))
				if err != nil || len(block) > 7 || len(block) == 0 {
					t.Fatal(len(block), err)
				}
				got = append(got, block...)
			}
			if diff := cmp.Diff(want, []engine.Rendered(got)); diff != "" {
				t.Errorf("%s, repeat %d (-whole +blocks):\n%s", queryType, repeat, diff)
			}
			for _, place := range []int{0, 50, 3} { // forwards, and backwards
				block, err := blocks.Render(t.Context(), place)
				if err != nil || cmp.Diff(want[place], block[0]) != "" {
					t.Errorf("%s, repeat %d: from place %d: %v, error %v", queryType, repeat, place, block[0], err)
				}
			}
		}
	}
}

// A run holds a few bytes per query, and rendered queries only for a block: a million of them need
// no more than a thousand.
func TestMillionQueriesAreNotKept(t *testing.T) {
	const n = 200_000
	var before, drawn, rendered runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	x, planned, q := drawnForTest(t, "single-groupby-1-1-1", n, 1)
	runtime.GC()
	runtime.ReadMemStats(&drawn)
	const counts = 8 * n // expected numbers of rows
	if held := int64(drawn.HeapAlloc) - int64(before.HeapAlloc) - counts; held > 10*n {
		t.Errorf("%d bytes are held of %d queries", held, n)
	}
	source := x.OpenSource(planned, q, 1, driver.DB{})
	defer source.Close()
	source.Most = 1000
	for place := 0; place < source.Len(); place += source.Most {
		if _, err := source.Render(t.Context(), place); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&rendered)
	if held := int64(rendered.HeapAlloc) - int64(drawn.HeapAlloc); held > 2<<20 {
		t.Errorf("rendering %d queries, %d at once, holds %d bytes", n, source.Most, held)
	}
	runtime.KeepAlive(q)
}

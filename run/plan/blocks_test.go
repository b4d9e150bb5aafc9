package plan

import (
	"slices"
	"testing"

	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/iotdb"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// Rounds run different queries, excluding those for warm-up and for comparison before the
// measurement; a type with too few says so. The measured queries are the same as before rounds
// existed.
func TestBlocks(t *testing.T) {
	// Each of the 40 trucks soon occurs again.
	repeating := []string{"lastpoint", "last-loc", "single-last-loc", "low-fuel", "high-load", "avg-vs-projected-fuel-consumption",
		"avg-daily-driving-duration", "avg-daily-driving-session", "avg-load", "daily-activity", "breakdown-frequency"}
	e := experiment.Default()
	e.Queries.Repeats, e.Queries.Count = 6, 500
	p := Plan{Experiment: e, Steps: Steps{Load: true, Verify: true, Query: true}}
	for _, w := range append(tsbs.Workloads(), iotdb.Workload()) {
		spec := e.Workload
		spec.Name, spec.Scale = w.Name(), 40
		drawn, err := p.Draw(w, w.QueryTypes(), spec, e.Queries.Count, "seed")
		if err != nil {
			t.Fatal(err)
		}
		for i := range drawn {
			q := &drawn[i]
			all := slices.Collect(q.All)
			sequence, err := workload.Uniform.Draw(w, spec, q.Type.Name, e.Queries.Count, false)
			if err != nil {
				t.Fatal(err)
			}
			before := slices.Collect(sequence)
			for place := range before {
				if id := min(place, all[place].ID); all[place].ID != before[id].ID || meaning(&all[place]) != meaning(&before[all[place].ID]) {
					t.Fatalf("%s: the query at place %d is another one", q.Type.Name, place)
				}
			}
			if w.Name() != "iotdb" && q.Blocks.Repeated != slices.Contains(repeating, q.Type.Name) {
				t.Errorf("%s of %s: repeated: %v", q.Type.Name, w.Name(), q.Blocks.Repeated)
			}
			ran, twice, at := make(map[uint64]int), 0, 0
			for repeat := 1; repeat <= 6; repeat++ {
				first, end := q.Blocks.Range(repeat)
				if !q.Blocks.Repeated && (first != at || end-first < result.LeastDifferent) || q.Blocks.Repeated && first != 0 {
					t.Errorf("%s: round %d has places %d to %d, the one before ended at %d", q.Type.Name, repeat, first, end, at)
				}
				at = end
				for place := first; place < end; place++ {
					key := meaning(&all[place])
					if before, ok := ran[key]; ok && before != repeat {
						twice++
					}
					ran[key] = repeat
				}
			}
			if most := int(fewTwice * float64(q.Blocks.Count)); !q.Blocks.Repeated && (twice > most || w.Name() != "iotdb" && oracle.Countable(&all[0]) && twice > 0) {
				t.Errorf("%s: %d queries are run in two rounds", q.Type.Name, twice)
			}
			if len(q.Early) == 0 || len(q.Spare) == 0 {
				t.Errorf("%s has %d queries for the check and %d to warm up", q.Type.Name, len(q.Early), len(q.Spare))
			}
			if !q.Blocks.Repeated {
				for _, other := range slices.Concat(q.Early, q.Spare) {
					if _, measured := ran[meaning(&other)]; measured {
						t.Errorf("%s: query %d warms up, and is measured", q.Type.Name, other.ID)
					}
				}
				for _, checked := range q.Early {
					if slices.ContainsFunc(q.Spare, func(s query.Query) bool { return s.ID == checked.ID }) {
						t.Errorf("%s: query %d is checked, and warms up", q.Type.Name, checked.ID)
					}
				}
			}
		}
	}
}

// The queries are divided for any numbers.
func TestDivide(t *testing.T) {
	for _, test := range []struct{ n, repeats int }{{1, 1}, {1, 6}, {5, 6}, {6, 6}, {7, 6}, {1000, 6}, {10, 1}, {3, 2}} {
		queries := make([]query.Query, test.n)
		for i := range queries {
			queries[i] = query.Query{ID: i, Shape: query.AnyRows{Limit: i + 1}}
		}
		divided := newDivider(test.n, test.repeats)
		for i := range queries {
			divided.add(&queries[i])
		}
		b, _ := divided.divide(nil)
		if b.Repeated != (test.n < test.repeats) {
			t.Errorf("%d in %d rounds: repeated: %v", test.n, test.repeats, b.Repeated)
		}
		at := 0
		for repeat := 1; repeat <= test.repeats; repeat++ {
			first, end := b.Range(repeat)
			if first >= end || end > test.n || !b.Repeated && first != at || b.LeastQueries(repeat) > end-first {
				t.Errorf("%d in %d rounds: round %d has %d to %d, at least %d of them", test.n, test.repeats, repeat, first, end, b.LeastQueries(repeat))
			}
			at = end
		}
		// Further rounds, which a budget can have, each run the end of a block.
		for repeat := test.repeats + 1; repeat <= passes*test.repeats; repeat++ {
			first, end := b.Range(repeat)
			_, blockEnd := b.Range(1 + (repeat-1)%test.repeats)
			if before, _ := b.Range(repeat - test.repeats); first >= end || end != blockEnd || first < before || b.LeastQueries(repeat) > end-first {
				t.Errorf("%d in %d rounds: round %d has %d to %d", test.n, test.repeats, repeat, first, end)
			}
		}
		if !b.Repeated && at != test.n {
			t.Errorf("%d in %d rounds: the last one ends at %d", test.n, test.repeats, at)
		}
	}
	for range 20 {
		if got := choose("seed", "type", 3, 10); !slices.Equal(got, []int{0, 1, 2}) {
			t.Errorf("of three places %v are chosen", got)
		}
	}
	if a, b := choose("seed", "type", 1000, 10), choose("other", "type", 1000, 10); slices.Equal(a, b) || len(a) != 10 || !slices.IsSorted(a) {
		t.Errorf("two seeds choose %v and %v", a, b)
	}
}

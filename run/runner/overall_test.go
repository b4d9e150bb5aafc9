package runner

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
)

// What is left of a run is told by the cells that have ended; that some of it is
// not known is told too.
func TestOverall(t *testing.T) {
	e := experiment.Default()
	e.Queries.TimeBox, e.Queries.Repeats, e.Load.Repeats = 4*time.Second, 2, 1
	p := &Plan{experiment: e, steps: Steps{Load: true, Verify: true, Query: true}, targets: make([]plannedTarget, 2)}
	x := newExecution(&Runner{}, p)
	x.record.doc.Targets = make([]result.Target, 2)
	x.subject.queries = make([]typeQueries, 3)
	cells := p.order("")
	slices.SortStableFunc(cells, func(a, b cell) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.repeat, b.repeat), cmp.Compare(a.target, b.target))
	})
	if len(cells) != 10 { // two loads, two checks, four rounds, two comparisons
		t.Fatalf("%d cells", len(cells))
	}
	check := func(finished int, want Overall) {
		t.Helper()
		if got := x.overall(cells[finished:], finished); got != want {
			t.Errorf("after %d cells: %+v, want %+v", finished, got, want)
		}
	}
	const rounds = 4 * 3 * 2 * time.Second // three types, in each round half of the time box
	check(0, Overall{Step: 1, Steps: 10, Rest: rounds, More: true})
	x.paces.add(cells[0], 5*time.Second)
	x.subject.passed = 7 * time.Second
	check(1, Overall{Step: 2, Steps: 10, Expected: 5 * time.Second, Rest: rounds + 7*time.Second, More: true})
	x.paces.add(cells[1], 9*time.Second)
	x.paces.add(cells[2], time.Second)
	check(3, Overall{Step: 4, Steps: 10, Expected: time.Second, Rest: rounds + 7*time.Second})
	x.paces.add(cells[3], time.Second)
	x.paces.add(cells[4], 2*time.Second)
	x.paces.add(cells[5], 3*time.Second)
	check(6, Overall{Step: 7, Steps: 10, Expected: 2 * time.Second, Rest: 3*time.Second + 7*time.Second})
	x.record.doc.Targets[1].Failure = "gone" // only the answers that it gave are compared yet
	x.subject.dataset = nil
	check(6, Overall{Step: 7, Steps: 9, Expected: 2 * time.Second, Rest: 7 * time.Second})
}

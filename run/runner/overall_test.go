package runner

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
)

// Finished jobs determine the estimate for the rest of a run, including whether some of it is
// unknown.
func TestOverall(t *testing.T) {
	e := experiment.Default()
	e.Queries.TimeBox, e.Queries.Repeats, e.Load.Repeats = 4*time.Second, 2, 1
	p := &plan.Plan{Experiment: e, Steps: plan.Steps{Load: true, Verify: true, Query: true}, Targets: make([]plan.Target, 2)}
	x, err := newExecution(&Runner{}, p)
	if err != nil {
		t.Fatal(err)
	}
	x.record.Doc.Targets = make([]result.Target, 2)
	x.subject.Queries = make([]plan.TypeQueries, 3)
	cells := p.Order("")
	slices.SortStableFunc(cells, func(a, b plan.Job) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Repeat, b.Repeat), cmp.Compare(a.Target, b.Target))
	})
	if len(cells) != 10 { // two loads, two checks, four rounds, two comparisons
		t.Fatalf("%d cells", len(cells))
	}
	check := func(finished int, want record.Overall) {
		t.Helper()
		if got := x.progress(cells[finished:], finished); got != want {
			t.Errorf("after %d cells: %+v, want %+v", finished, got, want)
		}
	}
	const rounds = 4 * 3 * 2 * time.Second // three types, with half of the time box in each round
	check(0, record.Overall{Step: 1, Steps: 10, Rest: rounds, More: true})
	x.durations.add(cells[0], 5*time.Second)
	x.subject.Passed = 7 * time.Second
	check(1, record.Overall{Step: 2, Steps: 10, Expected: 5 * time.Second, Rest: rounds + 7*time.Second, More: true})
	x.durations.add(cells[1], 9*time.Second)
	x.durations.add(cells[2], time.Second)
	check(3, record.Overall{Step: 4, Steps: 10, Expected: time.Second, Rest: rounds + 7*time.Second})
	x.durations.add(cells[3], time.Second)
	x.durations.add(cells[4], 2*time.Second)
	x.durations.add(cells[5], 3*time.Second)
	check(6, record.Overall{Step: 7, Steps: 10, Expected: 2 * time.Second, Rest: 3*time.Second + 7*time.Second})
	x.record.Doc.Targets[1].Failure = "gone" // only its recorded answers are still compared
	x.subject.Dataset = nil
	check(6, record.Overall{Step: 7, Steps: 9, Expected: 2 * time.Second, Rest: 7 * time.Second})
}

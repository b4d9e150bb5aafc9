package runner_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// A server that caches answers by query text has none for a later run of the same experiment,
// except for types with too few different queries. The recorded seed of a run makes another run use
// the same queries.
func TestQueriesAreNew(t *testing.T) {
	w := &world{}
	c := catalogOf(w.driver())
	e := experiment.Default()
	e.Workload.Scale, e.Workload.End, e.Workload.Interval = 50, e.Workload.Start.Add(12*time.Hour), time.Minute
	e.Targets = []experiment.Target{{Name: "x", Driver: "shared", Options: experiment.Options{"path": filepath.Join(t.TempDir(), "x.sqlite")}}}
	e.Load.Replace = true
	e.Queries.Count, e.Queries.TimeBox, e.Queries.Repeats = 30, 0, 2
	run := func(seed int64, types ...string) (*result.Run, []string) {
		t.Helper()
		w.texts = nil
		e.Queries.Seed, e.Queries.Types = seed, types
		run, err := execute(t, e, c, nil, everything)
		if err != nil || !run.Passed() {
			t.Fatal(err, run)
		}
		// Rows are also read back.
		return run, slices.DeleteFunc(w.texts, func(text string) bool { return strings.Contains(text, "cpu.time = ") })
	}
	drawn := []string{"single-groupby-1-1-1", "cpu-max-all-8"}
	first, cached := run(0, drawn...)
	second, texts := run(0, drawn...)
	if first.QuerySeed == 0 || first.QuerySeed == second.QuerySeed || len(cached) < 60 {
		t.Errorf("%d texts, seeds %d and %d", len(cached), first.QuerySeed, second.QuerySeed)
	}
	for _, text := range texts {
		if slices.Contains(cached, text) {
			t.Fatalf("the second run has a query of the first one: %s", text)
		}
	}
	for i := range first.QuerySets {
		if a, b := &first.QuerySets[i], &second.QuerySets[i]; a.Equal(b) || !a.SameDefinition(b) || a.Definition == "" {
			t.Errorf("queries %+v and %+v", a, b)
		}
	}
	again, texts := run(first.QuerySeed, drawn...)
	for i := range first.QuerySets {
		if !first.QuerySets[i].Equal(&again.QuerySets[i]) {
			t.Errorf("by the same seed: %+v and %+v", first.QuerySets[i], again.QuerySets[i])
		}
	}
	if measured := slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return !slices.Contains(cached, text) }); len(measured) < 60 {
		t.Errorf("by the same seed only %d of %d queries are the same", len(measured), len(texts))
	}
	few, _ := run(0, "lastpoint")
	twice, _ := run(0, "lastpoint")
	if !few.QuerySets[0].Equal(&twice.QuerySets[0]) {
		t.Error("a type with one query has others in another run")
	}
}

// The dataset's seed generates TSBS's own queries.
func TestSeedOfTSBS(t *testing.T) {
	spec := experiment.Default().Workload
	own, err := tsbs.CPUOnly().Queries(spec, "single-groupby-5-8-1", 10)
	if err != nil {
		t.Fatal(err)
	}
	spec.QuerySeed = spec.Seed
	same, err := tsbs.CPUOnly().Queries(spec, "single-groupby-5-8-1", 10)
	if err != nil {
		t.Fatal(err)
	}
	spec.QuerySeed = 7
	other, err := tsbs.CPUOnly().Queries(spec, "single-groupby-5-8-1", 10)
	if err != nil {
		t.Fatal(err)
	}
	for q := range own {
		for s := range same {
			if s.ID == q.ID && s.Start != q.Start {
				t.Errorf("query %d begins at %s and %s", q.ID, q.Start, s.Start)
			}
		}
		for o := range other {
			if o.ID == q.ID && o.Start == q.Start {
				t.Errorf("query %d is the same by another seed", q.ID)
			}
		}
	}
}

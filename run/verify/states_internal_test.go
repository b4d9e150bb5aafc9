package verify

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/metrics"
)

// The phase of these tests writes the second half of half an hour of metrics, in batches of a fourth of a scrape.
const (
	stateBatch   = 500
	stateBatches = 24
	stateAt      = 1000 * time.Second // when queries were run
)

func stateDataset(t *testing.T) (workload.Spec, workload.Dataset) {
	t.Helper()
	spec := workload.Spec{Name: metrics.Name, Seed: 1, Scale: 4, Start: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), Interval: 15 * time.Second}
	spec.End = spec.Start.Add(30 * time.Minute)
	spec.Settings.Set("metrics.series", "500")
	spec.Settings.Set("metrics.histograms", "classic")
	spec.Settings.Set("metrics.failed", "0.05")
	d, err := metrics.Workload().Dataset(spec)
	if err != nil {
		t.Fatal(err)
	}
	return spec, d
}

// stateJournal returns the journal of a phase of a writer, whose batches were acknowledged one a second, and the
// rows of it.
func stateJournal(t *testing.T, d workload.Dataset) (*engine.Journal, workload.Dataset) {
	t.Helper()
	rows := int64(0)
	if _, err := oracle.Pass(t.Context(), d, nil, nil, func(n int) { rows += int64(n) }); err != nil {
		t.Fatal(err)
	}
	j := &engine.Journal{Loaded: rows / 2, Shares: make([]engine.WrittenShare, 1)}
	for i := range stateBatches {
		at := time.Duration(i) * time.Second
		j.Shares[0].Writes = append(j.Shares[0].Writes, engine.Written{Rows: stateBatch, Begin: at, Acked: at + time.Second})
	}
	return j, workload.LimitRows(d, j.Loaded+stateBatches*stateBatch)
}

// answersIn returns the answers to queries after the first batches, by the semantics of each.
func answersIn(t *testing.T, d workload.Dataset, j *engine.Journal, batches int, queries []query.Query, semantics []string) []*query.Answer {
	t.Helper()
	x, err := oracle.Pass(t.Context(), workload.LimitRows(d, j.Loaded+int64(batches)*stateBatch), queries, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	list := make([]*query.Answer, len(queries))
	for i := range queries {
		list[i] = x.Full[i].Answer
		for _, also := range x.Full[i].Also {
			if also.Semantics == semantics[i] {
				list[i] = also.Answer
			}
		}
	}
	return list
}

// An answer that shows an older state is found to be stale since the batch that an exhaustive search finds,
// with an evaluation of few times: an exhaustive search evaluates all times in each state.
func TestStates(t *testing.T) {
	spec, d := stateDataset(t)
	j, written := stateJournal(t, d)
	var queries []query.Query
	var semantics []string
	for _, expr := range []string{
		"sum by (instance) (rate(node_cpu_seconds_total[5m]))", "up", "count(up == 1)", "node_load1 offset 30s", "max_over_time(node_load1[3m:30s])",
		`rate(node_cpu_seconds_total{mode="idle"}[2m] @ end())`, "max_over_time(node_load1[2m]) - min_over_time(node_load1[4m])",
	} {
		for _, by := range []string{"", "victoriametrics", "thanos"} {
			for _, step := range []time.Duration{0, 15 * time.Second} {
				q := query.Query{Type: "q", End: spec.Start.Add(15*time.Minute + stateBatches/4*15*time.Second), Shape: query.PromQL{Expr: expr, Step: step}}
				if step > 0 {
					q.Start = q.End.Add(-10 * time.Minute)
				}
				queries, semantics = append(queries, q), append(semantics, by)
			}
		}
	}
	var states [stateBatches + 1][]*query.Answer
	for n := range states {
		states[n] = answersIn(t, d, j, n, queries, semantics)
	}
	for i := range queries {
		q, shape := &queries[i], queries[i].Shape.(query.PromQL)
		same := func(n, k int) bool {
			return query.Compare(q, q.Columns(nil), &query.Answer{Rows: slices.Clone(states[n][i].Rows)}, &query.Answer{Rows: slices.Clone(states[k][i].Rows)}) == nil
		}
		var stale []*answer
		var latest []int // states
		for n := range stateBatches {
			if same(n, stateBatches) {
				continue
			}
			stale = append(stale, &answer{Answered: &engine.Answered{Query: *q, At: stateAt, Answer: states[n][i]}, columns: q.Columns(nil), semantics: semantics[i], examined: true})
			latest = append(latest, n)
			for k := n; k < stateBatches; k++ {
				if same(n, k) {
					latest[len(latest)-1] = k
				}
			}
		}
		search, done := newStateSearch(j), 0
		if err := search.trace(t.Context(), written, stale, func(int) {
			a := stale[done]
			name := fmt.Sprintf("%s by %q, step %v, after at most %d batches", shape.Expr, semantics[i], shape.Step, latest[done])
			if want := stateAt - time.Duration(latest[done]+1)*time.Second; !a.stale || a.delay != want {
				t.Errorf("%s: stale %v by %v, want %v", name, a.stale, a.delay, want)
			}
			// The first time at which a range differs is one of the next ones: few states lie between. An
			// answer at one time is compared with each later state.
			if most := 20; shape.Step > 0 && search.evaluations > most || search.evaluations > stateBatches+2 {
				t.Errorf("%s: %d evaluations", name, search.evaluations)
			}
			done++
		}); err != nil || done != len(stale) || done == 0 {
			t.Errorf("%s: %d of %d answers were examined: %v", shape.Expr, done, len(stale), err)
		}
	}
}

// An answer that no state has is not stale, and is known to be wrong if it differs where it depends only on rows
// that were loaded before.
func TestNoState(t *testing.T) {
	spec, d := stateDataset(t)
	j, written := stateJournal(t, d)
	q := query.Query{Type: "q", Start: spec.Start.Add(5 * time.Minute), End: spec.Start.Add(18 * time.Minute), Shape: query.PromQL{Expr: "sum(rate(node_cpu_seconds_total[1m]))", Step: 15 * time.Second}}
	for _, c := range []struct {
		first  bool // whether the first value is wrong, or the last one
		beyond bool
	}{{true, true}, {false, false}} {
		found := answersIn(t, d, j, stateBatches, []query.Query{q}, []string{""})[0]
		row := found.Rows[0]
		if !c.first {
			row = found.Rows[len(found.Rows)-1]
		}
		row[len(row)-1].Float++
		a := &answer{Answered: &engine.Answered{Query: q, At: stateAt, Answer: found}, columns: q.Columns(nil), examined: true}
		search := newStateSearch(j)
		if err := search.trace(t.Context(), written, []*answer{a}, func(int) {}); err != nil {
			t.Fatal(err)
		}
		if a.stale || !a.examined || (a.beyond != "") != c.beyond || search.evaluations > stateBatches+2 {
			t.Errorf("first %v: stale %v, examined %v, %q, %d evaluations", c.first, a.stale, a.examined, a.beyond, search.evaluations)
		}
	}
}

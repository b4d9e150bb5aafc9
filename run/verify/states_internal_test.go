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

// The phase of these tests writes the second quarter of an hour of metrics in batches of a fourth of a scrape.
const (
	stateBatch = 250
	stateAt    = 1000 * time.Second // when queries were run
)

func stateDataset(t *testing.T) (workload.Spec, workload.Dataset) {
	t.Helper()
	spec := workload.Spec{Name: metrics.Name, Seed: 1, Scale: 1, Start: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), Interval: 15 * time.Second}
	spec.End = spec.Start.Add(30 * time.Minute)
	spec.Settings.Set("metrics.histograms", "classic")
	spec.Settings.Set("metrics.failed", "0.05")
	d, err := metrics.Workload().Dataset(spec)
	if err != nil {
		t.Fatal(err)
	}
	return spec, d
}

// stateJournal returns the journal of a phase of a writer, whose batches were acknowledged one a second.
func stateJournal(loaded int64, batches int) *engine.Journal {
	j := &engine.Journal{Loaded: loaded, Shares: make([]engine.WrittenShare, 1)}
	for i := range batches {
		at := time.Duration(i) * time.Second
		j.Shares[0].Writes = append(j.Shares[0].Writes, engine.Written{Rows: stateBatch, Begin: at, Acked: at + time.Second})
	}
	return j
}

// answerIn returns the answer to a query from the first rows, and the one by the semantics.
func answerIn(t *testing.T, d workload.Dataset, rows int64, q query.Query, semantics string) *query.Answer {
	t.Helper()
	x, err := oracle.Pass(t.Context(), workload.LimitRows(d, rows), []query.Query{q}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, also := range x.Full[0].Also {
		if also.Semantics == semantics {
			return also.Answer
		}
	}
	return x.Full[0].Answer
}

// An answer that shows an older state is found to be stale since the batch that an exhaustive search finds,
// with an evaluation of few times: an exhaustive search evaluates all times in each state.
func TestStates(t *testing.T) {
	spec, d := stateDataset(t)
	const batches = 60
	total := int64(0)
	if _, err := oracle.Pass(t.Context(), d, nil, nil, func(n int) { total += int64(n) }); err != nil {
		t.Fatal(err)
	}
	loaded := total / 2
	j := stateJournal(loaded, batches)
	written := workload.LimitRows(d, loaded+batches*stateBatch)
	for _, expr := range []string{
		"sum by (instance) (rate(node_cpu_seconds_total[5m]))", "up", "count(up == 1)", "node_load1 offset 1m", "max_over_time(node_load1[3m:30s])",
		"rate(node_cpu_seconds_total{mode=\"idle\"}[2m] @ end())", "max_over_time(node_load1[2m]) - min_over_time(node_load1[4m])",
	} {
		for _, semantics := range []string{"", "victoriametrics", "thanos"} {
			for _, step := range []time.Duration{0, 15 * time.Second} {
				q := query.Query{Type: "q", End: spec.Start.Add(15*time.Minute + batches/4*15*time.Second), Shape: query.PromQL{Expr: expr, Step: step}}
				if step > 0 {
					q.Start = q.End.Add(-10 * time.Minute)
				}
				var states []*query.Answer // by batches
				for n := range batches + 1 {
					states = append(states, answerIn(t, d, loaded+int64(n)*stateBatch, q, semantics))
				}
				columns := q.Columns(nil)
				same := func(a, b *query.Answer) bool {
					return query.Compare(&q, columns, &query.Answer{Rows: slices.Clone(a.Rows)}, &query.Answer{Rows: slices.Clone(b.Rows)}) == nil
				}
				for n := range batches {
					if same(states[n], states[batches]) {
						continue // it is not stale
					}
					latest := n
					for k := n; k < batches; k++ {
						if same(states[n], states[k]) {
							latest = k
						}
					}
					a := &answer{Answered: &engine.Answered{Query: q, At: stateAt, Rows: int64(len(states[n].Rows)), Answer: states[n]}, columns: columns, semantics: semantics, examined: true}
					search := newStateSearch(j)
					if err := search.trace(t.Context(), written, []*answer{a}, func(int) {}); err != nil {
						t.Fatal(err)
					}
					name := fmt.Sprintf("%s by %q, step %v, after %d batches", expr, semantics, step, n)
					if want := stateAt - time.Duration(latest+1)*time.Second; !a.stale || a.delay != want {
						t.Errorf("%s: stale %v by %v, want %v", name, a.stale, a.delay, want)
					}
					// A range differs first at the time of the first row that it lacks, which is in one of the
					// next batches. An answer at one time is compared with each later state that may change it.
					if most := 12; step > 0 && search.evaluations > most || search.evaluations > batches+2 {
						t.Errorf("%s: %d evaluations", name, search.evaluations)
					}
				}
			}
		}
	}
}

// An answer that no state has is not stale, and is known to be wrong if it differs where it depends only on rows
// that were loaded before.
func TestNoState(t *testing.T) {
	spec, d := stateDataset(t)
	j := stateJournal(60_000, 20)
	q := query.Query{Type: "q", Start: spec.Start.Add(5 * time.Minute), End: spec.Start.Add(16 * time.Minute), Shape: query.PromQL{Expr: "sum(rate(node_cpu_seconds_total[1m]))", Step: 15 * time.Second}}
	for _, c := range []struct {
		changed int // row
		beyond  bool
	}{{0, true}, {-1, false}} {
		found := answerIn(t, d, 60_000+20*stateBatch, q, "")
		row := found.Rows[(c.changed+len(found.Rows))%len(found.Rows)]
		row[len(row)-1].Float += 1
		a := &answer{Answered: &engine.Answered{Query: q, At: stateAt, Rows: int64(len(found.Rows)), Answer: found}, columns: q.Columns(nil), examined: true}
		search := newStateSearch(j)
		if err := search.trace(t.Context(), workload.LimitRows(d, 60_000+20*stateBatch), []*answer{a}, func(int) {}); err != nil {
			t.Fatal(err)
		}
		if a.stale || !a.examined || (a.beyond != "") != c.beyond || search.evaluations > 100 {
			t.Errorf("row %d: stale %v, examined %v, %q, %d evaluations", c.changed, a.stale, a.examined, a.beyond, search.evaluations)
		}
	}
}

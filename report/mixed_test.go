package report_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/runchart"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// A mixed phase shows stale answers and their age, wrong answers, queries that were
// not run, and sides that did not keep up.
func TestMixedTable(t *testing.T) {
	response := latencies(t, 3, 400, 40*time.Millisecond)
	target := result.Target{Name: "duck", Load: &result.Load{Mixed: &result.Mixed{
		RowRate: "10000/s", QueryRate: "200/s", Windows: "recent", Loaded: 5000, Arrivals: 900, Dropped: 3, Waiting: 7, Early: 40, Rest: 11,
		Writes: result.Load{Rows: 20_000, Acked: 2},
		Types: []result.MixedType{
			{Type: "exact", Executed: 400, PerSecond: 200, Service: latencies(t, 1, 390, time.Millisecond), Response: &response,
				Verdict: result.Verdict{Checked: 10, Rows: 20}, Wanted: 10, Counted: 390},
			{Type: "late", Executed: 30, AtLeast: 1, PerSecond: 15, Service: latencies(t, 2, 20, time.Millisecond),
				Verdict: result.Verdict{Checked: 10, Rows: 20}, Stale: 8, PartialBatches: 5, Unmatched: 3, Unexamined: 2, Freshness: latencies(t, 4, 8, 50*time.Millisecond)},
			{Type: "wrong", Executed: 5, Withheld: "query 3: 1 rows in the answer, 2 expected; no older state matches it"},
			{Type: "impossible", Unsupported: "not supported: no joins"},
			{Type: "too long"},
		},
	}}}
	run := &result.Run{ID: "r", Status: result.Complete, Targets: []result.Target{target}}
	golden(t, "mixed.txt", render(t, write.Text, write.Options{Verbose: true, Width: 150}, run))
	golden(t, "mixed.csv", render(t, write.CSV, write.Options{}, run))
	if run.Passed() {
		t.Error("the run passes with a type withheld")
	}
	if run.Targets[0].Load.Mixed.Types[2].Withheld = ""; !run.Passed() {
		t.Error("the run does not pass with nothing withheld")
	}
}

// The time line shows how the times of queries went while rows were written, at their place in the run.
func TestMixedCourse(t *testing.T) {
	m := &result.Mixed{QueryRate: "5/s", Writes: result.Load{Rows: 20_000, Acked: 20, Cell: result.Cell{From: 10, To: 32}},
		Types: []result.MixedType{{Type: "lastpoint", Executed: 100, Service: latencies(t, 1, 100, time.Millisecond), Verdict: result.Verdict{Checked: 10, Rows: 20},
			Course: []result.MeanPoint{{At: 10, Count: 50, Mean: 0.001}, {At: 20, Count: 50, Mean: 0.004}}}}}
	run := &result.Run{ID: "r", Status: result.Complete, Targets: []result.Target{{Name: "duck", Load: &result.Load{Rows: 5000, Settled: 1, Mixed: m}}}}
	memory := result.Resources{Source: result.ServerSource("duck"), Period: 1}
	memory.Add(0, map[result.Metric]float64{result.RSS: 1})
	memory.Add(40, map[result.Metric]float64{result.RSS: 2})
	run.Resources = []result.Resources{memory}
	figure := runchart.Timeline(run)
	at := slices.IndexFunc(figure.Lines, func(c *chart.Lines) bool { return c.Title == "lastpoint while rows were written" })
	if at < 0 {
		t.Fatalf("no chart of the times: %+v", figure.Lines)
	}
	c := figure.Lines[at]
	middle, _ := c.Place(20.0/40, 0)
	if marks := c.Curves[0].Marks; len(marks) != 2 || marks[0].X != middle || !strings.HasSuffix(marks[1].Hint, "4\u202fms") {
		t.Errorf("%+v; want the first mark at %g", marks, middle)
	}
}

// Targets are side by side, with a line in the headline and a chart. A saturated one is named first
// and has no ratio; too few queries are too few.
func TestMixedSideBySide(t *testing.T) {
	run := &result.Run{ID: "r", Status: result.Complete, Dataset: result.Dataset{Fingerprint: "f"}}
	for i, name := range []string{"duck", "lite", "slow"} {
		mixed := func(name string, n int, median time.Duration) result.MixedType {
			response := latencies(t, uint64(i), n, median)
			return result.MixedType{Type: name, Executed: int64(n), Service: latencies(t, 1, n, time.Microsecond), Response: &response, Verdict: result.Verdict{Checked: 10, Rows: 20}, Wanted: 10}
		}
		m := &result.Mixed{RowRate: "10000/s", QueryRate: "20/s", Windows: "uniform", Writes: result.Load{Rows: 20_000, Acked: 2},
			Types: []result.MixedType{mixed("lastpoint", 400, time.Duration(i+1)*time.Millisecond), mixed("high-cpu-1", 40+100*i, 20*time.Millisecond)}}
		if i == 2 {
			m.Saturated = "saturated: 5/s done of 20/s scheduled"
		}
		alone := queries(t, 5, "lastpoint", "", 300, time.Millisecond, 1)
		target := result.Target{Name: name, Driver: "duckdb", Repeats: []result.Repeat{{Number: 1, Load: &result.Load{Rows: 5000, Settled: 1, Mixed: m}, Queries: []result.Queries{alone}}}}
		pooled, err := target.Pool()
		if err != nil {
			t.Fatal(err)
		}
		run.Targets = append(run.Targets, pooled)
	}
	golden(t, "mixed-targets.txt", render(t, write.Text, write.Options{Width: 150}, run))
	page := parse(t, render(t, write.HTML, write.Options{}, run))
	for _, want := range []string{"Latency against ingest", "rows written a second", "slow is saturated while rows are written: 5/s done of 20/s scheduled"} {
		if !strings.Contains(page.text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

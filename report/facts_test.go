package report_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/facts"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/workload"
)

// Every report shows losses of the operation log and how rows are arranged.
func TestFactsOfDatasetAndLog(t *testing.T) {
	run := &result.Run{ID: "r", Status: result.Complete, LostOperations: 12, Dataset: result.Dataset{
		Spec: workload.Spec{Name: "cpu-only", Scale: 4, Interval: 10 * time.Second, InARow: 6, Records: 1, NewTags: 2, NewFields: 1}, Lateness: 0.5,
	}}
	arranged := "6 intervals of a device in a row, the first 1 row of a device in each table, the last 2 tags of each table from a third of the time on, " +
		"the last 1 field of each table from two thirds of the time on, rows late by up to 500ms"
	for _, format := range []write.Format{write.Text, write.Markdown, write.HTML} {
		out := strings.Join(strings.Fields(strings.ReplaceAll(render(t, format, write.Options{Verbose: true}, run), "\\", "")), " ")
		for _, want := range []string{"The operation log lacks 12 operations", arranged} {
			if !strings.Contains(out, want) {
				t.Errorf("%s does not say: %s\n%s", format, want, out)
			}
		}
	}
	run.LostOperations, run.Dataset = 0, result.Dataset{Spec: workload.Spec{Name: "cpu-only"}}
	if out := render(t, write.Text, write.Options{Verbose: true}, run); strings.Contains(out, "lacks") || strings.Contains(out, "late by") || strings.Contains(out, "in a row") {
		t.Errorf("false statement:\n%s", out)
	}
}

// A type that is withheld of several targets counts once, as it does in the headline.
func TestWithheldTypesCountOnce(t *testing.T) {
	wrong := result.Queries{Type: "lastpoint", Withheld: "wrong answer"}
	r := result.Run{Status: result.Complete, Targets: []result.Target{
		{Name: "a", Queries: []result.Queries{wrong}}, {Name: "b", Queries: []result.Queries{wrong}}, {Name: "c", Queries: []result.Queries{wrong}},
	}}
	for want, of := range map[string]int{
		"Figures of 1 query type of 3 targets withheld: the check of the answers failed.": 3,
		"Figures of 1 query type withheld: the check of the answers failed.":              1,
	} {
		one := r
		one.Targets = r.Targets[:of]
		if !slices.ContainsFunc(facts.AlertsBeside(&one, nil), func(n doc.Span) bool { return n.Text == want }) {
			t.Errorf("%v lacks %q", facts.AlertsBeside(&one, nil), want)
		}
	}
}

// Pauses of several runs are one sentence with the range of their counts.
func TestPauses(t *testing.T) {
	run := func(queries, batches int64) *result.Run {
		return &result.Run{Targets: []result.Target{{Load: &result.Load{Paused: batches}, Queries: []result.Queries{{Paused: queries}}}}}
	}
	const because = ", because it was stopped or had no processor; these times are excluded."
	for want, runs := range map[string][]*result.Run{
		"": {run(0, 0), run(0, 0)},
		"tsmark itself was paused during 1 query" + because:                                           {run(1, 0)},
		"tsmark itself was paused in 3 of 4 runs, during 1 to 1,518 queries and 18 batches" + because: {run(1, 0), run(1518, 0), run(0, 0), run(20, 18)},
	} {
		if got := facts.PausedNote(runs...); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

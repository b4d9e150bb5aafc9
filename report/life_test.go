package report_test

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// The events of two loads' lives: medians, and a row that was not seen as a lower bound, in all formats.
func TestLife(t *testing.T) {
	target := result.Target{Name: "postgres", Driver: "postgres"}
	for i, took := range []float64{2, 4} {
		target.Repeats = append(target.Repeats, result.Repeat{Number: i + 1, Load: &result.Load{
			Workers: 1, BatchSize: 1000, Rows: 30000, Sent: 3, Acked: 3, Settled: 4, DiskBytes: -1,
			Census: []result.CensusResult{{Table: "cpu", Expected: 30000, Counted: 30000}},
			Life: &result.Life{
				Interval: 1, Backlog: "dead rows", Base: result.Mixed{Types: []result.MixedType{{Type: "lastpoint", Executed: 7, Verdict: result.Verdict{Checked: 3}}}},
				Course: []result.LifePoint{{At: 1, Median: 0.01, Freshness: 0.5, DiskBytes: 100}, {At: 2, Median: 0.02, Freshness: -10, DiskBytes: 200, Backlog: 3}},
				Events: []result.LifeEvent{
					{Do: "correct", What: "correction", Begin: 1, End: 1 + took, Limit: 1.25, UsualAfter: -1, Slower: -7.5, During: result.LifePeriod{Median: -2, Freshness: -10}, After: result.LifePeriod{Median: 0.01}, DiskBefore: -1, DiskAfter: -1, DiskLeast: -1, WrittenBytes: -1, BacklogBefore: 17, BacklogMost: 23, BacklogBack: 6},
					{Do: "grow", Unsupported: "no new columns"},
					{Do: "late", Failed: "no space left"},
				},
			},
		}})
	}
	pooled, err := target.Pool()
	if err != nil {
		t.Fatal(err)
	}
	run := &result.Run{ID: "20260131-154500-abcd", Name: "life", Status: result.Complete, Started: started, Targets: []result.Target{pooled}}
	for _, format := range []write.Format{write.Text, write.Markdown, write.HTML} {
		out := strings.Join(strings.Fields(render(t, format, write.Options{Verbose: true}, run)), "") // units have spaces of their own
		for _, want := range []string{"3.00s", "≥ 10.0s", "≥ 2.00s", "≥ 7.50×", "not yet", "n/a: no new columns", "failed: no space left", "backlog: dead rows", "medians over the lives of 2 loads", "6 sampled answers"} {
			if !strings.Contains(out, strings.ReplaceAll(want, " ", "")) {
				t.Errorf("%s: %q is not in\n%s", format, want, out)
			}
		}
	}
	lines, err := csv.NewReader(strings.NewReader(render(t, write.CSV, write.Options{}, run))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, line := range lines[1:] {
		var values []string
		for _, name := range []string{"kind", "event", "unsupported", "failed", "median", "slower", "after_median", "event_bounds", "event_took", "usual_limit", "usual_after", "event_fresh", "event_fresh_bound", "disk_before", "backlog_before", "backlog_most", "backlog_back", "rounds"} {
			values = append(values, line[slices.Index(lines[0], name)])
		}
		got = append(got, strings.Join(values, ","))
	}
	want := []string{
		"load,,,,,,,,,,,,,,,,,2",
		"event,correct,,,2,7.5,0.01,median slower,3,1.25,,10,at least,,17,23,6,2",
		"event,grow,no new columns,,,,,,,,,,,,,,,",
		"event,late,,failed: no space left,,,,,,,,,,,,,,",
	}
	if !slices.Equal(got, want) {
		t.Errorf("CSV has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

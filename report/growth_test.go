package report_test

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/report/tables"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// grownLoad is a load in three steps; the second step takes the given multiple of the first one's time.
func grownLoad(times float64) *result.Load {
	step := func(seconds float64) result.GrowthStep {
		return result.GrowthStep{Rows: 10000, Sent: seconds / 4, Acked: seconds / 2, Settled: seconds, Median: 0.01, Slowest: 0.02}
	}
	g := &result.Growth{Steps: []result.GrowthStep{step(times), step(2 * times), step(times)}}
	g.Steps[1].Tags = []string{"cpu.service_environment"}
	g.Steps[2].Fields = []string{"cpu.usage_guest", "cpu.usage_guest_nice"}
	return &result.Load{
		Workers: 1, BatchSize: 1000, Rows: 30000, Sent: 3 * times, Acked: 3 * times, Settled: 4 * times, Growth: g, DiskBytes: -1,
		Census: []result.CensusResult{{Table: "cpu", Expected: 30000, Counted: 30000}},
	}
}

// The systems that take columns that appear, their rates, and the cost of each step relative to the first;
// a refused step is n/a, fails nothing, and has no rate.
func TestGrowth(t *testing.T) {
	run := &result.Run{ID: "20260131-154500-abcd", Name: "grown", Status: result.Complete, Started: started}
	takes := result.Target{Name: "questdb", Driver: "questdb"}
	for i := range 6 {
		takes.Repeats = append(takes.Repeats, result.Repeat{Number: i + 1, Load: grownLoad(1 + float64(i)/100)})
	}
	refusal := grownLoad(1)
	refusal.Growth.Unsupported, refusal.Growth.Steps = "no column service_environment", refusal.Growth.Steps[:1]
	refuses := result.Target{Name: "timescaledb", Driver: "timescaledb", Repeats: []result.Repeat{{Number: 1, Load: refusal}}}
	for _, target := range []result.Target{takes, refuses} {
		pooled, err := target.Pool()
		if err != nil {
			t.Fatal(err)
		}
		run.Targets = append(run.Targets, pooled)
	}
	if !run.Passed() {
		t.Error("a system that makes no columns fails the run")
	}
	for _, format := range []write.Format{write.Text, write.Markdown, write.HTML} {
		out := strings.Join(strings.Fields(strings.ReplaceAll(render(t, format, write.Options{Verbose: true}, run), `\_`, "_")), " ")
		for _, want := range []string{"Columns that appear", "new tag cpu.service_environment", "2 new fields", "9,760", "4,880", "2.00×", "n/a: no column service_environment"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: %q is not in\n%s", format, want, out)
			}
		}
		if strings.Contains(out, "withheld:") || strings.Contains(out, "Figures of") {
			t.Errorf("%s: a load that a system refuses counts as withheld", format)
		}
	}
	lines, err := csv.NewReader(strings.NewReader(render(t, write.CSV, write.Options{}, run))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, line := range lines[1:] {
		var values []string
		for _, name := range []string{"kind", "target", "unsupported", "step", "new_tags", "new_fields", "rows", "rate", "acked_rate", "step_cost", "rounds"} {
			values = append(values, line[slices.Index(lines[0], name)])
		}
		if got = append(got, strings.Join(values, ",")); values[0] == "step" && (values[3] > "1") != (line[slices.Index(lines[0], "step_cost_low")] != "") {
			t.Errorf("the interval of the cost in %v", line)
		}
	}
	want := []string{
		"load,questdb,,,,,30000,7317.24729,,,6",
		"step,questdb,,1,,,10000,9756.32972,19512.6594,,6",
		"step,questdb,,2,cpu.service_environment,,10000,4878.16486,9756.32972,2,6",
		"step,questdb,,3,,cpu.usage_guest cpu.usage_guest_nice,10000,9756.32972,19512.6594,1,6",
		"load,timescaledb,no column service_environment,,,,,,,,",
	}
	if !slices.Equal(got, want) {
		t.Errorf("CSV has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	run.Targets[0].Load.Growth = nil
	if tables.Growth(&result.Run{Targets: run.Targets[:1]}) != nil {
		t.Error("a table of loads without steps")
	}
}

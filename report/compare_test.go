package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// A target that got further in its time box, to slower queries, is compared
// over the queries that the other one answered too.
func TestComparisonOverCommonQueries(t *testing.T) {
	newTarget := func(name string, median float64, each ...float64) result.Target {
		return result.Target{Name: name, Driver: "duckdb", Queries: []result.Queries{{
			Type: "lastpoint", Verdict: result.Verdict{Checked: 1, Rows: 1}, Executed: int64(len(each)), Rows: 1, Each: each,
			Service: result.Latency{Summary: measure.Summary{Count: int64(len(each)), Median: median}},
		}}}
	}
	run := &result.Run{ID: "1", Status: result.Complete, Dataset: result.Dataset{Fingerprint: "f"}, Targets: []result.Target{
		newTarget("further", 9, 1, 1, 1, 9, 9, 9, 9),
		newTarget("shorter", 2, 2, 2, 2),
	}}
	var out bytes.Buffer
	if err := report.Write(&out, write.Text, []*result.Run{run}, write.Options{}); err != nil {
		t.Fatal(err)
	}
	_, comparison, _ := strings.Cut(out.String(), "Comparison")
	for line := range strings.Lines(comparison) {
		if f := strings.Fields(line); len(f) > 0 && f[0] == "lastpoint" {
			if strings.Join(f, " ") != "lastpoint 1.00s 1 round 2.00s ~2.00× 3" {
				t.Errorf("comparison: %s", line)
			}
			return
		}
	}
	t.Errorf("no comparison in\n%s", out.String())
}

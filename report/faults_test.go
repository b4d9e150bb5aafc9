package report_test

import (
	"testing"

	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// The fate of failed batches is shown beside the figures, and lost rows are shown
// above all of them.
func TestFaults(t *testing.T) {
	load := func(c result.CensusResult) *result.Load {
		return &result.Load{
			Rows: 1000, Metrics: 1000, Sent: 1, Acked: 2, Settled: 3, DiskBytes: -1, Withheld: c.Problem, Census: []result.CensusResult{c},
			Retries: &result.Retries{Tries: 1, SentTwice: 100, Cause: "connection reset by peer"},
		}
	}
	run := &result.Run{ID: "r", Status: result.Complete, Targets: []result.Target{
		{Name: "twice", Load: load(result.CensusResult{Table: "cpu", Expected: 1000, Counted: 1100, Duplicates: 100})},
		{Name: "lost", Durability: "relaxed", Load: load(result.CensusResult{Table: "cpu", Expected: 1000, Counted: 993, Lost: 7, Problem: "7 of its rows are lost"})},
	}}
	golden(t, "faults.txt", render(t, write.Text, write.Options{Verbose: true, Width: 150}, run))
	golden(t, "faults.csv", render(t, write.CSV, write.Options{}, run))
	if run.Passed() {
		t.Error("the run passes with rows lost")
	}
	run.Targets = run.Targets[:1]
	if !run.Passed() {
		t.Error("the run does not pass because of duplicates")
	}
}

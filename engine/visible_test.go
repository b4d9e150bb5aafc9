package engine_test

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance/lie"
	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// A target that acknowledges rows and stores them later has settled when a query has seen
// them, whatever it says, and whether it holds queries back or not.
func TestVisible(t *testing.T) {
	const delay = 200 * time.Millisecond
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	w := tsbs.CPUOnly()
	d, err := w.Dataset(workload.Spec{Name: w.Name(), Seed: 1, Scale: 10, Start: start, End: start.Add(time.Hour), Interval: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []driver.Driver{
		lie.Postpone(memory.Driver("holds back"), delay, true),
		lie.Postpone(memory.Driver("shows later"), delay, false), memory.Driver("honest"),
	} {
		db, err := kind.Open(t.Context(), driver.Env{}, nil)
		if err == nil {
			err = db.Create(t.Context(), d.Schema())
		}
		if err != nil {
			t.Fatal(err)
		}
		cfg := engine.LoadConfig{Workers: 2, BatchSize: 50, Visible: engine.Visibility{Render: kind.Renderer(nil)}}
		load, err := engine.Load(t.Context(), cfg, d, db, func(int) {})
		if err != nil {
			t.Fatalf("%s: %v", kind.Name, err)
		}
		v := load.Visible
		if v == nil || v.Rows < 9 || v.Missing != "" || v.Unchecked != "" { // of one worker at least: a row of its last batch and 8 drawn ones
			t.Fatalf("%s: visible %+v", kind.Name, v)
		}
		if hidden := load.Settled - load.Acked; kind.Name != "honest" && hidden < delay.Seconds() {
			t.Errorf("%s: settled %v s after the last acknowledgement, and rows were stored %v after it", kind.Name, hidden, delay)
		}
	}
}

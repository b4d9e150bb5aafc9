package progress

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The displayed state is available to programs: the tasks with their rates, the run with its
// remaining time, and the ended tasks.
func TestState(t *testing.T) {
	c := newClock()
	d := newDisplay(io.Discard, 0, c.now)
	begun := c.t
	d.Overall(Overall{Step: 2, Steps: 4, Expected: time.Second, Rest: time.Minute})
	d.Start("count", "tables", 9).Finish("as\nexpected")
	load := d.Start("load sqlite", "rows", 3000)
	for range 100 { // 20 s at 100 rows/s
		load.Add(20)
		c.pass(d, sampling)
	}
	d.Start("query", "queries", 0).Fail("no answer")
	d.Start("unspecified", "", 0).Fail("")
	want := State{
		Step: 2, Steps: 4, Left: 70 * time.Second,
		Running: []Running{{Label: "load sqlite", Unit: "rows", Started: begun, Done: 2000, Total: 3000, PerSecond: 100, Left: 10 * time.Second}},
		Ended:   []Ended{{begun, "count", "as expected", false}, {c.t, "query", "failed: no answer", true}},
	}
	got := d.State()
	got.Left = got.Left.Round(time.Millisecond)
	for i := range got.Running {
		r := &got.Running[i]
		r.Left, r.PerSecond = r.Left.Round(time.Millisecond), float64(int64(r.PerSecond*1000+0.5))/1000
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	d.Overall(Overall{Step: 3, Steps: 4, More: true})
	if got := d.State(); !got.More {
		t.Error("steps of unknown length make the time left a lower bound")
	}
	d.Close()
	if got := d.State(); got.Steps != 0 || len(got.Running) != 0 || len(got.Ended) != 3 {
		t.Errorf("after the end: %+v", got)
	}
}

// Of the ends of tasks the newest are kept.
func TestStateForgets(t *testing.T) {
	d := newDisplay(io.Discard, 0, newClock().now)
	for i := range 3 * keptEnded {
		d.Start(fmt.Sprint(i), "", 0).Finish("done")
	}
	got := d.State().Ended
	if len(got) != keptEnded || got[0].Label != fmt.Sprint(2*keptEnded) || got[keptEnded-1].Label != fmt.Sprint(3*keptEnded-1) {
		t.Errorf("%d ends from %s to %s", len(got), got[0].Label, got[len(got)-1].Label)
	}
}

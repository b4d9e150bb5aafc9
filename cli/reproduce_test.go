package cli

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/report"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/reproduce/document"
	"github.com/tsmark/tsmark/run/store"
)

// An experiment at whose point a system fails as the document says has come to its end:
// its runs are taken, and not made again. Of any other failure they are.
func TestCompletedWithFailure(t *testing.T) {
	d, _ := document.Find("tsinghua-2019")
	e, _ := d.Experiment("clients")
	for _, c := range []struct {
		name, system, workers string
		want                  int
	}{
		{"none fails", "", "", 2},
		{"as the document says", "opentsdb", "50", 2},
		{"with few clients", "opentsdb", "1", 0},
		{"another system", "influxdb", "50", 0},
	} {
		kept, err := store.Open(t.Context(), t.TempDir(), report.Stored)
		if err != nil {
			t.Fatal(err)
		}
		defer kept.Close()
		sweep := &result.Sweep{Name: d.RunName(e, document.Small), Command: "run", Started: time.Now().UTC(), Points: 2}
		if err := kept.BeginSweep(t.Context(), sweep); err != nil {
			t.Fatal(err)
		}
		for i, workers := range []string{"1", "50"} {
			r := &result.Run{Name: sweep.Name, Command: "run", Started: time.Now().UTC(), Place: result.Place{
				Sweep: sweep.ID, Point: i + 1, Points: 2, Parameters: result.Parameters{{Path: "load.workers", Value: workers}},
			}}
			for _, kind := range []string{"influxdb", "opentsdb"} {
				target := result.Target{Name: kind, Kind: kind}
				if kind == c.system && workers == c.workers {
					target.Failure = "load: connection reset"
				}
				r.Targets = append(r.Targets, target)
			}
			if err := kept.Begin(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			r.Status = result.Complete
			if failed := r.FailedTarget(); failed != "" {
				r.Status, r.Reason = result.Incomplete, failed
			}
			if err := kept.Save(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		chosen := *d
		chosen.Claims = nil // --claims names another
		runs, _, err := completed(t.Context(), kept, &chosen, e, document.Small, nil)
		if err != nil || len(runs) != c.want {
			t.Errorf("%s: %d runs are taken, want %d, %v", c.name, len(runs), c.want, err)
		}
	}
}

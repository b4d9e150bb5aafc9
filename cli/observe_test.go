package cli

import (
	"bytes"
	"testing"

	"github.com/tsmark/tsmark/target"
	"github.com/tsmark/tsmark/target/targettest"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// What the client itself can do is measured beside a target with a process of
// its own, and marks the figures that it may have set. Of a target that shares
// its process nobody can tell.
func TestClientIsObserved(t *testing.T) {
	for _, embedded := range []bool{false, true} {
		kind := targettest.Memory("memory")
		kind.Caps.Embedded = embedded
		dir := t.TempDir()
		var stdout, stderr bytes.Buffer
		args := []string{"tsmark", "run", "--results", dir, "--target", "memory", "--scale", "40", "--log-interval", "10m",
			"--queries", "4", "--verify", "3", "--query-type", "lastpoint"}
		if code := execute(t.Context(), args, &stdout, &stderr, newCatalog(tsbs.Workloads(), []target.Kind{kind})); code != exitDone {
			t.Fatalf("exit status %d: %s", code, stderr.String())
		}
		run := newest(t, dir)
		if len(run.Resources) != 2 || len(run.Resources[1].At) < 2 {
			t.Errorf("resources %+v", run.Resources)
		}
		measured := &run.Targets[0]
		if (run.Calibration == nil) != embedded || (measured.Load.Client == nil) != embedded || (measured.Queries[0].Client == nil) != embedded {
			t.Errorf("embedded %v: calibration %+v, client %+v and %+v", embedded, run.Calibration, measured.Load.Client, measured.Queries[0].Client)
		}
		if measured.Load.To <= measured.Load.From || measured.Queries[0].From < measured.Load.To {
			t.Errorf("load %v to %v, queries from %v", measured.Load.From, measured.Load.To, measured.Queries[0].From)
		}
	}
}

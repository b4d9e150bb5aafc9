package cli

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// The maximum rate of the client itself is measured for a target with a process of
// its own, and marks the figures that it may have limited. For a target that shares
// its process it is unknown.
func TestClientIsObserved(t *testing.T) {
	for _, embedded := range []bool{false, true} {
		kind := memory.ChangeCaps(memory.Driver("memory"), func(c *driver.Caps) { c.Embedded = embedded })
		dir := t.TempDir()
		var stdout, stderr bytes.Buffer
		args := []string{"tsmark", "run", "--verbose", "--results", dir, "--target", "memory", "--scale", "40", "--log-interval", "10m",
			"--queries", "4", "--verify", "3", "--query-type", "lastpoint"}
		if code := execute(t.Context(), args, &stdout, &stderr, testCatalog(tsbs.Workloads(), []driver.Driver{kind})); code != app.ExitDone {
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

// The host and the server of a remote target report on themselves through Prometheus
// exporters; one that does not answer ends the run before the measurements.
func TestExporters(t *testing.T) {
	exporter := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "node_cpu_seconds_total{cpu=\"0\",mode=\"user\"} 5\nnode_memory_MemTotal_bytes 4e9\nnode_memory_MemAvailable_bytes 1e9\n"+
			"process_cpu_seconds_total 7\nprocess_resident_memory_bytes 1e8\n")
	}))
	defer exporter.Close()
	dir := t.TempDir()
	file := filepath.Join(dir, "e.yaml")
	write := func(exporter string) {
		text := "workload: {scale: 40, log-interval: 10m}\ntargets:\n  - driver: memory\n    exporter: " + exporter + "\n    metrics: " + exporter +
			"\nqueries: {types: [lastpoint], count: 4, verify: 3}\n"
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run := func() (int, string) {
		var stdout, stderr bytes.Buffer
		code := execute(t.Context(), []string{"tsmark", "run", "--verbose", "--results", dir, file}, &stdout, &stderr,
			testCatalog(tsbs.Workloads(), []driver.Driver{memory.Driver("memory")}))
		return code, stderr.String()
	}
	write(exporter.URL)
	if code, errs := run(); code != app.ExitDone {
		t.Fatalf("exit status %d: %s", code, errs)
	}
	watched := map[string]*result.Resources{}
	found := newest(t, dir)
	for i := range found.Resources {
		watched[found.Resources[i].Source] = &found.Resources[i]
	}
	// Both have the same address here, which is watched once.
	if r := watched["host of memory"]; r == nil || len(r.At) < 2 || r.Metrics[result.MemoryUsed] == nil {
		t.Errorf("resources of %v", watched)
	}
	write("http://127.0.0.1:1/metrics")
	if code, errs := run(); code != app.ExitUsage || !strings.Contains(errs, "watching the host of memory") || strings.Count(strings.TrimSpace(errs), "\n") > 3 {
		t.Errorf("exit status %d: %s", code, errs)
	}
}

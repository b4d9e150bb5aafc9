package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/cli/app"
)

// If tsmark was built without DuckDB, the default run uses SQLite alone, and
// says so; naming DuckDB is an error with the reason.
func TestMissing(t *testing.T) {
	catalog := knownCatalog()
	drivers := slices.Clone(catalog.Drivers)
	for i := range drivers {
		drivers[i].Missing = ""
		if drivers[i].Name == "duckdb" {
			drivers[i].Missing = "this tsmark was built without it; build again"
		}
	}
	const left = "duckdb is left out: this tsmark was built without it; build again"
	run := func(args ...string) (status int, stdout, stderr string) {
		var out, err bytes.Buffer
		status = execute(t.Context(), append([]string{"tsmark"}, args...), &out, &err, testCatalog(catalog.Workloads, drivers))
		return status, out.String(), err.String()
	}
	results := "--results=" + t.TempDir()

	status, stdout, stderr := run("run", "--print", results)
	if status != app.ExitDone || stderr != "tsmark: "+left+"\n" {
		t.Errorf("status %d, %q", status, stderr)
	}
	if !strings.Contains(stdout, "notes:\n  - \""+left) || strings.Contains(stdout, "driver: duckdb") || !strings.Contains(stdout, "driver: sqlite") {
		t.Errorf("the default experiment is\n%s", stdout)
	}
	if status, stdout, stderr = run("run", "--print", "tsbs-iot", results); status != app.ExitDone || stderr != "tsmark: "+left+"\n" || strings.Contains(stdout, "driver: duckdb") {
		t.Errorf("a built-in experiment: status %d, %q\n%s", status, stderr, stdout)
	}
	if status, _, stderr = run("run", "--print", "--target", "sqlite", results); status != app.ExitDone || stderr != "" {
		t.Errorf("beside a named target: status %d, %q", status, stderr)
	}
	for _, args := range [][]string{{"run", "--target", "duckdb"}, {"load", "duckdb,path=x"}} {
		status, _, stderr = run(append(args, results)...)
		if want := "duckdb cannot be measured: this tsmark was built without it; build again"; status != app.ExitUsage || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: status %d, %q, want %q", args, status, stderr, want)
		}
	}
	if status, _, stderr = run("run", "--fail-if", "p99 > 5", results); status != app.ExitUsage || strings.Count(stderr, "\n") != 1 {
		t.Errorf("beside a mistake: status %d, %q", status, stderr)
	}
	if _, stdout, stderr = run("load", "--scale", "1", "--limit", "1", results); !strings.Contains(stdout, "sqlite") || !strings.Contains(stderr, left) {
		t.Errorf("a load takes\n%s\n%s", stdout, stderr)
	}
	if _, stdout, _ = run("drivers"); !strings.Contains(stdout, "not in this build") {
		t.Errorf("drivers are\n%s", stdout)
	}
}

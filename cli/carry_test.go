package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/cli/app"
	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/store"
)

// Stored runs are never replaced: neither by a run of the same id, nor by the others
// when one of several runs is refused.
func TestImportRefusesAnotherRunOfTheSameID(t *testing.T) {
	dir, kind := t.TempDir(), memory.Driver("memory")
	args := []string{"tsmark", "run", "--verbose", "--results", dir, "--target", "memory", "--scale", "40", "--log-interval", "10m",
		"--queries", "2", "--verify", "1", "--query-type", "lastpoint"}
	if code, said := try(t, kind, args...); code != app.ExitDone {
		t.Fatalf("exit status %d\n%s", code, said)
	}
	run := newest(t, dir)
	other := *run
	other.Name = "another"
	fresh := *run
	fresh.ID = "20200101-000000-0000"
	file := filepath.Join(t.TempDir(), "runs.tsmark")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	writeExports(t, f, store.Export{Run: &fresh}, store.Export{Run: &other})
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	code, said := try(t, kind, "tsmark", "import", file, "--results", dir)
	if code != app.ExitUsage || !strings.Contains(said, "already have a different run "+run.ID+"; ") || strings.Count(said, "\n") != 1 {
		t.Errorf("exit status %d, said %s", code, said)
	}
	fresh.ID = "20200101-000000-0001"
	if f, err = os.Create(file); err != nil {
		t.Fatal(err)
	}
	writeExports(t, f, store.Export{Run: &fresh})
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	third := t.TempDir()
	if code, said := try(t, kind, "tsmark", "import", file, "--results", third); code != app.ExitDone {
		t.Errorf("exit status %d, said %s", code, said)
	}
	page, err := os.ReadFile(filepath.Join(third, fresh.ID, "report.html"))
	if err != nil || !strings.Contains(string(page), "imported") {
		t.Errorf("the page was not rendered from the document (%v)", err)
	}
	kept, err := store.OpenExisting(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	runs, err := kept.Runs(t.Context())
	if err != nil || len(runs) != 1 || runs[0].Name != run.Name {
		t.Errorf("now there are %+v (%v)", runs, err)
	}
}

// A run with a changed figure is refused, whatever its checksum; a run without
// its log is imported and reported as unchecked.
func TestImportRefusesDoctoredFigures(t *testing.T) {
	dir, kind := t.TempDir(), memory.Driver("memory")
	args := []string{"tsmark", "run", "--verbose", "--results", dir, "--target", "memory", "--scale", "40", "--log-interval", "10m",
		"--queries", "5", "--verify", "1", "--query-type", "lastpoint", "--repeats", "2", "--load-repeats", "2"}
	if code, said := try(t, kind, args...); code != app.ExitDone {
		t.Fatalf("exit status %d\n%s", code, said)
	}
	imported := func(change func(*store.Export)) (code int, said, results string) {
		t.Helper()
		run := newest(t, dir)
		logs, _, err := store.ReadLogs(filepath.Join(dir, run.ID))
		if err != nil {
			t.Fatal(err)
		}
		export := store.Export{Run: run, Logs: logs}
		change(&export)
		var out bytes.Buffer
		writeExports(t, &out, export)
		file, results := filepath.Join(t.TempDir(), "run.tsmark"), t.TempDir()
		if err := os.WriteFile(file, out.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		code, said = try(t, kind, "tsmark", "import", file, "--results", results)
		return code, said, results
	}
	if code, said, results := imported(func(*store.Export) {}); code != app.ExitDone || strings.Contains(said, "not checked") || newest(t, results).Unchecked != "" {
		t.Errorf("an honest run: exit status %d, said %s", code, said)
	}
	for what, change := range map[string]func(*store.Export){
		"median of service of lastpoint of memory in round 2": func(e *store.Export) { e.Run.Targets[0].Repeats[1].Queries[0].Service.Median /= 2 },
		"per_second of lastpoint of memory in round 1":        func(e *store.Export) { e.Run.Targets[0].Repeats[0].Queries[0].PerSecond *= 2 },
		"rows of load 2 of memory":                            func(e *store.Export) { e.Run.Targets[0].Repeats[1].Load.Rows *= 2 },
	} {
		code, said, results := imported(change)
		if code != app.ExitUsage || strings.Count(said, "\n") != 1 || !strings.Contains(said, "the run contradicts its operation log: "+what+" is ") {
			t.Errorf("%s: exit status %d, said %s", what, code, said)
		}
		if newest(t, results) != nil {
			t.Errorf("%s: the run is here", what)
		}
	}
	code, said, results := imported(func(e *store.Export) { e.Logs, e.Run.Unchecked = nil, "whatever" })
	const why = "the export has no operation log"
	if code != app.ExitDone || !strings.Contains(said, "; figures not checked: "+why) || newest(t, results).Unchecked != why {
		t.Errorf("without a log: exit status %d, said %s", code, said)
	}
	if code, said := try(t, kind, "tsmark", "report", "--results", results); code != app.ExitDone || !strings.Contains(said, "mported, not measured here, figures not checked: "+why) {
		t.Errorf("its report: exit status %d, said %s", code, said)
	}
}

// writeExports writes exports, and encodes the runs of exports without a document.
func writeExports(t *testing.T, w io.Writer, exports ...store.Export) {
	t.Helper()
	for i := range exports {
		if e := &exports[i]; e.Document == nil {
			var err error
			if e.Document, err = result.Encode(e.Run); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := store.WriteExports(t.Context(), w, nil, exports); err != nil {
		t.Fatal(err)
	}
}

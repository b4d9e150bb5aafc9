package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/driver/conformance"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/store"
	"github.com/tsmark/tsmark/run/store/archive"
)

// What is here is never replaced: neither a run of the same id, nor anything
// when one of several runs is refused.
func TestImportRefusesAnotherRunOfTheSameID(t *testing.T) {
	dir, kind := t.TempDir(), conformance.Memory("memory")
	args := []string{"tsmark", "run", "--verbose", "--results", dir, "--target", "memory", "--scale", "40", "--log-interval", "10m",
		"--queries", "2", "--verify", "1", "--query-type", "lastpoint"}
	if code, said := try(t, kind, args...); code != exitDone {
		t.Fatalf("exit status %d\n%s", code, said)
	}
	run := newest(t, dir)
	other := *run
	other.Name = "another"
	fresh := *run
	fresh.ID = "20200101-000000-0000"
	file := filepath.Join(t.TempDir(), "runs.json")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := archive.Write(f, result.Tool{}, []archive.Entry{{Run: &fresh}, {Run: &other}}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	code, said := try(t, kind, "tsmark", "import", file, "--results", dir)
	if code != exitUsage || !strings.Contains(said, "run "+run.ID+" is here already, and not the same") || strings.Count(said, "\n") != 1 {
		t.Errorf("exit status %d, said %s", code, said)
	}
	fresh.ID = "20200101-000000-0001"
	entry := archive.Entry{Run: &fresh, Files: []archive.File{{Name: "report.html", Data: []byte("<script>hostile()")}, {Name: "run.js", Data: []byte("hostile()")}}}
	if f, err = os.Create(file); err != nil {
		t.Fatal(err)
	}
	if err := archive.Write(f, result.Tool{}, []archive.Entry{entry}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	third := t.TempDir()
	if code, said := try(t, kind, "tsmark", "import", file, "--results", third); code != exitDone {
		t.Errorf("exit status %d, said %s", code, said)
	}
	page, err := os.ReadFile(filepath.Join(third, fresh.ID, "report.html"))
	if err != nil || strings.Contains(string(page), "hostile") || !strings.Contains(string(page), "imported") {
		t.Errorf("the page was not rendered from the document (%v)", err)
	}
	if _, err := os.Stat(filepath.Join(third, fresh.ID, "run.js")); err == nil {
		t.Error("a file that is no operation log was kept")
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

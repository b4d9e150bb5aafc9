package store

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gofrs/flock"
)

// Files of killed processes in the folders of runs are removed; files of running processes and
// files of other programs remain.
func TestRemoveLeftovers(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"dead", "living"} {
		must(t, os.Mkdir(filepath.Join(dir, name), 0o777))
		for _, file := range []string{"running", ".report.html.0123abcd.tmp", ".own", ".own.tmp", ".report.html.0123ABCD.tmp", "x.00000000.tmp", "report.html"} {
			must(t, os.WriteFile(filepath.Join(dir, name, file), []byte("text"), 0o666))
		}
		must(t, os.Mkdir(filepath.Join(dir, name, ".folder.0123abcd.tmp"), 0o777))
		must(t, os.Symlink("report.html", filepath.Join(dir, name, ".link.0123abcd.tmp")))
	}
	for _, file := range []string{"running", ".report.html.0123abcd.tmp"} {
		held := flock.New(filepath.Join(dir, "living", file))
		_, err := held.TryLock()
		must(t, err)
		defer held.Unlock()
	}
	RemoveLeftovers(dir)
	RemoveLeftovers(filepath.Join(dir, "nothing"))
	others := []string{".folder.0123abcd.tmp", ".link.0123abcd.tmp", ".own", ".own.tmp", ".report.html.0123ABCD.tmp", "report.html", "x.00000000.tmp"}
	for name, want := range map[string][]string{"dead": others, "living": append([]string{".report.html.0123abcd.tmp", "running"}, others...)} {
		entries, err := os.ReadDir(filepath.Join(dir, name))
		must(t, err)
		var found []string
		for _, entry := range entries {
			found = append(found, entry.Name())
		}
		slices.Sort(want)
		if !slices.Equal(found, want) {
			t.Errorf("%s: %v, want %v", name, found, want)
		}
	}
}

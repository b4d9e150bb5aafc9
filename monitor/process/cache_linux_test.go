package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// database writes a folder like a server's and returns it, its largest file
// and its size. It lies in the working folder: the one for temporary files may
// be memory itself, from which nothing can be dropped.
func database(t *testing.T) (dir, largest string, size int64) {
	t.Helper()
	dir, err := os.MkdirTemp(".", "cache-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Mkdir(filepath.Join(dir, "wal"), 0o700); err != nil {
		t.Fatal(err)
	}
	largest = filepath.Join(dir, "wal", "1")
	for name, n := range map[string]int{largest: 5<<20 + 123, filepath.Join(dir, "data"): 1 << 20, filepath.Join(dir, "empty"): 0} {
		// Not synced: changed pages must be dropped too.
		if err := os.WriteFile(name, make([]byte, n), 0o600); err != nil {
			t.Fatal(err)
		}
		size += int64(n)
	}
	return dir, largest, size
}

// resident is residentBytes for tests.
func resident(t *testing.T, name string) int64 {
	t.Helper()
	_, n, err := residentBytes(name)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestDropCachesFileByFile(t *testing.T) {
	dir, largest, size := database(t)
	if got := resident(t, largest); got != 5<<20+123 {
		t.Fatalf("%d bytes are resident after writing", got)
	}
	d, err := dropCaches(t.Context(), filepath.Join(dir, "not", "there"), []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	if !d.Cold() || d.Files != 3 || d.Bytes != size {
		t.Errorf("got %+v, want 3 cold files of %d bytes", d, size)
	}
	if !strings.Contains(d.Done, "3 files below "+dir) || !strings.Contains(d.Done, "no such file") {
		t.Errorf("says %q", d.Done)
	}
	if got := resident(t, largest); got != 0 {
		t.Errorf("%d bytes are still in memory", got)
	}
	// Another test may drop the whole machine's cache meanwhile, so more than
	// one try counts.
	got := int64(0)
	for range 20 {
		if _, err := os.ReadFile(largest); err != nil {
			t.Fatal(err)
		}
		if got = resident(t, largest); got == 5<<20+123 {
			return
		}
	}
	t.Errorf("%d bytes are resident after reading: the test sees nothing", got)
}

// TestDropCachesWhatIsMapped: the claim to be cold is checked, not believed.
func TestDropCachesWhatIsMapped(t *testing.T) {
	dir, largest, _ := database(t)
	f, err := os.Open(largest)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mapped, err := unix.Mmap(int(f.Fd()), 0, 1<<20, unix.PROT_READ, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mapped)
	d, err := dropCaches(t.Context(), filepath.Join(dir, "not", "there"), []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	if d.Cold() || d.Resident < 1<<20 || !strings.Contains(d.Undone, "still in memory") {
		t.Errorf("got %+v although a process maps 1 MiB", d)
	}
}

func TestDropCachesOfTheMachine(t *testing.T) {
	dir, _, size := database(t)
	file := filepath.Join(t.TempDir(), "drop_caches") // not the real one: others work here
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := dropCaches(t.Context(), file, []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(file); string(text) != "3\n" {
		t.Errorf("wrote %q", text)
	}
	if !strings.Contains(d.Done, "whole machine") {
		t.Errorf("says %q", d.Done)
	}
	// That file dropped nothing, and it is noticed.
	if d.Cold() || d.Resident != size {
		t.Errorf("got %+v, want %d bytes resident", d, size)
	}
}

func TestDropCachesOfNothing(t *testing.T) {
	if _, err := DropCaches(t.Context(), filepath.Join(t.TempDir(), "not", "there")); err == nil ||
		!strings.Contains(err.Error(), "cannot make") {
		t.Errorf("a folder that does not exist: %v", err)
	}
}

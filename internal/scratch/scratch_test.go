package scratch

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// keeps is the variable of the environment that makes this program one that keeps a folder
// until it is killed.
const keeps = "TSMARK_TEST_SCRATCH"

func TestMain(m *testing.M) {
	dir := os.Getenv(keeps)
	if dir == "" {
		os.Exit(m.Run())
	}
	f, err := New(dir, "x")
	if err == nil {
		err = os.MkdirAll(filepath.Join(f.Path(), "deep", "er"), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(f.Path(), "deep", "file"), []byte("rows"), 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(f.Path())
	time.Sleep(time.Hour) // it is killed
}

// keeper starts a process that keeps a folder.
func keeper(t *testing.T, dir string) (path string, kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), keeps+"="+dir), os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it says that it was killed
	})
	t.Cleanup(kill)
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("it keeps no folder")
	}
	return lines.Text(), kill
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// makeAndRemove makes a folder and removes it again.
func makeAndRemove(t *testing.T, dir string) {
	t.Helper()
	f, err := New(dir, "x")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.Path(), "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil || exists(f.Path()) {
		t.Errorf("%v; the folder is there: %v", err, exists(f.Path()))
	}
}

// What a living process has stays, and what a killed one had goes.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	first, kill := keeper(t, dir)
	second, _ := keeper(t, dir)
	makeAndRemove(t, dir)
	if !exists(filepath.Join(first, "deep", "file")) || !exists(filepath.Join(second, "deep", "file")) {
		t.Fatal("what living processes have was removed")
	}
	kill()
	makeAndRemove(t, dir)
	if exists(first) || !exists(filepath.Join(second, "deep", "file")) {
		t.Errorf("the killed one's is there: %v, the living one's: %v", exists(first), exists(second))
	}
}

// Folders whose process is unknown are removed only if they are empty.
func TestNotKnown(t *testing.T) {
	dir := t.TempDir()
	kept := []string{"x-full/jetstream", "x-open", "other-1", "target"}
	if os.Geteuid() == 0 {
		kept = append(kept, "x-another")
	}
	for _, name := range append(kept, "x-empty", "x-gone") {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	// Nobody has these locked.
	for _, name := range []string{"x-open", "other-1", "x-another", "target", "x-gone"} {
		if err := os.WriteFile(filepath.Join(dir, name, lockName), nil, 0o600); err != nil && (name != "x-another" || os.Geteuid() == 0) {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "x-open"), 0o777); err != nil { // others may have put it there
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(filepath.Join(dir, "x-another"), 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "target"), filepath.Join(dir, "x-link")); err != nil {
		t.Fatal(err)
	}
	makeAndRemove(t, dir)
	for _, name := range append(kept, "x-link", "target/"+lockName) {
		if !exists(filepath.Join(dir, name)) {
			t.Errorf("%s was removed", name)
		}
	}
	for _, name := range []string{"x-empty", "x-gone"} {
		if exists(filepath.Join(dir, name)) {
			t.Errorf("%s is still there", name)
		}
	}
}

// Processes that start at once do not take each other's folders.
func TestAtOnce(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				f, err := New(dir, "x")
				if err != nil {
					t.Error(err)
					return
				}
				file := filepath.Join(f.Path(), "file")
				if err := os.WriteFile(file, nil, 0o600); err != nil || !exists(file) {
					t.Errorf("%v", err)
				}
				if err := f.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, %v", left, err)
	}
}

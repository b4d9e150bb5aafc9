//go:build linux

package powerloss

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestFail writes two files, syncs one, and cuts the power: the synced one is whole, and the other has
// lost its content. In the end its process forgets the disk, as if it had been killed, and it is found.
func TestFail(t *testing.T) {
	d, err := New(t.Context(), t.TempDir(), 64<<20)
	if errors.Is(err, ErrUnavailable) {
		t.Log(err) // not a failure: the caller reports power failures as n/a with this reason
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	stale := func() *Disk {
		t.Helper()
		all, err := Stale()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range all {
			if s.Dir == d.Dir {
				return s
			}
			_ = s.held.Unlock() // another test's
		}
		return nil
	}
	defer func() {
		if err := d.held.Unlock(); err != nil {
			t.Error(err)
		}
		s := stale()
		if s == nil {
			t.Fatal("the disk of a process that has ended is not found")
		}
		if err := s.Remove(context.Background()); err != nil {
			t.Error(err)
		}
		if left, err := os.ReadDir(filepath.Dir(d.Dir)); err != nil || len(left) > 0 {
			t.Errorf("files of the disk are still there: %v, %v", left, err)
		}
	}()
	if stale() != nil {
		t.Error("a disk that is in use is taken for one of a process that has ended")
	}
	write := func(name string, sync bool) {
		f, err := os.Create(filepath.Join(d.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString("acknowledged"); err != nil {
			t.Fatal(err)
		}
		if sync {
			if err := f.Sync(); err != nil {
				t.Fatal(err)
			}
		}
	}
	write("synced", true)
	write("written", false)
	if err := d.Fail(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.Dir, "late"), nil, 0o600); err == nil {
		t.Error("a file can be created without power")
	}
	if err := d.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(d.Dir, "synced")); string(text) != "acknowledged" {
		t.Errorf("the synced file has %q, %v", text, err)
	}
	if text, _ := os.ReadFile(filepath.Join(d.Dir, "written")); len(text) > 0 {
		t.Errorf("the file that was not synced has %q", text)
	}
}

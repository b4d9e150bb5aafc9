//go:build linux

package powerloss

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestFail writes two files, syncs one, and cuts the power: the synced one is whole, and the other has
// lost its content.
func TestFail(t *testing.T) {
	d, err := New(t.Context(), t.TempDir(), 64<<20)
	if errors.Is(err, ErrUnavailable) {
		t.Log(err) // not a failure: the caller reports power failures as n/a with this reason
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.Remove(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(d.Dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the folder is still there: %v", err)
		}
	}()
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

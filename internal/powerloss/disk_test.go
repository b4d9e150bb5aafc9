//go:build linux

package powerloss

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFail writes files, syncs some, and cuts the power: the synced ones are whole, and the others have
// lost their last writes. In the end its process forgets the disk, as if it had been killed, and it is found.
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
	// Direct I/O reaches the disk, whose cache loses it all the same.
	const pageSize = 4096
	page, err := unix.Mmap(-1, 0, pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE) // direct I/O needs an aligned one
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(page)
	direct := func(name string, sync bool) {
		f, err := os.OpenFile(filepath.Join(d.Dir, name), os.O_CREATE|os.O_RDWR|unix.O_DIRECT, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for i, fill := range []byte("ab") {
			for at := range page {
				page[at] = fill
			}
			if _, err := f.WriteAt(page, 0); err != nil {
				t.Fatal(err)
			}
			if i == 0 || sync {
				if err := f.Sync(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	// cut writes files, cuts the power, and reports whether anything that was not synced survived.
	cut := func(round string) (survived bool) {
		write("synced"+round, true)
		write("written"+round, false)
		direct("direct, synced"+round, true)
		direct("direct"+round, false)
		if err := d.Fail(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d.Dir, "late"), nil, 0o600); err == nil {
			t.Error("a file can be created without power")
		}
		if err := d.Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(filepath.Join(d.Dir, "synced"+round)); string(text) != "acknowledged" {
			t.Errorf("the synced file has %q, %v", text, err)
		}
		if text, _ := os.ReadFile(filepath.Join(d.Dir, "written"+round)); len(text) > 0 {
			t.Logf("the file that was not synced has %q", text)
			survived = true
		}
		for name, want := range map[string]byte{"direct, synced": 'b', "direct": 'a'} {
			text, err := os.ReadFile(filepath.Join(d.Dir, name+round))
			switch {
			case err == nil && len(text) == pageSize && text[0] == want:
			case err == nil && len(text) == pageSize && text[0] == 'b':
				t.Logf("%s: the page that was not synced is there", name)
				survived = true
			default:
				t.Errorf("%s: %d bytes of %q, %v; want %q", name, len(text), text[:min(1, len(text))], err, want)
			}
		}
		return survived
	}
	// Another process may sync all disks at any time, but hardly in each round.
	for _, round := range []string{" 1", " 2", " 3"} {
		if !cut(round) {
			return
		}
	}
	t.Error("in each round, something that was not synced survived")
}

package store

import (
	"os"
	"path/filepath"
	"testing"
)

// A run counts as running while its process holds the lock, not while the file exists.
func TestGoingOn(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	s, err := Open(ctx, dir, nil)
	must(t, err)
	defer s.Close()
	if s.GoingOn(ctx, "x") {
		t.Error("a run without a folder goes on")
	}
	unlock, err := s.Lock(ctx, "x")
	must(t, err)
	if !s.GoingOn(ctx, "x") {
		t.Error("a run whose lock is held was killed")
	}
	if _, err := s.Lock(ctx, "x"); err == nil {
		t.Error("looking at a lock released it")
	}
	unlock()
	must(t, os.WriteFile(filepath.Join(dir, "x", lockName), nil, 0o666)) // as after kill -9
	if s.GoingOn(ctx, "x") {
		t.Error("a run that nobody is at goes on")
	}
	if unlock, err = s.Lock(ctx, "x"); err != nil {
		t.Errorf("looking at a lock kept it: %v", err)
	} else {
		unlock()
	}
}

package runner

import (
	"os"
	"testing"
)

// A run goes on as long as its process holds the lock, not as long as the
// file is there.
func TestGoingOn(t *testing.T) {
	r := &Runner{Dir: t.TempDir()}
	if GoingOn(r.Dir, "x") {
		t.Error("a run without a folder goes on")
	}
	unlock, err := r.lock("run", "x")
	if err != nil {
		t.Fatal(err)
	}
	if !GoingOn(r.Dir, "x") {
		t.Error("a run whose lock is held was killed")
	}
	if _, err := r.lock("run", "x"); err == nil {
		t.Error("looking at a lock released it")
	}
	path := r.Dir + "/x/" + lockName
	unlock()
	if err := os.MkdirAll(r.Dir+"/x", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o666); err != nil { // as kill -9 leaves it
		t.Fatal(err)
	}
	if GoingOn(r.Dir, "x") {
		t.Error("a run that nobody is at goes on")
	}
	if unlock, err = r.lock("run", "x"); err != nil {
		t.Errorf("looking at a lock kept it: %v", err)
	} else {
		unlock()
	}
}

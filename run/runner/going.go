package runner

import (
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// lockName is the file in the folder of a run or sweep that is locked by the
// process that is at it.
const lockName = "running"

// GoingOn reports whether a process is at the run or sweep. One that is stored
// as running and is not going on was killed.
func GoingOn(dir, id string) bool {
	path := filepath.Join(dir, id, lockName)
	if _, err := os.Stat(path); err != nil {
		return false // its end removes it
	}
	held := flock.New(path)
	free, err := held.TryRLock()
	if free {
		_ = held.Unlock()
	}
	return !free && err == nil
}

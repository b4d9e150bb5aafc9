// Package scratch creates folders for temporary files, and removes the folders left by killed
// processes.
package scratch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// lockName is the file of a folder that its process has locked for as long as it lives. A
// number of a process would not do: another one may have it later.
const lockName = "lock"

// Folder is a folder of this process for temporary files.
type Folder struct {
	path string
	held *flock.Flock
}

// attempts is the maximum number of tries to create a folder: another process may remove one that
// is not locked yet.
const attempts = 10

// New makes a folder in dir, by default that of temporary files, whose name begins with the
// given one. Before, it removes folders of that name which this user's killed processes have
// left there. Close removes the folder.
func New(dir, name string) (*Folder, error) {
	elsewhere, other := "", ""
	if dir == "" {
		dir, elsewhere, other = os.TempDir(), "; TMPDIR says where they are", "; set TMPDIR to a folder on another file system"
	}
	sweep(dir, name)
	for range attempts {
		path, err := os.MkdirTemp(dir, name+"-*")
		if err != nil {
			return nil, fmt.Errorf("making a folder for temporary files: %w%s", err, elsewhere)
		}
		held, err := lock(path, os.O_CREATE|os.O_RDWR)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("locking %s: %w%s", path, err, other), os.RemoveAll(path))
		}
		if held != nil {
			return &Folder{path, held}, nil
		}
	}
	return nil, fmt.Errorf("making a folder for temporary files in %s: other processes remove it", dir)
}

// Path is where the folder is.
func (f *Folder) Path() string { return f.path }

// Close removes the folder with all that is in it.
func (f *Folder) Close() error { return remove(f.path, f.held) }

// sweep removes folders whose processes have ended. Folders that it cannot remove are left for the
// next call.
func sweep(dir, name string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // making a folder there says it
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), name+"-") || !entry.IsDir() {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		if info, err := os.Lstat(path); err != nil || !info.IsDir() || !isOwnedByUser(info) {
			continue
		}
		held, err := lock(path, os.O_RDWR)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			// Nobody says whose it is. This removes an empty one, and no other.
			_ = os.Remove(path)
		case held != nil:
			_ = remove(path, held)
		}
	}
}

// lock locks a folder; nil: another process has it, or it is there no longer.
func lock(path string, flag int) (*flock.Flock, error) {
	return TryLock(filepath.Join(path, lockName), flag)
}

// TryLock locks a file for this process, until it is unlocked or the process ends; nil:
// another process has it, or removed it meanwhile. The flag says how to open it.
func TryLock(file string, flag int) (*flock.Flock, error) {
	held := flock.New(file, flock.SetFlag(flag), flock.SetPermissions(0o600))
	free, err := held.TryLock()
	if flag&os.O_CREATE != 0 && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil || !free {
		return nil, err
	}
	// Who had it before may have removed it in between.
	locked, err := held.Stat()
	if err == nil {
		var there fs.FileInfo
		if there, err = os.Lstat(file); err == nil && os.SameFile(locked, there) {
			return held, nil
		}
	}
	_ = held.Unlock()
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return nil, err
}

// RemoveUnlocked removes a file that processes lock as long as they use it, if none does.
func RemoveUnlocked(file string) {
	if held, _ := TryLock(file, os.O_WRONLY); held != nil {
		_ = os.Remove(file) // while it is held, so that nobody else's is removed
		_ = held.Unlock()
	}
}

// remove removes a folder that is locked: its lock last, so that what a process leaves that is
// killed meanwhile is still found.
func remove(path string, held *flock.Flock) error {
	entries, err := os.ReadDir(path)
	for _, entry := range entries {
		if entry.Name() != lockName {
			err = errors.Join(err, os.RemoveAll(filepath.Join(path, entry.Name())))
		}
	}
	if err != nil {
		return errors.Join(err, held.Unlock())
	}
	return errors.Join(os.Remove(filepath.Join(path, lockName)), held.Unlock(), os.RemoveAll(path)) // or somebody else has removed it, once it was empty
}

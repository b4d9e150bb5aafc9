package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// dropFile takes a "3" from root to drop the page cache, and the caches of
// names, of the whole machine (Linux, Documentation/admin-guide/sysctl/vm.rst).
const dropFile = "/proc/sys/vm/drop_caches"

// Dropped describes the page cache after dropping.
type Dropped struct {
	Done   string // description; empty: nothing was done
	Undone string // files that are still cached and why; empty: nothing known
	// Files and Bytes are the contents of the folders, Resident the number of bytes that are still
	// in memory; -1: unknown.
	Files    int
	Bytes    int64
	Resident int64
}

// Cold reports whether none of the folders' bytes are left in the page cache, as measured after
// dropping them. It says nothing about caches of the server itself, of a hypervisor, or of the
// disk.
func (d Dropped) Cold() bool { return d.Undone == "" && d.Resident == 0 }

// DropCaches removes the files below the folders from the page cache: by dropping the cache of the
// whole machine if permitted, else file by file. It then checks the result. Changed pages are
// written to disk first. The server should not run: pages mapped by a process remain. An error
// means that a folder could not be read.
func DropCaches(ctx context.Context, folders ...string) (Dropped, error) {
	return dropCaches(ctx, dropFile, folders)
}

// dropCaches is DropCaches with the file that drops all.
func dropCaches(ctx context.Context, dropFile string, folders []string) (Dropped, error) {
	var d Dropped
	names, err := filesBelow(ctx, folders)
	if err != nil {
		return d, fmt.Errorf("cannot make %s cold: %w", strings.Join(folders, ", "), err)
	}
	d.Files = len(names)
	if !canDrop {
		d.Undone, d.Resident = "this system has no way to drop the page cache", -1
		return d, nil
	}
	all := dropAll(dropFile)
	if all == nil {
		d.Done = "the page cache of the whole machine was written out and dropped"
	}
	var problem error
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return d, err
		}
		var err error
		if all != nil {
			err = dropFileCache(name)
		}
		var size, resident int64
		if err == nil {
			size, resident, err = residentBytes(name)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // deleted meanwhile
			problem = err
		}
		d.Bytes, d.Resident = d.Bytes+size, d.Resident+resident
	}
	if all != nil {
		d.Done = fmt.Sprintf("%d files below %s were written out and their pages dropped (the whole cache could not be: %v)",
			d.Files, strings.Join(folders, ", "), all)
	}
	d.Undone = stillWarm(d, problem)
	if problem != nil {
		d.Resident = -1
	}
	return d, nil
}

// stillWarm describes the files that are still in the page cache.
func stillWarm(d Dropped, problem error) string {
	var parts []string
	if d.Resident > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d bytes are still in memory: a process maps them, or the file system keeps its files there", d.Resident, d.Bytes))
	}
	if problem != nil {
		parts = append(parts, problem.Error())
	}
	return strings.Join(parts, "; ")
}

// filesBelow returns the regular files below the folders; links are not
// followed.
func filesBelow(ctx context.Context, folders []string) ([]string, error) {
	var names []string
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() {
				names = append(names, path)
			}
			if err != nil && (path == folder || !errors.Is(err, fs.ErrNotExist)) {
				return err
			}
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}

// Package disk measures the files of databases on this host, for drivers whose databases do not report
// all sizes.
//
// Sizes are the blocks that the file system allocates, as du counts them, rather than the lengths of
// files: databases preallocate. InfluxDB's series file, for example, is 32 MiB long in a new database
// and takes some KiB.
//
// Recent writes count if the kernel counts blocks that are reserved but not placed yet, as it does on
// ext4, XFS, Btrfs and tmpfs. ZFS and NFS count them some seconds later.
package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Size is the total size of files.
type Size struct {
	Allocated int64 // bytes of the blocks that the file system allocates for them
	// Length is the sum of their lengths, including holes, for comparison with sizes that a server
	// reports.
	Length int64
}

// Folder returns the total size of the files below a folder. It skips files that disappear during the
// walk, for example in a compaction, and does not count folders themselves.
func Folder(folder string) (Size, error) {
	var total Size
	err := filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			var info fs.FileInfo
			if info, err = entry.Info(); err == nil {
				total.add(info)
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return total, err
}

// Files returns the total size of the files that exist.
func Files(paths ...string) (Size, error) {
	var total Size
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err == nil:
			total.add(info)
		case !errors.Is(err, fs.ErrNotExist):
			return Size{}, err
		}
	}
	return total, nil
}

func (s *Size) add(info fs.FileInfo) {
	s.Allocated += allocatedSize(info)
	s.Length += info.Size()
}

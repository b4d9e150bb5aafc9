// Package disk measures the files of databases that lie on this host, for drivers whose
// databases do not tell all sizes themselves.
//
// Bytes on disk are those of blocks that the file system keeps, as du counts them, and
// not the lengths of files: databases make files longer than what is in them, as
// InfluxDB does with its file of series, of which a new database has 32 MiB and takes
// some KiB.
//
// What was written a moment ago counts where the kernel counts blocks that it has
// reserved and not placed yet, as it does on ext4, XFS, Btrfs and tmpfs. ZFS, and NFS,
// count it some seconds later.
package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Size is how large files are together.
type Size struct {
	Allocated int64 // bytes of the blocks that the file system keeps for them
	// Length is the sum of their lengths, holes included: by it files are compared with
	// what a server says of them.
	Length int64
}

// Folder returns the size of all files below a folder, without what is not there, such
// as what a compaction has replaced meanwhile. Folders themselves do not count.
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

// Files returns the size of files, without those that are not there.
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
	s.Allocated += allocated(info)
	s.Length += info.Size()
}

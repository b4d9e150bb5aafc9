// Package disk measures the files of servers that run on this host, for drivers whose
// servers do not tell all sizes themselves.
package disk

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// Bytes returns the bytes of all files below a folder, without what is not there,
// such as what a compaction has replaced meanwhile.
func Bytes(folder string) (int64, error) {
	var total int64
	err := filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			var info fs.FileInfo
			if info, err = entry.Info(); err == nil {
				total += info.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return total, err
}

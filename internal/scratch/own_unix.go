//go:build unix

package scratch

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwnedByUser reports whether a folder belongs to this user, and only this user can write into
// it.
func isOwnedByUser(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid() && info.Mode().Perm()&0o022 == 0
}

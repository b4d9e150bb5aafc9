//go:build unix

package disk

import (
	"io/fs"
	"syscall"
)

// blockSize is the unit of st_blocks, whatever the size of the file system's own blocks.
const blockSize = 512

// allocatedSize returns the bytes of a file's blocks.
func allocatedSize(info fs.FileInfo) int64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Blocks * blockSize
	}
	return info.Size()
}

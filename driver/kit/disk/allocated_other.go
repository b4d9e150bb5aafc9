//go:build !unix

package disk

import "io/fs"

// allocatedSize returns the length of a file. The allocated size would need another system call, and files
// with holes are rare on these systems.
func allocatedSize(info fs.FileInfo) int64 { return info.Size() }

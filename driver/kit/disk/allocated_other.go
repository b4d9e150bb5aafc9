//go:build !unix

package disk

import "io/fs"

// allocated returns the length of a file: what its blocks take would have to be asked of
// the system apart, and files with holes are rare there.
func allocated(info fs.FileInfo) int64 { return info.Size() }

//go:build !unix

package monitor

// openFilesLimit is not known here.
func openFilesLimit() uint64 { return 0 }

//go:build unix

package monitor

import "syscall"

// openFilesLimit returns the maximum number of files that this process may open; 0: unknown. Go
// raises it to the hard limit at the start.
func openFilesLimit() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return uint64(limit.Cur)
}

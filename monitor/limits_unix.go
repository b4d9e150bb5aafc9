//go:build unix

package monitor

import "syscall"

// openFilesLimit is how many files this process may open; 0: not known. Go
// raises it to the hard limit at the start.
func openFilesLimit() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return uint64(limit.Cur)
}

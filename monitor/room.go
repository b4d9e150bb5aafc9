package monitor

import (
	"context"
	"path/filepath"

	"github.com/shirou/gopsutil/v4/disk"
	"github.com/shirou/gopsutil/v4/mem"
)

// Free returns the bytes available to users on the file system of an existing or future path; -1:
// not readable, or a file system without sizes, such as /proc.
func Free(ctx context.Context, path string) int64 {
	path, err := filepath.Abs(path)
	if err != nil {
		return -1
	}
	for {
		usage, err := disk.UsageWithContext(ctx, path)
		switch {
		case err == nil && usage.Total == 0:
			return -1
		case err == nil:
			return int64(usage.Free)
		}
		above := filepath.Dir(path)
		if above == path {
			return -1
		}
		path = above
	}
}

// SwapUsed returns how many bytes of this machine's memory are on disk.
func SwapUsed(ctx context.Context) (bytes uint64, known bool) {
	m, err := mem.SwapMemoryWithContext(ctx)
	if err != nil {
		return 0, false
	}
	return m.Used, true
}

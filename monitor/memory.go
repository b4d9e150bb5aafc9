package monitor

import (
	"context"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/shirou/gopsutil/v4/mem"
)

// AvailableMemory returns the bytes that this process can still allocate: the smallest of the
// machine's free memory, the rest of its container's limit, and GOMEMLIMIT. A limit that cannot be
// read counts as unlimited.
func AvailableMemory(ctx context.Context) uint64 {
	available := uint64(debug.SetMemoryLimit(-1)) // a negative limit only reads the current one
	if m, err := mem.VirtualMemoryWithContext(ctx); err == nil {
		available = min(available, m.Available)
	}
	const group = "/sys/fs/cgroup/memory."
	if most := readNumber(group + "max"); most < math.MaxUint64 {
		used := readNumber(group + "current")
		available = min(available, most-min(used, most))
	}
	return available
}

// readNumber reads a number from a file; other contents count as unlimited.
func readNumber(name string) uint64 {
	text, err := os.ReadFile(name)
	if err != nil {
		return math.MaxUint64
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return math.MaxUint64 // "max"
	}
	return n
}

// Package monitor observes the machine that a benchmark runs on.
package monitor

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/klauspost/cpuid/v2"
	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/disk"
	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/mem"

	"github.com/tsmark/tsmark/result"
)

// Host describes this machine, and the file system that holds dir or would hold it. Facts that
// cannot be read remain zero, since a benchmark must not fail because of them. Host takes
// milliseconds.
func Host(ctx context.Context, dir string) result.Host {
	mount := mountOf(ctx, dir)
	h := result.Host{
		OS:         runtime.GOOS,
		Arch:       runtime.GOARCH,
		CPU:        cpuModel(ctx),
		Cores:      runtime.NumCPU(),
		FileSystem: mount.Fstype,
	}
	if name, _, version, err := host.PlatformInformationWithContext(ctx); err == nil {
		h.OS = strings.TrimSpace(name + " " + version)
	}
	h.Kernel, _ = host.KernelVersionWithContext(ctx)
	// NumCPU counts the processors that this process may use.
	if n, err := cpu.CountsWithContext(ctx, true); err == nil && n > 0 {
		h.Cores = n
	}
	if m, err := mem.VirtualMemoryWithContext(ctx); err == nil {
		h.Memory = m.Total
	}
	if m, err := mem.SwapMemoryWithContext(ctx); err == nil {
		h.Swap = m.Total
	}
	h.OpenFiles = openFilesLimit()
	addFacts(&h, "/", deviceName(mount.Device))
	if system, role, err := host.VirtualizationWithContext(ctx); err == nil && role == "guest" {
		h.Virtualization = system
	}
	return h
}

// cpuModel queries the processor itself if possible: gopsutil reads several files for each core,
// which is slow on large machines.
func cpuModel(ctx context.Context) string {
	if cpuid.CPU.BrandName != "" {
		return cpuid.CPU.BrandName
	}
	if infos, err := cpu.InfoWithContext(ctx); err == nil && len(infos) > 0 {
		return infos[0].ModelName
	}
	return ""
}

// mountOf returns the mount that holds dir, or the closest existing folder above it; zero: not
// readable.
func mountOf(ctx context.Context, dir string) disk.PartitionStat {
	path, err := filepath.Abs(dir)
	if err != nil {
		return disk.PartitionStat{}
	}
	for {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			path = real
			break
		}
		above := filepath.Dir(path)
		if above == path {
			return disk.PartitionStat{}
		}
		path = above
	}
	mounts, err := disk.PartitionsWithContext(ctx, true)
	if err != nil {
		return disk.PartitionStat{}
	}
	return mountedAt(path, mounts)
}

// mountedAt returns the innermost mount that holds the path; of several at the same place, the last
// one hides the others.
func mountedAt(path string, mounts []disk.PartitionStat) disk.PartitionStat {
	inner, longest := disk.PartitionStat{}, -1
	for _, m := range mounts {
		below := strings.TrimSuffix(m.Mountpoint, string(os.PathSeparator)) + string(os.PathSeparator)
		if (path == m.Mountpoint || strings.HasPrefix(path, below)) && len(m.Mountpoint) >= longest {
			inner, longest = m, len(m.Mountpoint)
		}
	}
	return inner
}

package monitor

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"github.com/tsmark/tsmark/monitor/process"
)

// machine reads the counters of the host below a folder, which is / but in
// tests.
type machine struct {
	root    string
	tracker *process.Tracker
}

func newMachine(root string) machine { return machine{root, new(process.Tracker)} }

// kthreadd is the parent of the kernel's threads.
const kthreadd = 2

func (h *machine) read(ctx context.Context) snapshot {
	m := h.counters()
	m.own = cpuClock(os.Getpid())
	table, err := h.tracker.Table(ctx)
	if err != nil {
		return m
	}
	m.kernel, m.others = 0, make(map[int]float64, len(table))
	for _, p := range table {
		cpu := cpuClock(p.PID)
		switch {
		case math.IsNaN(cpu) || p.PID == os.Getpid():
		case p.PID == kthreadd || p.Parent == kthreadd:
			m.kernel += cpu
		default:
			m.others[p.PID] = cpu
		}
	}
	return m
}

// counters reads the files below root.
func (h *machine) counters() snapshot {
	nan := math.NaN()
	m := snapshot{idle: nan, iowait: nan, steal: nan, busy: nan, own: nan, kernel: nan, pressure: [3]float64{nan, nan, nan}, swapped: nan, faults: nan}
	fs, err := procfs.NewFS(filepath.Join(h.root, "proc"))
	if err != nil {
		return m
	}
	for i, what := range []string{"cpu", "memory", "io"} {
		if p, err := fs.PSIStatsForResource(what); err == nil && p.Some != nil {
			const micro = 1e6
			m.pressure[i] = float64(p.Some.Total) / micro
		}
	}
	if v, err := readFigures(filepath.Join(h.root, "proc/vmstat")); err == nil {
		m.faults = v["pgmajfault"]
		m.swapped = (v["pswpin"] + v["pswpout"]) * float64(os.Getpagesize())
	}
	m.groups = h.readThrottling(fs)
	if s, err := fs.Stat(); err == nil {
		m.cores = float64(len(s.CPU))
		m.idle, m.iowait, m.steal = s.CPUTotal.Idle, s.CPUTotal.Iowait, s.CPUTotal.Steal
	}
	m.at = time.Now() // last, immediately after the times that belong to it
	return m
}

// readThrottling reads the CPU limits of tsmark's control group and those around it,
// of version 2 or of version 1's controller of the CPU.
func (h *machine) readThrottling(fs procfs.FS) map[string]throttling {
	self, err := fs.Self()
	if err != nil {
		return nil
	}
	groups, err := self.Cgroups()
	if err != nil {
		return nil
	}
	found := map[string]throttling{}
	for _, g := range groups {
		var roots []string
		switch {
		case g.HierarchyID == 0:
			roots = cgroupRoots()
		case slices.Contains(g.Controllers, "cpu"):
			roots = []string{"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"}
		}
		for _, root := range roots {
			// In a container the path may be the host's. The container sees only the end of that
			// path, or nothing: then the mount itself is its group.
			for path := filepath.Clean("/" + g.Path); ; path = filepath.Dir(path) {
				name := filepath.Join(h.root, root, path)
				stat, err := readFigures(filepath.Join(name, "cpu.stat"))
				if _, limited := stat["nr_periods"]; err == nil && limited {
					found[name] = throttling{stat["nr_periods"], stat["nr_throttled"]}
				}
				if path == "/" {
					break
				}
			}
		}
	}
	return found
}

// nameOf returns the name of a program; empty: it cannot be read.
func (h *machine) nameOf(ctx context.Context, pid int) string {
	program, _ := commandOf(ctx, pid)
	return strings.TrimSpace(program)
}

// cgroupRoots returns the mount points of version 2 of control groups: alone, or in addition to
// version 1.
func cgroupRoots() []string { return []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} }

// readFigures reads lines of a name and a number.
func readFigures(file string) (map[string]float64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	numbers := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		name, number, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseFloat(number, 64); err == nil {
			numbers[name] = n
		}
	}
	return numbers, nil
}

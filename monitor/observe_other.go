//go:build !linux

package monitor

import (
	"math"

	"github.com/shirou/gopsutil/v4/process"
)

// observe reads one process. The use of its ended children is unknown here.
func observe(pid int) (observed, error) {
	p, err := process.NewProcess(int32(pid))
	if err != nil {
		return observed{}, err
	}
	times, err := p.Times()
	if err != nil {
		return observed{}, err
	}
	nan := math.NaN()
	m := observed{pid: pid, rss: nan, threads: nan, openFiles: nan}
	m.used = counters{user: times.User, system: times.System, cpu: times.User + times.System, read: nan, written: nan}
	if parent, err := p.Ppid(); err == nil {
		m.parent = int(parent)
	}
	m.started, _ = p.CreateTime()
	if memory, err := p.MemoryInfo(); err == nil {
		m.rss = float64(memory.RSS)
	}
	if n, err := p.NumThreads(); err == nil {
		m.threads = float64(n)
	}
	if n, err := p.NumFDs(); err == nil {
		m.openFiles = float64(n)
	}
	if io, err := p.IOCounters(); err == nil {
		m.used.read, m.used.written = float64(io.ReadBytes), float64(io.WriteBytes)
	}
	return m, nil
}

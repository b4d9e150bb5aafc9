package monitor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/disk"
	"github.com/shirou/gopsutil/v4/mem"
	"github.com/shirou/gopsutil/v4/net"

	"github.com/tsmark/tsmark/result"
)

// hostSource reads this machine.
type hostSource struct {
	cores  int
	device string // base name; empty: not known
}

// HostSource returns a source for this machine: CPU, memory, disks and network, and the disk or
// partition that holds dir, a folder of the database or empty.
func HostSource(ctx context.Context, dir string) Source {
	s := &hostSource{cores: runtime.NumCPU()}
	if n, err := cpu.CountsWithContext(ctx, true); err == nil && n > 0 {
		s.cores = n
	}
	if dir != "" {
		s.device = deviceName(mountOf(ctx, dir).Device)
	}
	return s
}

// deviceName is the kernel's name of a block device: /dev/mapper/data is a
// link to ../dm-0. It is empty for file systems without one.
func deviceName(path string) string {
	if !filepath.IsAbs(path) {
		return ""
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return filepath.Base(path)
}

// Read implements Source.
func (s *hostSource) Read(ctx context.Context) (Reading, error) {
	v := map[result.Metric]float64{}
	r := Reading{Values: v, Cores: s.cores, Measure: "this host"}
	problem := errors.Join(readCPU(ctx, v), readMemory(ctx, v), s.readDisks(ctx, v), readNetwork(ctx, v))
	if _, ok := v[result.DeviceRead]; ok {
		r.Device = s.device
	}
	return r, oneLine(problem)
}

func readCPU(ctx context.Context, v map[result.Metric]float64) error {
	times, err := cpu.TimesWithContext(ctx, false)
	if err != nil || len(times) == 0 {
		return fmt.Errorf("cannot read the host's CPU: %w", err)
	}
	t := times[0]
	// On Linux guests' time is part of user and nice already.
	addCPU(v, t.User+t.Nice, t.System+t.Irq+t.Softirq)
	if runtime.GOOS == "linux" { // other systems do not count them
		v[result.CPUIowait], v[result.CPUSteal] = t.Iowait, t.Steal
	}
	return nil
}

// addCPU records CPU time and its parts.
func addCPU(v map[result.Metric]float64, user, system float64) {
	v[result.CPUUser], v[result.CPUSystem], v[result.CPU] = user, system, user+system
}

func readMemory(ctx context.Context, v map[result.Metric]float64) error {
	m, err := mem.VirtualMemoryWithContext(ctx)
	if err != nil {
		return fmt.Errorf("cannot read the host's memory: %w", err)
	}
	v[result.MemoryAvailable], v[result.MemoryUsed] = float64(m.Available), float64(m.Total-min(m.Available, m.Total))
	return nil
}

func (s *hostSource) readDisks(ctx context.Context, v map[result.Metric]float64) error {
	disks, err := disk.IOCountersWithContext(ctx)
	if err != nil {
		return fmt.Errorf("cannot read the host's disks: %w", err)
	}
	names := make([]string, 0, len(disks))
	for name := range disks {
		names = append(names, name)
	}
	for _, name := range wholeDisks(names) {
		d := disks[name]
		v[result.DiskRead] += float64(d.ReadBytes)
		v[result.DiskWritten] += float64(d.WriteBytes)
		v[result.DiskReads] += float64(d.ReadCount)
		v[result.DiskWrites] += float64(d.WriteCount)
	}
	if d, ok := disks[s.device]; ok {
		v[result.DeviceRead], v[result.DeviceWritten] = float64(d.ReadBytes), float64(d.WriteBytes)
		v[result.DeviceReads], v[result.DeviceWrites] = float64(d.ReadCount), float64(d.WriteCount)
	}
	return nil
}

func readNetwork(ctx context.Context, v map[result.Metric]float64) error {
	interfaces, err := net.IOCountersWithContext(ctx, true)
	if err != nil {
		return fmt.Errorf("cannot read the host's network: %w", err)
	}
	for _, i := range interfaces {
		addNetwork(v, i.Name, float64(i.BytesRecv), float64(i.BytesSent))
	}
	return nil
}

// addNetwork adds an interface's bytes to the loopback or the network metrics.
func addNetwork(v map[result.Metric]float64, name string, received, sent float64) {
	switch {
	case isLoopback(name):
		v[result.Loopback] += sent
	case !isVirtualInterface(name):
		v[result.NetReceived] += received
		v[result.NetSent] += sent
	}
}

// oneLine joins the lines of errors.Join by semicolons.
func oneLine(err error) error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err
	}
	var text string
	for i, e := range joined.Unwrap() {
		if i > 0 {
			text += "; "
		}
		text += e.Error()
	}
	return errors.New(text)
}

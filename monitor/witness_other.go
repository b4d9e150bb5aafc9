//go:build !linux

package monitor

import (
	"context"
	"math"
	"os"
	"runtime"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
)

// machine reads the host's CPU time, the only counter available on systems other than Linux.
type machine struct{}

func newMachine(string) machine { return machine{} }

func (*machine) read(ctx context.Context) snapshot {
	nan := math.NaN()
	m := snapshot{
		at: time.Now(), cores: float64(runtime.NumCPU()), idle: nan, iowait: nan, steal: nan, busy: nan, own: nan, kernel: nan,
		pressure: [3]float64{nan, nan, nan}, swapped: nan, faults: nan,
	}
	if times, err := cpu.TimesWithContext(ctx, false); err == nil && len(times) > 0 {
		t := times[0]
		m.busy = t.User + t.Nice + t.System + t.Irq + t.Softirq
	}
	if me, err := observe(os.Getpid()); err == nil {
		m.own = me.used.cpu
	}
	return m
}

func (*machine) nameOf(ctx context.Context, pid int) string {
	program, _ := commandOf(ctx, pid)
	return program
}

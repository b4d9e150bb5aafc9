package monitor

import (
	"math"
	"os"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// ticks is the number of units per second in which Linux counts CPU time (USER_HZ, the same on all
// architectures supported by Go).
const ticks = 100

// observe reads one process. gopsutil does not report the use of ended children, which is most of
// the use of a server that starts a process per query.
func observe(pid int) (observed, error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return observed{}, err
	}
	stat, err := p.Stat()
	if err != nil {
		return observed{}, err
	}
	m := observed{
		pid: pid,
		rss: float64(stat.ResidentMemory()), threads: float64(stat.NumThreads), openFiles: math.NaN(),
		member: member{parent: stat.PPID, started: int64(stat.Starttime), ended: stat.State == "Z" || stat.State == "X", used: counters{
			user: float64(stat.UTime) / ticks, system: float64(stat.STime) / ticks,
			reapedUser: float64(stat.CUTime) / ticks, reapedSystem: float64(stat.CSTime) / ticks,
			read: math.NaN(), written: math.NaN(),
		}},
	}
	if own := (unix.Rusage{}); pid == os.Getpid() && unix.Getrusage(unix.RUSAGE_SELF, &own) == nil { // in microseconds
		m.used.user, m.used.system = float64(own.Utime.Nano())/1e9, float64(own.Stime.Nano())/1e9
	}
	m.used.cpu = orElse(cpuClock(pid), m.used.user+m.used.system)
	// Only root and the process's own user may read these.
	if io, err := p.IO(); err == nil {
		m.used.read, m.used.written = float64(io.ReadBytes), float64(io.WriteBytes)
	} else if _, gone := p.Stat(); gone != nil {
		return observed{}, gone
	}
	if n, err := p.FileDescriptorsLen(); err == nil {
		m.openFiles = float64(n)
	}
	return m, nil
}

// cpuClock returns the CPU seconds of all threads of a process, including ended threads, to the
// nanosecond; NaN: the process has ended and been waited for. /proc only has hundredths of a
// second, which is too coarse for short phases.
//
// The clock's number is built as in clock_getcpuclockid(3): the inverted process number in the
// upper bits, and CPUCLOCK_SCHED (2) in the lower ones.
func cpuClock(pid int) float64 {
	var t unix.Timespec
	if pid <= 0 || unix.ClockGettime(int32(^pid<<3|2), &t) != nil {
		return math.NaN()
	}
	return float64(t.Sec) + float64(t.Nsec)/1e9
}

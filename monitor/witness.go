package monitor

import (
	"cmp"
	"context"
	"math"
	"time"

	"github.com/tsmark/tsmark/result"
)

// Witness measures the use of this machine by processes other than tsmark and the target's server
// during phases of a run. It reads counters at both ends of each phase, since most phases are
// shorter than the interval between two samples. It is used by one goroutine.
//
// The processors' busy time is derived from their idle time, which the kernel counts exactly. Most
// kernels sample the busy time, with an error in a tenth of a second that exceeds the use to be
// detected. The time of tsmark itself, of the server, and of the kernel's threads, which work for
// all processes, is subtracted.
type Witness struct {
	server Source // nil: none on this machine, or tsmark's own process
	host   machine
	begin  snapshot
}

// NewWitness returns a witness for a target whose server's processes a source of its
// own reads; nil: it runs in tsmark's process, or elsewhere.
func NewWitness(ctx context.Context, server Source) *Witness {
	w := &Witness{server: server, host: newMachine("/")}
	w.read(ctx) // excludes earlier use
	return w
}

// Begin marks the start of a phase. Like End, it takes a few milliseconds, and longer if a thousand
// processes run.
func (w *Witness) Begin(ctx context.Context) { w.begin = w.read(ctx) }

// End returns the noise since Begin, judged by a bound as in the Judge method of result.Noise.
func (w *Witness) End(ctx context.Context, bound float64) *result.Noise {
	end := w.read(ctx)
	n := end.noiseSince(&w.begin)
	if problem := cmp.Or(w.begin.problem, end.problem); problem != "" {
		n.Others, n.OthersMin, n.OthersMax, n.Most = result.Absent(), result.Absent(), result.Absent(), ""
		n.Unknown = "what other processes used cannot be told from what the server did: " + problem
	}
	if n.Most != "" {
		n.Most = w.host.nameOf(ctx, end.busiest(&w.begin))
	}
	n.Judge(bound)
	return &n
}

// read takes the counters.
func (w *Witness) read(ctx context.Context) snapshot {
	m := w.host.read(ctx)
	if w.server == nil {
		return m
	}
	r, err := w.server.Read(ctx)
	if err != nil {
		m.problem = err.Error()
	}
	m.own += r.Values[result.CPU]
	if members, ok := w.server.(interface{ members() []int }); ok {
		for _, pid := range members.members() {
			delete(m.others, pid)
		}
	}
	return m
}

// snapshot is the counters of the machine when they were read, in seconds if
// nothing else is said; NaN: not known.
type snapshot struct {
	at                  time.Time
	cores               float64
	idle, iowait, steal float64 // of all cores
	busy                float64 // as the kernel samples it; only where idle is not known
	own                 float64 // CPU of tsmark and the server
	kernel              float64 // CPU of the kernel's threads
	others              map[int]float64
	pressure            [3]float64 // CPU, memory, storage
	swapped, faults     float64    // bytes, pages
	groups              map[string]throttling
	problem             string // why the server's own use is unknown; empty: it is known
}

// throttling holds the counters of a control group with a CPU limit.
type throttling struct{ periods, throttled float64 }

// tick is the resolution of the times of the host, and of the CPU time of
// processes that have ended.
const tick = 0.01

// noiseSince returns the noise since an earlier snapshot.
func (m *snapshot) noiseSince(begin *snapshot) result.Noise {
	wall := m.at.Sub(begin.at).Seconds()
	n := result.NewNoise(wall, m.cores)
	difference := func(now, before float64) result.Value { return result.Value(math.Max(0, now-before)) }
	n.Steal = difference(m.steal, begin.steal)
	n.CPUStall, n.MemoryStall, n.IOStall = difference(m.pressure[0], begin.pressure[0]), difference(m.pressure[1], begin.pressure[1]), difference(m.pressure[2], begin.pressure[2])
	n.Swapped, n.MajorFaults = difference(m.swapped, begin.swapped), difference(m.faults, begin.faults)
	n.Periods, n.Throttled = throttledSince(m.groups, begin.groups)

	used := wall*m.cores - (m.idle - begin.idle) - (m.iowait - begin.iowait) - (m.steal - begin.steal)
	if math.IsNaN(used) {
		used = m.busy - begin.busy
	}
	used -= m.own - begin.own + orElse(m.kernel-begin.kernel, 0)
	if math.IsNaN(used) {
		return n
	}
	seen := 0.0 // of programs that are alive at the end: their use is known exactly
	for pid, cpu := range m.others {
		seen += rise(cpu, begin.others[pid])
	}
	// Two counters advance in ticks: the host's idle time, and the use of ended processes.
	least := math.Max(seen, used-2*tick)
	n.OthersMin, n.OthersMax = result.Value(math.Max(least, 0)), result.Value(math.Max(used+2*tick, least))
	n.Others = result.Value(math.Max(math.Max(seen, used), 0))
	if _, most := m.busiestProcess(begin); most > 0.5*float64(n.Others) {
		n.Most = "?" // to be named
	}
	return n
}

// busiestProcess returns the process with the largest use since an earlier snapshot, among the
// other programs.
func (m *snapshot) busiestProcess(begin *snapshot) (pid int, cpu float64) {
	for other, now := range m.others {
		if used := rise(now, begin.others[other]); used > cpu {
			pid, cpu = other, used
		}
	}
	return pid, cpu
}

// busiest is the process of most.
func (m *snapshot) busiest(begin *snapshot) int {
	pid, _ := m.busiestProcess(begin)
	return pid
}

// throttledSince returns the counts of the group that was throttled in the largest part of its
// periods; absent if no group has a limit.
func throttledSince(now, before map[string]throttling) (periods, throttled result.Value) {
	periods, throttled = result.Absent(), result.Absent()
	for name, g := range now {
		b, known := before[name]
		p, t := g.periods-b.periods, g.throttled-b.throttled
		if !known || p <= 0 || t < 0 {
			continue
		}
		if !periods.IsKnown() || result.Value(t/p) > throttled/periods {
			periods, throttled = result.Value(p), result.Value(t)
		}
	}
	return periods, throttled
}

package monitor

import (
	"context"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"

	"github.com/tsmark/tsmark/result"
)

// clientSource reads this process itself. A server that it started is not part
// of it.
type clientSource struct{ runtime *goRuntime }

// ClientSource returns a source for tsmark's own process: CPU, memory, storage, and the pauses and
// delays reported by the Go runtime.
func ClientSource() Source { return &clientSource{runtime: newGoRuntime()} }

// Read implements Source.
func (s *clientSource) Read(context.Context) (Reading, error) {
	r := Reading{Values: map[result.Metric]float64{}, Cores: runtime.NumCPU(), Measure: "tsmark's own process"}
	v := r.Values
	me, err := observe(os.Getpid())
	if err == nil {
		addCPU(v, me.used.user, me.used.system)
		v[result.CPU] = me.used.cpu
		v[result.DiskRead], v[result.DiskWritten] = me.used.read, me.used.written
		v[result.RSS], v[result.OpenFiles], v[result.Threads] = me.rss, me.openFiles, me.threads
	}
	scheduling, pause, heap := s.runtime.read()
	v[result.Heap], v[result.SchedulingP99] = heap, scheduling.quantile(0.99)
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	v[result.GCPauses], v[result.GCCycles] = gc.PauseTotal.Seconds(), float64(gc.NumGC)
	v[result.GCPauseMax] = orElse(pause.quantile(1), 0) // no collection, no pause
	dropUnknown(v)
	return r, err
}

// Client measures the resources that tsmark itself uses for one cell: see result.Client.
type Client struct {
	begin   time.Time
	cores   int
	used    counters
	known   bool // used was read
	gc      debug.GCStats
	network map[result.Metric]float64
	runtime *goRuntime
}

// BeginClient notes the state before a cell. It takes less than a millisecond,
// as End does.
func BeginClient(ctx context.Context) *Client {
	c := &Client{cores: runtime.NumCPU(), network: networkNow(ctx), runtime: newGoRuntime()}
	if n, err := cpu.CountsWithContext(ctx, true); err == nil && n > 0 {
		c.cores = n
	}
	debug.ReadGCStats(&c.gc)
	me, err := observe(os.Getpid())
	c.used, c.known, c.begin = me.used, err == nil, time.Now()
	return c
}

// End returns the resources used since BeginClient. It is called once.
func (c *Client) End(ctx context.Context) result.Client {
	r := result.Client{
		Wall: time.Since(c.begin).Seconds(), Procs: runtime.GOMAXPROCS(0), Cores: c.cores,
		CPU: result.Absent(), User: result.Absent(), System: result.Absent(), Share: result.Absent(),
	}
	if me, err := observe(os.Getpid()); err == nil && c.known {
		cpu := me.used.cpu - c.used.cpu
		r.CPU = result.Value(cpu)
		r.User, r.System = result.Value(me.used.user-c.used.user), result.Value(me.used.system-c.used.system)
		if r.Wall > 0 {
			r.Share = result.Value(cpu / r.Wall / float64(c.cores))
		}
	}
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	r.GCCycles, r.GCPause = gc.NumGC-c.gc.NumGC, (gc.PauseTotal - c.gc.PauseTotal).Seconds()
	scheduling, pause, _ := c.runtime.read()
	r.GCPauseMax = orElse(pause.quantile(1), 0)
	r.SchedulingP99, r.SchedulingMax = result.Value(scheduling.quantile(0.99)), result.Value(scheduling.quantile(1))
	network := networkNow(ctx)
	difference := func(m result.Metric) result.Value {
		before, ok := c.network[m]
		now, still := network[m]
		if !ok || !still {
			return result.Absent()
		}
		return result.Value(math.Max(0, now-before))
	}
	r.NetReceived, r.NetSent, r.Loopback = difference(result.NetReceived), difference(result.NetSent), difference(result.Loopback)
	return r
}

// networkNow is the host's network counters; nil: they cannot be read.
func networkNow(ctx context.Context) map[result.Metric]float64 {
	v := map[result.Metric]float64{}
	if readNetwork(ctx, v) != nil {
		return nil
	}
	return v
}

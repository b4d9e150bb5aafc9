package monitor

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/internal/puppet"
	"github.com/tsmark/tsmark/monitor/process"
	"github.com/tsmark/tsmark/result"
)

// play starts a puppet, waits until it has written dir/ready, and checks that no process is left at
// the end. dir is on disk: files in memory cause no storage traffic.
func play(t testing.TB, steps ...string) (p *process.Process, dir string) {
	t.Helper()
	dir, err := os.MkdirTemp(".", "monitor-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for i := range steps {
		steps[i] = strings.ReplaceAll(steps[i], "DIR", dir)
	}
	p, err = process.Start(context.Background(), process.Command{
		Path: puppet.Program(t), Args: puppet.Args(steps...), Env: puppet.Env(), Log: filepath.Join(dir, "log"),
		Ready: func(context.Context) error { _, err := os.Stat(filepath.Join(dir, "ready")); return err },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Kill(); err != nil {
			t.Error(err)
		}
	})
	return p, dir
}

// release lets a puppet go on that awaits a file, and waits for it to say done.
func release(t testing.TB, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	puppet.Number(t, filepath.Join(dir, "done"))
}

// TestProcessSource: a server that uses CPU and storage itself, by a child that
// ends between two readings, and by one that lives on.
func TestProcessSource(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("what ended children used is known on Linux only: not compared here")
	}
	p, dir := play(t, "listen:DIR/port", "burn:0.5", "pid:DIR/ready", "await:DIR/go",
		"burn:0.4", "hold:50000000", "run:burn:0.6|write:DIR/a:3000000", "fork:burn:0.3|write:DIR/b:2000000|pid:DIR/done|wait:", "wait:")
	s := NewSampler(t.Context(), time.Now(), 50*time.Millisecond)
	port := puppet.Number(t, filepath.Join(dir, "port"))
	s.Watch("by port", PortSource(port))
	s.Watch("by number", PIDSource(p.PID()))
	s.Watch("host", HostSource(t.Context(), dir))
	release(t, dir)
	all := s.Stop()
	for _, r := range all[:2] {
		if len(r.Problems) > 0 {
			t.Errorf("%s: %q", r.Source, r.Problems)
		}
		// The measured time includes clock ticks of 10 ms and the start of two programs in addition
		// to the steps; earlier use is not included.
		if cpu := r.Total.CPU; runtime.GOOS == "linux" && (cpu < 1.2 || cpu > 1.85) {
			t.Errorf("%s: %g CPU-seconds, used 1.3 and a little", r.Source, cpu)
		}
		if written := r.Total.DiskWritten; runtime.GOOS == "linux" && (written < 5e6 || written > 6e6) {
			t.Errorf("%s: %g bytes written, wrote 5,000,000 and a few small files", r.Source, written)
		}
		if rss := r.Total.RSSMax; rss < 50e6 || rss > 500e6 {
			t.Errorf("%s: RSS %g, holds 50,000,000 bytes", r.Source, rss)
		}
		last := len(r.At) - 1
		for m, atLeast := range map[result.Metric]result.Value{result.Processes: 2, result.Threads: 4, result.OpenFiles: 6} {
			if got := r.Metrics[m][last]; !(got >= atLeast) || got > 1000 {
				t.Errorf("%s: %s is %g, want %g at least", r.Source, m, got, atLeast)
			}
		}
	}
	host := all[2]
	// Others use the machine too: only a lower bound is sure, less what the
	// kernel's coarser count of the whole machine may miss.
	if host.Total.CPU < 1 || host.Total.CPU > result.Value(float64(host.Cores)*host.Total.Wall*1.1+0.2) {
		t.Errorf("the host used %g CPU-seconds in %g s on %d cores", host.Total.CPU, host.Total.Wall, host.Cores)
	}
	if host.Total.DiskWritten < 4e6 {
		t.Errorf("the host wrote %g bytes", host.Total.DiskWritten)
	}
}

// TestProcessSourceOfTwo measures a server of two processes; the first passes the work on to the
// second.
func TestProcessSourceOfTwo(t *testing.T) {
	front, frontDir := play(t, "listen:DIR/port", "pid:DIR/ready", "wait:")
	_, dir := play(t, "listen:DIR/port", "pid:DIR/ready", "await:DIR/go", "burn:0.4", "pid:DIR/done", "wait:")
	ports := []int{puppet.Number(t, filepath.Join(frontDir, "port")), puppet.Number(t, filepath.Join(dir, "port"))}
	s := NewSampler(t.Context(), time.Now(), 50*time.Millisecond)
	s.Watch("both", PortSource(ports...))
	s.Watch("front", PIDSource(front.PID()))
	release(t, dir)
	all := s.Stop()
	if want := fmt.Sprintf("the processes that listen on ports %d and %d, and their children", ports[0], ports[1]); all[0].Measure != want {
		t.Errorf("measured is %q, and not %q", all[0].Measure, want)
	}
	if n := all[0].Metrics[result.Processes]; n[len(n)-1] != 2 {
		t.Errorf("%v processes, and not 2", n[len(n)-1])
	}
	if cpu := all[0].Total.CPU; cpu < 0.35 || cpu > 0.7 {
		t.Errorf("both used %g CPU-seconds, and not 0.4 and a little", cpu)
	}
	if cpu := all[1].Total.CPU; cpu > 0.2 {
		t.Errorf("the front alone used %g CPU-seconds, and did nothing", cpu)
	}
}

// TestProcessSourceManyShortChildren: a server that starts a process for each
// query, all shorter than the period.
func TestProcessSourceManyShortChildren(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // not counted elsewhere, as the documentation says
	}
	steps := []string{"pid:DIR/ready", "await:DIR/go"}
	for i := range 10 {
		steps = append(steps, fmt.Sprintf("run:burn:0.05|write:DIR/%d:300000", i))
	}
	p, dir := play(t, append(steps, "pid:DIR/done", "wait:")...)
	s := NewSampler(t.Context(), time.Now(), 30*time.Millisecond)
	s.Watch("server", PIDSource(p.PID()))
	release(t, dir)
	r := s.Stop()[0]
	if cpu := r.Total.CPU; cpu < 0.45 || cpu > 0.95 {
		t.Errorf("%g CPU-seconds, used 0.5 and what ten starts take", cpu)
	}
	if written := r.Total.DiskWritten; written < 3e6 || written > 3.5e6 {
		t.Errorf("%g bytes written, wrote 3,000,000 and a little", written)
	}
}

// TestProcessSourceRestart: a server that is not there yet, comes, is killed
// and comes again on the same port.
func TestProcessSourceRestart(t *testing.T) {
	dir := t.TempDir()
	source := &processSource{what: "the server", find: func(ctx context.Context) ([]int, error) {
		text, err := os.ReadFile(filepath.Join(dir, "server.pid"))
		if err != nil {
			return nil, err
		}
		pid, err := strconv.Atoi(string(text))
		if err == nil {
			_, err = process.Lookup(ctx, pid)
		}
		return []int{pid}, err
	}}
	if r, err := source.Read(t.Context()); err == nil || len(r.Values) > 0 {
		t.Fatalf("nobody is there: %+v, %v", r, err)
	}
	var before float64
	for i := range 2 {
		p, _ := play(t, "burn:0.2", "pid:DIR/ready", "wait:")
		if err := os.WriteFile(filepath.Join(dir, "server.pid"), []byte(fmt.Sprint(p.PID())), 0o600); err != nil {
			t.Fatal(err)
		}
		source.nextFind = time.Time{} // it may have to wait for as long as it is costly
		r, err := source.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if cpu := r.Values[result.CPU] - before; cpu < 0.15 || cpu > 0.7 {
			t.Errorf("start %d: %g CPU-seconds, used 0.2", i, cpu)
		}
		before = r.Values[result.CPU]
		if err := p.Kill(); err != nil {
			t.Fatal(err)
		}
		if r, err := source.Read(t.Context()); err == nil || len(r.Values) > 0 {
			t.Errorf("it was killed: %+v, %v", r, err)
		}
	}
}

func TestClient(t *testing.T) {
	c := BeginClient(t.Context())
	s := NewSampler(t.Context(), time.Now(), 20*time.Millisecond)
	s.Watch("client", ClientSource())
	begin := time.Now()
	before, err := observe(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for used := 0.0; used < 0.3 && time.Since(begin) < time.Minute; {
		for i := range 1_000_000 {
			runtime.KeepAlive(i)
		}
		now, err := observe(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		used = now.used.user + now.used.system - before.used.user - before.used.system
	}
	runtime.GC()
	done := make(chan struct{})
	go close(done)
	<-done
	got := c.End(t.Context())
	r := s.Stop()[0]
	// The loop goes by a clock that ticks every 10 ms.
	if got.CPU < 0.28 || float64(got.CPU) > got.Wall*float64(got.Procs)+0.1 {
		t.Errorf("%g CPU-seconds in %g s on %d, used 0.3", got.CPU, got.Wall, got.Procs)
	}
	if both := float64(got.User + got.System); got.User <= 0 || runtime.GOOS == "linux" && math.Abs(both-float64(got.CPU)) > 0.005 {
		t.Errorf("%g s user and %g s system, %g s together", got.User, got.System, got.CPU)
	}
	if want := float64(got.CPU) / got.Wall / float64(got.Cores); float64(got.Share) != want {
		t.Errorf("share %g, want %g", got.Share, want)
	}
	if got.GCCycles < 1 || got.GCPause <= 0 || got.GCPauseMax <= 0 || got.GCPauseMax > got.GCPause*1.3+1e-6 {
		t.Errorf("%d collections paused for %g s, the longest %g s", got.GCCycles, got.GCPause, got.GCPauseMax)
	}
	if !got.SchedulingP99.IsKnown() || got.SchedulingMax < got.SchedulingP99 {
		t.Errorf("scheduling delay p99 %g, max %g", got.SchedulingP99, got.SchedulingMax)
	}
	if runtime.GOOS == "linux" && (!got.NetReceived.IsKnown() || !got.Loopback.IsKnown()) {
		t.Errorf("network %g, %g", got.NetReceived, got.Loopback)
	}
	if r.Total.CPU < 0.27 || r.Total.RSSMax < 1e6 {
		t.Errorf("sampled: %+v", r.Total)
	}
	if cycles := r.Increase(result.GCCycles, r.At[0], r.At[len(r.At)-1]); cycles < 1 {
		t.Errorf("sampled %g collections", cycles)
	}
	for _, m := range []result.Metric{result.Heap, result.GCPauses, result.GCPauseMax, result.Threads} {
		if r.Metrics[m] == nil {
			t.Errorf("%s was not sampled", m)
		}
	}
}

func TestHistogramQuantile(t *testing.T) {
	h := histogram{counts: []uint64{0, 98, 1, 1, 0}, bounds: []float64{0, 1, 2, 3, 4, 5}}
	for q, want := range map[float64]float64{0: 2, 0.5: 2, 0.98: 2, 0.99: 3, 1: 4} {
		if got := h.quantile(q); got != want {
			t.Errorf("quantile %g is %g, want %g", q, got, want)
		}
	}
	if got := (histogram{counts: []uint64{0}, bounds: []float64{0, 1}}).quantile(0.5); got == got {
		t.Errorf("of nothing: %g", got)
	}
}

// BenchmarkSources measures what a reading costs: at one a second, 10 ms would
// be one per cent of a core. It counts CPU, not time passed.
func BenchmarkSources(b *testing.B) {
	family := []string{}
	for range 20 {
		family = append(family, "fork:wait:")
	}
	p, _ := play(b, append(family, "pid:DIR/ready", "wait:")...)
	for name, source := range map[string]Source{
		"host": HostSource(b.Context(), "."), "client": ClientSource(), "server of 21 processes": PIDSource(p.PID()),
	} {
		b.Run(name, func(b *testing.B) {
			before, _ := observe(os.Getpid())
			for b.Loop() {
				if _, err := source.Read(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			after, _ := observe(os.Getpid())
			cpu := after.used.user + after.used.system - before.used.user - before.used.system
			b.ReportMetric(100*cpu/float64(b.N), "%core@1s")
		})
	}
}

// BenchmarkClient measures what noting the client's state around a cell costs.
func BenchmarkClient(b *testing.B) {
	for b.Loop() {
		BeginClient(b.Context()).End(b.Context())
	}
}

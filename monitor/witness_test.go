package monitor

import (
	"context"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/internal/puppet"
	"github.com/tsmark/tsmark/result"
)

// spin starts a process that is busy until the test ends, or has used a minute
// of a processor.
func spin(t *testing.T) *exec.Cmd {
	t.Helper()
	c := exec.Command(puppet.Program(t), puppet.Args("burn:60")...)
	c.Env = puppet.Env()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill() // it may have ended
		_ = c.Wait()
	})
	return c
}

// snapshotAt is a moment of a fake machine with two cores.
func snapshotAt(seconds, idle, own float64, others map[int]float64) snapshot {
	return snapshot{at: time.Unix(1000, 0).Add(time.Duration(seconds * float64(time.Second))), cores: 2, idle: idle, own: own, others: others,
		groups: map[string]throttling{}}
}

func TestNoiseBetweenSnapshots(t *testing.T) {
	for name, c := range map[string]struct {
		begin, end       snapshot
		others, min, max float64
		noisy, unknown   string
	}{
		"quiet: all that was used was tsmark's and the server's": {
			snapshotAt(0, 100, 5, nil), snapshotAt(10, 108, 17, nil), 0, 0, 0.02, "", "",
		},
		"a process that lives": {
			snapshotAt(0, 100, 5, map[int]float64{7: 3}), snapshotAt(10, 105, 10, map[int]float64{7: 12.5}), 10, 9.98, 10.02,
			"other processes used 50 % of the CPU", "",
		},
		"compilers that came and went": {
			snapshotAt(0, 100, 5, map[int]float64{}), snapshotAt(10, 107, 10, map[int]float64{}), 8, 7.98, 8.02, "other processes used 40 % of the CPU", "",
		},
		"a tenth of a second, in which the ticks decide": {
			snapshotAt(0, 100, 5, nil), snapshotAt(0.1, 100.1, 5.09, nil), 0.01, 0, 0.03, "", result.TooShort,
		},
		"a tenth of a second, half of it another's": {
			snapshotAt(0, 100, 5, nil), snapshotAt(0.1, 100.01, 5.09, map[int]float64{7: 0.1}), 0.1, 0.1, 0.12, "other processes used 50 % of the CPU", "",
		},
		"in a tenth of a second what processes show is enough": {
			snapshotAt(0, 100, 5, map[int]float64{7: 1}), snapshotAt(0.1, 100.1, 5.05, map[int]float64{7: 1.045}), 0.05, 0.045, 0.07, "other processes used 25 % of the CPU", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := c.end.noiseSince(&c.begin)
			n.Most = ""
			n.Judge(result.QuietShare)
			near := func(v result.Value, want float64) bool { return math.Abs(float64(v)-want) < 1e-6 }
			if !near(n.Others, c.others) || !near(n.OthersMin, c.min) || !near(n.OthersMax, c.max) {
				t.Errorf("others used %.3f s (%.3f to %.3f), want %.3f (%.3f to %.3f)", n.Others, n.OthersMin, n.OthersMax, c.others, c.min, c.max)
			}
			if n.Noisy() != c.noisy || n.Unknown != c.unknown {
				t.Errorf("noisy %q, unknown %q; want %q, %q", n.Noisy(), n.Unknown, c.noisy, c.unknown)
			}
		})
	}
}

func TestNoiseOfOtherKinds(t *testing.T) {
	begin, end := snapshotAt(0, 100, 5, nil), snapshotAt(10, 116, 5, nil)
	end.steal, end.pressure[1], end.swapped = 4, 0.3, 5<<20
	begin.groups = map[string]throttling{"/a": {100, 0}, "/a/b": {100, 10}}
	end.groups = map[string]throttling{"/a": {200, 1}, "/a/b": {200, 50}}
	n := end.noiseSince(&begin)
	n.Judge(result.QuietShare)
	const want = "the hypervisor took 20 % of the CPU (steal); a CPU limit held tsmark back in 40 % of the scheduling periods; " +
		"programs waited for memory in 3 % of the time; 5 MiB went to and from swap"
	if n.Noisy() != want {
		t.Errorf("got  %s\nwant %s", n.Noisy(), want)
	}
}

// A process beside is seen, and what tsmark itself does is not taken for one.
func TestWitnessSeesAProcessBeside(t *testing.T) {
	ctx := context.Background()
	w := NewWitness(ctx, nil)
	phase := func(long time.Duration) *result.Noise {
		w.Begin(ctx)
		for end := time.Now().Add(long); time.Now().Before(end); { // tsmark's own work
		}
		return w.End(ctx, result.QuietShare)
	}
	// What tsmark got of the machine depends on what else runs here as well.
	own := -cpuOf(t, os.Getpid())
	alone := phase(300 * time.Millisecond)
	own += cpuOf(t, os.Getpid())
	busy := spin(t)
	// The CPU time of the program depends on the load of this machine, so the witness is compared
	// with the program's own clock.
	before := cpuOf(t, busy.Process.Pid)
	beside := phase(300 * time.Millisecond)
	got := cpuOf(t, busy.Process.Pid) - before
	if float64(beside.Others) < got-0.05 || !beside.Others.IsKnown() {
		t.Errorf("a process beside used %.3f s, and others are said to have used %.3f s", got, beside.Others)
	}
	if got > 0.2 && !strings.Contains(beside.Noisy(), "other processes used ") {
		t.Errorf("the process beside used %.3f s of %.1f cores in %.3f s, but the host is said to be quiet: %+v", got, beside.Cores, beside.Wall, beside)
	}
	// Both phases used a processor themselves; without it the first was quieter.
	if alone.Others > beside.Others {
		t.Logf("others used %.3f s alone, %.3f s beside: this machine is busy", alone.Others, beside.Others)
	}
	if float64(alone.Others) > alone.Wall*alone.Cores-own+0.1 {
		t.Errorf("tsmark's own work, %.3f s, counts as others': %+v", own, alone)
	}
}

func cpuOf(t *testing.T, pid int) float64 {
	t.Helper()
	m, err := observe(pid)
	if err != nil {
		t.Fatal(err)
	}
	return m.used.cpu
}

// What the server of the target uses is its own, and not noise.
func TestWitnessKnowsTheServer(t *testing.T) {
	ctx := context.Background()
	busy := spin(t)
	w := NewWitness(ctx, nil)
	w.server = PIDSource(busy.Process.Pid)
	w.read(ctx)
	w.Begin(ctx)
	before := cpuOf(t, busy.Process.Pid)
	time.Sleep(300 * time.Millisecond)
	used := cpuOf(t, busy.Process.Pid) - before
	n := w.End(ctx, result.QuietShare)
	host := n.Wall * n.Cores
	if float64(n.Others) > host-used+0.05 {
		t.Errorf("the server used %.3f s of %.3f s, and others are said to have used %.3f s", used, host, n.Others)
	}
	w.server = PIDSource(1 << 22) // no such process
	w.Begin(ctx)
	if n := w.End(ctx, result.QuietShare); n.Others.IsKnown() || !strings.Contains(n.Unknown, "cannot be told from what the server did") {
		t.Errorf("the server cannot be seen, and others are said to have used %.3f s: %q", n.Others, n.Unknown)
	}
}

// A reading of this machine has what Linux always has.
func TestWitnessReads(t *testing.T) {
	n := newMachine("/")
	m := n.read(t.Context())
	if m.cores < 1 || m.own <= 0 || len(m.others) == 0 {
		t.Errorf("read %+v", m)
	}
}

func BenchmarkWitness(b *testing.B) {
	w := NewWitness(b.Context(), nil)
	for b.Loop() {
		w.Begin(b.Context())
		w.End(b.Context(), result.QuietShare)
	}
}

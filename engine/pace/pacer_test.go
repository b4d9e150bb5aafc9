package pace_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/shirou/gopsutil/v4/process"

	"github.com/tsmark/tsmark/engine/pace"
	"github.com/tsmark/tsmark/measure"
)

// lags paces n arrivals and returns by how much each came late.
func lags(tb testing.TB, s pace.Schedule, n int) *measure.Latency {
	p, err := pace.NewPacer(time.Now())
	if err != nil {
		tb.Fatal(err)
	}
	defer p.Close()
	l := measure.NewLatency()
	for due := range s.Arrivals() {
		if n--; n < 0 {
			break
		}
		lag, err := p.Wait(tb.Context(), due)
		if err != nil {
			tb.Fatal(err)
		}
		l.Record(lag)
	}
	return l
}

// At 10,000 arrivals a second nine in ten are released within 50 µs of their
// time. (By time.Sleep, which overshoots by up to a millisecond, hardly any
// are.) It is enough to show it once over a hundredth of a second, since other processes may keep the processors from
// us; the benchmark shows every percentile.
func TestPacerIsOnTime(t *testing.T) {
	const within, times = 50e-6, 1000
	best := math.Inf(1)
	for range times {
		if best = min(best, lags(t, pace.Constant(10_000), 100).Quantile(0.9)); best <= within {
			return
		}
	}
	t.Errorf("the best 90th percentile of the lag of %d times is %.1f µs; want %.0f µs or less", times, best*1e6, within*1e6)
}

// bareLags is what a loop that does nothing but look at the clock, in a thread
// of its own, makes of the same arrivals: whatever is late there the machine
// has taken.
func bareLags(interval time.Duration, n int) []time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	late := make([]time.Duration, n)
	start := time.Now()
	for i := range late {
		due := time.Duration(i+1) * interval
		for time.Since(start) < due {
		}
		late[i] = time.Since(start) - due
	}
	return late
}

// Half of all arrivals are released nearly as exactly as by a bare loop that takes a
// whole processor for itself, and few more of them are late: a pacer that only slept
// would be behind by the precision of timers. Both take turns, so that the machine
// keeps both waiting alike. On a machine that has far more to do than processors, and
// beside the race detector, who sleeps is woken later than who never slept, so it is
// enough to show it once, and within bounds that such a machine can keep.
func TestPacerBesideBareLoop(t *testing.T) {
	const interval, each, rounds, attempts, late, exact, tolerated = 100 * time.Microsecond, 200, 20, 15, 50e-6, 25e-6, 0.25
	for range attempts {
		bare, paced := measure.NewLatency(), measure.NewLatency()
		for range rounds {
			for _, lag := range bareLags(interval, each) {
				bare.Record(lag)
			}
			paced.Merge(lags(t, pace.Constant(float64(time.Second)/float64(interval)), each))
		}
		t.Logf("bare loop: %s", lateness(bare, late))
		t.Logf("pacer:     %s", lateness(paced, late))
		if share(paced, late)-share(bare, late) <= tolerated && paced.Quantile(0.5)-bare.Quantile(0.5) <= exact {
			return
		}
	}
	t.Errorf("never within %d attempts: the median %.0f µs behind a bare loop's at most, and %.0f %% more arrivals later than 50 µs", attempts, exact*1e6, 100*tolerated)
}

// share is how many of all lags are longer.
func share(l *measure.Latency, seconds float64) float64 {
	low, high := 0.0, 1.0
	for range 20 {
		if middle := (low + high) / 2; l.Quantile(middle) > seconds {
			high = middle
		} else {
			low = middle
		}
	}
	return 1 - low
}

func lateness(l *measure.Latency, late float64) string {
	s := l.Summary()
	return fmt.Sprintf("p50 %.1f µs, p90 %.1f, p99 %.1f, p99.9 %.1f; %.2f %% later than %.0f µs",
		s.Median*1e6, s.P90*1e6, s.P99*1e6, s.P999*1e6, 100*share(l, late), late*1e6)
}

// Nothing is released early, and lag is reported: Wait returns at once for times long past and
// returns how late it is.
func TestPacerWait(t *testing.T) {
	start := time.Now()
	p, err := pace.NewPacer(start)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	const due = 25 * time.Millisecond // more than one sleep
	lag, err := p.Wait(t.Context(), due)
	if took := time.Since(start); err != nil || took < due || lag < 0 || took-due < lag {
		t.Errorf("released after %v with lag %v, error %v; want %v or later", took, lag, err, due)
	}
	if lag, err := p.Wait(t.Context(), time.Millisecond); err != nil || lag < due-time.Millisecond {
		t.Errorf("lag %v, error %v of an arrival that was due %v ago", lag, err, due-time.Millisecond)
	}
}

func TestPacerHeedsContext(t *testing.T) {
	p, err := pace.NewPacer(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if _, err := p.Wait(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want %v", err, context.DeadlineExceeded)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it took %v to notice", took)
	}
}

func TestPacingDoesNotAllocate(t *testing.T) {
	p, err := pace.NewPacer(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ctx := t.Context()
	begin := time.Now()
	due := time.Duration(0)
	if n := testing.AllocsPerRun(200, func() {
		due = max(due+100*time.Microsecond, time.Since(begin)+100*time.Microsecond)
		if _, err := p.Wait(ctx, due); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("Wait allocates %v times", n)
	}
}

// processorTime is what this process has used.
func processorTime(b *testing.B) float64 {
	p, err := process.NewProcess(int32(os.Getpid()))
	if err != nil {
		b.Fatal(err)
	}
	used, err := p.Times()
	if err != nil {
		b.Fatal(err)
	}
	return used.User + used.System
}

// BenchmarkPacer is how late arrivals are released.
func BenchmarkPacer(b *testing.B) {
	for _, rate := range []pace.Constant{100, 1000, 10_000, 50_000} {
		b.Run(rate.String(), func(b *testing.B) {
			before := processorTime(b)
			begin := time.Now()
			s := lags(b, rate, b.N).Summary()
			b.ReportMetric((processorTime(b)-before)/time.Since(begin).Seconds(), "cores")
			for name, v := range map[string]float64{"p50": s.Median, "p90": s.P90, "p95": s.P95, "p99": s.P99, "p99.9": s.P999, "max": s.Max} {
				b.ReportMetric(v*1e6, name+"-µs")
			}
			b.ReportMetric(0, "ns/op") // it is the schedule's
		})
	}
}

// BenchmarkWait is what a pacer adds to an arrival that is due.
func BenchmarkWait(b *testing.B) {
	b.ReportAllocs()
	lags(b, pace.Constant(pace.MaxRate), b.N)
}

// Package pulse detects pauses of this process: it was stopped or had no processor. Measurements
// taken during a pause do not describe the target.
package pulse

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	period = 5 * time.Millisecond
	// A beat that is later than this, and before which the process used less than half of
	// the time, is a gap. A process whose own work keeps it busy has none: that work may be
	// an embedded target's.
	latest = 25 * time.Millisecond
	// An operation is taken as paused where gaps make up this share of it, or more.
	share = 0.01
	// most is the maximum number of gaps remembered; beyond it, the closest gaps are merged.
	most = 1024
)

// Pulse beats while something is measured. It is for several goroutines at a time; a nil
// one notices nothing. Times are since its start.
type Pulse struct {
	start time.Time
	cpu   func() time.Duration // that the process has used

	last   atomic.Int64 // beat
	gapEnd atomic.Int64 // end of the last gap; 0: no gap yet

	running atomic.Int64 // operations between Begin and End

	mu      sync.Mutex // guards what follows
	lastCPU time.Duration
	gaps    []gap

	stop, stopped chan struct{}
}

type gap struct{ from, to time.Duration }

// Start returns a pulse that beats until Stop.
func Start() *Pulse {
	p := newPulse(time.Now(), processTime)
	p.stop, p.stopped = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(p.stopped)
		ticker := time.NewTicker(period)
		defer ticker.Stop()
		for {
			select {
			case <-p.stop:
				return
			case <-ticker.C:
				p.beat(time.Since(p.start))
			}
		}
	}()
	return p
}

// Silent returns a pulse that does not beat, and notices nothing but what Add adds, for
// tests.
func Silent() *Pulse {
	p := newPulse(time.Now(), processTime)
	p.last.Store(1 << 62)
	return p
}

// Add adds a gap, behind all others.
func (p *Pulse) Add(from, to time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.add(gap{from.Sub(p.start), to.Sub(p.start)})
}

func (p *Pulse) add(g gap) {
	if n := len(p.gaps); n == most {
		p.gaps[n-1].to = g.to
	} else {
		p.gaps = append(p.gaps, g)
	}
	p.gapEnd.Store(int64(g.to))
}

func newPulse(start time.Time, cpu func() time.Duration) *Pulse {
	return &Pulse{start: start, cpu: cpu, lastCPU: cpu()}
}

// Stop ends the beats.
func (p *Pulse) Stop() {
	if p == nil || p.stop == nil {
		return
	}
	close(p.stop)
	<-p.stopped
}

// beat notes that the process is at work.
func (p *Pulse) beat(now time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := time.Duration(p.last.Load())
	if now <= last {
		return
	}
	used := p.cpu()
	if since := now - last; since > latest && used-p.lastCPU < since/2 {
		p.add(gap{last, now})
	}
	p.lastCPU = used
	p.last.Store(int64(now))
}

// Begin begins to measure what this process needs for an operation, and returns what End
// takes. Both take a microsecond, for which the operation's clock is not to run.
func (p *Pulse) Begin() time.Duration {
	if p == nil {
		return 0
	}
	p.running.Add(1)
	return p.cpu()
}

// End returns the processor time of this process that an operation used: its part of the process's
// time, divided among the operations in flight.
func (p *Pulse) End(begun time.Duration) time.Duration {
	if p == nil {
		return 0
	}
	used := p.cpu() - begun
	return used / time.Duration(p.running.Add(-1)+1)
}

// Paused reports whether the process was paused during an operation with the given start and
// duration. The call itself counts as a beat that is due, since the operation may be the first to
// continue after the pause.
func (p *Pulse) Paused(begin time.Time, took time.Duration) bool {
	if p == nil {
		return false
	}
	from := begin.Sub(p.start)
	to := from + took
	if to-time.Duration(p.last.Load()) > latest {
		p.beat(to)
	}
	if time.Duration(p.gapEnd.Load()) <= from {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var still time.Duration
	for i := len(p.gaps) - 1; i >= 0 && p.gaps[i].to > from; i-- {
		still += max(min(p.gaps[i].to, to)-max(p.gaps[i].from, from), 0)
	}
	return float64(still) > share*float64(took)
}

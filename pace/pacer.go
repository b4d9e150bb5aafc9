package pace

import (
	"context"
	"runtime"
	"time"
)

// heed is how long a pacer sleeps at most before it looks at its context.
const heed = 10 * time.Millisecond

// crowded is for how long a pacer keeps its processor without sleeping.
const crowded = time.Millisecond

// Pacer holds a goroutine back until what it does is due. It sleeps for most
// of the wait, and spins for the rest (spin, some tens of microseconds on
// Linux): sleeping alone overshoots. It does not yield to other goroutines then,
// one of which might keep the processor for much longer; only where arrivals
// are so close together that it never sleeps it does.
//
// It is used by the goroutine that made it, which has a thread of its own until
// Close: woken by the kernel itself, that goroutine waits for no other one to
// look after timers.
type Pacer struct {
	start time.Time
	awake time.Duration // since the start: when it slept last
	sleeper
}

// NewPacer returns a pacer whose times count from start. Close it.
func NewPacer(start time.Time) (*Pacer, error) {
	p := &Pacer{start: start, awake: time.Since(start)}
	if err := p.open(); err != nil {
		return nil, err
	}
	runtime.LockOSThread()
	return p, nil
}

// Wait returns once the time since start is due, or ctx has ended, whose error
// it then returns within some milliseconds. What is due already does not wait.
// lag is by how much Wait came late: release minus due, 0 or more. It allocates
// nothing.
func (p *Pacer) Wait(ctx context.Context, due time.Duration) (lag time.Duration, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		now := time.Since(p.start)
		left := due - now
		switch {
		case left <= 0:
			return -left, nil
		case left > spin:
			if err := p.sleep(min(left-spin, heed)); err != nil {
				return 0, err
			}
			p.awake = time.Since(p.start)
		case now-p.awake > crowded:
			runtime.Gosched()
		}
	}
}

// Close gives back what the pacer sleeps with.
func (p *Pacer) Close() error {
	runtime.UnlockOSThread()
	return p.close()
}

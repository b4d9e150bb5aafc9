package agents

import (
	"sync"
	"time"
)

// Clock is the measured offset of an agent's clock from the coordinator's. The true offset is
// within Uncertainty of Offset.
type Clock struct {
	At          time.Time     // time of the measurement, by the coordinator's clock; zero: never
	Offset      time.Duration // by which the agent's clock is ahead; negative: behind
	Uncertainty time.Duration // half the round trip, plus the possible drift since the exchange
	RoundTrip   time.Duration // of that exchange
}

// exchange is one request and its answer: sent and got by the coordinator's clock, received
// and answered by the agent's.
type exchange struct{ sent, received, answered, got time.Time }

// clock returns Cristian's estimate, as in NTP: the middle of the possible range.
func (x exchange) clock() Clock {
	trip := max(0, x.got.Sub(x.sent)-x.answered.Sub(x.received))
	return Clock{
		At:          x.got,
		Offset:      (x.received.Sub(x.sent) + x.answered.Sub(x.got)) / 2,
		Uncertainty: trip/2 + 1, // halves are rounded down
		RoundTrip:   trip,
	}
}

// drift is the maximum relative drift between two clocks. Quartz is accurate to 20 to 50 ppm, and
// the errors of two clocks add up.
const drift = 100e-6

// window is the number of exchanges that an estimate is selected from.
const window = 64

// clocks selects the best of an agent's last exchanges. The shortest round trip bounds the offset
// best, until the possible drift since then exceeds the uncertainty of a newer exchange.
type clocks struct {
	mu     sync.Mutex
	recent [window]Clock
	taken  int // exchanges in all
}

func (c *clocks) add(x exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recent[c.taken%window] = x.clock()
	c.taken++
}

// estimateAt returns the best estimate at a time of the coordinator's clock.
func (c *clocks) estimateAt(now time.Time) Clock {
	c.mu.Lock()
	defer c.mu.Unlock()
	var best Clock
	for i, k := range c.recent[:min(c.taken, window)] {
		k.Uncertainty += time.Duration(drift * float64(max(0, now.Sub(k.At))))
		if i == 0 || k.Uncertainty < best.Uncertainty {
			best = k
		}
	}
	return best
}

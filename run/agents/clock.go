package agents

import (
	"sync"
	"time"
)

// Clock is how an agent's clock differs from the coordinator's. The true offset is within
// Uncertainty of Offset.
type Clock struct {
	At          time.Time     // when that was found, in the coordinator's clock; zero: never
	Offset      time.Duration // by which the agent's is ahead; below 0: behind
	Uncertainty time.Duration // half the round trip, and what clocks may have drifted since the exchange
	RoundTrip   time.Duration // of that exchange
}

// exchange is one request and its answer: sent and got by the coordinator's clock, received
// and answered by the agent's.
type exchange struct{ sent, received, answered, got time.Time }

// clock is Cristian's estimate, as NTP makes it: the middle of what is possible.
func (x exchange) clock() Clock {
	trip := max(0, x.got.Sub(x.sent)-x.answered.Sub(x.received))
	return Clock{
		At:          x.got,
		Offset:      (x.received.Sub(x.sent) + x.answered.Sub(x.got)) / 2,
		Uncertainty: trip/2 + 1, // halves are rounded down
		RoundTrip:   trip,
	}
}

// drift is by how much two clocks may move apart, as a part of the time. Quartz is within
// 20 to 50 ppm, and two of them add up.
const drift = 100e-6

// window is how many exchanges an estimate is chosen from.
const window = 64

// clocks chooses the best of an agent's last exchanges. The shortest round trip bounds the
// offset best, until clocks may have drifted by more than a newer one would say.
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

// at is the best estimate at a time of the coordinator's clock.
func (c *clocks) at(now time.Time) Clock {
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

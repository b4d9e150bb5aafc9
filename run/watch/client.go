package watch

import (
	"fmt"
	"time"

	"github.com/tsmark/tsmark/result"
)

// Beyond these the client may have limited the rate: it had little capacity left, or the target
// came near the client's maximum, or goroutines waited for a processor as long as a typical answer
// takes.
const (
	busyShare    = 0.8 // of the processors that the client may use
	ceilingShare = 0.5 // of the calibrated rate
)

// ClientBound says why the client may have limited the rate of a measurement; empty: it did not. If
// other programs kept processors busy, they caused the wait for one, and not the client. Rate and
// ceiling are operations per second, typical a latency in seconds; 0: unknown.
func ClientBound(measured *result.Cell, rate, ceiling, typical float64) string {
	c := measured.Client
	if c == nil {
		return ""
	}
	if c.CPU.IsKnown() && c.Wall > 0 && c.Procs > 0 {
		if share := float64(c.CPU) / c.Wall / float64(c.Procs); share > busyShare {
			return fmt.Sprintf("the client used %.0f %% of its processors", 100*share)
		}
	}
	if ceiling > 0 && rate > ceilingShare*ceiling {
		return fmt.Sprintf("%.0f %% of the rate that the client reaches where nothing answers", 100*rate/ceiling)
	}
	if typical > 0 && !measured.Noise.Contended() && c.SchedulingP99.IsKnown() && float64(c.SchedulingP99) > typical {
		return fmt.Sprintf("one in a hundred goroutines waited %v and longer for a processor", time.Duration(float64(c.SchedulingP99)*1e9).Round(time.Microsecond))
	}
	return ""
}

// Beyond these shares, of the service time of queries and of all queries that were run, tsmark
// itself was too large a part of the measurement.
const (
	ownShare    = 0.5
	pausedShare = 0.1
)

// ClientBoundByOwnTime says why the figures of queries mostly measure tsmark itself; empty: they do
// not, as far as known.
func ClientBoundByOwnTime(q *result.Queries) string {
	if share := q.ClientShare(); share.IsKnown() && share > ownShare {
		return fmt.Sprintf("tsmark itself computed during %.0f %% of the service time of the queries", 100*float64(share))
	}
	if all := q.Executed + q.Paused; float64(q.Paused) > pausedShare*float64(all) {
		return fmt.Sprintf("tsmark was paused during %d of %d queries, which are excluded", q.Paused, all)
	}
	return ""
}

// ClientBoundByPause says that a load's rates include time in which tsmark was suspended; empty: no
// significant time.
func ClientBoundByPause(l *result.Load) string {
	const share = 0.01
	if l.Sent > 0 && l.PausedTime > share*l.Sent {
		return fmt.Sprintf("tsmark was paused during %d of its batches, which took %.2g s together", l.Paused, l.PausedTime)
	}
	return ""
}

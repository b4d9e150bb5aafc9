package metric

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/driver/kit/poll"
)

// A server's queue counts as empty once the number of points has been constant for standing intervals
// at which the server flushes its queue, and for at least a second. The points are counted once per
// interval, but not more often than every recount.
const (
	quietIntervals = 5
	quiet          = time.Second
	recount        = 200 * time.Millisecond
)

// Settling waits for points in a server's queue, whose length the server does not report. It implements
// driver.DB.
type Settling struct {
	since atomic.Pointer[time.Time] // nil: it has not waited
}

// Await counts points until no more appear; the server flushes its queue each interval. With a nil
// count, all points are visible already.
func (s *Settling) Await(ctx context.Context, interval time.Duration, count func(context.Context) (int64, error)) error {
	since, err := time.Now(), error(nil)
	if count != nil {
		before := int64(-1)
		since, err = poll.Idle(ctx, max(interval, recount), max(quietIntervals*interval, quiet), func() (bool, error) {
			n, err := count(ctx)
			moved := n != before
			before = n
			return moved, err
		})
	}
	if err == nil {
		s.since.Store(&since)
	}
	return err
}

// IdleSince implements driver.DB.
func (s *Settling) IdleSince() time.Time { return *s.since.Load() }

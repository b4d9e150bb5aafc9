package metric

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/driver/poll"
)

// Points that are queued on a server have all come once their number has not changed for
// so long: KairosDB hands on a queue that is nearly empty every 500 ms
// (kairosdb.queue_processor.min_batch_wait), OpenTSDB every second
// (tsd.storage.flush_interval). And how often it is looked at.
const (
	quiet   = 5 * time.Second
	recount = time.Second
)

// Settling waits for points that are queued on a server, of which the server tells nothing.
// It implements driver.Watcher.
type Settling struct {
	since atomic.Pointer[time.Time] // nil: it has not waited
}

// Await counts points until no more appear. Without count all are there at once.
func (s *Settling) Await(ctx context.Context, count func(context.Context) (int64, error)) error {
	since, err := time.Now(), error(nil)
	if count != nil {
		before := int64(-1)
		since, err = poll.Idle(ctx, recount, quiet, func() (bool, error) {
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

// IdleSince implements driver.Watcher.
func (s *Settling) IdleSince() time.Time { return *s.since.Load() }

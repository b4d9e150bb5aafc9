package prometheus

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/poll"
	"github.com/tsmark/tsmark/driver/kit/promql"
	"github.com/tsmark/tsmark/series"
)

// head is the server's in-memory block: a range of times from which it writes blocks of two hours each.
type head struct {
	mu     sync.Mutex
	placed atomic.Bool // the head begins where the rows begin
	empty  atomic.Bool // no row was written since the step compact
}

// writer moves the head to the start of the rows before it writes the first ones.
type writer struct {
	driver.Writer
	database *database
}

// NewWriter implements driver.DB.
func (d *database) NewWriter(ctx context.Context, worker int) (driver.Writer, error) {
	w, err := d.Loader.NewWriter(ctx, worker)
	if err != nil {
		return nil, err
	}
	return &writer{w, d}, nil
}

// Write implements driver.Writer.
func (w *writer) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	if !w.database.head.placed.Load() && w.database.settings.quirks == nil {
		if err := w.database.placeHead(ctx, b); err != nil {
			return driver.Receipt{}, fmt.Errorf("writing to Prometheus: %w", err)
		}
	}
	if w.database.head.empty.Load() {
		w.database.head.empty.Store(false)
	}
	return w.Writer.Write(ctx, b)
}

// placeHead makes the server write samples to blocks that are much older than the rows of a batch. The
// server skips the years without samples in between only if no series has late samples alone; otherwise
// it advances in steps of two hours. Therefore tsmark writes a sample of its own before all rows.
func (d *database) placeHead(ctx context.Context, b *series.Batch) error {
	d.head.mu.Lock()
	defer d.head.mu.Unlock()
	first := int64(math.MaxInt64)
	for i := range b.Runs {
		for _, at := range b.Runs[i].Times {
			first = min(first, at/int64(time.Millisecond))
		}
	}
	if d.head.placed.Load() || first == math.MaxInt64 {
		return nil
	}
	ctx, cancel := d.settings.wire.WithTimeout(ctx)
	defer cancel()
	newest, ok, err := d.newest(ctx)
	if err == nil && ok && first > newest {
		err = d.moveHead(ctx, first, newest)
	}
	if err != nil {
		if errors.Is(err, driver.ErrUnreachable) && driver.AsTemporary(err) == nil {
			err = &driver.Temporary{Err: err, Refused: true}
		}
		return err
	}
	d.head.placed.Store(true)
	return nil
}

// headMark is a sample of tsmark's own with which a server's memory begins.
var headMark = []promql.NotePart{{Labels: [][2]string{{"tsmark_head", "here"}}}}

// moveHead writes a sample at a time, and waits until everything up to another time is in blocks, if
// the first is late enough for the server to do so.
func (d *database) moveHead(ctx context.Context, to, older int64) error {
	flags, err := d.flags(ctx)
	if err != nil || to-older <= headSpan(flags).Milliseconds() {
		return err
	}
	if err := d.send(ctx, to, headMark); err != nil {
		return err
	}
	return poll.Wait(ctx, 5*time.Millisecond, time.Second, func() (bool, error) {
		all, err := d.ReadMetrics(ctx)
		return all["prometheus_tsdb_head_min_time"] > float64(older), err
	})
}

// headSpan is the time range of the head at which the server writes blocks.
func headSpan(flags map[string]string) time.Duration {
	block := duration(flags["storage.tsdb.min-block-duration"])
	if block == 0 {
		block = 2 * time.Hour
	}
	return block / 2 * 3
}

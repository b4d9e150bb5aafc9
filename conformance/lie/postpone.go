package lie

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/poll"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Postpone returns the driver with databases that acknowledge each batch at once and write
// it only the delay later. They say that they have settled all the same. Where hold is true,
// queries and counts wait until all acknowledged rows are written; else they miss these rows.
func Postpone(d driver.Driver, delay time.Duration, hold bool) driver.Driver {
	open := d.Open
	d.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
		db, err := open(ctx, env, o)
		p := &postponing{Required: db.Required, delay: delay, hold: hold}
		db.Required = p
		db.IdleSince, db.TakesLines = nil, nil // Settle waits for nothing, and writers take batches only
		if count := db.CountRows; count != nil {
			db.CountRows = func(ctx context.Context, t *series.Table) (int64, error) {
				if err := p.wait(ctx); err != nil {
					return 0, err
				}
				return count(ctx, t)
			}
		}
		return db, err
	}
	return d
}

type postponing struct {
	driver.Required
	delay   time.Duration
	hold    bool
	pending atomic.Int64   // batches that are acknowledged and not written
	writers sync.WaitGroup // goroutines that write

	mu     sync.Mutex
	failed error // of the goroutines
}

// Settle implements driver.DB.
func (p *postponing) Settle(context.Context) error { return nil }

// Close implements driver.DB.
func (p *postponing) Close() error {
	p.writers.Wait()
	return errors.Join(p.failed, p.Required.Close())
}

// wait returns once all acknowledged rows are stored, if the database holds queries back.
func (p *postponing) wait(ctx context.Context) error {
	if !p.hold {
		return nil
	}
	return poll.Wait(ctx, time.Millisecond, time.Millisecond, func() (bool, error) { return p.pending.Load() == 0, nil })
}

// NewQuerier implements driver.DB.
func (p *postponing) NewQuerier(ctx context.Context, worker int) (driver.Querier, error) {
	q, err := p.Required.NewQuerier(ctx, worker)
	return &postponingQuerier{q, p}, err
}

type postponingQuerier struct {
	driver.Querier
	database *postponing
}

// Do implements driver.Querier.
func (q *postponingQuerier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	if err := q.database.wait(ctx); err != nil {
		return driver.Cost{}, err
	}
	return q.Querier.Do(ctx, r, sink)
}

// NewWriter implements driver.DB.
func (p *postponing) NewWriter(ctx context.Context, worker int) (driver.Writer, error) {
	w, err := p.Required.NewWriter(ctx, worker)
	if err != nil {
		return nil, err
	}
	batches := make(chan postponed, 1<<12)
	late := &postponingWriter{p, batches, sync.OnceFunc(func() { close(batches) })}
	p.writers.Go(func() {
		if err := late.apply(context.WithoutCancel(ctx), w); err != nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.failed = errors.Join(p.failed, fmt.Errorf("writing acknowledged rows later: %w", err))
		}
	})
	return late, nil
}

type postponingWriter struct {
	database *postponing
	batches  chan postponed
	end      func() // closes batches once
}

// postponed is a batch that is written later.
type postponed struct {
	batch *series.Batch
	due   time.Time
}

// apply writes the batches with the writer when they are due, and closes it after the last one.
func (w *postponingWriter) apply(ctx context.Context, to driver.Writer) error {
	var failed error
	for p := range w.batches {
		time.Sleep(time.Until(p.due))
		_, err := to.Write(ctx, p.batch)
		if err == nil {
			_, err = to.Flush(ctx)
		}
		failed = errors.Join(failed, err)
		w.database.pending.Add(-1)
	}
	return errors.Join(failed, to.Close())
}

// Write implements driver.Writer.
func (w *postponingWriter) Write(_ context.Context, b *series.Batch) (driver.Receipt, error) {
	w.database.pending.Add(1)
	now := time.Now()
	w.batches <- postponed{b.CopyRows(nil), now.Add(w.database.delay)}
	return driver.Receipt{Sent: now, Acked: now, Rows: int64(b.Rows())}, nil
}

// Flush implements driver.Writer.
func (w *postponingWriter) Flush(context.Context) (driver.Receipt, error) {
	return driver.Receipt{}, nil
}

// Close implements driver.Writer.
func (w *postponingWriter) Close() error {
	w.end()
	return nil
}

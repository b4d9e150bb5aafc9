package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tsmark/tsmark/ingest"
	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/target"
	"github.com/tsmark/tsmark/workload"
)

// LoadConfig says how to load.
type LoadConfig struct {
	Workers   int            // connections writing at once, at least 1
	BatchSize int            // rows a write, at least 1
	Period    time.Duration  // of the recorded rates, shorter where the load is; 0: one for the whole load
	Log       *oplog.Section // where each batch is recorded; nil: nowhere
	// Acked, where it is not nil, is called between the last acknowledgement
	// and settling, whose time includes it.
	Acked func(context.Context)
}

// Load writes the whole dataset to a prepared target and waits until the
// target has settled. The clock starts once all workers are connected. On an
// error the result holds what had been done by then; its Rows are always the
// rows that the target accepted.
func Load(ctx context.Context, cfg LoadConfig, d workload.Dataset, t target.Target, progress Progress) (*result.Load, error) {
	var reader workload.Reader
	return load(ctx, cfg, feed[*series.Batch]{
		make: func() *series.Batch { return new(series.Batch) },
		next: func(b *series.Batch) error {
			if reader == nil {
				reader = d.Open()
			}
			return reader.Next(b, cfg.BatchSize)
		},
		send: func(ctx context.Context, w target.Writer, b *series.Batch) (target.Receipt, error) {
			return w.Write(ctx, b)
		},
		rows:     (*series.Batch).Rows,
		metrics:  metrics,
		describe: describe,
	}, t, progress)
}

// LoadLines writes the rows of a source as they are, as Load writes batches.
// The target's writers are target.LineWriters. Values are not counted.
func LoadLines(ctx context.Context, cfg LoadConfig, lines *ingest.Lines, t target.Target, progress Progress) (*result.Load, error) {
	return load(ctx, cfg, feed[*ingest.Chunk]{
		make: func() *ingest.Chunk { return new(ingest.Chunk) },
		next: func(c *ingest.Chunk) error { return lines.Next(c, cfg.BatchSize) },
		send: func(ctx context.Context, w target.Writer, c *ingest.Chunk) (target.Receipt, error) {
			return w.(target.LineWriter).WriteLines(ctx, c.Text, c.Rows)
		},
		rows:     func(c *ingest.Chunk) int { return c.Rows },
		metrics:  func(*ingest.Chunk) int64 { return 0 },
		describe: (*ingest.Chunk).String,
	}, t, progress)
}

// feed is where the parcels of a load come from and how they are sent.
type feed[P any] struct {
	make     func() P
	next     func(P) error // fills it; io.EOF after the last one
	send     func(context.Context, target.Writer, P) (target.Receipt, error)
	rows     func(P) int
	metrics  func(P) int64
	describe func(P) string
}

// load connects the writers, and runs the clock.
func load[P any](ctx context.Context, cfg LoadConfig, from feed[P], t target.Target, progress Progress) (*result.Load, error) {
	l := loader{log: cfg.Log, out: result.Load{Workers: cfg.Workers, BatchSize: cfg.BatchSize, DiskBytes: -1, DiskBefore: -1, DiskAcked: -1}}
	writers := make([]target.Writer, 0, cfg.Workers)
	defer func() {
		for _, w := range writers {
			w.Close() // a second time after an orderly end: harmless, and without news
		}
	}()
	for i := range cfg.Workers {
		w, err := t.NewWriter(ctx, i)
		if err != nil {
			return &l.out, fmt.Errorf("connecting writer %d: %w", i, err)
		}
		writers = append(writers, w)
	}

	l.start = time.Now()
	stopRates := l.recordRates(cfg.Period)
	err := write(ctx, &l, from, writers, progress)
	stopRates()
	l.finish()
	if err != nil {
		return &l.out, err
	}
	if l.out.Batches, err = latencyOf(l.latency); err != nil {
		return &l.out, err
	}
	if cfg.Acked != nil {
		cfg.Acked(ctx)
	}
	if err := t.Settle(ctx); err != nil {
		return &l.out, fmt.Errorf("waiting for the load to settle: %w", err)
	}
	l.out.Settled = time.Since(l.start).Seconds()
	return &l.out, nil
}

// loader is the state that the workers of one load share.
type loader struct {
	out     result.Load
	start   time.Time
	rows    atomic.Int64 // accepted
	rated   int64        // of these, in out.Rates
	log     *oplog.Section
	batches atomic.Int64 // recorded in it
	metrics atomic.Int64
	bytes   atomic.Int64
	sent    largest // nanoseconds since start
	acked   largest

	mu      sync.Mutex // guards latency
	latency *measure.Latency
}

// write runs one reader and all writers to the end of the dataset.
func write[P any](ctx context.Context, l *loader, from feed[P], writers []target.Writer, progress Progress) error {
	l.latency = measure.NewLatency()
	// Each writer has a batch at work and another one ready.
	slots := 2*len(writers) + 1
	free, ready := make(chan P, slots), make(chan P, slots)
	for range slots {
		free <- from.make()
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(ready)
		for {
			select {
			case b := <-free:
				if err := from.next(b); errors.Is(err, io.EOF) {
					return nil
				} else if err != nil {
					return fmt.Errorf("reading the dataset: %w", err)
				}
				ready <- b
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
	for i, w := range writers {
		group.Go(func() error {
			latency := measure.NewLatency()
			log := l.log.Recorder(i, l.start)
			defer log.Close()
			defer func() {
				l.mu.Lock()
				defer l.mu.Unlock()
				l.latency.Merge(latency)
			}()
			for b := range ready {
				if err := ctx.Err(); err != nil {
					return err
				}
				rows, values := from.rows(b), from.metrics(b)
				begin := time.Now()
				receipt, err := from.send(ctx, w, b)
				l.count(receipt)
				if err != nil {
					l.record(log, failed(ctx), begin, time.Now(), receipt, 0)
					return fmt.Errorf("writer %d, %s: %w", i, from.describe(b), err)
				}
				end := receipt.Acked
				if end.IsZero() {
					end = receipt.Sent
				}
				latency.Record(end.Sub(begin))
				l.record(log, oplog.OK, begin, end, receipt, values)
				l.metrics.Add(values)
				progress(rows)
				free <- b
			}
			begin := time.Now()
			receipt, err := w.Flush(ctx)
			l.count(receipt)
			if receipt != (target.Receipt{}) {
				l.record(log, oplog.Flushed, begin, receipt.Acked, receipt, 0)
			}
			if err != nil {
				return fmt.Errorf("writer %d, sending the rest: %w", i, err)
			}
			if err := w.Close(); err != nil {
				return fmt.Errorf("closing writer %d: %w", i, err)
			}
			return nil
		})
	}
	return group.Wait()
}

func (l *loader) count(r target.Receipt) {
	l.rows.Add(r.Rows)
	l.bytes.Add(r.WireBytes)
	if !r.Sent.IsZero() {
		l.sent.add(int64(r.Sent.Sub(l.start)))
	}
	if !r.Acked.IsZero() {
		l.acked.add(int64(r.Acked.Sub(l.start)))
	}
}

func (l *loader) finish() {
	l.out.Rows, l.out.Metrics, l.out.WireBytes = l.rows.Load(), l.metrics.Load(), l.bytes.Load()
	l.out.Sent = time.Duration(l.sent.v.Load()).Seconds()
	l.out.Acked = time.Duration(l.acked.v.Load()).Seconds()
}

// metrics counts the values of a batch that are not NULL.
func metrics(b *series.Batch) int64 {
	n := int64(0)
	for i := range b.Runs {
		for f := range b.Runs[i].Columns {
			n += int64(b.Runs[i].Values(f))
		}
	}
	return n
}

// describe names a batch so that a user can find it again.
func describe(b *series.Batch) string {
	var first, last *series.Run
	for i := range b.Runs {
		if run := &b.Runs[i]; run.Rows() > 0 {
			last = run
			if first == nil {
				first = run
			}
		}
	}
	if first == nil {
		return "batch without rows"
	}
	at := func(t int64) string { return time.Unix(0, t).UTC().Format(time.RFC3339Nano) }
	return fmt.Sprintf("batch of %d rows of %s from %s to %s",
		b.Rows(), first.Table.Name, at(first.Times[0]), at(last.Times[last.Rows()-1]))
}

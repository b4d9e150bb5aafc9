package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/ingest"
)

// LoadConfig says how to load.
type LoadConfig struct {
	Workers   int            // connections writing at once, at least 1
	BatchSize int            // rows a write, at least 1
	Period    time.Duration  // of the recorded rates, shorter where the load is; 0: one for the whole load
	Log       *oplog.Section // where each batch is recorded; nil: nowhere
	Retry     Retry          // of batches that failed
	// Owner says which worker, from 0, writes a batch; nil: whoever is free.
	Owner func(*series.Batch) int
	// Acked, where it is not nil, is called between the last acknowledgement
	// and settling, whose time includes it.
	Acked func(context.Context)
}

// Load writes the whole dataset to a prepared target and waits until the
// target has settled. The clock starts once all workers are connected. On an
// error the result holds what had been done by then; its Rows are always the
// rows that the target accepted.
func Load(ctx context.Context, cfg LoadConfig, d workload.Dataset, t driver.DB, progress Progress) (*result.Load, error) {
	var reader workload.Reader
	return load(ctx, cfg, feed[*series.Batch]{
		make: func() *series.Batch { return new(series.Batch) },
		next: func(b *series.Batch) error {
			if reader == nil {
				reader = d.Open()
			}
			return reader.Next(b, cfg.BatchSize)
		},
		send: func(ctx context.Context, w driver.Writer, b *series.Batch) (driver.Receipt, error) {
			return w.Write(ctx, b)
		},
		owner:    cfg.Owner,
		rows:     (*series.Batch).Rows,
		metrics:  metrics,
		describe: describe,
	}, t, progress)
}

// LoadLines writes the rows of a source as they are, as Load writes batches.
// The target's writers are driver.LineWriters. Values are not counted.
func LoadLines(ctx context.Context, cfg LoadConfig, lines *ingest.Lines, t driver.DB, progress Progress) (*result.Load, error) {
	return load(ctx, cfg, feed[*ingest.Chunk]{
		make: func() *ingest.Chunk { return new(ingest.Chunk) },
		next: func(c *ingest.Chunk) error { return lines.Next(c, cfg.BatchSize) },
		send: func(ctx context.Context, w driver.Writer, c *ingest.Chunk) (driver.Receipt, error) {
			return w.(driver.LineWriter).WriteLines(ctx, c.Text, c.Rows)
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
	owner    func(P) int   // the worker that writes it; nil: whoever is free
	send     func(context.Context, driver.Writer, P) (driver.Receipt, error)
	rows     func(P) int
	metrics  func(P) int64
	describe func(P) string
}

// numbered is a parcel with its place in the dataset, from 1.
type numbered[P any] struct {
	of            P
	number, first int64 // of the parcel; of its first row
}

func (f *feed[P]) sendNumbered(ctx context.Context, w driver.Writer, p numbered[P]) (driver.Receipt, error) {
	return f.send(ctx, w, p.of)
}

func (f *feed[P]) rowsNumbered(p numbered[P]) int { return f.rows(p.of) }

// batchFailure names the batch that could not be written, so that a user can find
// it again.
func batchFailure(worker int, number, first int64, rows int, content string, err error) error {
	return fmt.Errorf("writer %d, batch %d (rows %d to %d, %s): %w", worker, number, first, first+int64(rows)-1, content, err)
}

// load connects the writers, and runs the clock.
func load[P any](ctx context.Context, cfg LoadConfig, from feed[P], t driver.DB, progress Progress) (*result.Load, error) {
	l := loader{log: cfg.Log, out: newResult(&cfg)}
	lanes := make([]*lane[numbered[P]], 0, cfg.Workers)
	defer func() {
		for _, way := range lanes {
			_ = way.close() // a second time after an orderly end: harmless, and without news
		}
	}()
	for i := range cfg.Workers {
		w, err := t.NewWriter(ctx, i)
		if err != nil {
			return &l.out, fmt.Errorf("connecting writer %d: %w", i, err)
		}
		lanes = append(lanes, newLane(&l, &cfg, t, i, w, from.sendNumbered, from.rowsNumbered))
	}

	l.start = time.Now()
	stopRates := l.recordRates(cfg.Period)
	err := write(ctx, &l, from, lanes, progress)
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
	settled, err := settle(ctx, t, cfg.Retry)
	if err != nil {
		return &l.out, fmt.Errorf("waiting for the load to settle: %w", err)
	}
	l.out.Settled = settled.Sub(l.start).Seconds()
	return &l.out, nil
}

// newResult returns a result to fill in.
func newResult(cfg *LoadConfig) result.Load {
	return result.Load{
		Workers: cfg.Workers, BatchSize: cfg.BatchSize, Accumulated: make([]float64, cfg.Workers),
		DiskBytes: -1, DiskBefore: -1, DiskAcked: -1,
	}
}

// settle waits until the target has settled, also for its return, and returns
// when it had.
func settle(ctx context.Context, t driver.DB, retry Retry) (time.Time, error) {
	tries := attempts{retry: retry, random: rand.New(rand.NewPCG(0, 0))}
	for {
		at, err := driver.Settled(ctx, t)
		if err = temporary(err); err == nil || ctx.Err() != nil || driver.AsTemporary(err) == nil {
			return at, err
		}
		if err := tries.next(ctx, err); err != nil {
			return at, err
		}
	}
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

	sentTwice atomic.Int64 // rows

	mu      sync.Mutex // guards latency, out.Accumulated and out.Retries
	latency *measure.Latency
}

// write runs one reader and all writers to the end of the dataset.
func write[P any](ctx context.Context, l *loader, from feed[P], lanes []*lane[numbered[P]], progress Progress) error {
	l.latency = measure.NewLatency()
	// Each writer has a batch at work and another one ready.
	slots := 2*len(lanes) + 1
	free, ready := make(chan P, slots), newQueues[numbered[P]](len(lanes), slots, from.owner != nil)
	for range slots {
		free <- from.make()
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer ready.close()
		number, rows := int64(0), int64(0)
		for {
			select {
			case b := <-free:
				if err := from.next(b); errors.Is(err, io.EOF) {
					return nil
				} else if err != nil {
					return fmt.Errorf("reading the dataset: %w", err)
				}
				number++
				owner := 0
				if from.owner != nil {
					owner = from.owner(b)
				}
				select {
				case ready[owner] <- numbered[P]{b, number, rows + 1}:
				case <-ctx.Done():
					return ctx.Err()
				}
				rows += int64(from.rows(b))
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	})
	for i, way := range lanes {
		group.Go(func() error { return writeAll(ctx, l, &from, way, free, ready[i], progress) })
	}
	return group.Wait()
}

// writeAll is a writer's work.
func writeAll[P any](ctx context.Context, l *loader, from *feed[P], way *lane[numbered[P]], free chan<- P, ready <-chan numbered[P], progress Progress) error {
	latency := measure.NewLatency()
	log := l.log.Recorder(way.worker, l.start)
	defer log.Close()
	defer func() { l.merge(way.worker, latency) }()
	values := int64(0) // of the batch at work
	way.retried = l.retried(log, &values)
	for b := range ready {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows := from.rows(b.of)
		values = from.metrics(b.of)
		begin := time.Now()
		receipt, done, err := way.write(ctx, b)
		l.count(receipt)
		if err != nil {
			l.record(log, failed(ctx), begin, time.Now(), receipt, 0)
			return batchFailure(way.worker, b.number, b.first, rows, from.describe(b.of), err)
		}
		end := latest(receipt.Acked, receipt.Sent)
		latency.Record(end.Sub(begin))
		l.record(log, oplog.OK, begin, end, receipt, values)
		l.metrics.Add(values)
		progress(rows)
		for _, d := range done {
			recycle(free, d.of)
		}
		if len(done) == 0 {
			recycle(free, from.make()) // while the writer keeps this one back
		}
	}
	values = 0
	begin := time.Now()
	receipt, err := way.flush(ctx)
	l.count(receipt)
	if receipt != (driver.Receipt{}) {
		l.record(log, oplog.Flushed, begin, receipt.Acked, receipt, 0)
	}
	if err != nil {
		return fmt.Errorf("writer %d, sending the rest: %w", way.worker, err)
	}
	if err := way.close(); err != nil {
		return fmt.Errorf("closing writer %d: %w", way.worker, err)
	}
	return nil
}

// recycle gives a parcel back. There may be one more than there is room for,
// where writers kept some back.
func recycle[P any](free chan<- P, p P) {
	select {
	case free <- p:
	default:
	}
}

// retried returns what is to be done about a try that failed and is followed
// by another one, when the batch at work has so many values.
func (l *loader) retried(log *oplog.Recorder, values *int64) func(time.Time, driver.Receipt, error) {
	return func(begin time.Time, r driver.Receipt, err error) {
		l.bytes.Add(r.WireBytes)
		l.record(log, oplog.Retried, begin, time.Now(), driver.Receipt{WireBytes: r.WireBytes}, 0)
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.out.Retries == nil {
			l.out.Retries = &result.Retries{Cause: err.Error()}
		}
		l.out.Retries.Tries++
		l.out.Retries.Values += *values
	}
}

func (l *loader) merge(worker int, latency *measure.Latency) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.latency.Merge(latency)
	l.out.Accumulated[worker] = latency.Sum().Seconds()
}

func (l *loader) count(r driver.Receipt) {
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
	if l.out.Retries != nil {
		l.out.Retries.SentTwice = l.sentTwice.Load()
	}
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

// describe says what is in a batch.
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
		return "none"
	}
	at := func(t int64) string { return time.Unix(0, t).UTC().Format(time.RFC3339Nano) }
	return fmt.Sprintf("%s from %s to %s",
		first.Table.Name, at(first.Times[0]), at(last.Times[last.Rows()-1]))
}

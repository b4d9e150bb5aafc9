package engine

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine/pulse"
	"github.com/tsmark/tsmark/engine/retry"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/measure/tally"
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
	Retry     retry.Policy   // of batches that failed
	// Owner says which worker, from 0, writes a batch; nil: whoever is free.
	Owner func(*series.Batch) int
	// InOrder has several workers write rows in order: each writes series of its own, as
	// Owner says or else dealt to them, and no batch is written whose rows are newer by
	// more than that than those of one that is not written yet. Its target's writers keep
	// nothing back. 0: they may overtake each other.
	InOrder time.Duration
	Start   Start // says when the clock starts; nil: once all workers are connected
	// Acked, where it is not nil, is called between the last acknowledgement
	// and settling, whose time includes it.
	Acked func(context.Context)
	Pulse func() *pulse.Pulse // as in QueryConfig
	// Visible says how is found out, on the clock, that the rows are visible.
	Visible Visibility
}

// Load writes the whole dataset to a prepared target and waits until the
// target has settled. The clock starts when cfg.Start says. On an
// error the result holds what had been done by then; its Rows are always the
// rows that the target accepted.
func Load(ctx context.Context, cfg LoadConfig, d workload.Dataset, t driver.DB, progress Progress) (*result.Load, error) {
	l, err := send(ctx, cfg, fillsOf(&cfg, d), t, progress)
	return l.settle(ctx, d.Schema(), t, err)
}

// Send is Load without the settling: for one of several clients, each of which writes
// its share.
func Send(ctx context.Context, cfg LoadConfig, d workload.Dataset, t driver.DB, progress Progress) (*result.Load, error) {
	l, err := send(ctx, cfg, fillsOf(&cfg, d), t, progress)
	return &l.out, err
}

// fillsOf returns what fills batches with the rows of a dataset, in the ways of workers
// that write as cfg says, which it completes.
func fillsOf(cfg *LoadConfig, d workload.Dataset) []func(*batch) error {
	if cfg.Workers == 1 {
		cfg.InOrder = 0
	}
	fills := []func(*batch) error{rowsOf(d, cfg.BatchSize)}
	switch {
	case cfg.InOrder > 0 && cfg.Owner == nil:
		dealer := newDealer(d, cfg)
		fills[0], cfg.Owner = dealer.fill, dealer.owner
	case cfg.InOrder == 0 && cfg.Owner != nil && workload.Shards(d) == cfg.Workers:
		fills = shardsOf(d.(workload.Sharded), cfg.BatchSize)
	}
	return fills
}

// LoadLines writes the rows of a source as they are, as Load writes batches.
// The target's writers are driver.LineWriters. Values are not counted.
func LoadLines(ctx context.Context, cfg LoadConfig, lines *ingest.Lines, t driver.DB, progress Progress) (*result.Load, error) {
	cfg.Owner, cfg.InOrder = nil, 0 // of lines nobody knows whose they are
	l, err := send(ctx, cfg, []func(*batch) error{linesOf(lines, cfg.BatchSize)}, t, progress)
	return l.settle(ctx, cfg.Visible.Schema, t, err)
}

// send connects the workers, and runs the clock until all is written.
func send(ctx context.Context, cfg LoadConfig, fills []func(*batch) error, t driver.DB, progress Progress) (*loader, error) {
	l := newLoader(cfg, oplog.Cell{}, fills, progress)
	defer l.close()
	defer l.clock.start(cfg.Pulse, false)()
	err := l.connect(ctx, t)
	if err == nil {
		l.start, err = cfg.Start.clock(ctx)
	}
	if err != nil {
		l.out, _ = l.figures() // of nothing
		return l, err
	}
	err = l.run(ctx)
	out, figuresErr := l.figures()
	if l.out = out; err == nil {
		err = figuresErr
	}
	return l, err
}

// settle returns the figures of a load, once the target has settled, unless an error
// ended it.
func (l *loader) settle(ctx context.Context, schema *series.Schema, t driver.DB, err error) (*result.Load, error) {
	if err == nil {
		err = Settle(ctx, l.cfg, l.start, schema, t, l.collectLoaded(), &l.out)
	}
	return &l.out, err
}

// collectLoaded is what the workers have written.
func (l *loader) collectLoaded() Loaded {
	return Loaded{Sample: rowsToLookFor(l.connections), Accepted: l.out.Rows}
}

// loader is the state that the workers of one load share.
type loader struct {
	cfg         LoadConfig
	start       time.Time
	supplies    []*supply // one for all workers, or one for each
	order       *order
	connections []*connection
	tally       *tally.Tally
	again       again
	clock       clock
	progress    Progress
	out         result.Load // once it has ended
}

// newLoader returns the loader of a part of a load, which the cell says. There is one
// that fills batches, or one for each worker.
func newLoader(cfg LoadConfig, cell oplog.Cell, fills []func(*batch) error, progress Progress) *loader {
	cell.Kind, cell.Workers = oplog.Load, cfg.Workers
	l := &loader{cfg: cfg, order: newOrder(cfg.InOrder), tally: tally.New(cell, cfg.Period), progress: progress}
	numbers := new(atomic.Int64)
	for i, fill := range fills {
		s := newSupply(cfg.Workers/len(fills), fill, numbers)
		if len(fills) > 1 {
			s.of = fmt.Sprintf(" of the series of writer %d", i)
		}
		l.supplies = append(l.supplies, s)
	}
	return l
}

// supplyOf returns where a worker's batches come from.
func (l *loader) supplyOf(worker int) *supply { return l.supplies[worker%len(l.supplies)] }

func (l *loader) connect(ctx context.Context, t driver.DB) error {
	for i := range l.cfg.Workers {
		c, err := connect(ctx, t, i, l.cfg.Retry, &l.again)
		if err != nil {
			return err
		}
		if l.cfg.Visible.Render != nil {
			c.written = newWritten()
		}
		l.connections = append(l.connections, c)
	}
	return nil
}

// close closes all connections; after an orderly end that is harmless, and without
// news.
func (l *loader) close() {
	for _, c := range l.connections {
		_ = c.close()
	}
}

// run runs one reader, or one for each worker, and all workers to the end of the
// dataset.
func (l *loader) run(ctx context.Context) error {
	ready := newQueues(l.cfg.Workers, cap(l.supplies[0].free), l.cfg.Owner != nil)
	group, ctx := errgroup.WithContext(ctx)
	for i, s := range l.supplies {
		queues := ready
		if len(l.supplies) > 1 {
			queues = ready[i : i+1]
		}
		group.Go(func() error {
			defer queues.close()
			return l.read(ctx, s, queues)
		})
	}
	for i, c := range l.connections {
		group.Go(func() error { return l.work(ctx, c, ready[i], nil) })
	}
	return group.Wait()
}

// read hands the batches of a supply to their workers.
func (l *loader) read(ctx context.Context, s *supply, ready queues) error {
	for {
		b, err := s.next(ctx)
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := l.order.begin(ctx, b); err != nil {
			return err
		}
		to := ready[0]
		if len(ready) > 1 {
			to = ready[l.owner(b)]
		}
		select {
		case to <- b:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// owner is the worker that writes a batch, or the first where it is whoever is
// free.
func (l *loader) owner(b *batch) int {
	if l.cfg.Owner == nil {
		return 0
	}
	return l.cfg.Owner(&b.Batch)
}

// figures brings together what the workers did, when they are done.
func (l *loader) figures() (result.Load, error) {
	for _, c := range l.connections {
		c.recorder.Close(l.tally)
	}
	out, err := result.LoadOf(l.tally)
	out.BatchSize = l.cfg.BatchSize
	if len(l.supplies) > 1 {
		out.Shards = l.tally.RowsOfEach()
	}
	if out.Retries != nil {
		out.Retries.Cause, out.Retries.SentTwice = l.again.cause, l.again.twice
	}
	return out, err
}

// Settle calls cfg.Acked and waits until the target has settled: until all that was written,
// in tables of the schema, is visible to queries and background work is idle, also for the
// target's return as cfg.Retry allows. It notes in out how many seconds after the start of
// the load that was. A nil schema: nothing is looked for.
func Settle(ctx context.Context, cfg LoadConfig, start time.Time, schema *series.Schema, t driver.DB, w Loaded, out *result.Load) error {
	if cfg.Acked != nil {
		cfg.Acked(ctx)
	}
	tries := retry.NewAttempts(cfg.Retry, rand.New(rand.NewPCG(0, 0)))
	for {
		at, visible, err := settle(ctx, newSight(cfg.Visible, schema, t, w), t)
		if err == nil {
			out.Settled, out.Visible = at.Sub(start).Seconds(), visible
			return nil
		}
		if err = retry.Temporary(err); ctx.Err() == nil && driver.AsTemporary(err) != nil {
			if err = tries.Next(ctx, err); err == nil {
				continue
			}
		}
		return fmt.Errorf("waiting for the load to settle: %w", err)
	}
}

// settle waits once. Where the target must be watched, its rows are looked for meanwhile: they
// may become visible while nothing seems to be going on. Else they are looked for once the
// target says that it has settled.
func settle(ctx context.Context, s *sight, t driver.DB) (time.Time, *result.Visible, error) {
	if s == nil {
		at, err := driver.Settled(ctx, t)
		return at, nil, err
	}
	var at, seen time.Time
	done := make(chan struct{})
	settling := func() (err error) {
		at, err = driver.Settled(ctx, t)
		close(done)
		return err
	}
	looking := func() (err error) {
		seen, err = s.await(ctx, done)
		return err
	}
	var err error
	if t.IdleSince != nil {
		var group errgroup.Group
		group.Go(settling)
		group.Go(looking)
		err = group.Wait()
	} else if err = settling(); err == nil {
		err = looking()
	}
	if at.Before(seen) {
		at = seen
	}
	return at, &s.out, err
}

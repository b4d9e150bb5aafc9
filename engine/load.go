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

// LoadConfig configures a load.
type LoadConfig struct {
	Workers   int            // connections writing at once, at least 1
	BatchSize int            // rows per write, at least 1
	Period    time.Duration  // period of the recorded rates, shorter if the load is shorter; 0: one rate for the whole load
	Log       *oplog.Section // records each batch; nil: batches are not recorded
	Retry     retry.Policy   // of batches that failed
	// Owner returns the worker, from 0, that writes a batch; nil: any free worker.
	Owner func(*series.Batch) int
	// InOrder makes several workers write rows in order. Each worker writes its own series, as
	// Owner says or else as dealt, and no batch is written while its rows are newer by more than
	// InOrder than the rows of an unwritten batch. The target's writers must not keep rows back. 0:
	// batches may overtake each other.
	InOrder time.Duration
	Start   Start // determines when the clock starts; nil: once all workers are connected
	// Acked, unless nil, is called between the last acknowledgement and settling. The settling time
	// includes the call.
	Acked func(context.Context)
	Pulse func() *pulse.Pulse // as in QueryConfig
	// Visible configures how the load checks, on the clock, that its rows are visible.
	Visible Visibility
}

// Load writes the whole dataset to a prepared target and waits until the target has settled. The
// clock starts when cfg.Start says. After an error the result covers the work done until then; its
// Rows always counts the rows that the target accepted.
func Load(ctx context.Context, cfg LoadConfig, d workload.Dataset, t driver.DB, progress Progress) (*result.Load, error) {
	l, err := send(ctx, cfg, fillsOf(&cfg, d), t, progress)
	return l.settle(ctx, d.Schema(), t, err)
}

// Send is Load without settling. It is for a client that writes only its share of the dataset.
func Send(ctx context.Context, cfg LoadConfig, d workload.Dataset, t driver.DB, progress Progress) (*result.Load, error) {
	l, err := send(ctx, cfg, fillsOf(&cfg, d), t, progress)
	return &l.out, err
}

// fillsOf returns the functions that fill batches with rows of a dataset: one shared by all
// workers, or one per worker. It completes cfg accordingly.
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

// LoadLines writes the lines of a source unparsed, in batches, as Load writes rows. The target's
// writers must be driver.LineWriters. Values are not counted.
func LoadLines(ctx context.Context, cfg LoadConfig, lines *ingest.Lines, t driver.DB, progress Progress) (*result.Load, error) {
	cfg.Owner, cfg.InOrder = nil, 0 // the series of an unparsed line is unknown
	l, err := send(ctx, cfg, []func(*batch) error{linesOf(lines, cfg.BatchSize)}, t, progress)
	return l.settle(ctx, cfg.Visible.Schema, t, err)
}

// send connects the workers and runs the clock until all batches are written.
func send(ctx context.Context, cfg LoadConfig, fills []func(*batch) error, t driver.DB, progress Progress) (*loader, error) {
	l := newLoader(cfg, oplog.Cell{}, fills, progress)
	defer l.close()
	defer l.clock.start(cfg.Pulse, false)()
	err := l.connect(ctx, t)
	if err == nil {
		l.start, err = cfg.Start.clock(ctx)
	}
	if err != nil {
		l.out, _ = l.figures() // an empty load
		return l, err
	}
	err = l.run(ctx)
	out, figuresErr := l.figures()
	if l.out = out; err == nil {
		err = figuresErr
	}
	return l, err
}

// settle returns the figures of a load once the target has settled, or at once if err is not nil.
func (l *loader) settle(ctx context.Context, schema *series.Schema, t driver.DB, err error) (*result.Load, error) {
	if err == nil {
		err = Settle(ctx, l.cfg, l.start, schema, t, l.collectLoaded(), &l.out)
	}
	return &l.out, err
}

// collectLoaded describes the rows that the workers have written.
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
	wrote       func(*series.Batch, time.Duration) // Follower.Wrote; nil: nobody follows
	generation  *atomic.Int64                      // Follower.Generation; nil: nobody follows
	out         result.Load                        // once it has ended
}

// newLoader returns the loader for the part of a load that the cell describes. There is one fill
// function for all workers, or one per worker.
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

// supplyOf returns the supply that a worker takes batches from.
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

// close closes all connections and ignores errors; after a successful run they are closed already.
func (l *loader) close() {
	for _, c := range l.connections {
		_ = c.close()
	}
}

// run runs all workers, and one reader or one per worker, until the end of the dataset.
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

// owner returns the worker that writes a batch, or the first worker if any may write it.
func (l *loader) owner(b *batch) int {
	if l.cfg.Owner == nil {
		return 0
	}
	return l.cfg.Owner(&b.Batch)
}

// figures merges the workers' records after they have ended.
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

// Settle calls cfg.Acked and waits until the target has settled: all written rows, in the tables of
// the schema, are visible to queries and background work is idle. If the target becomes
// unreachable, Settle retries as cfg.Retry allows. It stores in out the time from the start of the
// load until then, in seconds.
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

// settle waits once. If the target must be watched (IdleSince), settle looks for its rows
// meanwhile, since they may become visible while the target appears idle. Otherwise it looks for
// them after the target reports that it has settled.
func settle(ctx context.Context, s *sight, t driver.DB) (time.Time, *result.Visible, error) {
	if s == nil {
		at, err := driver.AwaitSettled(ctx, t)
		return at, nil, err
	}
	var at, seen time.Time
	done := make(chan struct{})
	settling := func() (err error) {
		at, err = driver.AwaitSettled(ctx, t)
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

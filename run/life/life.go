// Package life runs a year in the life of a database: a base load of steady ingest and dashboards,
// and events beside it. It knows at each time which rows the database has, so that every sampled
// answer is compared.
package life

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// Config configures the life of one target.
type Config struct {
	// Base is the ingest and the dashboards. Its loaded rows are all that precede the life, those of
	// the backfill included.
	Base      engine.MixedConfig
	BatchSize int   // of rows that events write
	Backfill  int64 // number of the dataset's first rows that the target lacks until they are backfilled
	Events    []experiment.Event
	Dataset   workload.Dataset
	Types     []engine.MixedQueries
	DB        driver.DB
	Caps      driver.Caps
	Render    engine.Render
	Semantics string // of the driver
	// Restart restarts the server, and says how it ended. Nil: it cannot be restarted, and NoRestart is
	// the reason.
	Restart   func(context.Context) (how string, err error)
	NoRestart string
	// EventLog returns the section of the operation log for the rows that an event writes, which is
	// numbered from 1. Nil: they are not recorded.
	EventLog func(number int) (*oplog.Section, error)
	// WrittenBytes returns the bytes that the target has written to disk; -1: unknown.
	WrittenBytes func() int64
	// Extend makes planned objects by a function, so that they belong to the target's data.
	Extend func(ctx context.Context, planned []driver.Object, do func(context.Context) error) error
	// Announce shows what happens. The function that it returns shows how that ended.
	Announce func(what string) (ended func(how string, failed bool))
	Progress oracle.Progress // of the comparison of answers
	Drawing  oracle.Drawing  // of rows of the final contents to read back
}

// Outcome is a life that has ended.
type Outcome struct {
	Life *result.Life
	// Contents describes the rows that the target should have now; nil: they are unknown, and
	// Life.Withheld has the reason.
	Contents *oracle.Survey
}

// Run runs the life of a loaded target, and compares the answers. After an error the outcome has
// the figures until then.
func Run(ctx context.Context, cfg Config) (Outcome, error) {
	out := &result.Life{Events: newEvents(cfg.Events), Backlog: cfg.DB.Backlog.What}
	l := &life{
		cfg: cfg, out: out, schema: cfg.Dataset.Schema(), next: cfg.Base.Loaded,
		figures: newFigures(out, len(cfg.Types), cfg.Base.Period), answers: map[place]*sample{}, random: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())),
		picked: make(chan pick, 1), grown: make(chan oracle.Row, 1),
	}
	l.base.Store(math.MinInt64)
	var first state
	if cfg.Backfill > 0 {
		first.absent = append(first.absent, &absence{to: cfg.Backfill, before: always})
	}
	l.states = []state{first}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l.ctx = ctx
	base := cfg.Base
	base.Visible = engine.Visibility{}
	base.Part.Own = func(r workload.Reader) workload.Reader { return &baseReader{from: r, life: l} }
	base.Follow = &engine.Follower{Beside: l.accompany, Below: l.visibleTime, Wrote: l.wrote, Ended: l.ended, Generation: &l.generation}
	mixed, _, err := engine.RunMixed(ctx, base, cfg.Dataset, cfg.DB, cfg.Render, cfg.Types, func(int) {})
	out.Base = *mixed
	l.figures.close(time.Duration(mixed.Wall * float64(time.Second)))
	if err != nil {
		return Outcome{Life: out}, err
	}
	contents, err := l.check(ctx)
	return Outcome{Life: out, Contents: contents}, err
}

// life is a life that runs.
type life struct {
	cfg     Config
	ctx     context.Context
	schema  *series.Schema
	out     *result.Life
	figures *figures
	phase   engine.Phase

	base   atomic.Int64 // see visibleTime
	picked chan pick    // a written row to look for, if one is wanted
	wanted atomic.Bool

	generation atomic.Int64    // of the writers
	grown      chan oracle.Row // the first row with the new field
	growing    atomic.Bool     // grown is wanted

	mu     sync.Mutex    // guards what follows
	gate   chan struct{} // closed when the base may write again; nil: it may
	next   int64         // number of the row of the dataset that the base reads next
	handed int64         // rows that the base has read and handed on
	growth *growth       // nil: rows have the dataset's own fields; one goroutine sets it
	places []handedPlace // of the batches that may not be acknowledged yet, and the one before
	never  []*absence    // rows that the base leaves out
	states []state       // one more than changes: what the target lacks before, between and after these
	// changes are in order: each begins after the one before has ended.
	changes []change
	answers map[place]*sample
	random  *rand.Rand
}

// state is what distinguishes the rows of the target from those of the dataset that were written.
type state struct {
	absent []*absence
	fixed  []*correction
}

// change leads from one state to the next.
type change struct {
	event      int           // its index
	begin, end time.Duration // end is never while it has not ended
}

// handedPlace relates the number of rows that the base has handed on to the number that it has read.
type handedPlace struct{ handed, next int64 }

// now is the time since the start of the phase.
func (l *life) now() time.Duration { return time.Since(l.phase.Start) }

// lockOpen locks the life while the base may write.
func (l *life) lockOpen() error {
	for {
		l.mu.Lock()
		gate := l.gate
		if gate == nil {
			return nil
		}
		l.mu.Unlock()
		select {
		case <-gate:
		case <-l.ctx.Done():
			return l.ctx.Err()
		}
	}
}

// noteRead records that the base has read rows and handed some of them on. The life is locked.
func (l *life) noteRead(read, handed int64) {
	l.next, l.handed = l.next+read, l.handed+handed
	if l.phase.Acked != nil {
		for acked := l.phase.Acked(); len(l.places) > 1 && l.places[1].handed <= acked; {
			l.places = l.places[1:]
		}
	}
	if handed > 0 {
		l.places = append(l.places, handedPlace{l.handed, l.next})
	}
}

// writtenRows returns the place in the dataset behind the rows that the base has written.
func (l *life) writtenRows() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	acked, at := l.phase.Acked(), l.cfg.Base.Loaded
	for _, p := range l.places {
		if p.handed <= acked {
			at = p.next
		}
	}
	return at
}

// awaitWritten waits until the base has written its rows up to a number of handed ones.
func (l *life) awaitWritten(ctx context.Context, handed int64) error {
	for l.phase.Acked() < handed {
		select {
		case <-l.phase.Written:
			return nil
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// awaitPlace waits until the base has written the rows before a place in the dataset, which it had reached when it
// had handed on that number of rows. If the base ends before, it returns the place behind the rows that are written.
func (l *life) awaitPlace(ctx context.Context, to, handed int64) (int64, error) {
	if err := l.awaitWritten(ctx, handed); err != nil {
		return 0, err
	}
	if l.hasEnded() {
		return min(to, l.writtenRows()), nil
	}
	return to, nil
}

// hasEnded reports whether the base has written all its rows.
func (l *life) hasEnded() bool {
	select {
	case <-l.phase.Written:
		return true
	default:
		return false
	}
}

// accompany does everything beside the base.
func (l *life) accompany(ctx context.Context, p engine.Phase) error {
	l.mu.Lock()
	l.phase = p
	l.mu.Unlock()
	l.base.CompareAndSwap(math.MinInt64, p.Watermark())
	group, groupCtx := errgroup.WithContext(ctx)
	watched, stop := context.WithCancel(groupCtx)
	group.Go(func() error { l.watchRows(watched); return nil })
	group.Go(func() error { l.watchSpace(watched); return nil })
	group.Go(func() error {
		defer stop()
		if err := l.happen(groupCtx); err != nil {
			return err
		}
		select {
		case <-p.Written:
		case <-groupCtx.Done():
		}
		return nil
	})
	err := group.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// visibleTime returns the time before which all rows are visible, as far as known.
func (l *life) visibleTime(watermark int64) int64 { return min(watermark, l.base.Load()) }

// wrote implements engine.Follower.
func (l *life) wrote(b *series.Batch, at time.Duration) {
	l.figures.wrote(at, b.Rows())
	if l.wanted.Load() {
		if row, ok := lastRow(b, false); ok && l.wanted.CompareAndSwap(true, false) {
			l.picked <- pick{row, at}
		}
	}
	if l.growing.Load() {
		l.noteGrown(b)
	}
}

// ended implements engine.Follower. Only a query that the target does not support ends its type.
func (l *life) ended(kind int, op *oplog.Op, a *engine.Answered, err error) bool {
	at := op.Start + op.Duration
	switch {
	case errors.Is(err, query.ErrUnsupported):
		return false
	case op.Outcome == oplog.OK:
		l.figures.addTime(at, kind, (at - op.Intended).Seconds())
	case op.Outcome == oplog.AtLeast:
		l.figures.addTime(at, kind, -(at - op.Intended).Seconds())
		l.figures.addFailure(at, op.Intended, fmt.Errorf("cut off after %s", l.cfg.Base.Timeout))
	case op.Outcome != oplog.Interrupted:
		l.figures.addFailure(at, op.Intended, err)
	}
	if op.Outcome == oplog.OK {
		l.keep(kind, op.Start, at, a)
	}
	return true
}

// watchSpace records the size on disk and the backlog until its context ends.
func (l *life) watchSpace(ctx context.Context) {
	for every := max(time.Second, l.cfg.Base.Period); ; {
		select {
		case <-ctx.Done():
			return
		case <-time.After(every):
		}
		if bytes := l.size(ctx); bytes >= 0 {
			l.figures.space(l.now(), bytes)
		}
		if work := l.backlog(ctx); work >= 0 {
			l.figures.backlog(l.now(), work)
		}
	}
}

// size returns the size on disk; -1: unknown.
func (l *life) size(ctx context.Context) int64 {
	size, err := l.cfg.DB.Footprint(ctx)
	if err != nil || size.Bytes == 0 { // as InfluxDB 2 reports right after a restart
		return -1
	}
	return size.Bytes
}

// backlog returns the background work that the system has still to do; -1: unknown.
func (l *life) backlog(ctx context.Context) float64 {
	db := &l.cfg.DB
	if db.Backlog.Metric == "" || db.ReadMetrics == nil {
		return -1
	}
	all, err := db.ReadMetrics(ctx)
	work, ok := all[db.Backlog.Metric]
	if err != nil || !ok {
		return -1
	}
	return work
}

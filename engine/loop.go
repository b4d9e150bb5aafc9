package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/measure/tally"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
)

// loop is the state that the workers of one type share.
type loop struct {
	cfg      QueryConfig // BurnIn and Least cover this share only
	whole    Source
	burnIn   int        // of the whole
	source   Source     // of the share
	count    int        // number of queries in the share
	block    []Rendered // rendered queries of the share, from place base on
	base     int
	progress Progress
	workers  []*worker
	clock    clock

	origin time.Time // start of the clock, which is paused while queries are rendered
	tally  *tally.Tally

	// The counters that the time box uses while workers run.
	first    atomic.Int64 // start of the first query that counts, nanoseconds since origin; -1: none yet
	recorded atomic.Int64 // queries that ended and have a time
	unknown  atomic.Int64 // of these, answered with an unknown number of rows
	started  atomic.Int64 // operations that began, burn-in included
	warmed   atomic.Int64 // queries of the warm-up

	out result.Queries // figures that are not in the tally
}

// newLoop returns a loop whose queries arrive by a schedule; an empty schedule is a closed loop.
func newLoop(cfg QueryConfig, schedule string, source Source, progress Progress) *loop {
	l := &loop{cfg: cfg, whole: source, burnIn: cfg.BurnIn, source: shareOf(source, cfg.Share), progress: progress}
	l.cfg.BurnIn, l.count = cfg.Share.CountOf(cfg.BurnIn), l.source.Len()
	if cfg.Least > 0 {
		l.cfg.Least = max(cfg.Share.CountOf(cfg.Least), 1)
	}
	l.first.Store(-1)
	l.tally = tally.New(oplog.Cell{Kind: oplog.Query, Schedule: schedule, Workers: cfg.Workers, Queries: source.Len(), First: cfg.First}, 0)
	cfg.Capture.begin(cfg.First, source.Len())
	return l
}

// place returns the sequence number of the i-th query of the share within the whole source. The
// first query comes again after the last one.
func (l *loop) place(i int) int {
	return i/l.count*l.whole.Len() + l.cfg.Share.Place(i%l.count)
}

// queryAt returns the i-th query, starting again after the last one.
func (l *loop) queryAt(i int) *Rendered { return &l.block[i%l.count-l.base] }

// load renders the block that contains the i-th query, unless it is loaded. No worker runs
// meanwhile, and the clock is paused.
func (l *loop) load(ctx context.Context, i int) error {
	place := i % max(l.count, 1)
	if place >= l.base && place < l.base+len(l.block) || l.count == 0 {
		return nil
	}
	begin, further := time.Now(), l.block != nil
	var err error
	if l.block, err = l.source.Render(ctx, place); err != nil {
		return fmt.Errorf("rendering queries: %w", err)
	}
	if l.base = place; further {
		runtime.GC() // collects the garbage of rendering off the clock
	}
	l.origin = l.origin.Add(time.Since(begin))
	return nil
}

// renderedEnd returns the index of the first query that is not rendered, at most end.
func (l *loop) renderedEnd(end int) int {
	return min(end, l.base+len(l.block))
}

// overtime reports whether the time box of a closed loop has ended.
func (l *loop) overtime() bool {
	first, recorded := l.first.Load(), l.recorded.Load()
	if l.cfg.TimeBox == 0 || first < 0 || recorded == 0 {
		return false
	}
	passed := time.Since(l.origin) - time.Duration(first)
	return passed >= l.cfg.TimeBox && (recorded >= int64(l.cfg.Least) || passed >= BoxExtension*l.cfg.TimeBox)
}

// run connects the workers and runs work on all of them, once, and again as long as more returns
// true. It then fills in the result. more, unless nil, is called while no worker runs. beside,
// unless nil, runs concurrently with the workers.
func (l *loop) run(ctx context.Context, t driver.DB, work func(context.Context, *worker) error, more func(context.Context) (bool, error), beside func(context.Context) error) error {
	defer l.clock.start(l.cfg.Pulse, l.cfg.Client)()
	defer func() {
		for _, w := range l.workers {
			w.querier.Close() // read only: nothing to lose
		}
	}()
	for i := range l.cfg.Workers {
		q, err := t.NewQuerier(ctx, i)
		if err != nil {
			return fmt.Errorf("connecting querier %d: %w", i, err)
		}
		l.workers = append(l.workers, &worker{loop: l, number: i, querier: q})
	}

	// runAll runs all workers concurrently and waits for them.
	runAll := func(work func(context.Context, *worker) error, beside func(context.Context) error) error {
		group, groupCtx := errgroup.WithContext(ctx)
		for _, w := range l.workers {
			group.Go(func() error { return work(groupCtx, w) })
		}
		if beside != nil {
			group.Go(func() error { return beside(groupCtx) })
		}
		return group.Wait()
	}
	begin := time.Now()
	err := runAll(func(ctx context.Context, w *worker) error { return w.warmUp(ctx) }, nil)
	if n := l.warmed.Load(); n > 0 {
		l.out.WarmUp = result.WarmUp{Queries: n, Seconds: time.Since(begin).Seconds()}
	}
	l.origin = time.Now()
	if err == nil {
		l.origin, err = l.cfg.Start.clock(ctx)
	}
	for i, w := range l.workers {
		w.recorder = l.tally.Recorder(l.cfg.Log, i, l.origin)
	}
	if err == nil {
		err = runAll(work, beside)
	}
	for again := more != nil; err == nil && again; {
		if again, err = more(ctx); err == nil && again {
			err = runAll(work, beside)
		}
	}
	l.cfg.Capture.end(max(l.started.Load()-int64(l.cfg.BurnIn), 0))
	for _, w := range l.workers {
		w.recorder.Close(l.tally)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return l.withhold(ctx, t, err)
}

// withhold stores an error that concerns only this query type in the result, and returns every
// other error. A lost connection concerns only the type if the target still answers, since the next
// type opens its own connections.
func (l *loop) withhold(ctx context.Context, t driver.DB, err error) error {
	var wrong *wrongAnswer
	if errors.As(err, &wrong) {
		l.out.Withheld, l.out.Verdict.Difference = wrong.Error(), wrong.Error()
		return nil
	}
	var none *unanswered
	switch {
	case driver.IsBroken(ctx, t, err):
		l.out.Failed = result.NewFailure(result.ConnectionLost, err)
	case errors.Is(err, driver.ErrUnreachable) || !errors.As(err, &none):
		return err
	case errors.Is(err, query.ErrUnsupported):
		l.out.Unsupported = err.Error()
	default:
		l.out.Failed = result.NewFailure(result.ServerError, err)
	}
	return nil
}

// figures returns the figures of all workers after they have ended.
func (l *loop) figures() (*result.Queries, error) {
	l.out.Sample.Uncounted = l.unknown.Load()
	return figures(&l.cfg, l.tally, l.whole, &l.out)
}

// figures returns the figures of a tally of queries of a source, completed by the known ones.
func figures(cfg *QueryConfig, t *tally.Tally, source Source, known *result.Queries) (*result.Queries, error) {
	q, err := result.QueriesOf(t)
	q.Unsupported, q.Withheld, q.Failed = known.Unsupported, known.Withheld, known.Failed
	q.Verdict, q.Stopped, q.WarmUp = known.Verdict, known.Stopped, known.WarmUp
	q.TimeBox, q.Timeout = cfg.TimeBox.Seconds(), cfg.Timeout.Seconds()
	q.Distinct = distinct(source, func(int) bool { return true })
	q.Sample.Captured, q.Sample.Uncounted = cfg.Capture.SampleSize(), known.Sample.Uncounted
	q.Sample.Different = distinct(source, func(place int) bool { return place < len(q.Each) && q.Each[place] != 0 })
	return &q, err
}

// distinct counts the different queries at the places that count; a type with few different queries
// repeats them.
func distinct(source Source, counts func(place int) bool) int {
	var seen []uint64 // a bit an ID
	different := 0
	for place := range source.Len() {
		if !counts(place) {
			continue
		}
		id := source.ID(place)
		if missing := id/64 + 1 - len(seen); missing > 0 {
			seen = append(seen, make([]uint64, missing)...)
		}
		if bit := uint64(1) << (id % 64); seen[id/64]&bit == 0 {
			seen[id/64] |= bit
			different++
		}
	}
	return different
}

// wrongAnswer is the error of a query whose answer has an unexpected number of rows.
type wrongAnswer struct {
	id     int
	reason string
}

func (w *wrongAnswer) Error() string { return fmt.Sprintf("query %d: %s", w.id, w.reason) }

// unanswered is the error of a query that has no answer.
type unanswered struct {
	id  int
	err error
}

func (u *unanswered) Error() string { return fmt.Sprintf("query %d: %v", u.id, u.err) }

func (u *unanswered) Unwrap() error { return u.err }

// worker runs queries over a connection of its own.
type worker struct {
	*loop
	number   int
	querier  driver.Querier
	recorder *tally.Recorder
}

// warmUp runs queries that are not measured.
func (w *worker) warmUp(ctx context.Context) error {
	queries, begin := w.cfg.WarmUp.Queries, time.Now()
	for n := 0; len(queries) > 0; n++ {
		passed := time.Since(begin)
		if enough := n > 0 && (n >= warmUpQueries || passed >= warmUpTime); enough && passed >= w.cfg.WarmUp.Time {
			return nil
		}
		q := &queries[(w.number+n*w.cfg.Workers)%len(queries)]
		limited, cancel := withTimeout(ctx, w.cfg.Timeout)
		_, err := w.querier.Do(limited, q.Request, nil)
		cancel()
		w.warmed.Add(1)
		switch {
		case err != nil && limited.Err() == context.DeadlineExceeded && ctx.Err() == nil:
			return nil // it is as warm as it gets
		case err != nil:
			return &unanswered{q.ID, fmt.Errorf("warming up: %w", err)}
		}
	}
	return nil
}

// query runs the i-th query, starting again after the last one, and records it. due is its arrival,
// nil in a closed loop.
func (w *worker) query(ctx context.Context, i int, due *arrival) error {
	q := w.queryAt(i)
	w.started.Add(1)
	place := w.place(i)
	op := oplog.Op{BurnIn: i < w.cfg.BurnIn, Sequence: int64(place), Query: int64(q.ID)}
	var sink query.Sink // if nil, rows are only counted
	var answer *Answered
	var kept *limit.Sink
	if w.cfg.Capture.reads() {
		answer = &Answered{Place: w.cfg.First + place%w.whole.Len(), Position: w.cfg.Capture.Begun + int64(place-w.burnIn)}
		sink = answer.read(q.Whole, q.Columns)
		if q.Rows != AnyRows {
			kept = limit.NewSink(sink, q.Rows, q.Free)
			sink = kept
		}
	}
	if !op.BurnIn && w.first.Load() < 0 {
		w.first.CompareAndSwap(-1, int64(time.Since(w.origin)))
	}
	err := w.clock.run(ctx, w.querier, w.cfg.Timeout, q.Request, sink, w.origin, &op)
	op.Values = op.Rows * int64(q.Values)
	if due != nil {
		op.Intended, op.Lag = due.due, due.lag
	}
	switch {
	case op.Outcome != oplog.OK:
	case q.Rows != AnyRows && op.Rows != q.Rows:
		op.Outcome = oplog.Wrong
	}
	w.recorder.Add(&op)
	switch {
	case op.Outcome == oplog.AtLeast && q.Rows != AnyRows && op.Rows > q.Rows: // more time would not have helped
		return &wrongAnswer{q.ID, fmt.Sprintf("%d rows in the answer, %d expected, when it was cut off", op.Rows, q.Rows)}
	case op.Outcome == oplog.AtLeast: // the time is a lower bound
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("query %d: %w", q.ID, err)
	case kept != nil && kept.Came() > q.Rows:
		return &wrongAnswer{q.ID, fmt.Sprintf("more than the %d rows expected in the answer", q.Rows)}
	case kept != nil && kept.Exceeded():
		return &wrongAnswer{q.ID, err.Error()}
	case err != nil:
		return &unanswered{q.ID, err}
	case op.Outcome == oplog.Wrong:
		return &wrongAnswer{q.ID, fmt.Sprintf("%d rows in the answer, %d expected", op.Rows, q.Rows)}
	}
	w.progress(1)
	if op.BurnIn {
		return nil
	}
	if !op.Paused {
		if w.recorded.Add(1); q.Rows == AnyRows && op.Outcome == oplog.OK {
			w.unknown.Add(1)
		}
	}
	if i < w.count { // later runs repeat these queries, possibly at the same time
		w.cfg.Capture.count(place%w.whole.Len(), op.Rows)
	}
	if answer != nil {
		answer.At, answer.Rows = op.Start, op.Rows
		w.cfg.Capture.offer(answer)
	}
	return nil
}

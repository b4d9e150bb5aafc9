package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/limit"
	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
)

// asker is the state that the workers of one type share.
type asker struct {
	cfg      QueryConfig
	source   Source
	count    int        // queries that it has
	block    []Question // those of them that are rendered, from place base on
	base     int
	progress Progress

	origin time.Time    // of the clock, which stands still while queries are rendered
	first  atomic.Int64 // start of the first recorded query, nanoseconds since origin; -1: none yet
	last   largest      // end of the last answer

	recorded, captured atomic.Int64 // queries that ended
	capturing          atomic.Int64 // nanoseconds that captured ones took together
	started            atomic.Int64 // operations that began, burn-in included

	out     result.Queries
	service *measure.Latency
}

func newAsker(cfg QueryConfig, source Source, progress Progress) *asker {
	a := &asker{cfg: cfg, source: source, count: source.Len(), progress: progress, service: measure.NewLatency()}
	a.first.Store(-1)
	a.out = result.Queries{
		Workers: cfg.Workers, Distinct: distinct(source, nil), TimeBox: cfg.TimeBox.Seconds(), Timeout: cfg.Timeout.Seconds(),
		First: cfg.First, Each: make([]float64, a.count), Accumulated: make([]float64, cfg.Workers),
	}
	return a
}

// at is the i-th question, from the first one again after the last one.
func (a *asker) at(i int) *Question { return &a.block[i%a.count-a.base] }

// load renders the block that has the i-th question, unless it is there. Nobody
// works meanwhile, and the clock stands still.
func (a *asker) load(ctx context.Context, i int) error {
	place := i % max(a.count, 1)
	if place >= a.base && place < a.base+len(a.block) || a.count == 0 {
		return nil
	}
	begin, further := time.Now(), a.block != nil
	var err error
	if a.block, err = a.source.Render(ctx, place); err != nil {
		return fmt.Errorf("rendering queries: %w", err)
	}
	if a.base = place; further {
		runtime.GC() // what rendering leaves behind is no work for the clock to see
	}
	a.origin = a.origin.Add(time.Since(begin))
	return nil
}

// loaded is the first of the questions up to some end that is not rendered.
func (a *asker) loaded(end int) int {
	if end > a.count { // what is asked again is at the beginning
		return end
	}
	return min(end, a.base+len(a.block))
}

// overtime reports whether the time box of a closed loop has ended.
func (a *asker) overtime() bool {
	first, recorded := a.first.Load(), a.recorded.Load()
	if a.cfg.TimeBox == 0 || first < 0 || recorded == 0 {
		return false
	}
	passed := time.Since(a.origin) - time.Duration(first)
	return passed >= a.cfg.TimeBox && (recorded >= int64(a.cfg.Least) || passed >= BoxExtension*a.cfg.TimeBox)
}

// run connects the workers, has each of them work until there is nothing left
// to ask, again and again as long as there is more, and fills in the result.
// More is called while nobody works; nil: there is none. Beside, unless nil,
// runs along with them.
func (a *asker) run(ctx context.Context, t driver.DB, work func(context.Context, *worker) error, more func(context.Context) (bool, error), beside func(context.Context) error) error {
	workers := make([]*worker, 0, a.cfg.Workers)
	defer func() {
		for _, w := range workers {
			w.querier.Close() // reading only: nothing is lost with the connection
		}
	}()
	for i := range a.cfg.Workers {
		q, err := t.NewQuerier(ctx, i)
		if err != nil {
			a.out.Each = nil
			return fmt.Errorf("connecting querier %d: %w", i, err)
		}
		workers = append(workers, &worker{asker: a, number: i, querier: q, service: measure.NewLatency()})
	}

	err := together(ctx, workers, func(ctx context.Context, w *worker) error { return w.warmUp(ctx) }, nil)
	a.origin = time.Now()
	for i, w := range workers {
		w.log = a.cfg.Log.Recorder(i, a.origin)
	}
	if err == nil {
		err = together(ctx, workers, work, beside)
	}
	for again := more != nil; err == nil && again; {
		if again, err = more(ctx); err == nil && again {
			err = together(ctx, workers, work, beside)
		}
	}
	a.cfg.Capture.end(max(a.started.Load()-int64(a.cfg.BurnIn), 0))
	for i, w := range workers {
		w.log.Close()
		w.report(&a.out.Accumulated[i])
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return errors.Join(a.withhold(err), a.finish())
}

// together has all workers work at once, and waits for them.
func together(ctx context.Context, workers []*worker, work func(context.Context, *worker) error, beside func(context.Context) error) error {
	group, groupCtx := errgroup.WithContext(ctx)
	for _, w := range workers {
		group.Go(func() error { return work(groupCtx, w) })
	}
	if beside != nil {
		group.Go(func() error { return beside(groupCtx) })
	}
	return group.Wait()
}

// withhold puts what concerns only the type into the result, and returns
// every other error.
func (a *asker) withhold(err error) error {
	var wrong *withheld
	if errors.As(err, &wrong) {
		a.out.Withheld = wrong.Error()
		if wrong.answer {
			a.out.Verdict.Difference = wrong.Error()
		}
		return nil
	}
	return err
}

// finish works out the figures of all workers together.
func (a *asker) finish() (err error) {
	a.out.Sample.Captured = a.captured.Load()
	if first := a.first.Load(); first >= 0 && a.out.Asked > 0 {
		// The clock of a worker of a closed loop stands still while an answer is
		// taken; a schedule goes on.
		a.out.Wall = time.Duration(a.last.v.Load() - first - a.capturing.Load()/int64(a.cfg.Workers)).Seconds()
		a.out.PerSecond = float64(a.out.Asked) / a.out.Wall
	}
	for n := len(a.out.Each); n > 0 && a.out.Each[n-1] == 0; n-- {
		a.out.Each = a.out.Each[:n-1] // not asked
	}
	if n := len(a.out.Each); n < cap(a.out.Each)/2 {
		a.out.Each = slices.Clone(a.out.Each) // a run keeps them
	}
	a.out.Sample.Different = distinct(a.source, a.out.Each)
	a.out.Service, err = latencyOf(a.service)
	return err
}

// distinct counts the different questions: of a type with few, they come again.
// With times, only those count that have one.
func distinct(source Source, each []float64) int {
	var seen []uint64 // a bit an ID
	different := 0
	for place := range source.Len() {
		if each != nil && (place >= len(each) || each[place] == 0) {
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

// withheld is why a type has no figure.
type withheld struct {
	id     int
	reason string
	answer bool // the answer is wrong, and not only missing
}

func (w *withheld) Error() string { return fmt.Sprintf("query %d: %s", w.id, w.reason) }

// worker asks over a connection of its own, and keeps what it measured until
// it is done.
type worker struct {
	*asker
	number                       int
	querier                      driver.Querier
	service                      *measure.Latency
	log                          *oplog.Recorder
	answered                     time.Duration // what the queries took together that were not cut off
	burnIn, atLeast, rows, bytes int64
	values                       int64
}

// report adds what the worker measured to the result, and its time to
// accumulated. No two do so at once.
func (w *worker) report(accumulated *float64) {
	*accumulated += w.answered.Seconds()
	w.asker.service.Merge(w.service)
	w.out.Asked += w.service.Count()
	w.out.BurnIn += w.burnIn
	w.out.AtLeast += w.atLeast
	w.out.Rows += w.rows
	w.out.Bytes += w.bytes
	w.out.Values += w.values
}

// warmUp asks what is not measured.
func (w *worker) warmUp(ctx context.Context) error {
	questions, begin := w.cfg.WarmUp.Questions, time.Now()
	for n := 0; len(questions) > 0; n++ {
		passed := time.Since(begin)
		if enough := n > 0 && (n >= warmUpQueries || passed >= warmUpTime); enough && passed >= w.cfg.WarmUp.Time {
			return nil
		}
		question := &questions[(w.number+n*w.cfg.Workers)%len(questions)]
		limited, cancel := w.limit(ctx)
		_, err := w.querier.Do(limited, question.Request, nil)
		cancel()
		switch {
		case err != nil && limited.Err() == context.DeadlineExceeded && ctx.Err() == nil:
			return nil // it is as warm as it gets
		case err != nil && (ctx.Err() != nil || errors.Is(err, driver.ErrUnreachable)):
			return fmt.Errorf("warming up: query %d: %w", question.ID, err)
		case err != nil:
			return &withheld{id: question.ID, reason: "warming up: " + err.Error()}
		}
	}
	return nil
}

// limit returns the context of one query.
func (w *worker) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if w.cfg.Timeout > 0 {
		return context.WithTimeout(ctx, w.cfg.Timeout)
	}
	return ctx, func() {}
}

// ask asks the i-th question, from the first one again after the last one, and
// records it after the burn-in, unless its answer is taken. Due is the arrival
// that it is, nil in a closed loop. It returns when the answer ended, since
// origin, and whether it was recorded.
func (w *worker) ask(ctx context.Context, i int, due *arrival) (end time.Duration, recorded bool, err error) {
	question := w.at(i)
	w.started.Add(1)
	counts := i >= w.cfg.BurnIn
	var sink query.Sink // a nil interface has the rows only counted
	var taken *Answered
	var kept *limit.Sink
	// Asked again where all answers were taken, a question is there to be timed.
	if w.cfg.Capture.wants(int64(i-w.cfg.BurnIn)) && (due != nil || i < w.count) {
		taken = &Answered{Place: w.cfg.First + i%w.count}
		kept = limit.Expected(taken.keep(question.Whole, question.Columns), question.Rows)
		sink = kept
	}
	limited, cancel := w.limit(ctx)
	start := time.Since(w.origin)
	if counts {
		w.first.CompareAndSwap(-1, int64(start))
	}
	cost, err := w.querier.Do(limited, question.Request, sink)
	end = time.Since(w.origin)
	cutOff := err != nil && limited.Err() != nil && ctx.Err() == nil
	cancel()
	o := outcome(ctx, err, cutOff, cost.Rows == question.Rows)
	if taken != nil && o == oplog.OK {
		o = oplog.Captured
	}
	w.record(i, due, start, end, cost, o)
	switch {
	case cutOff && cost.Rows > question.Rows: // it would not have become right
		return end, false, &withheld{id: question.ID, reason: fmt.Sprintf("%d rows in the answer, %d expected, when it was cut off", cost.Rows, question.Rows), answer: true}
	case cutOff: // what it took is a lower bound, even where the answer was to be taken
	case err != nil && (ctx.Err() != nil || errors.Is(err, driver.ErrUnreachable)):
		return end, false, fmt.Errorf("query %d: %w", question.ID, err)
	case kept != nil && kept.Came() > question.Rows:
		return end, false, &withheld{id: question.ID, reason: fmt.Sprintf("more than the %d rows expected in the answer", question.Rows), answer: true}
	case err != nil:
		return end, false, &withheld{id: question.ID, reason: err.Error()}
	case cost.Rows != question.Rows:
		return end, false, &withheld{id: question.ID, reason: fmt.Sprintf("%d rows in the answer, %d expected", cost.Rows, question.Rows), answer: true}
	}
	w.progress(1)
	if !counts {
		w.burnIn++
		return end, false, nil
	}
	w.last.add(int64(end))
	if o == oplog.Captured {
		taken.At, taken.Rows = start, cost.Rows
		w.cfg.Capture.keep(*taken)
		w.captured.Add(1)
		if due == nil {
			w.capturing.Add(int64(end - start))
		}
		return end, false, nil
	}
	w.recorded.Add(1)
	each := (end - start).Seconds()
	if cutOff {
		w.atLeast++
		each = -each
	} else {
		w.answered += end - start
	}
	if i < w.count || due == nil {
		w.out.Each[i%w.count] = each // no two workers have the same i, so none write one element
	}
	w.service.Record(end - start)
	w.rows += cost.Rows
	w.bytes += cost.Bytes
	w.values += cost.Rows * int64(question.Values)
	return end, true, nil
}

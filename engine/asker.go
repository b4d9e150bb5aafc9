package engine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/target"
)

// asker is the state that the workers of one type share.
type asker struct {
	cfg       QueryConfig
	questions []Question
	progress  Progress

	origin time.Time
	first  atomic.Int64 // start of the first recorded query, nanoseconds since origin; -1: none yet
	last   largest      // end of the last answer

	out     result.Queries
	service *measure.Latency
}

func newAsker(cfg QueryConfig, questions []Question, progress Progress) *asker {
	a := &asker{cfg: cfg, questions: questions, progress: progress, service: measure.NewLatency()}
	a.first.Store(-1)
	a.out = result.Queries{
		Workers: cfg.Workers, Distinct: distinct(questions), TimeBox: cfg.TimeBox.Seconds(), Timeout: cfg.Timeout.Seconds(),
		Each: make([]float64, len(questions)), Accumulated: make([]float64, cfg.Workers),
	}
	return a
}

// run connects the workers, has each of them work until there is nothing left
// to ask, again and again as long as there is more, and fills in the result.
// More is called while nobody works; nil: there is none. Beside, unless nil,
// runs along with them.
func (a *asker) run(ctx context.Context, t target.Target, work func(context.Context, *worker) error, more func() bool, beside func(context.Context) error) error {
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
		workers = append(workers, &worker{asker: a, querier: q, service: measure.NewLatency()})
	}

	a.origin = time.Now()
	for i, w := range workers {
		w.log = a.cfg.Log.Recorder(i, a.origin)
	}
	err := together(ctx, workers, work, beside)
	for err == nil && more != nil && more() {
		err = together(ctx, workers, work, beside)
	}
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
		return nil
	}
	return err
}

// finish works out the figures of all workers together.
func (a *asker) finish() (err error) {
	if first := a.first.Load(); first >= 0 && a.out.Asked > 0 {
		a.out.Wall = time.Duration(a.last.v.Load() - first).Seconds()
		a.out.PerSecond = float64(a.out.Asked) / a.out.Wall
	}
	for n := len(a.out.Each); n > 0 && a.out.Each[n-1] == 0; n-- {
		a.out.Each = a.out.Each[:n-1] // not asked
	}
	a.out.Service, err = latencyOf(a.service)
	return err
}

// distinct counts the different questions: of a type with few, they come again.
func distinct(questions []Question) int {
	ids := make(map[int]bool, len(questions))
	for i := range questions {
		ids[questions[i].ID] = true
	}
	return len(ids)
}

// withheld is why a type has no figure.
type withheld struct {
	id     int
	reason string
}

func (w *withheld) Error() string { return fmt.Sprintf("query %d: %s", w.id, w.reason) }

// worker asks over a connection of its own, and keeps what it measured until
// it is done.
type worker struct {
	*asker
	querier                      target.Querier
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

// ask asks the i-th question, from the first one again after the last one, and
// records it after the burn-in. Due is the arrival that it is, nil in a closed
// loop. It returns when the answer ended, since origin.
func (w *worker) ask(ctx context.Context, i int, due *arrival) (end time.Duration, err error) {
	question := &w.questions[i%len(w.questions)]
	recorded := i >= w.cfg.BurnIn
	queryCtx, cancel := ctx, context.CancelFunc(func() {})
	if w.cfg.Timeout > 0 {
		queryCtx, cancel = context.WithTimeout(ctx, w.cfg.Timeout)
	}
	start := time.Since(w.origin)
	if recorded {
		w.first.CompareAndSwap(-1, int64(start))
	}
	cost, err := w.querier.Do(queryCtx, question.Request, nil)
	end = time.Since(w.origin)
	cutOff := err != nil && queryCtx.Err() != nil && ctx.Err() == nil
	cancel()
	w.record(i, due, start, end, cost, outcome(ctx, err, cutOff, cost.Rows == question.Rows))
	switch {
	case cutOff: // what it took is a lower bound
	case err != nil && (ctx.Err() != nil || errors.Is(err, target.ErrUnreachable)):
		return end, fmt.Errorf("query %d: %w", question.ID, err)
	case err != nil:
		return end, &withheld{question.ID, err.Error()}
	case cost.Rows != question.Rows:
		return end, &withheld{question.ID, fmt.Sprintf("%d rows in the answer, %d expected", cost.Rows, question.Rows)}
	}
	w.progress(1)
	if !recorded {
		w.burnIn++
		return end, nil
	}
	each := (end - start).Seconds()
	if cutOff {
		w.atLeast++
		each = -each
	} else {
		w.answered += end - start
	}
	if i < len(w.out.Each) {
		w.out.Each[i] = each // no two workers have the same i, so none write one element
	}
	w.service.Record(end - start)
	w.last.add(int64(end))
	w.rows += cost.Rows
	w.bytes += cost.Bytes
	w.values += cost.Rows * int64(question.Values)
	return end, nil
}

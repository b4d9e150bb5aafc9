package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/target"
)

// QueryConfig says how to ask the queries of one type.
type QueryConfig struct {
	Workers int           // connections asking at once, each one query at a time; at least 1
	BurnIn  int           // queries asked first and not recorded
	TimeBox time.Duration // no query starts later than this after the first recorded one; 0: none
	Timeout time.Duration // a query is cut off after this; 0: never
}

// Question is a query rendered for the target.
type Question struct {
	ID      int
	Request target.Request
	Rows    int64 // that the answer must have
}

// Query asks the questions in their order and measures the time
// from sending each to the last byte of its answer. A wrong number of rows or
// a failed query ends the type: the result is withheld and says why. The error
// is for what concerns more than the type: ctx's end, or a target that is
// gone.
func Query(ctx context.Context, cfg QueryConfig, t target.Target, questions []Question, progress Progress) (*result.Queries, error) {
	a := asker{cfg: cfg, questions: questions, progress: progress, latency: measure.NewLatency()}
	a.out = result.Queries{Workers: cfg.Workers, Distinct: distinct(questions), TimeBox: cfg.TimeBox.Seconds(), Timeout: cfg.Timeout.Seconds()}
	queriers := make([]target.Querier, 0, cfg.Workers)
	defer func() {
		for _, q := range queriers {
			q.Close() // reading only: nothing is lost with the connection
		}
	}()
	for i := range cfg.Workers {
		q, err := t.NewQuerier(ctx, i)
		if err != nil {
			return &a.out, fmt.Errorf("connecting querier %d: %w", i, err)
		}
		queriers = append(queriers, q)
	}

	a.out.Each = make([]float64, len(questions))
	a.origin = time.Now()
	a.first.Store(-1)
	group, groupCtx := errgroup.WithContext(ctx)
	for _, q := range queriers {
		group.Go(func() error { return a.work(groupCtx, q) })
	}
	err := group.Wait()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	var wrong *withheld
	if errors.As(err, &wrong) {
		a.out.Withheld, err = wrong.Error(), nil
	}
	if first := a.first.Load(); first >= 0 && a.out.Asked > 0 {
		a.out.Wall = time.Duration(a.last.v.Load() - first).Seconds()
		a.out.PerSecond = float64(a.out.Asked) / a.out.Wall
	}
	for n := len(a.out.Each); n > 0 && a.out.Each[n-1] == 0; n-- {
		a.out.Each = a.out.Each[:n-1] // not asked
	}
	service, encodeErr := latencyOf(a.latency)
	a.out.Service = service
	return &a.out, errors.Join(err, encodeErr)
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

// asker is the state that the workers of one type share.
type asker struct {
	cfg       QueryConfig
	questions []Question
	progress  Progress

	origin time.Time
	next   atomic.Int64
	first  atomic.Int64 // start of the first recorded query, nanoseconds since origin; -1: none yet
	last   largest      // end of the last answer

	mu      sync.Mutex // guards what follows
	out     result.Queries
	latency *measure.Latency
}

// work asks until there is nothing left to ask.
func (a *asker) work(ctx context.Context, querier target.Querier) error {
	latency := measure.NewLatency()
	var burnIn, atLeast, rows, bytes int64
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.latency.Merge(latency)
		a.out.Asked += latency.Count()
		a.out.BurnIn += burnIn
		a.out.AtLeast += atLeast
		a.out.Rows += rows
		a.out.Bytes += bytes
	}()
	for {
		i := int(a.next.Add(1) - 1)
		if i >= len(a.questions) || ctx.Err() != nil {
			return ctx.Err()
		}
		question := &a.questions[i]
		recorded := i >= a.cfg.BurnIn
		if first := a.first.Load(); recorded && first >= 0 && a.cfg.TimeBox > 0 &&
			time.Since(a.origin)-time.Duration(first) >= a.cfg.TimeBox {
			return nil
		}
		queryCtx, cancel := ctx, context.CancelFunc(func() {})
		if a.cfg.Timeout > 0 {
			queryCtx, cancel = context.WithTimeout(ctx, a.cfg.Timeout)
		}
		start := time.Since(a.origin)
		if recorded {
			a.first.CompareAndSwap(-1, int64(start))
		}
		cost, err := querier.Do(queryCtx, question.Request, nil)
		end := time.Since(a.origin)
		cutOff := err != nil && queryCtx.Err() != nil && ctx.Err() == nil
		cancel()
		switch {
		case cutOff: // what it took is a lower bound
		case err != nil && (ctx.Err() != nil || errors.Is(err, target.ErrUnreachable)):
			return fmt.Errorf("query %d: %w", question.ID, err)
		case err != nil:
			return &withheld{question.ID, err.Error()}
		case cost.Rows != question.Rows:
			return &withheld{question.ID, fmt.Sprintf("%d rows in the answer, %d expected", cost.Rows, question.Rows)}
		}
		a.progress(1)
		if !recorded {
			burnIn++
			continue
		}
		if cutOff {
			atLeast++
		}
		latency.Record(end - start)
		// Each worker has questions of its own, so no two write one element.
		a.out.Each[i] = (end - start).Seconds()
		if cutOff {
			a.out.Each[i] = -a.out.Each[i]
		}
		a.last.add(int64(end))
		rows += cost.Rows
		bytes += cost.Bytes
	}
}

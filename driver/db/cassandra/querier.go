package cassandra

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/fold"
	"github.com/tsmark/tsmark/query"
)

// querier implements driver.Querier.
type querier struct {
	db          *database
	concurrency int
	closed      bool
}

// NewQuerier implements driver.DB.
func (d *database) NewQuerier(ctx context.Context, _ int) (driver.Querier, error) {
	if err := d.renew(ctx); err != nil {
		return nil, fmt.Errorf("opening a connection for reading: %w", err)
	}
	return &querier{db: d, concurrency: int(d.options.Int(optionConcurrency))}, nil
}

// Close implements driver.Querier. The session is the target's.
func (q *querier) Close() error {
	q.closed = true
	return nil
}

// Do implements driver.Querier.
func (q *querier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	if q.closed {
		return driver.Cost{}, errors.New("the connection is closed")
	}
	p, ok := r.Plan.(*plan)
	if !ok {
		return driver.Cost{}, errors.New("the request has no plan")
	}
	run := &execution{querier: q, plan: p, slots: make(chan struct{}, q.concurrency), Collector: fold.Collect(&p.Plan, sink)}
	rows, err := run.answer(ctx)
	return driver.Cost{Rows: rows, Bytes: run.bytes.Load()}, err
}

// execution is one run of a request.
type execution struct {
	*querier
	plan  *plan
	bytes atomic.Int64
	slots chan struct{} // limits the statements that run at once in the narrow layout

	mu sync.Mutex // guards the following fields while statements run
	*fold.Collector
}

// answer runs the statements and passes the result's rows to the sink.
func (x *execution) answer(ctx context.Context) (int64, error) {
	all, err := x.partitions(ctx)
	if err != nil {
		return 0, err
	}
	switch p := x.plan; {
	case p.Rows != nil:
		return x.emitStored(ctx, all)
	case p.Newest != nil:
		return x.last(ctx, all)
	case p.Fold != nil:
		return x.fold(ctx, all)
	}
	return 0, errors.New("the request does not say what becomes of rows")
}

// statement runs a statement. It passes rows on one at a time, even while other statements run.
func (x *execution) statement(ctx context.Context, text string, args []any, take func([]query.Value) error) error {
	var r reader
	cost, err := x.db.run(ctx, &r, func(row []query.Value) error {
		x.mu.Lock()
		defer x.mu.Unlock()
		return take(row)
	}, text, args...)
	x.bytes.Add(cost.Bytes)
	return err
}

// read reads a partition, and passes its rows on one at a time.
func (x *execution) read(ctx context.Context, at *partition, take func([]query.Value) error) error {
	if x.plan.Narrow != nil {
		return x.join(ctx, at, take)
	}
	return x.statement(ctx, x.plan.Partition, x.plan.args(at), take)
}

// partitions reads the query's partitions from the registry, the newest first.
func (x *execution) partitions(ctx context.Context) (all []partition, err error) {
	p := x.plan
	take := func(row []query.Value) error {
		if len(row) < 2 || row[0].Kind != query.Int {
			return errors.New("the registry's answer has not its columns")
		}
		if row[1].Kind != query.Time || !p.wants(row[2:]) {
			return nil
		}
		if err := x.Keep(len(row)); err != nil {
			return err
		}
		var kept query.Answer
		_ = kept.Row(row[2:]) // an Answer accepts every row
		all = append(all, partition{row[0].Int, row[1].Int / int64(time.Millisecond), kept.Rows[0]})
		return nil
	}
	err = runParallel(ctx, x.concurrency, max(1, len(p.Values)), func(ctx context.Context, i int) error {
		var value *string
		if p.Values != nil {
			value = &p.Values[i]
		}
		return x.statement(ctx, p.Registry, p.registryArgs(value), take)
	})
	slices.SortFunc(all, func(a, b partition) int {
		return cmp.Or(cmp.Compare(b.bucket, a.bucket), cmp.Compare(a.series, b.series))
	})
	return all, err
}

// emitStored passes on stored rows.
func (x *execution) emitStored(ctx context.Context, all []partition) (int64, error) {
	err := runParallel(ctx, x.concurrency, len(all), func(ctx context.Context, i int) error {
		x.mu.Lock()
		enough := x.Full()
		x.mu.Unlock()
		if enough {
			return nil
		}
		return x.read(ctx, &all[i], func(row []query.Value) error { return x.Take(all[i].tags, row) })
	})
	if err != nil {
		return x.Count(), err
	}
	return x.Finish()
}

// last passes on the newest row for each value of a tag.
func (x *execution) last(ctx context.Context, all []partition) (int64, error) {
	bySeries := map[int64][]*partition{}
	var series []int64
	for i := range all { // the newest first
		at := &all[i]
		if bySeries[at.series] == nil {
			series = append(series, at.series)
		}
		bySeries[at.series] = append(bySeries[at.series], at)
	}
	err := runParallel(ctx, x.concurrency, len(series), func(ctx context.Context, i int) error {
		found := false
		for _, at := range bySeries[series[i]] {
			err := x.read(ctx, at, func(row []query.Value) error {
				found = true
				return x.Take(at.tags, row)
			})
			if err != nil || found {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return x.Finish()
}

// fold combines the aggregates of partitions. For an ordered result with a limit it reads no more
// partitions than necessary, one span after the other.
func (x *execution) fold(ctx context.Context, all []partition) (int64, error) {
	f := x.plan.Fold
	if f.Limit == 0 {
		if err := x.foldAll(ctx, all); err != nil {
			return 0, err
		}
		return x.Finish()
	}
	if f.Order == query.Ascending {
		slices.Reverse(all)
	}
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].bucket == all[0].bucket {
			n++
		}
		if err := x.foldAll(ctx, all[:n]); err != nil {
			return 0, err
		}
		begin := all[0].bucket
		all = all[n:]
		enough := x.HasEnough(func(bucket int64) bool { // no further partition adds to it
			return f.Order == query.Descending && bucket >= begin || f.Order == query.Ascending && bucket+f.Width <= begin+x.plan.Span
		})
		if enough {
			break
		}
	}
	return x.Finish()
}

// foldAll adds the aggregates of partitions.
func (x *execution) foldAll(ctx context.Context, all []partition) error {
	return runParallel(ctx, x.concurrency, len(all), func(ctx context.Context, i int) error {
		return x.read(ctx, &all[i], func(row []query.Value) error { return x.Take(all[i].tags, row) })
	})
}

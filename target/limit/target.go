package limit

import (
	"context"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/target"
)

// Kind returns the kind with targets that keep the limits. Their writers do so
// by themselves: see target.Writer.
func Kind(k target.Kind, l Limits) target.Kind {
	open, most := k.Open, l.statement()
	if k.Caps.Embedded {
		most = l.step() // it may have a log to read first
	}
	k.Open = func(ctx context.Context, env target.Env, o target.Options) (target.Target, error) {
		env.Locks = l.Statement
		t, err := call(ctx, most, "opening "+k.Name, func(ctx context.Context) (target.Target, error) {
			return open(ctx, env, o)
		}, func(t target.Target) { _ = t.Close() })
		if err != nil {
			return nil, err
		}
		return Target(t, l), nil
	}
	return k
}

// Target returns an open target that keeps the limits.
func Target(t target.Target, l Limits) target.Target { return &limited{t, l} }

// limited is a target that keeps limits. It has the methods of all that a target
// may be beside; target.As tells which of them the target has.
type limited struct {
	target.Target
	limits Limits
}

// What a target may be beside must stand here: target.As finds nothing else of a
// target with limits.
var _ interface {
	target.AfterLoader
	target.Clearer
	target.DistinctCounter
	target.Incomplete
	target.Inspector
	target.Kept
	target.LineTaker
	target.Metered
	target.SeriesLister
	target.Server
	target.Watcher
} = (*limited)(nil)

// Unwrap returns the target as it was opened.
func (t *limited) Unwrap() target.Target { return t.Target }

// Describe implements target.Target.
func (t *limited) Describe(ctx context.Context) (target.Description, error) {
	return call(ctx, t.limits.statement(), "asking for version and settings", t.Target.Describe, nil)
}

// ReadMark implements target.Target.
func (t *limited) ReadMark(ctx context.Context) (target.Mark, error) {
	return call(ctx, t.limits.statement(), "reading the mark", t.Target.ReadMark, nil)
}

// Prepare implements target.Target.
func (t *limited) Prepare(ctx context.Context, s *series.Schema, m target.Mark) error {
	return run(ctx, t.limits.step(), "dropping and creating tables", func(ctx context.Context) error {
		return t.Target.Prepare(ctx, s, m)
	})
}

// WriteMark implements target.Target.
func (t *limited) WriteMark(ctx context.Context, m target.Mark) error {
	return run(ctx, t.limits.statement(), "writing the mark", func(ctx context.Context) error {
		return t.Target.WriteMark(ctx, m)
	})
}

// NewWriter implements target.Target.
func (t *limited) NewWriter(ctx context.Context, worker int) (target.Writer, error) {
	return call(ctx, t.limits.statement(), "opening a connection for writing", func(ctx context.Context) (target.Writer, error) {
		return t.Target.NewWriter(ctx, worker)
	}, func(w target.Writer) { _ = w.Close() })
}

// NewQuerier implements target.Target.
func (t *limited) NewQuerier(ctx context.Context, worker int) (target.Querier, error) {
	q, err := call(ctx, t.limits.statement(), "opening a connection for reading", func(ctx context.Context) (target.Querier, error) {
		return t.Target.NewQuerier(ctx, worker)
	}, func(q target.Querier) { _ = q.Close() })
	if err != nil {
		return nil, err
	}
	return querier{q, t.limits.step()}, nil
}

// Settle implements target.Target.
func (t *limited) Settle(ctx context.Context) error {
	return run(ctx, t.limits.step(), "waiting until the target has settled", t.Target.Settle)
}

// Census implements target.Target.
func (t *limited) Census(ctx context.Context, table *series.Table) (target.Census, error) {
	return call(ctx, t.limits.step(), "counting table "+table.Name, func(ctx context.Context) (target.Census, error) {
		return t.Target.Census(ctx, table)
	}, nil)
}

// Footprint implements target.Target.
func (t *limited) Footprint(ctx context.Context) (int64, error) {
	n, err := call(ctx, t.limits.statement(), "measuring the size on disk", t.Target.Footprint, nil)
	if err != nil {
		n = -1
	}
	return n, err
}

// Close implements target.Target.
func (t *limited) Close() error {
	return run(context.Background(), t.limits.statement(), "closing", func(context.Context) error { return t.Target.Close() })
}

// AfterLoad implements target.AfterLoader.
func (t *limited) AfterLoad() []target.Step {
	own, ok := target.As[target.AfterLoader](t.Target)
	if !ok {
		return nil
	}
	steps := own.AfterLoad()
	for i, s := range steps {
		steps[i].Do = func(ctx context.Context) error { return run(ctx, t.limits.step(), s.Name, s.Do) }
	}
	return steps
}

// Foreign implements target.Clearer.
func (t *limited) Foreign(ctx context.Context, s *series.Schema) ([]string, error) {
	own, ok := target.As[target.Clearer](t.Target)
	if !ok {
		return nil, errNot("clears what others left")
	}
	return call(ctx, t.limits.statement(), "listing what is there", func(ctx context.Context) ([]string, error) {
		return own.Foreign(ctx, s)
	}, nil)
}

// Clear implements target.Clearer.
func (t *limited) Clear(ctx context.Context, s *series.Schema, named []string) error {
	own, ok := target.As[target.Clearer](t.Target)
	if !ok {
		return errNot("clears what others left")
	}
	return run(ctx, t.limits.step(), "dropping what others left", func(ctx context.Context) error {
		return own.Clear(ctx, s, named)
	})
}

// Metrics implements target.Metered.
func (t *limited) Metrics(ctx context.Context) (map[string]float64, error) {
	own, ok := target.As[target.Metered](t.Target)
	if !ok {
		return nil, errNot("tells figures of itself")
	}
	return call(ctx, t.limits.statement(), "reading the server's own figures", own.Metrics, nil)
}

// Address implements target.Server.
func (t *limited) Address() string {
	own, ok := target.As[target.Server](t.Target)
	if !ok {
		return ""
	}
	return own.Address()
}

// TakesLines implements target.LineTaker.
func (t *limited) TakesLines(format string, s *series.Schema) bool {
	own, ok := target.As[target.LineTaker](t.Target)
	return ok && own.TakesLines(format, s)
}

// Inspect implements target.Inspector.
func (t *limited) Inspect(ctx context.Context, s *series.Schema) error {
	own, ok := target.As[target.Inspector](t.Target)
	if !ok {
		return errNot("can be inspected")
	}
	return run(ctx, t.limits.statement(), "looking at what is there", func(ctx context.Context) error {
		return own.Inspect(ctx, s)
	})
}

// DistinctCensus implements target.DistinctCounter.
func (t *limited) DistinctCensus(ctx context.Context, table *series.Table) (target.Census, error) {
	own, ok := target.As[target.DistinctCounter](t.Target)
	if !ok {
		return target.Census{}, errNot("counts different rows")
	}
	return call(ctx, t.limits.step(), "counting different rows of table "+table.Name, func(ctx context.Context) (target.Census, error) {
		return own.DistinctCensus(ctx, table)
	}, nil)
}

// ListSeries implements target.SeriesLister.
func (t *limited) ListSeries(ctx context.Context, s *series.Schema, table *series.Table, sink query.Sink) error {
	own, ok := target.As[target.SeriesLister](t.Target)
	if !ok {
		return errNot("lists its series")
	}
	return run(ctx, t.limits.step(), "listing the series of table "+table.Name, func(ctx context.Context) error {
		return own.ListSeries(ctx, s, table, sink)
	})
}

// Upkeep implements target.Kept.
func (t *limited) Upkeep(ctx context.Context) (string, error) {
	own, ok := target.As[target.Kept](t.Target)
	if !ok {
		return "", errNot("does maintenance")
	}
	return call(ctx, t.limits.statement(), "asking what maintenance was done", own.Upkeep, nil)
}

// IdleSince implements target.Watcher.
func (t *limited) IdleSince() time.Time {
	own, ok := target.As[target.Watcher](t.Target)
	if !ok {
		return time.Time{}
	}
	return own.IdleSince()
}

// LeftOut implements target.Incomplete.
func (t *limited) LeftOut() string {
	own, ok := target.As[target.Incomplete](t.Target)
	if !ok {
		return ""
	}
	return own.LeftOut()
}

func errNot(does string) error { return fmt.Errorf("the target is none that %s", does) }

// querier is one whose queries end, whoever asks them.
type querier struct {
	target.Querier
	limit *Late
}

// Do implements target.Querier. A query that has an end of its own keeps that,
// at no cost.
func (q querier) Do(ctx context.Context, r target.Request, sink query.Sink) (target.Cost, error) {
	if _, ends := ctx.Deadline(); ends {
		return q.Querier.Do(ctx, r, sink)
	}
	limited, cancel := context.WithTimeoutCause(ctx, q.limit.Limit, q.limit)
	defer cancel()
	cost, err := q.Querier.Do(limited, r, sink)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		err = fmt.Errorf("a query: %w", q.limit)
	}
	return cost, err
}

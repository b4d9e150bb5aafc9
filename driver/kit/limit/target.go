package limit

import (
	"context"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Driver returns the driver with databases that keep the limits. Their writers do so
// by themselves: see driver.Writer.
func Driver(k driver.Driver, l Limits) driver.Driver {
	open := k.Open
	k.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
		most := l.statement()
		if k.Caps(o).Embedded {
			most = l.step() // it may have a log to read first
		}
		env.Locks = l.Statement - l.Statement/10 // so that the database says what it waits for before nobody waits for that
		t, err := call(ctx, most, "opening "+k.Name, func(ctx context.Context) (driver.DB, error) {
			return open(ctx, env, o)
		}, func(t driver.DB) { _ = t.Close() })
		if err != nil {
			return nil, err
		}
		return Target(t, l), nil
	}
	return k
}

// Target returns an open target that keeps the limits.
func Target(t driver.DB, l Limits) driver.DB { return &limited{t, l, newLocks(t, l)} }

// limited is a target that keeps limits. It has the methods of all that a target
// may be beside; driver.As tells which of them the target has.
type limited struct {
	driver.DB
	limits Limits
	locks  locks
}

// What a target may be beside must stand here: driver.As finds nothing else of a
// target with limits.
var _ interface {
	driver.Adviser
	driver.AfterLoader
	driver.Bounded
	driver.Clock
	driver.Configured
	driver.DistinctCounter
	driver.Flusher
	driver.Grower
	driver.ReadTeller
	driver.Inspector
	driver.Joiner
	driver.Kept
	driver.LineTaker
	driver.Materializer
	driver.Metered
	driver.Processes
	driver.RowCounter
	driver.SeriesLister
	driver.Server
	driver.Storage
	driver.TextChecker
	driver.Waiter
	driver.Watcher
} = (*limited)(nil)

// Unwrap returns the target as it was opened.
func (t *limited) Unwrap() driver.DB { return t.DB }

// Describe implements driver.DB.
func (t *limited) Describe(ctx context.Context) (driver.Description, error) {
	return call(ctx, t.limits.statement(), "reading version and settings", t.DB.Describe, nil)
}

// Objects implements driver.DB.
func (t *limited) Objects(ctx context.Context) ([]driver.Object, error) {
	return call(ctx, t.limits.statement(), "listing what is there", t.DB.Objects, nil)
}

// Create implements driver.DB.
func (t *limited) Create(ctx context.Context, s *series.Schema) error {
	return run(ctx, t.limits.step(), "creating tables", func(ctx context.Context) error { return t.DB.Create(ctx, s) })
}

// Drop implements driver.DB.
func (t *limited) Drop(ctx context.Context, objects []driver.Object) error {
	return run(ctx, t.limits.step(), "dropping tables", func(ctx context.Context) error { return t.DB.Drop(ctx, objects) })
}

// Note implements driver.DB.
func (t *limited) Note(ctx context.Context) (string, error) {
	return call(ctx, t.limits.statement(), "reading the note", t.DB.Note, nil)
}

// SetNote implements driver.DB.
func (t *limited) SetNote(ctx context.Context, text string) error {
	return run(ctx, t.limits.statement(), "writing the note", func(ctx context.Context) error { return t.DB.SetNote(ctx, text) })
}

// NewWriter implements driver.DB.
func (t *limited) NewWriter(ctx context.Context, worker int) (driver.Writer, error) {
	return call(ctx, t.limits.statement(), "opening a connection for writing", func(ctx context.Context) (driver.Writer, error) {
		return t.DB.NewWriter(ctx, worker)
	}, func(w driver.Writer) { _ = w.Close() })
}

// NewQuerier implements driver.DB.
func (t *limited) NewQuerier(ctx context.Context, worker int) (driver.Querier, error) {
	q, err := call(ctx, t.limits.statement(), "opening a connection for reading", func(ctx context.Context) (driver.Querier, error) {
		return t.DB.NewQuerier(ctx, worker)
	}, func(q driver.Querier) { _ = q.Close() })
	if err != nil {
		return nil, err
	}
	return querier{q, t.limits.step(), t.locks}, nil
}

// Settle implements driver.DB.
func (t *limited) Settle(ctx context.Context) error {
	watched, end := t.locks.watch(ctx)
	return end(run(watched, t.limits.step(), "waiting until the target has settled", t.DB.Settle))
}

// readUnblocked reads a table within the limit of a step, unless somebody has locked it.
func readUnblocked[T any](ctx context.Context, t *limited, doing string, read func(context.Context) (T, error)) (T, error) {
	watched, end := t.locks.watch(ctx)
	value, err := call(watched, t.limits.step(), doing, read, nil)
	return value, end(err)
}

// Census implements driver.DB.
func (t *limited) Census(ctx context.Context, table *series.Table) (driver.Census, error) {
	return readUnblocked(ctx, t, "counting table "+table.Name, func(ctx context.Context) (driver.Census, error) {
		return t.DB.Census(ctx, table)
	})
}

// Footprint implements driver.DB.
func (t *limited) Footprint(ctx context.Context) (driver.Footprint, error) {
	size, err := call(ctx, t.limits.statement(), "measuring the size on disk", t.DB.Footprint, nil)
	if err != nil {
		size.Bytes = -1
	}
	return size, err
}

// Close implements driver.DB.
func (t *limited) Close() error {
	return run(context.Background(), t.limits.statement(), "closing", func(context.Context) error { return t.DB.Close() })
}

// AfterLoad implements driver.AfterLoader.
func (t *limited) AfterLoad() []driver.Step {
	own, ok := driver.As[driver.AfterLoader](t.DB)
	if !ok {
		return nil
	}
	steps := own.AfterLoad()
	for i, s := range steps {
		steps[i].Do = func(ctx context.Context) error { return run(ctx, t.limits.step(), s.Name, s.Do) }
	}
	return steps
}

// Metrics implements driver.Metered.
func (t *limited) Metrics(ctx context.Context) (map[string]float64, error) {
	own, ok := driver.As[driver.Metered](t.DB)
	if !ok {
		return nil, errNot("tells figures of itself")
	}
	return call(ctx, t.limits.statement(), "reading the server's own figures", own.Metrics, nil)
}

// Address implements driver.Server.
func (t *limited) Address() string {
	own, ok := driver.As[driver.Server](t.DB)
	if !ok {
		return ""
	}
	return own.Address()
}

// Addresses implements driver.Processes.
func (t *limited) Addresses(ctx context.Context) ([]string, error) {
	own, ok := driver.As[driver.Processes](t.DB)
	if !ok {
		return nil, errNot("has further processes")
	}
	return call(ctx, t.limits.statement(), "listing the server's processes", own.Addresses, nil)
}

// TakesLines implements driver.LineTaker.
func (t *limited) TakesLines(format string, s *series.Schema) bool {
	own, ok := driver.As[driver.LineTaker](t.DB)
	return ok && own.TakesLines(format, s)
}

// Inspect implements driver.Inspector.
func (t *limited) Inspect(ctx context.Context) error {
	own, ok := driver.As[driver.Inspector](t.DB)
	if !ok {
		return errNot("can be inspected")
	}
	return run(ctx, t.limits.statement(), "looking at what is there", own.Inspect)
}

// DistinctCensus implements driver.DistinctCounter.
func (t *limited) DistinctCensus(ctx context.Context, table *series.Table) (driver.Census, error) {
	own, ok := driver.As[driver.DistinctCounter](t.DB)
	if !ok {
		return driver.Census{}, errNot("counts different rows")
	}
	return readUnblocked(ctx, t, "counting different rows of table "+table.Name, func(ctx context.Context) (driver.Census, error) {
		return own.DistinctCensus(ctx, table)
	})
}

// CountRows implements driver.RowCounter.
func (t *limited) CountRows(ctx context.Context, table *series.Table) (int64, error) {
	own, ok := driver.As[driver.RowCounter](t.DB)
	if !ok {
		return 0, errNot("counts rows")
	}
	return readUnblocked(ctx, t, "counting the rows of table "+table.Name, func(ctx context.Context) (int64, error) {
		return own.CountRows(ctx, table)
	})
}

// Join implements driver.Joiner.
func (t *limited) Join(ctx context.Context, s *series.Schema) error {
	own, ok := driver.As[driver.Joiner](t.DB)
	if !ok {
		return errNot("lets several processes write")
	}
	return run(ctx, t.limits.statement(), "getting ready to write", func(ctx context.Context) error { return own.Join(ctx, s) })
}

// MostConnections implements driver.Bounded.
func (t *limited) MostConnections(ctx context.Context) (driver.Bound, error) {
	own, ok := driver.As[driver.Bounded](t.DB)
	if !ok {
		return driver.Bound{}, errNot("tells how many connections it takes")
	}
	return call(ctx, t.limits.statement(), "asking how many connections it takes", own.MostConnections, nil)
}

// Grow implements driver.Grower. It asks nothing of a server.
func (t *limited) Grow(s *series.Schema) error {
	own, ok := driver.As[driver.Grower](t.DB)
	if !ok {
		return errNot("goes on with a schema that has grown")
	}
	return own.Grow(s)
}

// Reads implements driver.ReadTeller.
func (t *limited) Reads(ctx context.Context, q driver.Request) (read driver.Read, ok bool, err error) {
	own, tells := driver.As[driver.ReadTeller](t.DB)
	if !tells {
		return driver.Read{}, false, errNot("tells what it reads")
	}
	err = run(ctx, t.limits.step(), "seeing what a query reads", func(ctx context.Context) (err error) {
		read, ok, err = own.Reads(ctx, q)
		return err
	})
	return read, ok, err
}

// CheckText implements driver.TextChecker.
func (t *limited) CheckText(ctx context.Context, text string) error {
	own, ok := driver.As[driver.TextChecker](t.DB)
	if !ok {
		return errNot("runs texts of users")
	}
	return run(ctx, t.limits.statement(), "checking that a text only reads", func(ctx context.Context) error { return own.CheckText(ctx, text) })
}

// ListSeries implements driver.SeriesLister.
func (t *limited) ListSeries(ctx context.Context, s *series.Schema, table *series.Table, sink query.Sink) error {
	own, ok := driver.As[driver.SeriesLister](t.DB)
	if !ok {
		return errNot("lists its series")
	}
	return run(ctx, t.limits.step(), "listing the series of table "+table.Name, func(ctx context.Context) error {
		return own.ListSeries(ctx, s, table, sink)
	})
}

// Upkeep implements driver.Kept.
func (t *limited) Upkeep(ctx context.Context, objects []driver.Object) (string, error) {
	own, ok := driver.As[driver.Kept](t.DB)
	if !ok {
		return "", errNot("does maintenance")
	}
	return call(ctx, t.limits.statement(), "reading what maintenance was done", func(ctx context.Context) (string, error) {
		return own.Upkeep(ctx, objects)
	}, nil)
}

// IdleSince implements driver.Watcher.
func (t *limited) IdleSince() time.Time {
	own, ok := driver.As[driver.Watcher](t.DB)
	if !ok {
		return time.Time{}
	}
	return own.IdleSince()
}

// FlushMemory implements driver.Flusher.
func (t *limited) FlushMemory(ctx context.Context) error {
	own, ok := driver.As[driver.Flusher](t.DB)
	if !ok {
		return errNot("writes out what it keeps in memory")
	}
	return run(ctx, t.limits.step(), "having the server write out what it keeps in memory", own.FlushMemory)
}

// PlanAggregate implements driver.Materializer.
func (t *limited) PlanAggregate(s *series.Schema, m *query.Materialized) ([]driver.Object, error) {
	own, ok := driver.As[driver.Materializer](t.DB)
	if !ok {
		return nil, errNot("keeps aggregates")
	}
	return own.PlanAggregate(s, m)
}

// Materialize implements driver.Materializer.
func (t *limited) Materialize(ctx context.Context, s *series.Schema, m *query.Materialized, keep bool) error {
	own, ok := driver.As[driver.Materializer](t.DB)
	if !ok {
		return errNot("keeps aggregates")
	}
	return run(ctx, t.limits.step(), "making the aggregate "+m.Name(), func(ctx context.Context) error {
		return own.Materialize(ctx, s, m, keep)
	})
}

// Covered implements driver.Materializer.
func (t *limited) Covered(ctx context.Context, m *query.Materialized) (int64, error) {
	own, ok := driver.As[driver.Materializer](t.DB)
	if !ok {
		return -1, errNot("keeps aggregates")
	}
	return call(ctx, t.limits.step(), "counting the rows of the aggregate "+m.Name(), func(ctx context.Context) (int64, error) {
		return own.Covered(ctx, m)
	}, nil)
}

// AggregateFootprint implements driver.Materializer.
func (t *limited) AggregateFootprint(ctx context.Context, m *query.Materialized) (int64, error) {
	own, ok := driver.As[driver.Materializer](t.DB)
	if !ok {
		return -1, errNot("keeps aggregates")
	}
	return call(ctx, t.limits.statement(), "measuring the aggregate "+m.Name(), func(ctx context.Context) (int64, error) {
		return own.AggregateFootprint(ctx, m)
	}, nil)
}

// Effective implements driver.Configured.
func (t *limited) Effective(ctx context.Context) ([]driver.Effective, error) {
	own, is := driver.As[driver.Configured](t.DB)
	if !is {
		return nil, nil
	}
	return call(ctx, t.limits.statement(), "reading back options", own.Effective, nil)
}

// ReadClock implements driver.Clock.
func (t *limited) ReadClock(ctx context.Context) (driver.Reading, error) {
	own, ok := driver.As[driver.Clock](t.DB)
	if !ok {
		return driver.Reading{}, errNot("tells its time")
	}
	return call(ctx, t.limits.statement(), "reading the server's clock", own.ReadClock, nil)
}

// Room implements driver.Storage.
func (t *limited) Room(ctx context.Context) (folder string, free int64, err error) {
	own, ok := driver.As[driver.Storage](t.DB)
	if !ok {
		return "", -1, errNot("tells where its data is")
	}
	err = run(ctx, t.limits.statement(), "looking for free space", func(ctx context.Context) (err error) {
		folder, free, err = own.Room(ctx)
		return err
	})
	return folder, free, err
}

// Advise implements driver.Adviser.
func (t *limited) Advise(ctx context.Context) ([]driver.Advice, error) {
	own, ok := driver.As[driver.Adviser](t.DB)
	if !ok {
		return nil, errNot("knows its server's settings")
	}
	return call(ctx, t.limits.statement(), "reading the server's settings", own.Advise, nil)
}

func errNot(does string) error { return fmt.Errorf("the target is none that %s", does) }

// querier is one whose queries end, whoever asks them.
type querier struct {
	driver.Querier
	limit *Late
	locks locks
}

// Do implements driver.Querier. A query that has an end of its own keeps that,
// at no cost.
func (q querier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	if _, ends := ctx.Deadline(); ends {
		return q.Querier.Do(ctx, r, sink)
	}
	watched, end := q.locks.watch(ctx)
	limited, cancel := context.WithTimeoutCause(watched, q.limit.Limit, q.limit)
	defer cancel()
	cost, err := q.Querier.Do(limited, r, sink)
	blocked := watched.Err() != nil
	err = end(err)
	if err != nil && !blocked && ctx.Err() == nil && limited.Err() != nil {
		err = fmt.Errorf("a query: %w", q.limit)
	}
	return cost, err
}

package limit

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Driver returns the driver with databases that keep the limits. Their writers do so
// by themselves: see driver.Writer.
func Driver(k driver.Driver, l Limits) driver.Driver {
	open := k.Open
	k.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
		own := l
		own.Waiting = env.Waiting
		most := own.statement()
		if k.Caps(o).Embedded {
			most = own.step() // it may have a log to read first
		}
		env.Locks = l.Statement - l.Statement/10 // lets the database name the lock before the limit ends the statement
		db, err := call(ctx, most, "opening "+k.Name, func(ctx context.Context) (driver.DB, error) {
			return open(ctx, env, o)
		}, func(db driver.DB) { _ = db.Close() })
		if err != nil {
			return driver.DB{}, err
		}
		return Target(db, own), nil
	}
	return k
}

// Target returns an open database whose calls end at the limits.
func Target(db driver.DB, l Limits) driver.DB {
	locks := newLocks(db, l)
	db.Required = &limited{db.Required, l, locks}
	statement, step, none := l.statement(), l.step(), blockers{}
	bound(&db.ListProcesses, none, statement, "listing the server's processes")
	bound(&db.Inspect, none, statement, "reading the note and objects")
	bound(&db.ConnectionLimit, none, statement, "reading how many connections the server accepts")
	bound(&db.ReadClock, none, statement, "reading the server's clock")
	bound(&db.FreeSpace, none, statement, "looking for free space")
	bound(&db.Advise, none, statement, "reading the server's settings")
	bound(&db.EffectiveOptions, none, statement, "reading back options")
	bound(&db.CheckText, none, statement, "checking that a text only reads")
	bound(&db.Join, none, statement, "getting ready to write")
	bound(&db.FlushMemory, none, step, "flushing the memory of the server")
	bound(&db.Upkeep, none, statement, "reading what maintenance was done")
	bound(&db.CountRows, locks, step, "counting the rows of table")
	bound(&db.DistinctCensus, locks, step, "counting different rows of table")
	bound(&db.ListSeries, none, step, "listing the series of table")
	bound(&db.ReadMetrics, none, statement, "reading the server's own figures")
	bound(&db.MeasureReads, none, step, "seeing what a query reads")
	bound(&db.Explain, none, statement, "reading the plan of a query")
	bound(&db.ProfileCPU, none, statement, "profiling the server")
	bound(&db.FindBlocker, none, statement, "looking for locks")
	bound(&db.DeleteSeries, locks, step, "deleting rows of table")
	bound(&db.DropBefore, locks, step, "dropping old rows")
	bound(&db.Correct, locks, step, "correcting rows")
	bound(&db.Materialize, none, step, "making the aggregate")
	bound(&db.CountCovered, none, step, "counting the rows of the aggregate")
	bound(&db.AggregateFootprint, none, statement, "measuring the aggregate")
	db.Steps = slices.Clone(db.Steps)
	for i, s := range db.Steps {
		bound(&db.Steps[i].Do, none, step, s.Name)
	}
	return db
}

// bound replaces the function at f, whose first parameter is a context and whose last result is an
// error. Calls of the new function end at the limit, or when another session holds a lock that they
// need. Their errors say doing, followed by the table or aggregate among the arguments. A nil function
// stays nil.
func bound[F any](f *F, locks blockers, limit *Late, doing string) {
	unbound := reflect.ValueOf(*f)
	if unbound.IsNil() {
		return
	}
	*f = reflect.MakeFunc(unbound.Type(), func(in []reflect.Value) []reflect.Value {
		ctx, end := locks.watch(in[0].Interface().(context.Context))
		out, err := call(ctx, limit, doing+object(in), func(ctx context.Context) ([]reflect.Value, error) {
			out := unbound.Call(slices.Concat([]reflect.Value{reflect.ValueOf(ctx)}, in[1:]))
			err, _ := out[len(out)-1].Interface().(error)
			return out, err
		}, nil)
		if out == nil { // nobody waits for it any more
			for i := range unbound.Type().NumOut() {
				out = append(out, reflect.Zero(unbound.Type().Out(i)))
			}
		}
		err = end(err)
		out[len(out)-1] = reflect.ValueOf(&err).Elem()
		return out
	}).Interface().(F)
}

// object returns a space and the name of the table or aggregate among arguments, or an empty string if
// there is no such argument.
func object(in []reflect.Value) string {
	for _, v := range in {
		switch v := v.Interface().(type) {
		case *series.Table:
			return " " + v.Name
		case *query.Materialized:
			return " " + v.Name()
		}
	}
	return ""
}

// limited is a database whose required calls keep limits.
type limited struct {
	driver.Required
	limits Limits
	locks  blockers
}

// Describe implements driver.DB.
func (t *limited) Describe(ctx context.Context) (driver.Description, error) {
	return call(ctx, t.limits.statement(), "reading version and settings", t.Required.Describe, nil)
}

// Objects implements driver.DB.
func (t *limited) Objects(ctx context.Context) ([]driver.Object, error) {
	return call(ctx, t.limits.statement(), "listing objects", t.Required.Objects, nil)
}

// Create implements driver.DB.
func (t *limited) Create(ctx context.Context, s *series.Schema) error {
	return run(ctx, t.limits.step(), "creating tables", func(ctx context.Context) error { return t.Required.Create(ctx, s) })
}

// Drop implements driver.DB.
func (t *limited) Drop(ctx context.Context, objects []driver.Object) error {
	return run(ctx, t.limits.step(), "dropping tables", func(ctx context.Context) error { return t.Required.Drop(ctx, objects) })
}

// Note implements driver.DB.
func (t *limited) Note(ctx context.Context) (string, error) {
	return call(ctx, t.limits.statement(), "reading the note", t.Required.Note, nil)
}

// SetNote implements driver.DB.
func (t *limited) SetNote(ctx context.Context, text string) error {
	return run(ctx, t.limits.statement(), "writing the note", func(ctx context.Context) error { return t.Required.SetNote(ctx, text) })
}

// NewWriter implements driver.DB.
func (t *limited) NewWriter(ctx context.Context, worker int) (driver.Writer, error) {
	return call(ctx, t.limits.statement(), "opening a connection for writing", func(ctx context.Context) (driver.Writer, error) {
		return t.Required.NewWriter(ctx, worker)
	}, func(w driver.Writer) { _ = w.Close() })
}

// NewQuerier implements driver.DB.
func (t *limited) NewQuerier(ctx context.Context, worker int) (driver.Querier, error) {
	q, err := call(ctx, t.limits.statement(), "opening a connection for reading", func(ctx context.Context) (driver.Querier, error) {
		return t.Required.NewQuerier(ctx, worker)
	}, func(q driver.Querier) { _ = q.Close() })
	if err != nil {
		return nil, err
	}
	return querier{q, t.limits.step(), t.locks}, nil
}

// Settle implements driver.DB.
func (t *limited) Settle(ctx context.Context) error {
	watched, end := t.locks.watch(ctx)
	return end(run(watched, t.limits.step(), "waiting until the target has settled", t.Required.Settle))
}

// Census implements driver.DB.
func (t *limited) Census(ctx context.Context, table *series.Table) (driver.Census, error) {
	watched, end := t.locks.watch(ctx)
	census, err := call(watched, t.limits.step(), "counting table "+table.Name, func(ctx context.Context) (driver.Census, error) {
		return t.Required.Census(ctx, table)
	}, nil)
	return census, end(err)
}

// Footprint implements driver.DB.
func (t *limited) Footprint(ctx context.Context) (driver.Footprint, error) {
	size, err := call(ctx, t.limits.statement(), "measuring the size on disk", t.Required.Footprint, nil)
	if err != nil {
		size.Bytes = -1
	}
	return size, err
}

// Close implements driver.DB.
func (t *limited) Close() error {
	return run(context.Background(), t.limits.statement(), "closing", func(context.Context) error { return t.Required.Close() })
}

// querier is one whose queries end, whoever runs them.
type querier struct {
	driver.Querier
	limit *Late
	locks blockers
}

// Do implements driver.Querier. A query whose context has a deadline keeps it, at no cost.
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

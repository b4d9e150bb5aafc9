package certify

import (
	"context"
	"errors"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// catchPanics returns the driver with databases whose panics are errors. Workers call their connections in
// goroutines of their own, where a panic would end tsmark.
func catchPanics(d driver.Driver) driver.Driver {
	open := d.Open
	d.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
		db, err := open(ctx, env, o)
		if err != nil {
			return db, err
		}
		db.Required = &guarded{db.Required}
		db.TakesLines = nil // the suite writes batches
		return db, nil
	}
	return d
}

// caught sets the error to the panic, if there is one. It is deferred.
func caught(err *error) {
	if p := recover(); p != nil {
		*err = errors.New(panicText(p))
	}
}

type guarded struct{ driver.Required }

// NewWriter implements driver.DB.
func (g *guarded) NewWriter(ctx context.Context, worker int) (w driver.Writer, err error) {
	defer caught(&err)
	w, err = g.Required.NewWriter(ctx, worker)
	return &guardedWriter{w}, err
}

// NewQuerier implements driver.DB.
func (g *guarded) NewQuerier(ctx context.Context, worker int) (q driver.Querier, err error) {
	defer caught(&err)
	q, err = g.Required.NewQuerier(ctx, worker)
	return &guardedQuerier{q}, err
}

// Census implements driver.DB.
func (g *guarded) Census(ctx context.Context, t *series.Table) (c driver.Census, err error) {
	defer caught(&err)
	return g.Required.Census(ctx, t)
}

// Settle implements driver.DB.
func (g *guarded) Settle(ctx context.Context) (err error) {
	defer caught(&err)
	return g.Required.Settle(ctx)
}

type guardedWriter struct{ driver.Writer }

// Write implements driver.Writer.
func (w *guardedWriter) Write(ctx context.Context, b *series.Batch) (r driver.Receipt, err error) {
	defer caught(&err)
	return w.Writer.Write(ctx, b)
}

// Flush implements driver.Writer.
func (w *guardedWriter) Flush(ctx context.Context) (r driver.Receipt, err error) {
	defer caught(&err)
	return w.Writer.Flush(ctx)
}

// Close implements driver.Writer.
func (w *guardedWriter) Close() (err error) {
	defer caught(&err)
	return w.Writer.Close()
}

type guardedQuerier struct{ driver.Querier }

// Do implements driver.Querier.
func (q *guardedQuerier) Do(ctx context.Context, r driver.Request, sink query.Sink) (c driver.Cost, err error) {
	defer caught(&err)
	return q.Querier.Do(ctx, r, sink)
}

// Close implements driver.Querier.
func (q *guardedQuerier) Close() (err error) {
	defer caught(&err)
	return q.Querier.Close()
}

// Package lie has a wrapper over the database of any driver that deceives whoever measures it:
// it stores other rows than it was sent, answers with other rows than it holds, or acknowledges
// rows that it has not stored. A lie that is measured must not end in a figure.
//
// Apply applies lies to a driver. Contents and Answers list the lies that the tests tell about
// every driver.
package lie

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Lie is one way to deceive. Nil functions change nothing. The functions are called by one
// goroutine at a time, except Write.
type Lie struct {
	Name string
	// Subject is the table or the query type that the lie is about; empty: all of them.
	Subject string
	// Copies returns how often a row is stored. Rows of the subject are numbered from 0 over all
	// writers. All of them are acknowledged.
	Copies func(row int64) int
	// Change changes rows before they are stored. first is the number of the first one.
	Change func(first int64, run *series.Run)
	// Write stores a batch and acknowledges it.
	Write func(context.Context, Write) (driver.Receipt, error)
	// Answer returns the rows that reach the client, or an error in their place.
	Answer func(Answer) ([][]query.Value, error)
	// List changes the tags of a series that the database lists; false omits the series.
	List func(tags []query.Value) bool
	// Delay returns how long an answer is held back, at most until its query's context ends. It is
	// called after Answer.
	Delay func(Answer) time.Duration
	// Describe returns an error if the server can no longer be reached.
	Describe func() error
	// Skips is a change that is reported as done, and is not made.
	Skips Change
}

// Change is a change of stored rows.
type Change string

// The changes: functions of driver.Optional.
const (
	Delete  Change = "DeleteSeries"
	Drop    Change = "DropBefore"
	Correct Change = "Correct"
)

// Changes lists lies about changes of stored rows.
func Changes() []Lie {
	return []Lie{{Name: "deletes-nothing", Skips: Delete}, {Name: "drops-nothing", Skips: Drop}, {Name: "corrects-nothing", Skips: Correct}}
}

// skip replaces the function of a change.
func (c Change) skip(o *driver.Optional) {
	switch {
	case c == Delete && o.DeleteSeries != nil:
		o.DeleteSeries = func(context.Context, *series.Schema, *series.Table, string, string) error { return nil }
	case c == Drop && o.DropBefore != nil:
		o.DropBefore = func(_ context.Context, _ *series.Schema, before time.Time) (time.Time, error) { return before, nil }
	case c == Correct:
		o.Correct = func(context.Context, *series.Batch) error { return nil }
	}
}

// Write is a batch that a client writes.
type Write struct {
	Batch *series.Batch // belongs to the caller; CopyRows makes one to change
	First int64         // number of its first row over all writers, from 0
	Nth   int64         // number of the batch over all writers, from 1
	Store func(context.Context, *series.Batch) (driver.Receipt, error)
}

// Answer is the true answer to a query.
type Answer struct {
	Rows       [][]query.Value // may be changed
	Type       string          // of the query; empty: it looks for a row
	Nth        int             // number of the answer among those of its type, over all connections, from 1
	Before     int             // how often the same query ran before
	Connection int64
}

// Apply returns the driver with databases that tell the lies. All databases that it opens count
// rows and answers together. Only the first lie with Write is told.
func Apply(d driver.Driver, lies ...Lie) driver.Driver {
	t := &teller{lies: lies, rows: make([]int64, len(lies)), queries: make(map[string]rendered), answers: make(map[string]int), ran: make(map[string]int)}
	render, renderFrom, open := d.Render, d.RenderFrom, d.Open
	d.Render = func(q *query.Query, s *series.Schema, o driver.Options) (driver.Request, error) {
		return t.note(q, func(q *query.Query) (driver.Request, error) { return render(q, s, o) })
	}
	if renderFrom != nil {
		d.RenderFrom = func(q *query.Query, m *query.Materialized, s *series.Schema, o driver.Options) (driver.Request, error) {
			return t.note(q, func(q *query.Query) (driver.Request, error) { return renderFrom(q, m, s, o) })
		}
	}
	d.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
		db, err := open(ctx, env, o)
		if err != nil {
			return db, err
		}
		db.Required = &database{db.Required, t}
		db.TakesLines = nil // the lies are about batches
		for _, l := range lies {
			l.Skips.skip(&db.Optional)
		}
		if list := db.ListSeries; list != nil {
			db.ListSeries = func(ctx context.Context, s *series.Schema, table *series.Table, sink query.Sink) error {
				return list(ctx, s, table, t.falsifySeries(table, sink))
			}
		}
		return db, nil
	}
	return d
}

// teller is the state of lies that are told together.
type teller struct {
	lies []Lie

	mu          sync.Mutex // guards the rest
	rows        []int64    // written, of the subject of each lie
	written     int64      // rows
	batches     int64
	connections int64
	queries     map[string]rendered // by the text of the request
	answers     map[string]int      // by query type
	ran         map[string]int      // by rendered.same
}

// rendered is the source of a rendered request.
type rendered struct {
	queryType string
	same      string // equal for queries that differ only in their ID
}

// note renders a query and remembers its type.
func (t *teller) note(q *query.Query, render func(*query.Query) (driver.Request, error)) (driver.Request, error) {
	request, err := render(q)
	if err != nil {
		return request, err
	}
	unnumbered := *q
	unnumbered.ID = 0
	same, err := render(&unnumbered)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.queries[request.Text] = rendered{q.Type, same.Text}
	return request, err
}

// change returns the rows that reach the client in place of the true ones. It does not change
// answers to requests that no query was rendered to. The client receives the rows after the delay.
func (t *teller) change(r driver.Request, connection int64, rows [][]query.Value) (_ [][]query.Value, delay time.Duration, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q, known := t.queries[r.Text]
	if !known {
		return rows, 0, nil
	}
	t.answers[q.queryType]++
	a := Answer{Rows: rows, Type: q.queryType, Nth: t.answers[q.queryType], Before: t.ran[q.same], Connection: connection}
	t.ran[q.same]++
	for _, l := range t.lies {
		if l.Subject != "" && l.Subject != a.Type {
			continue
		}
		if l.Answer != nil {
			if a.Rows, err = l.Answer(a); err != nil {
				return nil, 0, err
			}
		}
		if l.Delay != nil {
			delay = max(delay, l.Delay(a))
		}
	}
	return a.Rows, delay, nil
}

// falsify returns the rows that are stored in place of a batch.
func (t *teller) falsify(b *series.Batch) *series.Batch {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, l := range t.lies {
		about := func(run *series.Run) bool { return l.Subject == "" || l.Subject == run.Table.Name }
		switch {
		case l.Copies != nil:
			b = b.CopyRows(func(run *series.Run, _ int) int {
				if !about(run) {
					return 1
				}
				t.rows[i]++
				return l.Copies(t.rows[i] - 1)
			})
		case l.Change != nil:
			b = b.CopyRows(nil)
			for r := range b.Runs {
				if run := &b.Runs[r]; about(run) {
					l.Change(t.rows[i], run)
					t.rows[i] += int64(run.Rows())
				}
			}
		}
	}
	return b
}

// falsifySeries returns a sink of the series of a table that passes on the falsified ones.
func (t *teller) falsifySeries(table *series.Table, sink query.Sink) query.Sink {
	return query.SinkFunc(func(tags []query.Value) error {
		if tags = slices.Clone(tags); !t.list(table, tags) {
			return nil
		}
		return sink.Row(tags)
	})
}

// list changes the tags of a series, and reports whether the series is listed.
func (t *teller) list(table *series.Table, tags []query.Value) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.lies {
		if l.List != nil && (l.Subject == "" || l.Subject == table.Name) && !l.List(tags) {
			return false
		}
	}
	return true
}

// describe returns an error if the server can no longer be reached.
func (t *teller) describe() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.lies {
		if l.Describe == nil {
			continue
		}
		if err := l.Describe(); err != nil {
			return err
		}
	}
	return nil
}

// database is a database that lies.
type database struct {
	driver.Required
	teller *teller
}

// Describe implements driver.DB.
func (d *database) Describe(ctx context.Context) (driver.Description, error) {
	if err := d.teller.describe(); err != nil {
		return driver.Description{}, err
	}
	return d.Required.Describe(ctx)
}

// NewWriter implements driver.DB.
func (d *database) NewWriter(ctx context.Context, worker int) (driver.Writer, error) {
	w, err := d.Required.NewWriter(ctx, worker)
	return &writer{Writer: w, teller: d.teller}, err
}

// NewQuerier implements driver.DB.
func (d *database) NewQuerier(ctx context.Context, worker int) (driver.Querier, error) {
	q, err := d.Required.NewQuerier(ctx, worker)
	d.teller.mu.Lock()
	defer d.teller.mu.Unlock()
	d.teller.connections++
	return &querier{q, d.teller, d.teller.connections}, err
}

// writer is a writer that lies.
type writer struct {
	driver.Writer
	teller *teller
	hidden int64 // rows that were not stored, minus rows that were stored twice, not yet in a receipt
}

// Write implements driver.Writer.
func (w *writer) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	rows, stored := int64(b.Rows()), int64(0)
	store := func(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
		b = w.teller.falsify(b)
		if stored = int64(b.Rows()); stored == 0 {
			now := time.Now()
			return driver.Receipt{Sent: now, Acked: now}, nil
		}
		return w.Writer.Write(ctx, b)
	}
	write := Write{Batch: b, Store: store}
	w.teller.mu.Lock()
	write.First = w.teller.written
	w.teller.written += rows
	w.teller.batches++
	write.Nth = w.teller.batches
	w.teller.mu.Unlock()
	receipt, err := driver.Receipt{}, error(nil)
	if i := slices.IndexFunc(w.teller.lies, func(l Lie) bool { return l.Write != nil }); i >= 0 {
		receipt, err = w.teller.lies[i].Write(ctx, write)
	} else {
		receipt, err = store(ctx, b)
	}
	if err != nil {
		return receipt, err
	}
	w.hidden += rows - stored
	return w.account(receipt), nil
}

// Flush implements driver.Writer.
func (w *writer) Flush(ctx context.Context) (driver.Receipt, error) {
	receipt, err := w.Writer.Flush(ctx)
	return w.account(receipt), err
}

// account returns the receipt with the number of rows that the client sent.
func (w *writer) account(r driver.Receipt) driver.Receipt {
	if rows := r.Rows + w.hidden; rows >= 0 {
		r.Rows, w.hidden = rows, 0
	}
	return r
}

// querier is a querier that lies.
type querier struct {
	driver.Querier
	teller     *teller
	connection int64
}

// Do implements driver.Querier.
func (q *querier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	var right query.Answer
	cost, err := q.Querier.Do(ctx, r, &right)
	if err != nil {
		return cost, err
	}
	rows, delay, err := q.teller.change(r, q.connection, right.Rows)
	if err != nil {
		return driver.Cost{}, err
	}
	if delay > 0 {
		select {
		case <-ctx.Done():
			return driver.Cost{}, context.Cause(ctx)
		case <-time.After(delay):
		}
	}
	for i, row := range rows {
		if sink == nil {
			break
		}
		if err := sink.Row(row); err != nil {
			return driver.Cost{Rows: int64(i)}, err
		}
	}
	cost.Rows = int64(len(rows))
	return cost, nil
}

// Find returns the lie with the name. It panics if the name is unknown.
func Find(lies []Lie, name string) Lie {
	i := slices.IndexFunc(lies, func(l Lie) bool { return l.Name == name })
	if i < 0 {
		panic("no lie is called " + name)
	}
	return lies[i]
}

// LimitTo returns the lie about one table or query type.
func (l Lie) LimitTo(subject string) Lie {
	l.Subject = subject
	return l
}

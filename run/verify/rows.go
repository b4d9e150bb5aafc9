package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
)

// Rows reads the rows of a survey's sample back, each by its series and time, and compares whole
// rows. This detects values that were swapped between rows, which change no sum. It records in the
// census the number of rows compared and the first difference of each table, and skips tables that
// already have a problem. Floats of a target that rounds are compared to the given number of
// digits; 0: exactly. A failure to read rows, such as a time-out or a broken connection, is not a
// difference: the census says why rows were not read back. Workers without a connection leave the
// rows to the others. The error is ctx's end, or a target that is gone or accepts no connection.
func Rows(ctx context.Context, cfg Config, t driver.DB, render Renderer, survey *oracle.Survey, digits int, census []result.CensusResult) error {
	r := rowsRead{cfg: cfg, target: t, render: render, survey: survey, digits: digits, tables: make(map[string]*tableRead)}
	for i := range census {
		if c := &census[i]; c.Problem == "" && c.Contents != nil {
			r.tables[c.Table] = &tableRead{CensusResult: c}
		}
	}
	all := oracle.Lookups(survey.Schema, survey.Sample)
	if cfg.Rows > 0 {
		all = all[:min(cfg.Rows, len(all))] // of a sample in random order
	}
	r.lookups = slices.DeleteFunc(all, func(l oracle.Lookup) bool { return r.tables[l.Table.Name] == nil })
	err := r.run(ctx)
	for i := min(r.next.Load(), int64(len(r.lookups))); i < int64(len(r.lookups)); i++ { // rows left over when every connection broke
		if t := r.tables[r.lookups[i].Table.Name]; r.broken != nil && t.unread == "" {
			t.unread = r.broken.Error()
		}
	}
	for _, t := range r.tables {
		if t.Contents.Rows == 0 {
			t.Contents.RowsUnread = t.unread
		} else if t.unread != "" {
			t.Contents.RowsUnread = fmt.Sprintf("some of them: %s", t.unread)
		}
	}
	return err
}

// rowsRead is the shared state of the workers that read rows back.
type rowsRead struct {
	cfg     Config
	target  driver.DB
	render  Renderer
	survey  *oracle.Survey
	digits  int
	lookups []oracle.Lookup
	next    atomic.Int64

	mu     sync.Mutex // guards the fields below
	tables map[string]*tableRead
	broken error // why a worker lost or did not get its connection; nil: each has one
}

// tableRead is the result for the rows of a table.
type tableRead struct {
	*result.CensusResult
	unread string // why a row was not compared
	first  int64  // index of the lookup that found the problem
}

func (r *rowsRead) run(ctx context.Context) error {
	group, groupCtx := errgroup.WithContext(ctx)
	for worker := range min(r.cfg.Workers, len(r.lookups)) {
		group.Go(func() error {
			querier, err := r.target.NewQuerier(groupCtx, worker)
			if err != nil {
				return r.lose(groupCtx, fmt.Errorf("connecting to read rows back: %w", err))
			}
			defer querier.Close() // only used for reading
			err = r.work(groupCtx, querier)
			if !driver.IsBroken(groupCtx, r.target, err) {
				return err
			}
			return r.lose(groupCtx, err)
		})
	}
	err := group.Wait()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil && r.next.Load() == 0: // no worker got a connection
		return r.broken
	}
	return err
}

// lose records why a worker has no connection; other workers continue.
func (r *rowsRead) lose(ctx context.Context, why error) error {
	if ctx.Err() != nil {
		return why
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.broken = why
	return nil
}

// work looks up rows over one connection until none is left.
func (r *rowsRead) work(ctx context.Context, querier driver.Querier) error {
	for {
		i := r.next.Add(1) - 1
		if i >= int64(len(r.lookups)) {
			return nil
		}
		if err := r.look(ctx, querier, i); err != nil {
			return fmt.Errorf("reading rows back: %w", err)
		}
	}
}

// isComplete reports whether the table's rows before the given index need no more reading.
func (r *rowsRead) isComplete(table string, place int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.tables[table]
	return t.Problem != "" && t.first < place || t.Contents.Rows == 0 && t.unread != ""
}

// look reads a row back and records the result.
func (r *rowsRead) look(ctx context.Context, q driver.Querier, place int64) error {
	l := &r.lookups[place]
	if r.isComplete(l.Table.Name, place) {
		return nil
	}
	begin := time.Now()
	difference, err := r.differs(ctx, q, l)
	took := time.Since(begin).Seconds()
	if err != nil && ctx.Err() != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.tables[l.Table.Name]
	t.Contents.Seconds += took / float64(max(r.cfg.Workers, 1))
	switch {
	case errors.Is(err, driver.ErrUnreachable):
		t.unread = err.Error()
		return err
	case err != nil:
		t.unread = err.Error()
	case difference != "" && (t.Problem == "" || place < t.first):
		t.Problem, t.first = fmt.Sprintf("table %s: %s", l.Table.Name, difference), place
	}
	if err == nil {
		t.Contents.Rows++
	}
	return nil
}

// mostAtOnce is the maximum number of rows in an answer to a lookup: the rows of all series with
// its tags.
const mostAtOnce = 100_000

// differs looks a row up and returns the difference of the row found; empty: none. The error means
// that there was no answer.
func (r *rowsRead) differs(ctx context.Context, q driver.Querier, l *oracle.Lookup) (string, error) {
	request, err := r.render(&l.Query, r.survey.Schema)
	if err != nil {
		return "", err
	}
	found := found{lookup: l, columns: l.Query.Columns(l.Table), digits: r.digits}
	if err := r.cfg.read(ctx, q, request, &found); err != nil && !found.whole {
		return "", err
	}
	return found.difference(), nil
}

// read runs a query that reads rows, within the time-out.
func (c *Config) read(ctx context.Context, q driver.Querier, request driver.Request, to query.Sink) error {
	limited, cancel := ctx, context.CancelFunc(func() {})
	if c.Timeout > 0 {
		limited, cancel = context.WithTimeout(ctx, c.Timeout)
	}
	defer cancel()
	_, err := q.Do(limited, request, to)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("no answer within %v; allow more with --timeout", c.Timeout)
	}
	return err
}

// found is a query.Sink for the answer to a lookup.
type found struct {
	lookup  *oracle.Lookup
	columns []query.Column
	digits  int

	rows    int
	whole   bool   // the expected row was found
	nearest string // difference of a row with the series and time; empty: no such row
	fields  int    // number of its fields that differ
}

// Row implements query.Sink.
func (f *found) Row(row []query.Value) error {
	if f.rows++; f.rows > mostAtOnce {
		return fmt.Errorf("%s has more than %d rows at one time", f.rowName(), mostAtOnce)
	}
	if f.whole {
		return nil
	}
	if len(row) != len(f.columns) {
		f.nearest = fmt.Sprintf("%s: %d columns in place of %d", f.rowName(), len(row), len(f.columns))
		return nil
	}
	at := query.Value{Kind: query.Time, Int: f.lookup.Time}
	keys := 1
	if !f.columns[0].Matches(at, row[0]) {
		return nil
	}
	if f.lookup.Tag != "" {
		if keys++; !f.columns[1].Matches(query.Value{Kind: query.Text, Text: []byte(f.lookup.Tag)}, row[1]) {
			return nil
		}
	}
	wrong, first := 0, ""
	for i, expected := range f.lookup.Values {
		c, v := f.columns[keys+i], row[keys+i]
		if c.Matches(expected, v) || nearly(expected, v, rounding(f.digits)) {
			continue
		}
		if wrong++; first == "" {
			first = fmt.Sprintf("%s: %s is %v, expected %v", f.rowName(), c.Name, v, expected)
		}
	}
	if f.whole = wrong == 0; !f.whole && (f.nearest == "" || wrong < f.fields) {
		f.nearest, f.fields = first, wrong
	}
	return nil
}

// rowName returns the name of the row that was looked up.
func (f *found) rowName() string {
	text := "the row"
	for i, key := range []string{tagOf(&f.lookup.Query), f.lookup.Query.Shape.(query.Rows).Tag} {
		value := f.lookup.Tag
		if i == 0 && f.lookup.Query.In != nil {
			value = f.lookup.Query.In.Values[0]
		}
		switch {
		case key == "" || i == 1 && key == tagOf(&f.lookup.Query):
		case i == 0:
			text += " of " + key + "=" + value
		default:
			text += "," + key + "=" + value
		}
	}
	return text + " at " + query.Value{Kind: query.Time, Int: f.lookup.Time}.String()
}

func tagOf(q *query.Query) string {
	if q.In == nil {
		return ""
	}
	return q.In.Key
}

// difference describes the difference from the expected row; empty: none.
func (f *found) difference() string {
	switch {
	case f.whole:
		return ""
	case f.nearest != "":
		return f.nearest
	}
	return f.rowName() + " is missing"
}

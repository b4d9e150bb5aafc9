package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Traps returns targets that are each wrong in a way of their own. Whatever
// drives them must find them out.
func Traps() []driver.Driver {
	return []driver.Driver{
		trap("drops-rows", func(t *trapped) {
			t.write = dropping(func(row int64) bool { return row%1000 == 7 })
		}),
		trap("stops-storing", func(t *trapped) {
			t.write = dropping(func(row int64) bool { return row >= 2000 })
		}),
		trap("loses-last-row", func(t *trapped) { // which few answers show
			t.write = dropping(func(row int64) bool { return row == 5759 })
		}),
		trap("empty", func(t *trapped) {
			t.write = dropping(func(int64) bool { return true })
		}),
		trap("empty-but-counts", func(t *trapped) {
			t.answer = func(answers [][][]query.Value) [][]query.Value { return nil }
		}),
		trap("stores-zeroes", func(t *trapped) {
			t.write = changing(func(v *value) { v.whole, v.float = 0, 0 })
		}),
		trap("doubles-a-field", func(t *trapped) {
			t.write = changing(func(v *value) {
				if v.field == 3 {
					v.whole *= 2
				}
			})
		}),
		trap("lowers-the-minimum", func(t *trapped) { // and keeps the sum
			t.write = changing(func(v *value) {
				switch {
				case v.field == 0 && v.row == 100:
					v.whole -= 500
				case v.field == 0 && v.row == 101:
					v.whole += 500
				}
			})
		}),
		trap("shifts-times", func(t *trapped) {
			t.write = moving(func(int64) int64 { return int64(time.Hour) })
		}),
		trap("shifts-a-row", func(t *trapped) { // which changes neither the first nor the last time
			t.write = moving(func(row int64) int64 {
				if row == 3000 {
					return 1
				}
				return 0
			})
		}),
		trap("swaps-values", func(t *trapped) { // so that nothing changes but the answers
			t.write = swapping
		}),
		trap("loses-a-tag", func(t *trapped) {
			t.list = func(tags []query.Value) bool { tags[1] = query.Value{}; return true }
		}),
		trap("loses-a-series", func(t *trapped) { // of which it keeps the rows
			t.list = func(tags []query.Value) bool { return string(tags[0].Text) != "host_7" }
		}),
		trap("rounds-values", func(t *trapped) {
			t.answer = func(answers [][][]query.Value) [][]query.Value {
				newest := answers[len(answers)-1]
				for _, row := range newest {
					for i := range row {
						row[i].Float = math.Round(row[i].Float*1000) / 1000
					}
				}
				return newest
			}
		}),
		trap("answers-infinity", func(t *trapped) {
			t.answer = func(answers [][][]query.Value) [][]query.Value {
				newest := answers[len(answers)-1]
				for _, row := range newest {
					for i := range row {
						row[i].Float = math.Inf(1)
					}
				}
				return newest
			}
		}),
		trap("misorders", func(t *trapped) {
			t.answer = func(answers [][][]query.Value) [][]query.Value {
				newest := slices.Clone(answers[len(answers)-1])
				slices.Reverse(newest)
				return newest
			}
		}),
		trap("answers-older-query", func(t *trapped) {
			t.answer = func(answers [][][]query.Value) [][]query.Value {
				return answers[max(0, len(answers)-2)]
			}
		}),
		trap("cuts-answers", func(t *trapped) {
			t.answer = func(answers [][][]query.Value) [][]query.Value {
				newest := answers[len(answers)-1]
				return newest[:len(newest)/2]
			}
		}),
		trap("gives-up", func(t *trapped) {
			t.write = func(t *trapped, ctx context.Context, w driver.Writer, b *series.Batch) (driver.Receipt, error) {
				if t.rows.Add(int64(b.Rows())) > 2000 {
					return driver.Receipt{}, errors.New("the server closed the connection")
				}
				return w.Write(ctx, b)
			}
		}),
	}
}

// Stuttering returns a kind that is right but for its connection: that is cut
// once after every third batch, when the batch is stored and not acknowledged.
// Sent again, the batch is there twice; a kind that says that it dedupes then
// lies.
func Stuttering(name string, dedupes bool) driver.Driver {
	kind := trap(name, func(t *trapped) {
		t.write = func(t *trapped, ctx context.Context, w driver.Writer, b *series.Batch) (driver.Receipt, error) {
			receipt, err := w.Write(ctx, b)
			if err == nil && t.rows.Add(1)%4 == 3 {
				return driver.Receipt{}, &driver.Temporary{Err: errors.New("the server closed the connection")}
			}
			return receipt, err
		}
	})
	return Capable(kind, func(c *driver.Caps) { c.Dedupes = dedupes })
}

// Masking is Stuttering that loses as many acknowledged rows as it stores twice.
func Masking(name string) driver.Driver {
	kind := trap(name, func(t *trapped) {
		var calls atomic.Int64
		t.write = func(t *trapped, ctx context.Context, w driver.Writer, b *series.Batch) (driver.Receipt, error) {
			switch calls.Add(1) {
			case 3: // stored, and not acknowledged
				if receipt, err := w.Write(ctx, b); err != nil {
					return receipt, err
				}
				return driver.Receipt{}, &driver.Temporary{Err: errors.New("the server closed the connection")}
			case 6: // acknowledged, and not stored
				now := time.Now()
				return driver.Receipt{Sent: now, Acked: now, Rows: int64(b.Rows())}, nil
			}
			return w.Write(ctx, b)
		}
	})
	return kind
}

// Breaking is Memory whose connection fails with an error from the query of a number on,
// counted from 1 over all queries of a type; nil: it does not answer. Where it is gone then, nothing
// answers any more.
func Breaking(name string, at int64, broken error, gone bool) driver.Driver {
	kind := Capable(Memory(name), func(c *driver.Caps) { c.Embedded = false })
	open, queries := kind.Open, new(atomic.Int64)
	kind.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
		db, err := open(ctx, env, o)
		db.Required = &breaking{Required: db.Required, at: at, broken: broken, gone: gone, queries: queries}
		return db, err
	}
	return kind
}

type breaking struct {
	driver.Required
	at      int64
	broken  error
	gone    bool
	queries *atomic.Int64 // so far
}

func (b *breaking) away() error {
	if b.gone && b.queries.Load() >= b.at {
		return fmt.Errorf("the server %w", driver.ErrUnreachable)
	}
	return nil
}

// Describe implements driver.DB.
func (b *breaking) Describe(ctx context.Context) (driver.Description, error) {
	if err := b.away(); err != nil {
		return driver.Description{}, err
	}
	return b.Required.Describe(ctx)
}

// NewQuerier implements driver.DB.
func (b *breaking) NewQuerier(ctx context.Context, worker int) (driver.Querier, error) {
	q, err := b.Required.NewQuerier(ctx, worker)
	return &breakingQuerier{q, b, false}, err
}

type breakingQuerier struct {
	driver.Querier
	of     *breaking
	broken bool
}

// Do implements driver.Querier.
func (q *breakingQuerier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	var asked query.Query
	if err := json.Unmarshal([]byte(r.Text), &asked); err != nil {
		return driver.Cost{}, err
	}
	q.broken = q.broken || asked.Type != "" && q.of.queries.Add(1) == q.of.at
	if q.broken {
		if q.of.broken == nil {
			<-ctx.Done()
			return driver.Cost{}, context.Cause(ctx)
		}
		return driver.Cost{}, q.of.broken
	}
	return q.Querier.Do(ctx, r, sink)
}

// trapped is Memory with something wrong.
type trapped struct {
	driver.Required
	rows   atomic.Int64                  // written
	list   func(tags []query.Value) bool // changes the tags of a series; false: it is not listed
	write  func(*trapped, context.Context, driver.Writer, *series.Batch) (driver.Receipt, error)
	answer func(answers [][][]query.Value) [][]query.Value // of all answers so far, the last one being right
}

func trap(name string, set func(*trapped)) driver.Driver {
	kind := Memory(name)
	open := kind.Open
	kind.Open = func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
		db, err := open(ctx, env, o)
		t := &trapped{Required: db.Required}
		set(t)
		db.Required = t
		if t.list != nil {
			db.ListSeries = t.misreport(db.ListSeries)
		}
		return db, err
	}
	return kind
}

// dropping acknowledges all rows and keeps those that are not dropped, rows
// being counted from the first one written.
func dropping(drop func(row int64) bool) func(*trapped, context.Context, driver.Writer, *series.Batch) (driver.Receipt, error) {
	return func(t *trapped, ctx context.Context, w driver.Writer, b *series.Batch) (driver.Receipt, error) {
		first := t.rows.Add(int64(b.Rows())) - int64(b.Rows())
		receipt, err := w.Write(ctx, keep(b, func(row int64) bool { return !drop(first + row) }))
		receipt.Rows = int64(b.Rows())
		return receipt, err
	}
}

// value is one of those that are written.
type value struct {
	row   int64 // from the first one written
	field int
	whole int64
	float float64
}

// changing writes other values.
func changing(change func(*value)) func(*trapped, context.Context, driver.Writer, *series.Batch) (driver.Receipt, error) {
	return func(t *trapped, ctx context.Context, w driver.Writer, b *series.Batch) (driver.Receipt, error) {
		at := t.rows.Add(int64(b.Rows())) - int64(b.Rows())
		kept := keep(b, func(int64) bool { return true })
		for i := range kept.Runs {
			run := &kept.Runs[i]
			for row := range run.Times {
				for f := range run.Columns {
					v := value{row: at + int64(row), field: f}
					if c := &run.Columns[f]; c.Ints != nil {
						v.whole = c.Ints[row]
						change(&v)
						c.Ints[row] = v.whole
					} else {
						v.float = c.Floats[row]
						change(&v)
						c.Floats[row] = v.float
					}
				}
			}
			at += int64(run.Rows())
		}
		return w.Write(ctx, kept)
	}
}

// moving writes rows with other times, by so many nanoseconds.
func moving(by func(row int64) int64) func(*trapped, context.Context, driver.Writer, *series.Batch) (driver.Receipt, error) {
	return func(t *trapped, ctx context.Context, w driver.Writer, b *series.Batch) (driver.Receipt, error) {
		at := t.rows.Add(int64(b.Rows())) - int64(b.Rows())
		kept := keep(b, func(int64) bool { return true })
		for i := range kept.Runs {
			for row := range kept.Runs[i].Times {
				kept.Runs[i].Times[row] += by(at)
				at++
			}
		}
		return w.Write(ctx, kept)
	}
}

// swapping exchanges the first field's values of each two rows.
func swapping(_ *trapped, ctx context.Context, w driver.Writer, b *series.Batch) (driver.Receipt, error) {
	kept := keep(b, func(int64) bool { return true })
	for i := range kept.Runs {
		values := kept.Runs[i].Columns[0].Ints
		for row := 0; row+1 < len(values); row += 2 {
			values[row], values[row+1] = values[row+1], values[row]
		}
	}
	return w.Write(ctx, kept)
}

// misreport returns a ListSeries that changes what the right one lists.
func (t *trapped) misreport(right seriesLister) seriesLister {
	return func(ctx context.Context, s *series.Schema, table *series.Table, sink query.Sink) error {
		var listed query.Answer
		if err := right(ctx, s, table, &listed); err != nil {
			return err
		}
		for _, row := range listed.Rows {
			if !t.list(row) {
				continue
			}
			if err := sink.Row(row); err != nil {
				return err
			}
		}
		return nil
	}
}

type seriesLister = func(context.Context, *series.Schema, *series.Table, query.Sink) error

func (t *trapped) NewWriter(ctx context.Context, worker int) (driver.Writer, error) {
	w, err := t.Required.NewWriter(ctx, worker)
	if t.write == nil {
		return w, err
	}
	return &trappedWriter{w, t}, err
}

type trappedWriter struct {
	driver.Writer
	trapped *trapped
}

func (w *trappedWriter) Write(ctx context.Context, b *series.Batch) (driver.Receipt, error) {
	return w.trapped.write(w.trapped, ctx, w.Writer, b)
}

func (t *trapped) NewQuerier(ctx context.Context, worker int) (driver.Querier, error) {
	q, err := t.Required.NewQuerier(ctx, worker)
	if t.answer == nil {
		return q, err
	}
	return &trappedQuerier{Querier: q, trapped: t}, err
}

type trappedQuerier struct {
	driver.Querier
	trapped *trapped
	answers [][][]query.Value
}

func (q *trappedQuerier) Do(ctx context.Context, r driver.Request, sink query.Sink) (driver.Cost, error) {
	var right query.Answer
	if _, err := q.Querier.Do(ctx, r, &right); err != nil {
		return driver.Cost{}, err
	}
	q.answers = append(q.answers, right.Rows)
	rows := q.trapped.answer(q.answers)
	for i, row := range rows {
		if sink == nil {
			break
		}
		if err := sink.Row(row); err != nil {
			return driver.Cost{Rows: int64(i)}, err
		}
	}
	return driver.Cost{Rows: int64(len(rows))}, nil
}

package targettest

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/target"
)

// Traps returns targets that are each wrong in a way of their own. Whatever
// drives them must find them out.
func Traps() []target.Kind {
	return []target.Kind{
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
			t.write = func(t *trapped, ctx context.Context, w target.Writer, b *series.Batch) (target.Receipt, error) {
				if t.rows.Add(int64(b.Rows())) > 2000 {
					return target.Receipt{}, errors.New("the server closed the connection")
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
func Stuttering(name string, dedupes bool) target.Kind {
	kind := trap(name, func(t *trapped) {
		t.write = func(t *trapped, ctx context.Context, w target.Writer, b *series.Batch) (target.Receipt, error) {
			receipt, err := w.Write(ctx, b)
			if err == nil && t.rows.Add(1)%4 == 3 {
				return target.Receipt{}, &target.Temporary{Err: errors.New("the server closed the connection")}
			}
			return receipt, err
		}
	})
	kind.Dedupes = func(target.Options) bool { return dedupes }
	return kind
}

// trapped is Memory with something wrong.
type trapped struct {
	target.Target
	rows   atomic.Int64 // written
	write  func(*trapped, context.Context, target.Writer, *series.Batch) (target.Receipt, error)
	answer func(answers [][][]query.Value) [][]query.Value // of all answers so far, the last one being right
}

func trap(name string, set func(*trapped)) target.Kind {
	kind := Memory(name)
	open := kind.Open
	kind.Open = func(ctx context.Context, env target.Env, o target.Options) (target.Target, error) {
		right, err := open(ctx, env, o)
		t := &trapped{Target: right}
		set(t)
		return t, err
	}
	return kind
}

// dropping acknowledges all rows and keeps those that are not dropped, rows
// being counted from the first one written.
func dropping(drop func(row int64) bool) func(*trapped, context.Context, target.Writer, *series.Batch) (target.Receipt, error) {
	return func(t *trapped, ctx context.Context, w target.Writer, b *series.Batch) (target.Receipt, error) {
		first := t.rows.Add(int64(b.Rows())) - int64(b.Rows())
		receipt, err := w.Write(ctx, keep(b, func(row int64) bool { return !drop(first + row) }))
		receipt.Rows = int64(b.Rows())
		return receipt, err
	}
}

func (t *trapped) NewWriter(ctx context.Context, worker int) (target.Writer, error) {
	w, err := t.Target.NewWriter(ctx, worker)
	if t.write == nil {
		return w, err
	}
	return &trappedWriter{w, t}, err
}

type trappedWriter struct {
	target.Writer
	trapped *trapped
}

func (w *trappedWriter) Write(ctx context.Context, b *series.Batch) (target.Receipt, error) {
	return w.trapped.write(w.trapped, ctx, w.Writer, b)
}

func (t *trapped) NewQuerier(ctx context.Context, worker int) (target.Querier, error) {
	q, err := t.Target.NewQuerier(ctx, worker)
	if t.answer == nil {
		return q, err
	}
	return &trappedQuerier{Querier: q, trapped: t}, err
}

type trappedQuerier struct {
	target.Querier
	trapped *trapped
	answers [][][]query.Value
}

func (q *trappedQuerier) Do(ctx context.Context, r target.Request, sink query.Sink) (target.Cost, error) {
	var right query.Answer
	if _, err := q.Querier.Do(ctx, r, &right); err != nil {
		return target.Cost{}, err
	}
	q.answers = append(q.answers, right.Rows)
	rows := q.trapped.answer(q.answers)
	for i, row := range rows {
		if sink == nil {
			break
		}
		if err := sink.Row(row); err != nil {
			return target.Cost{Rows: int64(i)}, err
		}
	}
	return target.Cost{Rows: int64(len(rows))}, nil
}

package subject

import (
	"context"
	"iter"
	"slices"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/run/plan"
)

// renderedAtOnce is the number of queries of a type that are generated and rendered before the
// clock continues: enough for nearly all experiments to need no pause, and for a negligible cost in
// others; in most languages some 25 MB.
const renderedAtOnce = 1 << 16

// checkedAtOnce is renderedAtOnce for user-provided texts, each checked by the database: a time box
// may end long before all of them have run.
const checkedAtOnce = 1 << 9

// Source is the queries of a type that a repeat runs, in the target's language: an engine.Source.
type Source struct {
	subject    *Subject
	planned    *plan.Target
	queries    *plan.TypeQueries
	first, end int // indexes
	Most       int // maximum number of queries rendered at once

	next  func() (query.Query, bool) // returns the query at an index; nil: not started
	place int                        // that index
	stop  func()
	list  []engine.Rendered

	render *Renderer
}

// OpenSource returns the queries of a type that a repeat runs. The caller must close them.
func (s *Subject) OpenSource(planned *plan.Target, q *plan.TypeQueries, repeat int, db driver.DB) *Source {
	r := &Source{subject: s, planned: planned, queries: q, Most: renderedAtOnce, stop: func() {}, render: s.Renderer(planned, q, db)}
	if q.OwnText != nil {
		r.Most = checkedAtOnce
	}
	r.first, r.end = q.Blocks.Range(repeat)
	return r
}

// Len implements engine.Source.
func (r *Source) Len() int { return r.end - r.first }

// ID implements engine.Source.
func (r *Source) ID(place int) int { return r.queries.Blocks.ID(r.first + place) }

// Render implements engine.Source.
func (r *Source) Render(ctx context.Context, place int) ([]engine.Rendered, error) {
	place += r.first
	if r.next == nil || place < r.place {
		r.stop()
		r.next, r.stop = iter.Pull(r.queries.All)
		r.place = 0
	}
	for ; r.place < place; r.place++ {
		r.next()
	}
	rows := r.queries.Expected[r.subject.ViewOf(r.planned)].Counted[r.planned.Driver.Semantics]
	r.list = slices.Grow(r.list[:0], min(r.Most, r.end-place))
	var q query.Query // one variable for all queries, because it escapes to the heap
	for ; r.place < min(place+r.Most, r.end); r.place++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		q, _ = r.next() // as many queries exist as were generated first
		one, err := r.render.Render(ctx, &q)
		if err != nil {
			return nil, err
		}
		if one.ID = r.queries.Blocks.ID(r.place); one.Rows != engine.AnyRows {
			one.Rows = rows[r.place]
		}
		if n := len(r.list); n > 0 && slices.Equal(r.list[n-1].Columns, one.Columns) {
			one.Columns = r.list[n-1].Columns // for nearly all types all queries have the same columns
		}
		r.list = append(r.list, one)
	}
	return r.list, nil
}

// Close ends the generation of queries.
func (r *Source) Close() {
	r.stop()
	r.render.Close()
}

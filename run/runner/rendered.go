package runner

import (
	"context"
	"iter"
	"slices"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/query"
)

// renderedAtOnce is how many queries of a type are drawn and rendered before the
// clock goes on: so many that nearly all experiments need no pause, and that in
// others they cost next to nothing; in most languages some 25 MB.
const renderedAtOnce = 1 << 16

// checkedAtOnce is renderedAtOnce of texts of users, each of which the database checks:
// a time box may end long before all of them have run.
const checkedAtOnce = 1 << 9

// rendered is the queries of a type that a repeat runs, in the target's language:
// an engine.Source.
type rendered struct {
	subject    *subject
	planned    *plannedTarget
	of         *typeQueries
	first, end int // places
	most       int // that are rendered at once

	next func() (query.Query, bool) // the query at a place; nil: none is drawn
	at   int                        // that place
	stop func()
	list []engine.Rendered

	render *renderer
}

// rendered returns the queries of a type that a repeat runs. They are to be closed.
func (s *subject) rendered(planned *plannedTarget, q *typeQueries, repeat int, db driver.DB) *rendered {
	r := &rendered{subject: s, planned: planned, of: q, most: renderedAtOnce, stop: func() {}, render: s.renderer(planned, q, db)}
	if q.written != nil {
		r.most = checkedAtOnce
	}
	r.first, r.end = q.blocks.of(repeat)
	return r
}

// Len implements engine.Source.
func (r *rendered) Len() int { return r.end - r.first }

// ID implements engine.Source.
func (r *rendered) ID(place int) int { return r.of.blocks.id(r.first + place) }

// Render implements engine.Source.
func (r *rendered) Render(ctx context.Context, place int) ([]engine.Rendered, error) {
	place += r.first
	if r.next == nil || place < r.at {
		r.stop()
		r.next, r.stop = iter.Pull(r.of.all)
		r.at = 0
	}
	for ; r.at < place; r.at++ {
		r.next()
	}
	rows := r.of.expected[r.subject.viewOf(r.planned)].counted
	r.list = slices.Grow(r.list[:0], min(r.most, r.end-place))
	var q query.Query // one for all: what is given on moves to the heap
	for ; r.at < min(place+r.most, r.end); r.at++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		q, _ = r.next() // there are as many as were drawn at first
		one, err := r.render.one(ctx, &q)
		if err != nil {
			return nil, err
		}
		if one.ID = r.of.blocks.id(r.at); one.Rows != engine.AnyRows {
			one.Rows = rows[r.at]
		}
		if n := len(r.list); n > 0 && slices.Equal(r.list[n-1].Columns, one.Columns) {
			one.Columns = r.list[n-1].Columns // of nearly all types all queries have the same
		}
		r.list = append(r.list, one)
	}
	return r.list, nil
}

// close ends the drawing.
func (r *rendered) close() {
	r.stop()
	r.render.close()
}

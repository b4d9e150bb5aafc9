package runner

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/workload/ownqueries"
)

// texts is the result.Queries.Texts of the queries of a type.
func (p *Plan) texts(q *typeQueries) string {
	switch {
	case p.experiment.Queries.Verbatim():
		return result.TextsTSBS
	case q.written != nil:
		return result.TextsOwn
	}
	return ""
}

// hasMeaning reports whether the queries of a type mean something that the oracle knows
// the answers to.
func (p *Plan) hasMeaning(q *typeQueries) bool { return p.texts(q) == "" }

// written returns the declaration of a query type that is texts; nil: it is none.
func (p *Plan) written(name string) *ownqueries.Query {
	for i := range p.experiment.Queries.Own {
		if q := &p.experiment.Queries.Own[i]; q.Name == name && q.IsText() {
			return q
		}
	}
	return nil
}

// renderer renders queries of a type for a target: in its language or, where the
// experiment says so, as the texts that TSBS's generator makes in their place, or its
// user.
type renderer struct {
	subject *subject
	planned *plannedTarget
	of      *typeQueries
	db      driver.DB // checks the texts of users

	next func() (string, bool) // TSBS's text of a number; nil: none is drawn
	at   int                   // that number
	stop func()
}

// renderer returns one, which is to be closed.
func (s *subject) renderer(planned *plannedTarget, q *typeQueries, db driver.DB) *renderer {
	return &renderer{subject: s, planned: planned, of: q, db: db, stop: func() {}}
}

// one renders a query, of whose answer nothing is known.
func (r *renderer) one(ctx context.Context, q *query.Query) (engine.Rendered, error) {
	if r.subject.plan.hasMeaning(r.of) {
		return r.subject.renderOne(ctx, r.planned, r.of, q)
	}
	request, err := r.text(ctx, q)
	return engine.Rendered{ID: q.ID, Request: request, Rows: engine.AnyRows, Whole: true}, err
}

// text returns the text that stands for a query.
func (r *renderer) text(ctx context.Context, q *query.Query) (driver.Request, error) {
	if r.of.written == nil || r.subject.plan.experiment.Queries.Verbatim() {
		return r.verbatim(q.ID)
	}
	return r.planned.fill(ctx, r.db, r.of.written, q)
}

// fill returns a text of the user's for a query, once the open database has checked it.
func (t *plannedTarget) fill(ctx context.Context, db driver.DB, own *ownqueries.Query, q *query.Query) (driver.Request, error) {
	text, err := t.text(own, q)
	if err == nil {
		err = checkText(ctx, db, text)
	}
	return driver.Request{Text: text, UserText: true}, err
}

// text returns such a text, unchecked.
func (t *plannedTarget) text(own *ownqueries.Query, q *query.Query) (string, error) {
	return own.Text(q, t.driver.Name, t.driver.LiteralsOf(t.options))
}

// checkText returns an error unless the database says that a user's text only reads.
func checkText(ctx context.Context, db driver.DB, text string) error {
	if db.CheckText == nil {
		return fmt.Errorf("%w: the database cannot tell whether a text only reads", query.ErrUnsupported)
	}
	err := db.CheckText(ctx, text)
	if err == nil || ctx.Err() != nil || errors.Is(err, driver.ErrUnreachable) {
		return err
	}
	return fmt.Errorf("%w: %w: not taken as one query that only reads: %w", query.ErrUnsupported, errRefused, err)
}

// verbatim returns TSBS's text of a number. They are drawn one after the other: the
// numbers ascend, but for where a few queries are run in turn.
func (r *renderer) verbatim(number int) (driver.Request, error) {
	if r.next == nil || number < r.at {
		r.stop()
		all, err := r.texts()
		if err != nil {
			return driver.Request{}, err
		}
		r.next, r.stop = iter.Pull(all)
		r.at = 0
	}
	for ; r.at < number; r.at++ {
		r.next()
	}
	r.at++
	text, ok := r.next()
	if !ok {
		return driver.Request{}, fmt.Errorf("TSBS's text %d of %s was not drawn", number, r.of.queryType.Name)
	}
	return r.planned.driver.TSBS.Request(text, r.planned.options)
}

// texts draws TSBS's texts of the type.
func (r *renderer) texts() (iter.Seq[string], error) {
	s, kind, name := r.subject, &r.planned.driver, r.of.queryType.Name
	if kind.TSBS == nil || s.texted == nil {
		return nil, fmt.Errorf("%w: TSBS has no text for %s for %s", query.ErrUnsupported, name, kind.Name)
	}
	spec := s.record.Spec
	spec.QuerySeed = r.of.seed
	return s.texted.Texts(kind.TSBS.Format, spec, name, s.plan.experiment.Queries.PerType()+earlyQueries+spareQueries)
}

// close ends the drawing.
func (r *renderer) close() { r.stop() }

// checkTexts finds out whether a target runs the texts of a type, by some that are not
// measured. What there is no text for is n/a, and so is what the server refuses of TSBS:
// those texts are as old as TSBS, and servers are not. A text of the user's that it
// refuses fails.
func (x *checkStage) checkTexts(ctx context.Context, on *turn, q *typeQueries, out *result.Queries, task Task) (*result.Queries, error) {
	render := x.subject.renderer(on.planned, q, on.db)
	defer render.close()
	if out.Texts == result.TextsTSBS {
		if _, err := render.verbatim(0); err != nil { // where there is none, none is sent
			return lacking(out, err)
		}
	}
	querier, err := on.db.NewQuerier(ctx, 0)
	if err != nil {
		return out, fmt.Errorf("connecting to run texts: %w", err)
	}
	defer querier.Close() // reading only
	for i := range q.early {
		one, err := render.one(ctx, &q.early[i])
		if err == nil {
			begin := time.Now()
			err = x.try(ctx, querier, one.Request)
			if box := x.plan.experiment.TimeBoxOfRepeat(); box > 0 && time.Since(begin) > box {
				x.slow[slowType{on.planned.name, q.queryType.Name}] = true
			}
		}
		task.Add(1)
		switch {
		case errors.Is(err, errTooSlow):
			return out, nil // the connection may be lost, and more would not tell more
		case errors.Is(err, errRefused) && out.Texts == result.TextsOwn:
			out.Failed = result.NewFailure(result.ServerError, fmt.Errorf("query %d: %s", q.early[i].ID, strings.TrimPrefix(err.Error(), query.ErrUnsupported.Error()+": ")))
			return out, nil
		case err != nil:
			return lacking(out, err)
		}
	}
	return out, nil
}

// lacking is unsupported, in fewer words.
func lacking(out *result.Queries, err error) (*result.Queries, error) {
	out, err = unsupported(out, err)
	if err == nil {
		out.Unsupported = strings.TrimPrefix(out.Unsupported, query.ErrUnsupported.Error()+": ")
	}
	return out, err
}

// errTooSlow is that a text took longer than the time-out, which refuses nothing.
var errTooSlow = errors.New("no answer within the time-out")

// errRefused is that the system did not run a text.
var errRefused = errors.New("the text failed")

// try runs a text.
func (x *checkStage) try(ctx context.Context, querier driver.Querier, request driver.Request) error {
	limited, cancel := ctx, context.CancelFunc(func() {})
	if timeout := x.plan.experiment.Queries.Timeout; timeout > 0 {
		limited, cancel = context.WithTimeout(ctx, timeout)
	}
	defer cancel()
	_, err := querier.Do(limited, request, nil)
	switch {
	case err == nil:
		return nil
	case ctx.Err() == nil && limited.Err() != nil:
		return errTooSlow
	case ctx.Err() != nil, errors.Is(err, driver.ErrUnreachable):
		return err
	}
	return fmt.Errorf("%w: %w: %w", query.ErrUnsupported, errRefused, err)
}

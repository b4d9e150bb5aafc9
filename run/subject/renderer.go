package subject

import (
	"context"
	"fmt"
	"iter"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/run/plan"
)

// Renderer renders queries of a type for a target: in its language or, depending on the experiment,
// as the texts of TSBS's generator or of the user.
type Renderer struct {
	subject *Subject
	planned *plan.Target
	queries *plan.TypeQueries
	db      driver.DB // checks user-provided texts

	next   func() (string, bool) // returns TSBS's text with a number; nil: not started
	number int                   // that number
	stop   func()
}

// Renderer returns a renderer. The caller must close it.
func (s *Subject) Renderer(planned *plan.Target, q *plan.TypeQueries, db driver.DB) *Renderer {
	return &Renderer{subject: s, planned: planned, queries: q, db: db, stop: func() {}}
}

// Render renders a query whose answer is unknown.
func (r *Renderer) Render(ctx context.Context, q *query.Query) (engine.Rendered, error) {
	if r.subject.Plan.HasMeaning(r.queries) {
		return r.subject.renderOne(ctx, r.planned, r.queries, q)
	}
	request, err := r.text(ctx, q)
	return engine.Rendered{ID: q.ID, Request: request, Rows: engine.AnyRows, Whole: true}, err
}

// text returns the text in place of a query.
func (r *Renderer) text(ctx context.Context, q *query.Query) (driver.Request, error) {
	if r.queries.OwnText == nil || r.subject.Plan.Experiment.Queries.Verbatim() {
		return r.Verbatim(q.ID)
	}
	return r.planned.Fill(ctx, r.db, r.queries.OwnText, q)
}

// Verbatim returns TSBS's text with a number. Texts are generated one after the other: the numbers
// must ascend, except if a few queries are run in rotation.
func (r *Renderer) Verbatim(number int) (driver.Request, error) {
	if r.next == nil || number < r.number {
		r.stop()
		all, err := r.texts()
		if err != nil {
			return driver.Request{}, err
		}
		r.next, r.stop = iter.Pull(all)
		r.number = 0
	}
	for ; r.number < number; r.number++ {
		r.next()
	}
	r.number++
	text, ok := r.next()
	if !ok {
		return driver.Request{}, fmt.Errorf("TSBS's text %d of %s was not drawn", number, r.queries.Type.Name)
	}
	return r.planned.Driver.TSBS.Request(text, r.planned.Options)
}

// texts generates TSBS's texts of the type.
func (r *Renderer) texts() (iter.Seq[string], error) {
	s, kind, name := r.subject, &r.planned.Driver, r.queries.Type.Name
	if kind.TSBS == nil || s.texted == nil {
		return nil, fmt.Errorf("%w: TSBS has no text for %s for %s", query.ErrUnsupported, name, kind.Name)
	}
	spec := s.Record.Spec
	spec.QuerySeed = r.queries.Seed
	return s.texted.Texts(kind.TSBS.Format, spec, name, s.Plan.Experiment.Queries.Count+plan.EarlyQueries+plan.SpareQueries)
}

// Close ends the generation of texts.
func (r *Renderer) Close() { r.stop() }

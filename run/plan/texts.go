package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload/ownqueries"
)

// Renderer returns the renderer of a target for queries of a type: from rows, from the aggregate,
// or as user-provided texts, which the open database checks.
func (t *Target) Renderer(ctx context.Context, db driver.DB, q *TypeQueries) verify.Renderer {
	if q.OwnText != nil {
		return func(one *query.Query, _ *series.Schema) (driver.Request, error) {
			return t.Fill(ctx, db, q.OwnText, one)
		}
	}
	if q.Aggregate == nil {
		return t.Driver.Renderer(t.Options)
	}
	return func(one *query.Query, s *series.Schema) (driver.Request, error) {
		if t.Driver.RenderFrom == nil {
			return driver.Request{}, fmt.Errorf("%w: tsmark makes no continuous aggregates of %s", query.ErrUnsupported, t.Driver.Name)
		}
		return t.Driver.RenderFrom(one, q.Aggregate, s, t.Options)
	}
}

// OwnPath is the path of the declaration of a query type in the experiment.
func (p *Plan) OwnPath(name string) string {
	return fmt.Sprintf("queries.own[%d]", slices.IndexFunc(p.Experiment.Queries.Own, func(q ownqueries.Query) bool { return q.Name == name }))
}

// TextSource is the result.Queries.Texts of the queries of a type.
func (p *Plan) TextSource(q *TypeQueries) string {
	switch {
	case p.Experiment.Queries.Verbatim():
		return result.TextsTSBS
	case q.OwnText != nil:
		return result.TextsOwn
	}
	return ""
}

// HasMeaning reports whether the oracle knows the answers to the queries of a type.
func (p *Plan) HasMeaning(q *TypeQueries) bool { return p.TextSource(q) == "" }

// ownText returns the declaration of a query type with user-provided texts; nil: the type has none.
func (p *Plan) ownText(name string) *ownqueries.Query {
	for i := range p.Experiment.Queries.Own {
		if q := &p.Experiment.Queries.Own[i]; q.Name == name && q.IsText() {
			return q
		}
	}
	return nil
}

// Fill returns a user-provided text for a query, after the open database has checked it.
func (t *Target) Fill(ctx context.Context, db driver.DB, own *ownqueries.Query, q *query.Query) (driver.Request, error) {
	text, err := t.Text(own, q)
	if err == nil {
		err = checkText(ctx, db, text)
	}
	return driver.Request{Text: text, UserText: true}, err
}

// Text returns a user-provided text for a query, unchecked.
func (t *Target) Text(own *ownqueries.Query, q *query.Query) (string, error) {
	return own.Text(q, t.Driver.Name, t.Driver.LiteralsOf(t.Options))
}

// checkText returns an error unless the database confirms that a user-provided text only reads.
func checkText(ctx context.Context, db driver.DB, text string) error {
	if db.CheckText == nil {
		return fmt.Errorf("%w: the database cannot tell whether a text only reads", query.ErrUnsupported)
	}
	err := db.CheckText(ctx, text)
	if err == nil || ctx.Err() != nil || errors.Is(err, driver.ErrUnreachable) {
		return err
	}
	return fmt.Errorf("%w: %w: not taken as one query that only reads: %w", query.ErrUnsupported, ErrRefused, err)
}

// ErrRefused means that the system did not run a text.
var ErrRefused = errors.New("the text failed")

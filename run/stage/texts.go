package stage

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
)

// checkTexts checks whether a target runs the texts of a type, using some that are not measured. A
// type without a text is n/a, and so is a TSBS text that the server refuses: these texts are as old
// as TSBS, and servers are newer. A refused user-provided text is a failure.
func (x *Checker) checkTexts(ctx context.Context, on *Opened, q *plan.TypeQueries, out *result.Queries, task record.Task) (*result.Queries, error) {
	render := x.Subject.Renderer(on.Planned, q, on.DB)
	defer render.Close()
	if out.Texts == result.TextsTSBS {
		if _, err := render.Verbatim(0); err != nil { // without a text, none is sent
			return shortUnsupported(out, err)
		}
	}
	querier, err := on.DB.NewQuerier(ctx, 0)
	if err != nil {
		return out, fmt.Errorf("connecting to run texts: %w", err)
	}
	defer querier.Close() // only used for reading
	for i := range q.Early {
		one, err := render.Render(ctx, &q.Early[i])
		if err == nil {
			begin := time.Now()
			err = x.tryText(ctx, querier, one.Request)
			if box := x.Plan.Experiment.TimeBoxOfRepeat(len(x.Subject.Queries)); box > 0 && time.Since(begin) > box {
				x.Slow[SlowType{on.Planned.Name, q.Type.Name}] = true
			}
		}
		task.Add(1)
		switch {
		case errors.Is(err, errTooSlow):
			return out, nil // the connection may be lost, and more texts would add no information
		case errors.Is(err, plan.ErrRefused) && out.Texts == result.TextsOwn:
			out.Failed = result.NewFailure(result.ServerError, fmt.Errorf("query %d: %s", q.Early[i].ID, strings.TrimPrefix(err.Error(), query.ErrUnsupported.Error()+": ")))
			return out, nil
		case err != nil:
			return shortUnsupported(out, err)
		}
	}
	return out, nil
}

// shortUnsupported is unsupported with shorter texts.
func shortUnsupported(out *result.Queries, err error) (*result.Queries, error) {
	out, err = recordUnsupported(out, err)
	if err == nil {
		out.Unsupported = strings.TrimPrefix(out.Unsupported, query.ErrUnsupported.Error()+": ")
	}
	return out, err
}

// errTooSlow means that a text exceeded the time-out, which is not a refusal.
var errTooSlow = errors.New("no answer within the time-out")

// tryText runs a text.
func (x *Checker) tryText(ctx context.Context, querier driver.Querier, request driver.Request) error {
	limited, cancel := ctx, context.CancelFunc(func() {})
	if timeout := x.Plan.Experiment.Queries.Timeout; timeout > 0 {
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
	return fmt.Errorf("%w: %w: %w", query.ErrUnsupported, plan.ErrRefused, err)
}

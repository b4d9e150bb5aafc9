// Package verify compares the contents and the answers of a target with the oracle's. It runs off
// the clock.
package verify

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// Renderer renders a query in the target's language.
type Renderer func(*query.Query, *series.Schema) (driver.Request, error)

// Config defines how queries for verification are run.
type Config struct {
	Workers int           // connections that run queries, at least 1
	Timeout time.Duration // after which a query is cut off; 0: never
	Rows    int           // of a survey's sample that are read back; 0: all
	Gone    bool          // no more queries can be run on the target
	// Semantics are the target's: see driver.Driver.
	Semantics string
	// Progress is called for each compared answer, concurrently by several goroutines; nil: not
	// called.
	Progress func()
}

func (c *Config) reportProgress() {
	if c.Progress != nil {
		c.Progress()
	}
}

// Answers runs the expected queries on the target and compares each answer with the expected one.
// The oracle may compute an answer again in full to name the first row that differs. The verdict
// names the first difference. The error is for failures that prevent a verdict: ctx's end, a target
// that is gone, query.ErrUnsupported, or a *result.Failure of a query without an answer.
func Answers(ctx context.Context, cfg Config, t driver.DB, render Renderer, d workload.Dataset, expected []oracle.Expectation) (result.Verdict, error) {
	checks := make([]check, len(expected))
	for i := range expected {
		x := &expected[i]
		request, err := render(x.Query, d.Schema())
		if err != nil {
			return result.Verdict{}, fmt.Errorf("query %d of %s: %w", x.Query.ID, x.Query.Type, err)
		}
		checks[i] = check{dataset: d, request: request, expected: x, timeout: cfg.Timeout, semantics: cfg.Semantics}
	}
	var next, differs atomic.Int64 // indexes of checks: the next one, the first one known to differ
	differs.Store(int64(len(checks)))
	group, groupCtx := errgroup.WithContext(ctx)
	for worker := range min(cfg.Workers, len(checks)) {
		group.Go(func() error {
			querier, err := t.NewQuerier(groupCtx, worker)
			if err != nil {
				return fmt.Errorf("connecting to check answers: %w", err)
			}
			defer querier.Close() // only used for reading
			for {
				i := next.Add(1) - 1
				if i >= differs.Load() {
					return nil
				}
				c := &checks[i]
				c.querier = querier
				if err := c.run(groupCtx); err != nil {
					return fmt.Errorf("checking query %d of %s: %w", c.expected.Query.ID, c.expected.Query.Type, err)
				}
				cfg.reportProgress()
				if c.difference != "" || c.failure != nil {
					differs.Store(min(i, differs.Load())) // losing this race to another worker costs one more check
				}
			}
		})
	}
	err := group.Wait()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if failure := firstFailure(checks); err == nil && failure != nil {
		err = failure
	}
	return verdictOf(checks), err
}

// firstFailure returns the failure of the first check without an answer, if no earlier check has a
// difference; nil: none.
func firstFailure(checks []check) *result.Failure {
	for i := range checks {
		if c := &checks[i]; c.difference != "" || c.failure != nil {
			return c.failure
		}
	}
	return nil
}

// verdictOf adds up the checks until the first one with a difference or without an answer.
func verdictOf(checks []check) result.Verdict {
	var v result.Verdict
	for i := range checks {
		c := &checks[i]
		if !c.done || c.failure != nil {
			break
		}
		if v.Checked++; c.difference != "" {
			v.Difference = fmt.Sprintf("query %d: %s", c.expected.Query.ID, c.difference)
			break
		}
		v.Rows += c.expected.Rows
		if c.documented != "" {
			v.Documented, v.Reason = v.Documented+1, c.documented
		}
		if c.expected.Rows == 0 {
			v.Empty++
		}
	}
	return v
}

// check is the comparison of one answer.
type check struct {
	querier   driver.Querier
	dataset   workload.Dataset
	request   driver.Request
	expected  *oracle.Expectation
	timeout   time.Duration
	semantics string

	done       bool
	documented string          // why the answer differs from the expected one as documented; empty: it does not
	difference string          // the first difference; empty: the answer is correct
	failure    *result.Failure // why there is no answer; nil: there is an answer
}

// run performs the comparison. The error is for failures beyond the single query: ctx's end, a
// target that is gone, or query.ErrUnsupported.
func (c *check) run(ctx context.Context) error {
	difference, err := c.differs(ctx)
	var wrong *wrongAnswer
	switch {
	case errors.As(err, &wrong):
		difference = wrong.problem
	case errors.As(err, &c.failure):
	case err != nil:
		return err
	}
	c.done, c.difference = true, difference
	return nil
}

// wrongAnswer is the error for an answer that is wrong regardless of its remaining rows.
type wrongAnswer struct{ problem string }

func (w *wrongAnswer) Error() string { return w.problem }

// differs returns the first difference, empty if the answer is correct. The error is a *wrongAnswer
// if the answer was not read to its end, a *result.Failure if there is no answer, or an error as
// returned by run.
func (c *check) differs(ctx context.Context) (string, error) {
	q := c.expected.Query
	columns := q.Columns(c.dataset.Schema().Table(q.Table))
	switch {
	case c.expected.Choices != nil:
		return c.choose(ctx, columns)
	case c.expected.Answer != nil:
		return c.compare(ctx, columns)
	case c.expected.Any:
		return c.anyOf(ctx)
	}
	found := query.NewDigest(columns)
	if err := c.send(ctx, found); err != nil {
		return "", err
	}
	if found.Equal(c.expected.Digest) {
		return "", nil
	}
	return c.again(ctx, columns, found)
}

// again runs the query once more for all rows, after the digest of the first answer differed. The
// answer may still be correct: floats may differ within the tolerance.
func (c *check) again(ctx context.Context, columns []query.Column, found *query.Digest) (string, error) {
	q := c.expected.Query
	if c.expected.Choices != nil { // the query may choose different rows each time
		return c.choose(ctx, columns)
	}
	whole, err := oracle.Rows(ctx, c.dataset, q)
	if err != nil {
		return "", err
	}
	var again query.Answer
	if err := c.send(ctx, &again); err != nil {
		return "", err
	}
	second := digestOf(columns, &again)
	if d := query.Compare(q, columns, whole, &again); d != nil {
		return d.String(), nil
	}
	if !second.Equal(found) {
		return fmt.Sprintf("the answer of %d rows was wrong, and right when the query was run again", found.Rows()), nil
	}
	return "", nil // its floats differ within the tolerance
}

// compare runs the query and compares row by row.
func (c *check) compare(ctx context.Context, columns []query.Column) (string, error) {
	var found query.Answer
	if err := c.send(ctx, &found); err != nil {
		return "", err
	}
	difference, documented := compareRows(c.expected, c.semantics, columns, &found)
	c.documented = documented
	return difference, nil
}

// choose runs the query and compares each row with the correct ones of its group.
func (c *check) choose(ctx context.Context, columns []query.Column) (string, error) {
	var found query.Answer
	if err := c.send(ctx, &found); err != nil {
		return "", err
	}
	if d := query.CompareChoices(c.expected.Query, columns, c.expected.Choices, &found); d != nil {
		return d.String(), nil
	}
	return "", nil
}

// anyOf requests any rows that match, and checks their number and each row.
func (c *check) anyOf(ctx context.Context) (string, error) {
	var found query.Answer
	if err := c.send(ctx, &found); err != nil {
		return "", err
	}
	return c.findUnmatched(ctx, &found)
}

// findUnmatched checks the number of rows, and whether each of them matches.
func (c *check) findUnmatched(ctx context.Context, found *query.Answer) (string, error) {
	if n := int64(len(found.Rows)); n != c.expected.Rows {
		return fmt.Sprintf("%d rows in place of %d", n, c.expected.Rows), nil
	}
	row, err := oracle.FindUnmatched(ctx, c.dataset, c.expected.Query, found)
	if row == nil {
		return "", err
	}
	return (&query.Difference{Problem: "a row that does not match, or is there too often", Found: query.RowText(row)}).String(), nil
}

// send sends the request, and checks that the target returned the number of rows that it reports.
func (c *check) send(ctx context.Context, sink query.Sink) error {
	// Rows beyond the expected ones are wrong, and may be endless.
	counted := limit.NewSink(sink, c.expected.MaxRows(), c.dataset.Schema().Table(c.expected.Query.Table).FreeRoom())
	limited, cancel := ctx, context.CancelFunc(func() {})
	if c.timeout > 0 {
		limited, cancel = context.WithTimeout(ctx, c.timeout)
	}
	defer cancel()
	cost, err := c.querier.Do(limited, c.request, counted)
	switch {
	case err == nil && cost.Rows != counted.Came():
		return &wrongAnswer{fmt.Sprintf("%d rows were counted, %d delivered", cost.Rows, counted.Came())}
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return err
	case counted.Exceeded():
		return &wrongAnswer{err.Error()}
	case limited.Err() != nil:
		return result.NewTimeout(c.timeout, c.expected.Query.ID)
	case errors.Is(err, driver.ErrUnreachable) || errors.Is(err, query.ErrUnsupported):
		return err
	}
	return result.NewFailure(result.ServerError, fmt.Errorf("query %d: %w", c.expected.Query.ID, err))
}

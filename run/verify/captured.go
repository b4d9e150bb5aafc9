package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/workload"
)

// Taken is an answer that was recorded during the measurement, with the expected answer.
type Taken struct {
	*engine.Answered
	Expected *oracle.Expectation
}

// maxUnmatched limits the answers of a phase that need a pass over the dataset each: any rows that
// match are correct, and only their number is known in advance. If there are more answers, an
// evenly spread part of them is compared.
const maxUnmatched = 5

// CheckCaptured compares recorded answers. If the digest of rows differs from the expected one, the
// target runs the query again, in full, to name the first row that differs. If that second answer
// is correct, the recorded one was still wrong, unless the digests show that only floats differ,
// within the tolerance. With neither a target nor Config.Gone nothing is decided in this case, and
// open is true. The verdict names the first difference. The error is a *result.Failure if the
// target cannot run the query again and the digests alone prove nothing.
func CheckCaptured(ctx context.Context, cfg Config, t driver.DB, render Renderer, d workload.Dataset, taken []Taken) (v result.Verdict, open bool, err error) {
	var querier driver.Querier
	defer func() {
		if querier != nil {
			querier.Close() // only used for reading
		}
	}()
	step := max((len(taken)+maxUnmatched-1)/maxUnmatched, 1)
	for i, a := range taken {
		cfg.reportProgress()
		if a.Expected.Any && i%step != 0 {
			continue
		}
		c := check{dataset: d, expected: a.Expected, timeout: cfg.Timeout}
		columns := a.Expected.Query.Columns(d.Schema().Table(a.Expected.Query.Table))
		if a.Answer != nil && a.Expected.Answer == nil && !a.Expected.Any && a.Expected.Choices == nil {
			a.Digest = digestOf(columns, a.Answer) // only the digest of the expected answer is known
		}
		difference, documented := "", ""
		switch {
		case !possibleRows(a.Expected, cfg.Semantics, a.Rows) && a.Expected.Choices == nil:
			difference = fmt.Sprintf("%d rows in the answer, %d expected", a.Rows, a.Expected.Rows)
		case a.Expected.Any:
			difference, err = c.findUnmatched(ctx, a.Answer)
		case a.Answer != nil && a.Expected.Choices != nil:
			if d := query.CompareChoices(a.Expected.Query, columns, a.Expected.Choices, a.Answer); d != nil {
				difference = d.String()
			}
		case a.Answer != nil && a.Expected.Answer != nil:
			difference, documented = compareRows(a.Expected, cfg.Semantics, columns, a.Answer)
		case a.Digest.Equal(a.Expected.Digest):
		case t.Required == nil && !cfg.Gone:
			return result.Verdict{}, true, nil
		case cfg.Gone:
			difference, err = explainUndecided(&a, columns, errors.New("the target is gone"))
		default:
			if querier == nil {
				if querier, err = t.NewQuerier(ctx, 0); err != nil {
					return v, false, fmt.Errorf("connecting to run the query again: %w", err)
				}
			}
			c.querier = querier
			if c.request, err = render(a.Expected.Query, d.Schema()); err != nil {
				return v, false, err
			}
			difference, err = c.again(ctx, columns, a.Digest)
			var wrong *wrongAnswer
			var failure *result.Failure
			switch {
			case errors.As(err, &wrong):
				difference, err = wrong.problem, nil
			case errors.As(err, &failure):
				difference, err = explainUndecided(&a, columns, failure)
			}
		}
		if err != nil {
			return v, false, err
		}
		v.Checked++
		if difference != "" {
			v.Difference = fmt.Sprintf("query %d: %s", a.Expected.Query.ID, difference)
			return v, false, nil
		}
		if documented != "" {
			v.Documented, v.Reason = v.Documented+1, documented
		}
		v.Rows += a.Rows
		if a.Rows == 0 {
			v.Empty++
		}
	}
	return v, false, nil
}

// digestOf returns the digest of an answer.
func digestOf(columns []query.Column, of *query.Answer) *query.Digest {
	digest := query.NewDigest(columns)
	for _, row := range of.Rows {
		_ = digest.Row(row) // a Digest accepts every row
	}
	return digest
}

// explainUndecided returns the result for an answer whose digest differs and whose query cannot be run
// again. Without floats, which have a tolerance, the answer is wrong, as the difference says. With
// floats it may be correct: the error is a *result.Failure.
func explainUndecided(a *Taken, columns []query.Column, again error) (difference string, err error) {
	if !slices.ContainsFunc(columns, func(c query.Column) bool { return c.Kind == query.Float }) {
		return fmt.Sprintf("its %d rows are not the expected ones; running the query again: %v", a.Rows, again), nil
	}
	return "", result.NewFailure(result.ServerError, fmt.Errorf("query %d: its %d rows could not be compared, since the query cannot be run again: %w",
		a.Expected.Query.ID, a.Rows, again))
}

package oracle

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// operate makes the answer of a set operation from the rows of one operand.
func (e *evaluator) operate() {
	s := e.set
	if s == nil {
		return
	}
	e.digest, e.rows = query.NewDigest(e.columns), query.Answer{}
	for row, times := range e.operand.All() {
		for range countAfter(s, times) {
			_ = e.digest.Row(row) // a Digest takes every row, and an Answer does
			if e.keep {
				_ = e.rows.Row(row)
			}
		}
	}
}

// countAfter returns the number of times that a row occurs in the result of a set operation on
// equal operands that each contain it the given number of times.
func countAfter(s *query.Set, times int) int {
	switch {
	case s.Operation == query.Except:
		return 0
	case !s.All:
		return 1
	case s.Operation == query.Union:
		return times * s.Operands
	}
	return times
}

// FindUnmatched returns a row of an answer to q that does not match, or that occurs more often than
// in the dataset; nil if all rows match. It is for queries for which any subset of the matching
// rows is an answer, and it reads the dataset until all rows are found.
func FindUnmatched(ctx context.Context, d workload.Dataset, q *query.Query, found *query.Answer) ([]query.Value, error) {
	schema := d.Schema()
	unlimited := *q
	if any, ok := q.Shape.(query.AnyRows); ok {
		unlimited.Shape = query.Rows{Fields: any.Fields, Tag: any.Tag}
	}
	e, err := newSingle(&unlimited, schema, newGroupings(schema), false)
	if err != nil {
		return nil, err
	}
	e.unmatched = query.NewBag(e.columns)
	for _, row := range found.Rows {
		_ = e.unmatched.Row(row) // a Bag takes every row
	}
	var batch series.Batch
	for reader := d.Open(); ; {
		var one []query.Value
		for one = range e.unmatched.All() {
			break
		}
		if one == nil || ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := reader.Next(&batch, batchRows); errors.Is(err, io.EOF) {
			return one, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading the dataset for the rows of an answer: %w", err)
		}
		e.addAll(spans(nil, &batch))
	}
}

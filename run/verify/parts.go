package verify

import (
	"context"
	"fmt"
	"math"

	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload"
)

// boundParts finds answers that no part of the rows has, of a system that shows the rows of a
// batch apart: aggregates that lie outside of the values of their group, and groups that
// there are not. Which rows were visible nobody can say; but a maximum, a minimum and a mean
// of any of them lie between the least and the greatest value, and a count is not above that
// of all. Of answers in other shapes, and of digests, nothing is said.
func boundParts(ctx context.Context, d workload.Dataset, answers []*answer) error {
	var doubtful []*answer
	var limits []query.Query // two of each
	for _, a := range answers {
		if a.stale || a.Answer == nil {
			continue
		}
		if low, high, ok := limitsOf(a.Query); ok {
			doubtful, limits = append(doubtful, a), append(limits, low, high)
		}
	}
	if len(doubtful) == 0 {
		return nil
	}
	expected, err := oracle.Pass(ctx, d, limits, nil, func(int) {})
	if err != nil {
		return fmt.Errorf("looking for the limits of answers: %w", err)
	}
	for i, a := range doubtful {
		low, high := expected.Full[2*i].Answer, expected.Full[2*i+1].Answer
		if low != nil && high != nil {
			a.beyond = beyond(a, low, high)
		}
	}
	return nil
}

// limitsOf returns queries for the least and the greatest value that an aggregate of a part of
// the rows may have; ok is false where there is no such query.
func limitsOf(q query.Query) (low, high query.Query, ok bool) {
	as := func(a query.Aggregate) query.Query {
		changed := q
		switch s := q.Shape.(type) {
		case query.Buckets:
			s.Aggregate, s.Limit = a, 0 // with fewer rows other buckets are among the first
			changed.Shape = s
		case query.Totals:
			s.Aggregate = a
			changed.Shape = s
		}
		return changed
	}
	switch aggregateOf(q) {
	case query.Max, query.Min, query.Avg:
		return as(query.Min), as(query.Max), true
	case query.Count:
		return as(query.Count), as(query.Count), true
	}
	return q, q, false // a sum has no limit that is worth a look
}

// beyond says which row of an answer is not within the limits; empty: all are.
func beyond(a *answer, low, high *query.Answer) string {
	keys := a.Query.Keys()
	least, greatest := byKey(low, keys), byKey(high, keys)
	for _, row := range a.Answer.Rows {
		if len(row) != len(a.columns) {
			return fmt.Sprintf("a row has %d columns in place of %d", len(row), len(a.columns))
		}
		key := fmt.Sprint(row[:keys])
		if least[key] == nil || greatest[key] == nil {
			return fmt.Sprintf("there is no group %s, or it has two rows", key)
		}
		for c := keys; c < len(row); c++ {
			v, known := row[c].Number()
			lo, _ := least[key][c].Number()
			hi, _ := greatest[key][c].Number()
			if aggregateOf(a.Query) == query.Count {
				lo = 0
			}
			slack := 1e-9 * math.Max(math.Abs(lo), math.Abs(hi)) // means are rounded
			if known && (v < lo-slack || v > hi+slack) {
				return fmt.Sprintf("%s of %s is %v, not within %v and %v", a.columns[c].Name, key, row[c], lo, hi)
			}
		}
		delete(least, key)
	}
	return ""
}

// byKey returns the rows of an answer by the columns that tell them apart.
func byKey(a *query.Answer, keys int) map[string][]query.Value {
	rows := make(map[string][]query.Value, len(a.Rows))
	for _, row := range a.Rows {
		rows[fmt.Sprint(row[:keys])] = row
	}
	return rows
}

// aggregateOf is the aggregate of a query's shape; empty: it has none.
func aggregateOf(q query.Query) query.Aggregate {
	switch s := q.Shape.(type) {
	case query.Buckets:
		return s.Aggregate
	case query.Totals:
		return s.Aggregate
	}
	return ""
}

package oracle

import (
	"slices"

	"github.com/tsmark/tsmark/query"
)

// expectation returns the answer, once all rows have been added.
func (e *evaluator) expectation() Expectation {
	x := Expectation{Query: e.query}
	switch e.query.Shape {
	case query.Buckets, query.Totals:
		x.Answer = &query.Answer{Rows: e.bucketRows()}
		x.Rows = int64(len(x.Answer.Rows))
		return x
	case query.Means, query.Activity:
		x.Answer = &query.Answer{Rows: e.units.rows()}
		x.Rows = int64(len(x.Answer.Rows))
		return x
	case query.Last:
		digest, kept := query.NewDigest(e.columns), query.Answer{}
		for group, row := range e.newest {
			if row == nil || !e.having(row, e.newestSeries[group]) {
				continue
			}
			_ = digest.Row(row)
			if e.keep {
				_ = kept.Row(row)
			}
		}
		x.Digest, e.rows = digest, kept
	default:
		if x.Any = e.needed > 0; x.Any && !e.keep {
			x.Rows = min(e.found, e.needed)
			return x
		}
		e.operate()
		x.Digest = e.digest
	}
	if e.keep {
		x.Answer = &e.rows
	}
	x.Rows = x.Digest.Rows()
	return x
}

// having reports whether the newest row of a group, which is the series', stays
// in the answer.
func (e *evaluator) having(row []query.Value, series uint32) bool {
	c := e.query.Having
	if c == nil {
		return true
	}
	i := slices.IndexFunc(e.columns, func(col query.Column) bool { return col.Name == c.Field })
	v := row[i].Float
	switch row[i].Kind {
	case query.Null:
		return false
	case query.Int:
		v = float64(row[i].Int)
	}
	if e.over != nil {
		v /= e.over[series]
	}
	return c.Holds(v) // false for NaN, which a missing tag makes of v
}

// bucketRows returns the aggregated rows in the query's order, cut to its
// limit.
func (e *evaluator) bucketRows() [][]query.Value {
	q := e.query
	var rows [][]query.Value
	for start, b := range e.blocks {
		for group := 0; group < len(b.present)*64; group++ {
			if !b.present.has(group) {
				continue
			}
			row := make([]query.Value, 0, len(e.columns))
			if q.Shape == query.Buckets {
				row = append(row, query.Value{Kind: query.Time, Int: start})
			}
			if e.groups != nil {
				row = append(row, e.groups.value(int32(group)))
			}
			for i := range e.fields {
				row = append(row, b.cells[group*len(e.fields)+i].value(q.Aggregate, e.columns[len(row)].Kind))
			}
			rows = append(rows, row)
		}
	}
	return inOrder(q, rows)
}

// inOrder puts rows in the order of a question and cuts them to its limit.
func inOrder(q *query.Query, rows [][]query.Value) [][]query.Value {
	keys := q.Keys()
	slices.SortFunc(rows, func(a, b []query.Value) int {
		order := query.CompareRows(a[:keys], b[:keys])
		if q.Order == query.Descending {
			return -order
		}
		return order
	})
	if q.Limit > 0 && len(rows) > q.Limit {
		rows = rows[:q.Limit]
	}
	return rows
}

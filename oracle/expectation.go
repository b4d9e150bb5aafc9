package oracle

import (
	"slices"

	"github.com/tsmark/tsmark/query"
)

// result is expectation, which it calls once only: for when no rows will follow.
func (e *evaluator) result() Expectation {
	if e.known == nil {
		x := e.expectation()
		e.known = &x
	}
	return *e.known
}

// expectation returns the answer, once all rows have been added.
func (e *evaluator) expectation() Expectation {
	x := Expectation{Query: e.query}
	switch e.role {
	case folds:
		rows := e.made
		if rows == nil {
			rows = e.bucketRows()
		}
		x.Answer = &query.Answer{Rows: rows}
		x.Rows = int64(len(x.Answer.Rows))
		return x
	case collects:
		return e.ticksExpectation()
	case foldsUnits:
		x.Answer, x.Choices = &query.Answer{Rows: e.units.rows()}, e.units.choices()
		x.Rows = int64(len(x.Answer.Rows))
		return x
	case takesNewest:
		digest, kept := query.NewDigest(e.columns), query.Answer{}
		choices, tied := []query.Choice(nil), false
		for _, rows := range e.newest.kinds {
			choice, several := e.choice(rows)
			if len(choice.Rows) == 0 {
				continue
			}
			choices, tied = append(choices, choice), tied || several
			_ = digest.Row(choice.Rows[0])
			if e.keep {
				_ = kept.Row(choice.Rows[0])
			}
		}
		if x.Digest, e.rows = digest, kept; tied {
			x.Choices = choices
		}
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

// choice returns the newest rows of a group that remain in the answer, any one of them correct, and
// whether they differ or others do not remain.
func (e *evaluator) choice(rows []newestRow) (c query.Choice, several bool) {
	for i := range rows {
		if !e.having(rows[i].values, rows[i].series) {
			c.Optional = true
			continue
		}
		row := slices.Clone(rows[i].values)
		several = several || len(c.Rows) > 0 && query.CompareRows(c.Rows[0], row) != 0
		c.Rows = append(c.Rows, row)
	}
	return c, several || c.Optional
}

// having reports whether the newest row of a group, which is the series', stays
// in the answer.
func (e *evaluator) having(row []query.Value, series uint32) bool {
	c := e.condition
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
	var rows [][]query.Value
	for start, b := range e.blocks {
		for group := 0; group < len(b.present)*64; group++ {
			if !b.present.has(group) {
				continue
			}
			row := make([]query.Value, len(e.columns))
			at := e.begin(row, start, int32(group))
			for i := range e.fields {
				b.cells[group*len(e.fields)+i].put(&row[at+i], e.aggregate, e.columns[at+i].Kind)
			}
			rows = append(rows, row)
		}
	}
	return inOrder(e.query, e.limit, rows)
}

// begin writes the first values of an aggregated row, and returns their number.
func (e *evaluator) begin(row []query.Value, bucket int64, group int32) (n int) {
	if e.width > 0 {
		row[n].Kind, row[n].Int = query.Time, bucket
		n++
	}
	if e.groups != nil {
		row[n] = e.groups.value(group)
		n++
	}
	return n
}

// inOrder puts rows in the order of a query and cuts them to a limit, unless that
// is 0.
func inOrder(q *query.Query, limit int, rows [][]query.Value) [][]query.Value {
	keys, newest := q.Keys(), q.Order() == query.Descending
	slices.SortFunc(rows, func(a, b []query.Value) int {
		order := query.CompareRows(a[:keys], b[:keys])
		if newest {
			return -order
		}
		return order
	})
	if limit > 0 && len(rows) > limit {
		rows = rows[:limit]
	}
	return rows
}

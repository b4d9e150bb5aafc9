package query

import (
	"cmp"
	"fmt"
	"slices"
)

// Written is the shape of a query text that a user wrote in a database's language. Neither the
// columns nor the rows of its answer are known, unless another system's answer is taken as the
// expected one. In a query it holds the values drawn to fill in the text, in addition to the
// query's window.
type Written struct {
	// Texts identifies the texts, so that queries of others are other queries.
	Texts      string
	Parameters []Parameter
	// Ordered says that the order of rows is part of the answer.
	Ordered bool
	// Columns are the columns of the expected answer, if there is one. They are not stored.
	Columns []Column
}

// Parameter is a place of a text that is filled in, and the values that were drawn.
type Parameter struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
	Number bool     `json:"number,omitempty"` // written without quotes
}

func (Written) outline() outline { return outline{name: writtenName} }

const writtenName = "text"

func (s Written) store(r *record) {
	r.Text = &writtenRecord{s.Texts, s.Parameters, s.Ordered}
}

// writtenRecord is the stored form of a Written.
type writtenRecord struct {
	Texts      string      `json:"texts"`
	Parameters []Parameter `json:"parameters,omitempty"`
	Ordered    bool        `json:"ordered,omitempty"`
}

// WrittenText returns the text that a query stands for; not ok: it has a meaning of its own.
func (q *Query) WrittenText() (w Written, ok bool) {
	w, ok = q.Shape.(Written)
	return w, ok
}

// WithAnswer returns the query with the columns of an answer that is taken for the right
// one: each is of the kind of its values, NULLs left out.
func (q *Query) WithAnswer(right *Answer) *Query {
	w, ok := q.WrittenText()
	if !ok {
		return q
	}
	w.Columns = nil
	for _, row := range right.Rows {
		for i, v := range row {
			if i == len(w.Columns) {
				w.Columns = append(w.Columns, Column{Name: fmt.Sprintf("column %d", i+1)})
			}
			w.Columns[i].Kind = cmp.Or(w.Columns[i].Kind, v.Kind)
		}
	}
	answered := *q
	answered.Shape = w
	return &answered
}

// differs returns the first difference between the expected answer and another one. Columns are
// compared by position. If the order of rows is not significant, rows are compared in the order of
// their exactly comparable values.
func (w *Written) differs(expected, found *Answer) *Difference {
	if len(expected.Rows) != len(found.Rows) {
		return &Difference{Problem: fmt.Sprintf("%d rows, %d expected", len(found.Rows), len(expected.Rows))}
	}
	if !w.Ordered {
		for _, a := range []*Answer{expected, found} {
			slices.SortStableFunc(a.Rows, w.compareRows)
		}
	}
	for at, row := range found.Rows {
		for i := range w.Columns {
			if !equal(expected.Rows[at][i], row[i]) {
				return &Difference{
					Problem:  fmt.Sprintf("row %d of %d: wrong %s", at+1, len(found.Rows), w.Columns[i].Name),
					Expected: RowText(expected.Rows[at]), Found: RowText(row),
				}
			}
		}
	}
	return nil
}

// compareRows orders rows by all columns, those of floats last: these are equal within a
// tolerance, which no order knows.
func (w *Written) compareRows(a, b []Value) int {
	for _, floats := range []bool{false, true} {
		for i := range w.Columns {
			if (w.Columns[i].Kind == Float) != floats {
				continue
			}
			if order := compareValues(a[i], b[i]); order != 0 {
				return order
			}
		}
	}
	return 0
}

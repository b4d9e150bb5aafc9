// Package query holds questions as they are meant, apart from any database's
// language, and their answers.
package query

import (
	"errors"
	"time"

	"github.com/tsmark/tsmark/series"
)

// Shape is the form of a question and of its answer.
type Shape string

// The shapes. The columns of an answer follow from the query: see Columns.
const (
	// Buckets aggregates fields over buckets of time, for each value of
	// GroupBy apart where that is set. A bucket without a matching row has
	// no row in the answer.
	Buckets Shape = "buckets"
	// Rows returns the matching rows themselves, in no order.
	Rows Shape = "rows"
	// Last returns the newest row of each value of GroupBy.
	Last Shape = "last"
)

// Aggregate folds the values of one field; NULLs take no part.
type Aggregate string

// The aggregates.
const (
	Max Aggregate = "max"
	Avg Aggregate = "avg" // of the double values, even where the field is an integer
)

// Order is the order of an answer's rows.
type Order string

// The orders.
const (
	Unordered  Order = ""     // any order is right
	Ascending  Order = "asc"  // by bucket, then by GroupBy bytewise
	Descending Order = "desc" // newest bucket first
)

// Query is one question. The zero value of a setting means that it is absent.
type Query struct {
	Type      string        `json:"type"` // query type it was drawn for
	ID        int           `json:"id"`   // place among the queries of its type, from 0
	Shape     Shape         `json:"shape"`
	Table     string        `json:"table"`
	Aggregate Aggregate     `json:"aggregate,omitempty"` // Buckets only
	Fields    []string      `json:"fields"`              // asked for, in this order
	Bucket    time.Duration `json:"bucket_ns,omitempty"` // width; buckets start at multiples of it since 1970
	GroupBy   string        `json:"group_by,omitempty"`  // tag key; its value stands in the answer
	Start     time.Time     `json:"start,omitzero"`      // rows at or after; zero: no bound
	End       time.Time     `json:"end,omitzero"`        // rows before; zero: no bound
	In        *TagIn        `json:"in,omitempty"`
	Above     *Above        `json:"above,omitempty"`
	Order     Order         `json:"order,omitempty"`
	Limit     int           `json:"limit,omitempty"` // rows at most, of the order; 0: all
}

// TagIn keeps rows whose tag has one of the values.
type TagIn struct {
	Key    string   `json:"key"`
	Values []string `json:"values"`
}

// Above keeps rows whose field is greater than the threshold.
type Above struct {
	Field string  `json:"field"`
	Value float64 `json:"value"`
}

// ErrUnsupported is wrapped, with the reason, where a database cannot answer
// a question. Reports show "n/a" and the reason.
var ErrUnsupported = errors.New("not supported")

// Column is a column of an answer.
type Column struct {
	Name string
	Kind Kind
}

// Columns returns the columns of the answer to q: time, then the tag for
// queries that group by one and for the Rows and Last shapes, then the fields
// (named max_<field> or mean_<field> where they are aggregated).
func (q *Query) Columns(table *series.Table) []Column {
	cols := make([]Column, 0, len(q.Fields)+2)
	cols = append(cols, Column{"time", Time})
	if q.GroupBy != "" {
		cols = append(cols, Column{q.GroupBy, Text})
	}
	for _, name := range q.Fields {
		kind := Int
		if table.Fields[table.FieldIndex(name)].Type == series.Float {
			kind = Float
		}
		switch {
		case q.Shape != Buckets:
		case q.Aggregate == Avg:
			name, kind = "mean_"+name, Float
		default:
			name = string(q.Aggregate) + "_" + name
		}
		cols = append(cols, Column{name, kind})
	}
	return cols
}

// Bounds returns the window in nanoseconds since 1970, half-open; an absent
// bound is the smallest or largest int64.
func (q *Query) Bounds() (start, end int64) {
	start, end = -1<<63, 1<<63-1
	if !q.Start.IsZero() {
		start = q.Start.UnixNano()
	}
	if !q.End.IsZero() {
		end = q.End.UnixNano()
	}
	return start, end
}

// BucketOf returns the start of the bucket of the given width that holds t,
// both in nanoseconds since 1970. It rounds down before 1970 as well.
func BucketOf(t int64, width time.Duration) int64 {
	w := int64(width)
	r := t % w
	if r < 0 {
		r += w
	}
	return t - r
}

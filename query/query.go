// Package query represents queries independent of any database's language, and their answers.
package query

import (
	"errors"
	"slices"
	"time"
)

// Query selects rows of a table, and its Shape computes the answer from them. The zero value of a
// setting means that it is absent.
type Query struct {
	Type  string // query type it was drawn for
	ID    int    // place among the queries of its type, from 0
	Table string

	Start time.Time // rows at or after; zero: no bound
	End   time.Time // rows before; zero: no bound
	In    *TagIn
	// Filter keeps rows by the values of fields; nil: all.
	Filter *ValueFilter
	// Present lists tags that a row must have, in addition to those required by a filter or the
	// shape: see Demands.
	Present []string

	Shape Shape
}

// TagIn keeps rows whose tag has one of the values.
type TagIn struct {
	Key    string   `json:"key"`
	Values []string `json:"values"`
}

// Order is the order of an answer's rows.
type Order string

// The orders.
const (
	Unordered  Order = ""     // any order is correct
	Ascending  Order = "asc"  // by the columns that tell rows apart: see Keys; texts bytewise
	Descending Order = "desc" // the reverse: newest first
)

// ErrUnsupported is wrapped, with the reason, by the error of a query that a database cannot
// answer. Reports show "n/a" and the reason.
var ErrUnsupported = errors.New("not supported")

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

// Align moves the window back to the start of a bucket, for systems that can only query aligned
// windows. Its length does not change, and neither does a query without buckets.
func (q *Query) Align() {
	width := q.Width()
	if width <= 0 || q.Start.IsZero() && q.End.IsZero() {
		return
	}
	first := q.Start
	if first.IsZero() {
		first = q.End
	}
	back := first.UnixNano() - BucketOf(first.UnixNano(), width)
	for _, bound := range []*time.Time{&q.Start, &q.End} {
		if !bound.IsZero() {
			*bound = bound.Add(-time.Duration(back))
		}
	}
}

// Width returns the width of the query's buckets; 0: no buckets.
func (q *Query) Width() time.Duration {
	switch s := q.Shape.(type) {
	case Buckets:
		return s.Width
	case Candles:
		return s.Width
	case Weighted:
		return s.Width
	}
	if a := q.Activity(); a != nil {
		return a.Width
	}
	return 0
}

// Order returns the order of the answer's rows.
func (q *Query) Order() Order {
	switch s := q.Shape.(type) {
	case Buckets:
		return s.Order
	case Rows:
		return s.Order
	case Sessions, ActiveShare:
		return Ascending
	}
	return Unordered
}

// Stored reports whether the answer consists of stored rows. There may be very many, and their
// values compare exactly.
func (q *Query) Stored() bool {
	switch q.Shape.(type) {
	case Rows, AnyRows, RowSet, Last, AsOf:
		return true
	}
	return false
}

// Demands returns the distinct tags that a row must have: the tags of Present, and the tags that
// the shape groups or orders by. A filter on a tag requires the tag as well.
func (q *Query) Demands() []string { return distinct(q.Present, q.outline().demands) }

// NamedFields returns the fields that the query names, once each.
func (q *Query) NamedFields() []string {
	o := q.outline()
	if q.Filter == nil {
		return distinct(o.fields, o.numbers)
	}
	return distinct(o.fields, o.numbers, q.Filter.Fields())
}

// distinct returns the names in lists that are not empty, in their order, once
// each.
func distinct(lists ...[]string) []string {
	var names []string
	for _, list := range lists {
		for _, name := range list {
			if name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// BucketOf returns the start of the bucket of the given width that contains t, both in nanoseconds
// since 1970. It rounds down before 1970 too.
func BucketOf(t int64, width time.Duration) int64 {
	w := int64(width)
	r := t % w
	if r < 0 {
		r += w
	}
	return t - r
}

// Package query holds questions as they are meant, apart from any database's
// language, and their answers.
package query

import (
	"errors"
	"time"
)

// Shape is the form of a question and of its answer.
type Shape string

// The shapes. The columns of an answer follow from the query: see Columns.
const (
	// Buckets aggregates fields over buckets of time, for each value of
	// GroupBy apart where that is set. A bucket without a matching row has
	// no row in the answer.
	Buckets Shape = "buckets"
	// Rows returns the matching rows themselves, or with Set what a set
	// operation makes of them. A Limit takes any of them, and goes without an
	// Order.
	Rows Shape = "rows"
	// Totals aggregates fields over all matching rows of each value of GroupBy.
	// A value without a matching row has no row in the answer.
	Totals Shape = "totals"
	// Last returns the newest row of each value of GroupBy, with its NULLs.
	// Only rows that match compete, and of the newest ones those stay that
	// fulfil Having.
	Last Shape = "last"
	// Means returns, for each combination of values of the Group tags, the
	// means of Fields and of the numeric tags MeanTags over the matching rows,
	// where Having is fulfilled. With a Unit, each unit's mean counts once.
	Means Shape = "means"
	// Activity looks at each unit's buckets, says which are active, and sums
	// that up: see Active.
	Activity Shape = "activity"
)

// Aggregate folds the values of one field; NULLs take no part.
type Aggregate string

// The aggregates. But for Count, nothing folded is NULL.
const (
	Max   Aggregate = "max"
	Min   Aggregate = "min"
	Avg   Aggregate = "avg" // of the double values, even where the field is an integer
	Sum   Aggregate = "sum" // likewise
	Count Aggregate = "count"
)

// Aggregates lists them.
func Aggregates() []Aggregate { return []Aggregate{Count, Min, Max, Sum, Avg} }

// Set is a set operation on the answers to the same question, asked so often:
// what SQL makes of SELECT … UNION SELECT …. Without All, equal rows are one.
type Set struct {
	Operation SetOperation `json:"operation"`
	All       bool         `json:"all,omitempty"`
	Operands  int          `json:"operands"` // at least 2
}

// SetOperation is a set operation.
type SetOperation string

// The set operations.
const (
	Union     SetOperation = "union"
	Intersect SetOperation = "intersect"
	Except    SetOperation = "except" // the first answer without the others
)

// SetOperations lists them.
func SetOperations() []SetOperation { return []SetOperation{Union, Intersect, Except} }

// Order is the order of an answer's rows.
type Order string

// The orders.
const (
	Unordered  Order = ""     // any order is right
	Ascending  Order = "asc"  // by bucket or time, then by GroupBy bytewise
	Descending Order = "desc" // the reverse: newest first
)

// Query is one question. The zero value of a setting means that it is absent.
type Query struct {
	Type      string        `json:"type"` // query type it was drawn for
	ID        int           `json:"id"`   // place among the queries of its type, from 0
	Shape     Shape         `json:"shape"`
	Table     string        `json:"table"`
	Aggregate Aggregate     `json:"aggregate,omitempty"` // Buckets and Totals
	Fields    []string      `json:"fields,omitempty"`    // asked for, in this order
	Bucket    time.Duration `json:"bucket_ns,omitempty"` // width; buckets start at multiples of it since 1970
	GroupBy   string        `json:"group_by,omitempty"`  // tag key; its value stands in the answer
	Start     time.Time     `json:"start,omitzero"`      // rows at or after; zero: no bound
	End       time.Time     `json:"end,omitzero"`        // rows before; zero: no bound
	In        *TagIn        `json:"in,omitempty"`
	Above     *Above        `json:"above,omitempty"`
	Order     Order         `json:"order,omitempty"`
	Limit     int           `json:"limit,omitempty"` // rows at most, of the order; 0: all

	// Present are tags that a row must have. A filter on a tag, Group, Unit and
	// GroupBy (but of Rows without an order, which show the NULL) demand theirs
	// in any case.
	Present  []string   `json:"present,omitempty"`
	Tags     []string   `json:"tags,omitempty"`      // Last: further tags of the row in the answer
	Group    []string   `json:"group,omitempty"`     // Means, Activity: tags in the answer
	MeanTags []string   `json:"mean_tags,omitempty"` // Means: numeric tags
	Unit     string     `json:"unit,omitempty"`      // Means, Activity: the tag that tells units apart
	Over     string     `json:"over,omitempty"`      // Means with a Unit: numeric tag that a unit's mean is divided by
	Having   *Condition `json:"having,omitempty"`
	Active   *Active    `json:"active,omitempty"`
	Set      *Set       `json:"set,omitempty"` // Rows, without Order and Limit
}

// Condition is a comparison that keeps a row of an answer. NULL fulfils none.
type Condition struct {
	Field string  `json:"field"`          // Last: of the row; Means: whose mean is compared
	Over  string  `json:"over,omitempty"` // numeric tag that the field is divided by first
	Below bool    `json:"below"`          // less than, not greater than, the value
	Value float64 `json:"value"`
}

// Holds reports whether a value that is not NULL fulfils the condition.
func (c *Condition) Holds(v float64) bool {
	if c.Below {
		return v < c.Value
	}
	return v > c.Value
}

// Active says when a bucket of a unit is active, and what is asked about the
// active ones. Only rows in which Field is not NULL count. Buckets are as wide
// as the query's Bucket, which divides a day.
type Active struct {
	Field string `json:"field"`
	// Zeros takes the share of rows in which Field is 0, in place of its mean.
	Zeros bool `json:"zeros,omitempty"`
	// Below makes a bucket active where the mean or share is less than Value,
	// AtLeast where it is Value or more; otherwise it must be greater.
	Below   bool    `json:"below,omitempty"`
	AtLeast bool    `json:"at_least,omitempty"`
	Value   float64 `json:"value"`
	Summary Summary `json:"summary"`
	More    int     `json:"more,omitempty"` // UnitsWithMore: than this
}

// Holds reports whether a bucket with the mean or share is active.
func (a *Active) Holds(v float64) bool {
	switch {
	case a.Below:
		return v < a.Value
	case a.AtLeast:
		return v >= a.Value
	}
	return v > a.Value
}

// Summary is what is asked about active buckets.
type Summary string

// The summaries, with the columns of their answers. A day begins at midnight
// UTC.
const (
	// UnitsWithMore: the units that have more than More active buckets. Unit.
	UnitsWithMore Summary = "units-with-more"
	// HoursPerDay: for each unit, the mean over the days with an active bucket
	// of the hours that its active buckets make. Unit, hours.
	HoursPerDay Summary = "hours-per-day"
	// SessionPerDay: for each unit and day, the mean length in seconds of the
	// sessions that begin on it. A session begins with an active bucket behind
	// one that is not, and ends at the next one that is not; buckets without a
	// row are passed over. One that has not ended does not count. Day, Unit,
	// seconds.
	SessionPerDay Summary = "session-per-day"
	// SharePerDay: for each combination of values of the Group tags and each
	// day, all units' active buckets, divided by the buckets of a day. Day,
	// Group, share.
	SharePerDay Summary = "share-per-day"
	// Starts: for each combination of values of the Group tags, how often a
	// unit's active bucket follows one that is not. Group, count.
	Starts Summary = "starts"
)

// TagIn keeps rows whose tag has one of the values.
type TagIn struct {
	Key    string   `json:"key"`
	Values []string `json:"values"`
}

// Above keeps rows whose field is greater than the threshold.
type Above struct {
	Field string   `json:"field"`
	Value float64  `json:"value"`
	And   []string `json:"and,omitempty"` // further fields that must be greater than it
}

// All returns all fields that must be greater.
func (a *Above) All() []string { return append([]string{a.Field}, a.And...) }

// ErrUnsupported is wrapped, with the reason, where a database cannot answer
// a question. Reports show "n/a" and the reason.
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

// Align moves the window back to where a bucket starts, for systems that can
// ask no other. Its length stays; a query without buckets stays as it is.
func (q *Query) Align() {
	if q.Bucket <= 0 || q.Start.IsZero() && q.End.IsZero() {
		return
	}
	first := q.Start
	if first.IsZero() {
		first = q.End
	}
	back := first.UnixNano() - BucketOf(first.UnixNano(), q.Bucket)
	for _, bound := range []*time.Time{&q.Start, &q.End} {
		if !bound.IsZero() {
			*bound = bound.Add(-time.Duration(back))
		}
	}
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

// Package query holds questions as they are meant, apart from any database's
// language, and their answers.
package query

import (
	"errors"
	"fmt"
	"slices"
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
	Descending Order = "desc" // the reverse: newest bucket first
)

// Query is one question. The zero value of a setting means that it is absent.
type Query struct {
	Type      string        `json:"type"` // query type it was drawn for
	ID        int           `json:"id"`   // place among the queries of its type, from 0
	Shape     Shape         `json:"shape"`
	Table     string        `json:"table"`
	Aggregate Aggregate     `json:"aggregate,omitempty"` // Buckets only
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
	// GroupBy (but of Rows, which shows the NULL) demand theirs in any case.
	Present  []string   `json:"present,omitempty"`
	Tags     []string   `json:"tags,omitempty"`      // Last: further tags of the row in the answer
	Group    []string   `json:"group,omitempty"`     // Means, Activity: tags in the answer
	MeanTags []string   `json:"mean_tags,omitempty"` // Means: numeric tags
	Unit     string     `json:"unit,omitempty"`      // Means, Activity: the tag that tells units apart
	Over     string     `json:"over,omitempty"`      // Means with a Unit: numeric tag that a unit's mean is divided by
	Having   *Condition `json:"having,omitempty"`
	Active   *Active    `json:"active,omitempty"`
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

// Check returns what is wrong with a question whatever the table holds: a
// divisor where nothing is divided, or one that a group may have several of.
func (q *Query) Check() error {
	if q.Over != "" && (q.Shape != Means || q.Unit == "" || !slices.Contains(q.Group, q.Over)) {
		return fmt.Errorf("it divides by tag %s, which takes means of units that are grouped by it", q.Over)
	}
	if h := q.Having; h != nil && h.Over != "" && q.Shape != Last {
		return fmt.Errorf("its condition divides by tag %s, which takes last rows", h.Over)
	}
	return nil
}

// Keys returns the number of columns, the first ones, that tell the rows of an
// answer apart.
func (q *Query) Keys() int {
	switch {
	case q.Shape == Means:
		return len(q.Group)
	case q.Shape == Activity:
		switch q.Active.Summary {
		case SessionPerDay:
			return 2
		case SharePerDay:
			return 1 + len(q.Group)
		case Starts:
			return len(q.Group)
		}
		return 1
	case q.GroupBy != "":
		return 2
	}
	return 1
}

// Columns returns the columns of the answer to q. Of the shapes Buckets, Rows
// and Last these are time, then the tag of GroupBy, then Tags, then the fields
// (named max_<field> or mean_<field> where they are aggregated). Of Means they
// are the Group tags, then the means; of Activity see its Summary.
func (q *Query) Columns(table *series.Table) []Column {
	tag := func(key string) Column {
		if table.Tag(key).Numeric() {
			return Column{key, Float}
		}
		return Column{key, Text}
	}
	var cols []Column
	switch q.Shape {
	case Means:
		for _, key := range q.Group {
			cols = append(cols, tag(key))
		}
		for _, name := range append(slices.Clone(q.Fields), q.MeanTags...) {
			cols = append(cols, Column{"mean_" + name, Float})
		}
		return cols
	case Activity:
		return q.activityColumns(tag)
	}
	cols = append(cols, Column{"time", Time})
	if q.GroupBy != "" {
		cols = append(cols, tag(q.GroupBy))
	}
	for _, key := range q.Tags {
		cols = append(cols, tag(key))
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

// activityColumns returns the columns of the Activity shape.
func (q *Query) activityColumns(tag func(string) Column) []Column {
	var cols []Column
	for _, key := range q.Group {
		cols = append(cols, tag(key))
	}
	day := Column{"day", Time}
	switch q.Active.Summary {
	case UnitsWithMore:
		return []Column{tag(q.Unit)}
	case HoursPerDay:
		return []Column{tag(q.Unit), {"hours", Float}}
	case SessionPerDay:
		return []Column{day, tag(q.Unit), {"seconds", Float}}
	case SharePerDay:
		return append(append([]Column{day}, cols...), Column{"share", Float})
	}
	return append(cols, Column{"starts", Int})
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

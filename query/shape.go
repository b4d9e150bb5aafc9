package query

import (
	"slices"
	"time"
)

// Shape is the computation of a query on its rows, and hence the form of its answer: one of the
// types below. It determines the columns of the answer: see Query.Columns.
type Shape interface {
	// outline describes the shape independent of its type.
	outline() outline
	// store writes the shape's fields into the form in which queries are stored.
	store(*record)
}

// outline describes a shape for code that need not distinguish shapes.
type outline struct {
	name    string   // the stored one
	time    string   // name of the answer's time; empty: it has none
	keys    []string // tags that tell rows of one time apart
	tags    []string // further tags in the answer
	values  []value  // the columns behind them
	fields  []string // that are named, whatever their type
	numbers []string // fields that are taken for numbers
	demands []string // tags that a row must have
	further []string // tags named in addition to these
	keyed   int      // values, the first ones, that tell rows apart in addition to the keys
}

// value is a column of values: of the kind, or of the field's, which is named.
type value struct {
	name, field string
	kind        Kind
}

const timeName, dayName = "time", "day"

// tagList returns the tag in a list, or none.
func tagList(tag string) []string {
	if tag == "" {
		return nil
	}
	return []string{tag}
}

// raw returns the columns of unaggregated fields.
func raw(fields []string) []value {
	values := make([]value, len(fields))
	for i, f := range fields {
		values[i] = value{name: f, field: f}
	}
	return values
}

// means returns the columns of means of fields and numeric tags.
func means(names ...string) []value {
	values := make([]value, len(names))
	for i, name := range names {
		values[i] = value{name: "mean_" + name, kind: Float}
	}
	return values
}

// Aggregate folds the values of one field; NULLs take no part.
type Aggregate string

// The aggregates. But for Count, nothing folded is NULL.
const (
	Max   Aggregate = "max"
	Min   Aggregate = "min"
	Avg   Aggregate = "avg" // of the double values, even where the field is an integer
	Sum   Aggregate = "sum" // of the double values too
	Count Aggregate = "count"
)

// Aggregates lists them.
func Aggregates() []Aggregate { return []Aggregate{Count, Min, Max, Sum, Avg} }

// outputs returns the columns of aggregated fields, and which of these must be
// numbers.
func (a Aggregate) outputs(fields []string) (values []value, numbers []string) {
	if a == Avg {
		return means(fields...), fields
	}
	for _, f := range fields {
		v := value{name: string(a) + "_" + f, field: f}
		switch a {
		case Sum:
			v.kind = Float
		case Count:
			v.kind = Int
		}
		values = append(values, v)
	}
	if a == Count {
		return values, nil
	}
	return values, fields
}

// Buckets aggregates fields over time buckets, separately for each value of GroupBy if that is set.
// A bucket without a matching row has no row in the answer. Columns: time, GroupBy, the aggregates.
type Buckets struct {
	Aggregate Aggregate
	Fields    []string
	Width     time.Duration // buckets start at multiples of it since 1970
	GroupBy   string        // tag; empty: none
	Order     Order
	Limit     int // rows at most, of the order; 0: all
}

func (s Buckets) outline() outline {
	values, numbers := s.Aggregate.outputs(s.Fields)
	return outline{name: "buckets", time: timeName, keys: tagList(s.GroupBy), values: values,
		fields: s.Fields, numbers: numbers, demands: tagList(s.GroupBy)}
}

// Totals aggregates fields over all matching rows of each value of GroupBy. A
// value without a matching row has no row in the answer. Columns: GroupBy, the
// aggregates.
type Totals struct {
	Aggregate Aggregate
	Fields    []string
	GroupBy   string // tag
}

func (s Totals) outline() outline {
	values, numbers := s.Aggregate.outputs(s.Fields)
	return outline{name: "totals", keys: tagList(s.GroupBy), values: values, fields: s.Fields, numbers: numbers, demands: tagList(s.GroupBy)}
}

// Rows returns the matching rows themselves. Columns: time, Tag, Fields. A row
// without the Tag shows NULL, but where rows have an Order, which demands it.
type Rows struct {
	Fields []string
	Tag    string // empty: none
	Order  Order
}

func (s Rows) outline() outline {
	o := outline{name: "rows", time: timeName, keys: tagList(s.Tag), values: raw(s.Fields), fields: s.Fields}
	if s.Order != Unordered {
		o.demands = o.keys
	}
	return o
}

// AnyRows returns any of the matching rows, up to a limit. Columns as of Rows.
type AnyRows struct {
	Fields []string
	Tag    string // empty: none
	Limit  int
}

func (s AnyRows) outline() outline { return Rows{Fields: s.Fields, Tag: s.Tag}.outline() }

// RowSet applies a set operation to several copies of the matching rows: the result of SELECT …
// UNION SELECT … in SQL. Columns as of Rows.
type RowSet struct {
	Fields []string
	Tag    string // empty: none
	Set
}

func (s RowSet) outline() outline { return Rows{Fields: s.Fields, Tag: s.Tag}.outline() }

// Set is a set operation on equal sets of rows. Without All, equal rows are one.
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

// Last returns the newest row of each value of a tag, with its NULLs. Only rows
// that match compete, and of the newest ones those stay that fulfil Having.
// Columns: time, By, Tags, Fields.
type Last struct {
	By     string   // tag
	Tags   []string // further ones of the row in the answer
	Fields []string
	Having *RatioCondition // on one of Fields
}

func (s Last) outline() outline {
	o := outline{name: "last", time: timeName, keys: tagList(s.By), tags: s.Tags, values: raw(s.Fields), fields: s.Fields, demands: tagList(s.By)}
	if s.Having != nil {
		o.numbers, o.further = []string{s.Having.Field}, tagList(s.Having.Over)
	}
	return o
}

// Means returns, for each combination of values of the Group tags, the means of
// Fields and of the numeric MeanTags over the matching rows, where Having is
// fulfilled. Columns: Group, the means.
type Means struct {
	Group    []string
	Fields   []string
	MeanTags []string
	Having   *Condition // on the mean of one of Fields
}

func (s Means) outline() outline {
	return outline{name: "means", keys: s.Group, values: means(slices.Concat(s.Fields, s.MeanTags)...),
		numbers: s.Fields, demands: s.Group, further: s.MeanTags}
}

// UnitMeans returns, for each combination of values of the Group tags, the mean
// of its units' means of each field: each unit counts once, however many rows it
// has. Columns: Group, the means.
type UnitMeans struct {
	Group  []string
	Unit   string // the tag that identifies units
	Fields []string
	Over   string // numeric tag of Group that a unit's means are divided by; empty: none
}

func (s UnitMeans) outline() outline {
	return outline{name: "means", keys: s.Group, values: means(s.Fields...), numbers: s.Fields,
		demands: append(slices.Clone(s.Group), s.Unit), further: tagList(s.Over)}
}

// Condition is a comparison that keeps a row of an answer. NULL fulfils none.
type Condition struct {
	Field   string
	Compare Comparison
	Value   float64
}

// Holds reports whether a value that is not NULL fulfils the condition.
func (c *Condition) Holds(v float64) bool { return c.Compare.Holds(v, c.Value) }

// RatioCondition is a condition on a field that is divided by a numeric tag
// first, if one is named.
type RatioCondition struct {
	Condition
	Over string
}

// Activity is common to the shapes that examine each unit's buckets: it defines when a bucket is
// active. Only rows in which Field is not NULL count.
type Activity struct {
	Unit    string        // the tag that identifies units
	Width   time.Duration // of buckets; it divides a day
	Field   string
	Zeros   bool // the share of rows in which Field is 0 is compared, in place of its mean
	Compare Comparison
	Value   float64 // that the mean or share is compared with
}

// Holds reports whether a bucket with the mean or share is active.
func (a *Activity) Holds(v float64) bool { return a.Compare.Holds(v, a.Value) }

// Borderline reports whether a mean or share equals Value within the tolerance of comparisons, so
// that another order of summation may make the bucket active or not.
func (a *Activity) Borderline(v float64) bool {
	return equal(Value{Kind: Float, Float: v}, Value{Kind: Float, Float: a.Value})
}

func (a Activity) activity() *Activity { return &a }

// Activity returns when a bucket is active, if the query's shape is one that
// looks at active buckets; otherwise nil.
func (q *Query) Activity() *Activity {
	if s, ok := q.Shape.(interface{ activity() *Activity }); ok {
		return s.activity()
	}
	return nil
}

// outputs returns the outline of a shape with the given group tags and values.
func (a *Activity) outputs(time string, keys, group []string, values ...value) outline {
	return outline{name: "activity", time: time, keys: keys, values: values, numbers: []string{a.Field},
		demands: append(slices.Clone(group), a.Unit)}
}

// ActiveUnits returns the units that have more than More active buckets. Column:
// Unit.
type ActiveUnits struct {
	Activity
	More int
}

func (s ActiveUnits) outline() outline { return s.outputs("", tagList(s.Unit), nil) }

// ActiveHours returns for each unit the mean total length of its active buckets per day, in hours,
// over the days with an active bucket. A day begins at midnight UTC. Columns: Unit, hours.
type ActiveHours struct{ Activity }

func (s ActiveHours) outline() outline {
	return s.outputs("", tagList(s.Unit), nil, value{name: "hours", kind: Float})
}

// Sessions returns for each unit and day the mean length in seconds of the
// sessions that begin on it. A session begins with an active bucket behind one
// that is not, and ends at the next one that is not; buckets without a row are
// passed over. One that has not ended does not count. Columns: day, Unit,
// seconds; ascending.
type Sessions struct{ Activity }

func (s Sessions) outline() outline {
	return s.outputs(dayName, tagList(s.Unit), nil, value{name: "seconds", kind: Float})
}

// ActiveShare returns for each day and combination of values of the Group tags
// all units' active buckets, divided by the buckets of a day. Columns: day,
// Group, share; ascending.
type ActiveShare struct {
	Activity
	Group []string
}

func (s ActiveShare) outline() outline {
	return s.outputs(dayName, s.Group, s.Group, value{name: "share", kind: Float})
}

// Starts returns, for each combination of values of the Group tags, how often a
// unit's active bucket follows one that is not. Columns: Group, starts.
type Starts struct {
	Activity
	Group []string
}

func (s Starts) outline() outline {
	return s.outputs("", s.Group, s.Group, value{name: "starts", kind: Int})
}

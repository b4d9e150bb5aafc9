package query

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tsmark/tsmark/series"
)

// The shapes of ticks look at each series by itself: By is a tag that no two series share a value of, and rows
// without it take no part. They are exact where a series has one row at a time. The oracle refuses queries whose
// answers depend on the order of rows with equal times. Days are those of UTC. These shapes take neither a
// Filter nor Present.

// Candles returns the first, largest, smallest and last Price and the sum of Size of each bucket and series. Rows
// in which one of the fields is NULL do not count. Columns: time, By, open, high, low, close, volume.
type Candles struct {
	Price, Size string
	Width       time.Duration // buckets start at multiples of it since 1970
	By          string
}

func (s Candles) outline() outline {
	values := []value{{name: "open", field: s.Price}, {name: "high", field: s.Price}, {name: "low", field: s.Price},
		{name: "close", field: s.Price}, {name: "volume", kind: Float}}
	return outline{name: candlesName, time: timeName, keys: tagList(s.By), values: values,
		numbers: []string{s.Price, s.Size}, demands: tagList(s.By)}
}

// Weighted returns the mean of Value weighted by Weight of each bucket and series; NULL where the weights sum to 0.
// Rows in which one of the fields is NULL do not count. Columns: time, By, weighted_Value.
type Weighted struct {
	Value, Weight string
	Width         time.Duration // buckets start at multiples of it since 1970
	By            string
}

func (s Weighted) outline() outline {
	return outline{name: weightedName, time: timeName, keys: tagList(s.By), values: []value{{name: "weighted_" + s.Value, kind: Float}},
		numbers: []string{s.Value, s.Weight}, demands: tagList(s.By)}
}

// AsOf returns each row with the newest row of the same series in the table Right that is not later, whatever the
// query's Start. Values of Right are NULL if there is no such row, or if it is older than the Tolerance. Integers of
// Right are answered as doubles. Columns: time, By, Fields, and RightFields with the name of Right before each.
type AsOf struct {
	By          string
	Fields      []string
	Right       string // table
	RightFields []string
	Tolerance   time.Duration // 0: any age
}

func (s AsOf) outline() outline {
	values := raw(s.Fields)
	for _, f := range s.RightFields {
		values = append(values, value{name: s.Right + "_" + f, kind: Float})
	}
	return outline{name: asOfName, time: timeName, keys: tagList(s.By), values: values, numbers: s.Fields, demands: tagList(s.By)}
}

// Around returns each row with the mean of a field over the rows of the same series in the table Right from Before
// the row's time until After it, both inclusive, whatever the query's window; NULL if there is no value. Columns:
// time, By, Fields, mean_Field or mean_Field_minus_Minus.
type Around struct {
	By            string
	Fields        []string
	Right         string // table
	Field, Minus  string // fields of Right; Minus is subtracted from Field in each row, and may be empty
	Before, After time.Duration
}

func (s Around) outline() outline {
	name := "mean_" + s.Field
	if s.Minus != "" {
		name += "_minus_" + s.Minus
	}
	return outline{name: aroundName, time: timeName, keys: tagList(s.By), values: append(raw(s.Fields), value{name: name, kind: Float}),
		numbers: s.Fields, demands: tagList(s.By)}
}

// Movers returns the series with the largest change from the first to the last value of Field: last / first - 1. Of
// equal changes the one with the lesser By comes first. Series whose first value is 0 are not in the answer. Columns:
// By, change.
type Movers struct {
	Field, By string
	Top       int // series at most
}

func (s Movers) outline() outline {
	return outline{name: moversName, keys: tagList(s.By), values: []value{{name: "change", kind: Float}}, numbers: []string{s.Field}, demands: tagList(s.By)}
}

// Gaps returns consecutive rows of a series that are further apart than Longer. Rows in which Field is NULL do not
// count. Columns: time, which is that of the earlier row, By, until.
type Gaps struct {
	Field, By string
	Longer    time.Duration
}

func (s Gaps) outline() outline {
	return outline{name: gapsName, time: timeName, keys: tagList(s.By), values: []value{{name: untilName, kind: Time}}, fields: []string{s.Field}, demands: tagList(s.By)}
}

// Profile returns the sum of Field by the time of day over all days and series. Times of day without a value are not in
// the answer. Columns: second_of_day, where each interval of the Width begins, and sum_Field.
type Profile struct {
	Field string
	Width time.Duration // a multiple of a second that divides a day
}

func (s Profile) outline() outline {
	return outline{name: profileName, values: []value{{name: "second_of_day", kind: Int}, {name: "sum_" + s.Field, kind: Float}}, keyed: 1, numbers: []string{s.Field}}
}

// Nth returns for each row in which the text field Event is Is the N-th row of its series after it that the query selects;
// NULLs if there are fewer. Rows in which one of the fields is NULL do not count. Columns: time of the event, By,
// nth_time, and Fields with nth before each.
type Nth struct {
	By, Event, Is string
	N             int // at least 1
	Fields        []string
}

func (s Nth) outline() outline {
	values := []value{{name: "nth_time", kind: Time}}
	for _, f := range s.Fields {
		values = append(values, value{name: "nth_" + f, field: f})
	}
	return outline{name: nthName, time: timeName, keys: tagList(s.By), values: values, fields: []string{s.Event}, numbers: s.Fields, demands: tagList(s.By)}
}

// The stored names of the shapes of ticks.
const (
	candlesName  = "candles"
	weightedName = "weighted"
	asOfName     = "as-of"
	aroundName   = "around"
	moversName   = "movers"
	gapsName     = "gaps"
	profileName  = "profile"
	nthName      = "nth"

	untilName = "until"
)

// mostFields is the maximum number of fields that a shape of ticks names of a table.
const mostFields = 64

// OfTicks reports whether the query's shape is one of ticks.
func (q *Query) OfTicks() bool { return q.ticks() != "" }

// ticks returns what the query computes if its shape is one of ticks; otherwise "".
func (q *Query) ticks() string {
	switch q.Shape.(type) {
	case Candles:
		return "candles"
	case Weighted:
		return "weighted means"
	case AsOf:
		return "as-of joins"
	case Around:
		return "window joins"
	case Movers:
		return "the largest changes of a value"
	case Gaps:
		return "gaps between rows"
	case Profile:
		return "sums by time of day"
	case Nth:
		return "rows after an event"
	}
	return ""
}

// RefuseTicks returns an error that wraps ErrUnsupported if the query's shape is one of ticks, for languages in
// which tsmark does not write these.
func (q *Query) RefuseTicks(language string) error {
	if q.OfTicks() {
		return fmt.Errorf("%w: tsmark has no %s for %s", ErrUnsupported, language, q.ticks())
	}
	return nil
}

// RefuseRare returns an error that wraps ErrUnsupported if the query's shape is one that tsmark writes in few languages:
// PromQL, or a shape of ticks.
func (q *Query) RefuseRare(language string) error {
	return cmp.Or(q.RefusePromQL(language), q.RefuseTicks(language))
}

// RequiredFields returns the fields that may be NULL in the query's table, and must have a value in rows that the shape
// counts. Joins, and shapes other than those of ticks, require none.
func (q *Query) RequiredFields(t *series.Table) (names []string) {
	switch q.Shape.(type) {
	case Candles, Weighted, Movers, Gaps, Profile, Nth:
		for _, name := range q.NamedFields() {
			if !t.EachRowHas(name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Right returns the table whose rows are joined with those of the query's table, and the fields that the query names of
// it; empty: none.
func (q *Query) Right() (table string, fields []string) {
	switch s := q.Shape.(type) {
	case AsOf:
		return s.Right, s.RightFields
	case Around:
		return s.Right, distinct([]string{s.Field, s.Minus})
	}
	return "", nil
}

// CheckIn is Check for the tables of a schema, including the one that is joined.
func (q *Query) CheckIn(s *series.Schema) error {
	if err := q.Check(s.Table(q.Table)); err != nil {
		return err
	}
	name, fields := q.Right()
	if name == "" {
		return nil
	}
	right, key := s.Table(name), q.outline().keys[0]
	switch {
	case right == nil:
		return fmt.Errorf("there is no table %q", name)
	case right.Tag(key) == nil:
		return fmt.Errorf("table %s has no tag %q", name, key)
	}
	for _, f := range fields {
		if i := right.FieldIndex(f); i < 0 {
			return fmt.Errorf("table %s has no field %q", name, f)
		} else if !right.Fields[i].Type.Numeric() {
			return fmt.Errorf("it takes field %s for a number, whose type is %v", f, right.Fields[i].Type)
		}
	}
	return nil
}

// checkTicks returns an error for invalid values of a shape of ticks.
func (q *Query) checkTicks(table *series.Table) error {
	o := q.outline()
	switch {
	case q.Filter != nil, len(q.Present) > 0:
		return errors.New("a shape of ticks takes no filter on values, and no tags that must be present")
	case len(o.keys) == 0 && o.keyed == 0:
		return errors.New("it looks at series, and names no tag that tells them apart")
	}
	if right, fields := q.Right(); right != "" && right == q.Table {
		return errors.New("it joins a table with itself")
	} else if len(o.numbers) > mostFields || len(fields) > mostFields {
		return fmt.Errorf("%w: more than %d fields of ticks", ErrUnsupported, mostFields)
	}
	switch s := q.Shape.(type) {
	case Candles:
		return checkBucket(s.Width)
	case Weighted:
		return checkBucket(s.Width)
	case AsOf:
		if s.Tolerance < 0 || len(s.RightFields) == 0 {
			return fmt.Errorf("it joins %d fields with a tolerance of %v", len(s.RightFields), s.Tolerance)
		}
	case Around:
		if s.Before < 0 || s.After < 0 || s.Field == "" {
			return fmt.Errorf("it wants the mean of field %q from %v before to %v after", s.Field, s.Before, s.After)
		}
	case Movers:
		if s.Top < 1 {
			return fmt.Errorf("it wants the top %d series", s.Top)
		}
	case Gaps:
		if s.Longer < 0 {
			return fmt.Errorf("it wants gaps longer than %v", s.Longer)
		}
	case Profile:
		if s.Width < time.Second || s.Width%time.Second != 0 || (24*time.Hour)%s.Width != 0 {
			return fmt.Errorf("intervals of %v must be whole seconds that divide a day", s.Width)
		}
	case Nth:
		if i := table.FieldIndex(s.Event); i >= 0 && !table.Fields[i].Type.Textual() {
			return fmt.Errorf("events are rows with a text, and the type of field %s is %v", s.Event, table.Fields[i].Type)
		}
		if s.N < 1 || len(s.Fields) == 0 {
			return fmt.Errorf("it wants %d fields of row %d after each event", len(s.Fields), s.N)
		}
	}
	return nil
}

func checkBucket(width time.Duration) error {
	if width <= 0 {
		return fmt.Errorf("a bucket of %v has no width", width)
	}
	return nil
}

// joinRecord is the stored form of the table that is joined.
type joinRecord struct {
	Table     string        `json:"table"`
	Fields    []string      `json:"fields"`
	Minus     string        `json:"minus,omitempty"`
	Tolerance time.Duration `json:"tolerance_ns,omitempty"`
	Before    time.Duration `json:"before_ns,omitempty"`
	After     time.Duration `json:"after_ns,omitempty"`
}

// eventRecord is the stored form of an event.
type eventRecord struct {
	Field string `json:"field"`
	Is    string `json:"is"`
	Nth   int    `json:"nth"`
}

// rename returns the record with other names.
func (j *joinRecord) rename(table, column func(string) string) *joinRecord {
	if j == nil {
		return nil
	}
	renamed := *j
	renamed.Table, renamed.Fields = table(j.Table), renameAll(j.Fields, column)
	if j.Minus != "" {
		renamed.Minus = column(j.Minus)
	}
	return &renamed
}

func (s Candles) store(r *record) {
	r.Fields, r.Bucket, r.GroupBy = []string{s.Price, s.Size}, s.Width, s.By
}

func (s Weighted) store(r *record) {
	r.Fields, r.Bucket, r.GroupBy = []string{s.Value, s.Weight}, s.Width, s.By
}

func (s AsOf) store(r *record) {
	r.Fields, r.GroupBy = s.Fields, s.By
	r.Join = &joinRecord{Table: s.Right, Fields: s.RightFields, Tolerance: s.Tolerance}
}

func (s Around) store(r *record) {
	r.Fields, r.GroupBy = s.Fields, s.By
	r.Join = &joinRecord{Table: s.Right, Fields: []string{s.Field}, Minus: s.Minus, Before: s.Before, After: s.After}
}

func (s Movers) store(r *record) { r.Fields, r.GroupBy, r.Limit = []string{s.Field}, s.By, s.Top }

func (s Gaps) store(r *record) {
	r.Fields, r.GroupBy, r.Longer = []string{s.Field}, s.By, s.Longer
}

func (s Profile) store(r *record) { r.Fields, r.Bucket = []string{s.Field}, s.Width }

func (s Nth) store(r *record) {
	r.Fields, r.GroupBy, r.Event = s.Fields, s.By, &eventRecord{s.Event, s.Is, s.N}
}

// ofTicks returns the stored shape if it is one of ticks; nil: it is not, or lacks a part.
func (r *record) ofTicks() Shape {
	fields := slices.Concat(r.Fields, make([]string, 2))
	switch join := r.Join; r.Shape {
	case candlesName:
		return Candles{fields[0], fields[1], r.Bucket, r.GroupBy}
	case weightedName:
		return Weighted{fields[0], fields[1], r.Bucket, r.GroupBy}
	case moversName:
		return Movers{fields[0], r.GroupBy, r.Limit}
	case gapsName:
		return Gaps{fields[0], r.GroupBy, r.Longer}
	case profileName:
		return Profile{fields[0], r.Bucket}
	case asOfName:
		if join != nil {
			return AsOf{r.GroupBy, r.Fields, join.Table, join.Fields, join.Tolerance}
		}
	case aroundName:
		if join != nil && len(join.Fields) > 0 {
			return Around{r.GroupBy, r.Fields, join.Table, join.Fields[0], join.Minus, join.Before, join.After}
		}
	case nthName:
		if r.Event != nil {
			return Nth{r.GroupBy, r.Event.Field, r.Event.Is, r.Event.Nth, r.Fields}
		}
	}
	return nil
}

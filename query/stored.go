package query

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// record is the stored form of a query, also used by fingerprints: all shapes' fields in one
// object. The names and the order of the fields must not change.
type record struct {
	Type      string           `json:"type"`
	ID        int              `json:"id"`
	Shape     string           `json:"shape"`
	Table     string           `json:"table"`
	Aggregate Aggregate        `json:"aggregate,omitempty"`
	Fields    []string         `json:"fields,omitempty"`
	Bucket    time.Duration    `json:"bucket_ns,omitempty"`
	GroupBy   string           `json:"group_by,omitempty"`
	Start     time.Time        `json:"start,omitzero"`
	End       time.Time        `json:"end,omitzero"`
	In        *TagIn           `json:"in,omitempty"`
	Filter    *filterRecord    `json:"above,omitempty"` // by >, or by the operator in it
	Order     Order            `json:"order,omitempty"`
	Limit     int              `json:"limit,omitempty"`
	Present   []string         `json:"present,omitempty"`
	Tags      []string         `json:"tags,omitempty"`
	Group     []string         `json:"group,omitempty"`
	MeanTags  []string         `json:"mean_tags,omitempty"`
	Unit      string           `json:"unit,omitempty"`
	Over      string           `json:"over,omitempty"`
	Having    *conditionRecord `json:"having,omitempty"`
	Active    *activityRecord  `json:"active,omitempty"`
	Set       *Set             `json:"set,omitempty"`
	Join      *joinRecord      `json:"join,omitempty"`
	Longer    time.Duration    `json:"longer_ns,omitempty"`
	Event     *eventRecord     `json:"event,omitempty"`
	Text      *writtenRecord   `json:"text,omitempty"`
	PromQL    *promqlRecord    `json:"promql,omitempty"`
}

type filterRecord struct {
	Field   string   `json:"field"`
	Value   float64  `json:"value"`
	And     []string `json:"and,omitempty"`
	Compare string   `json:"compare,omitempty"` // an operator; empty: >
}

type conditionRecord struct {
	Field   string  `json:"field"`
	Over    string  `json:"over,omitempty"`
	Below   bool    `json:"below"`
	AtLeast bool    `json:"at_least,omitempty"`
	Value   float64 `json:"value"`
}

type activityRecord struct {
	Field   string  `json:"field"`
	Zeros   bool    `json:"zeros,omitempty"`
	Below   bool    `json:"below,omitempty"`
	AtLeast bool    `json:"at_least,omitempty"`
	Value   float64 `json:"value"`
	Summary string  `json:"summary"`
	More    int     `json:"more,omitempty"`
}

// The summaries of active buckets, as stored.
const (
	moreSummary     = "units-with-more"
	hoursSummary    = "hours-per-day"
	sessionsSummary = "session-per-day"
	shareSummary    = "share-per-day"
	startsSummary   = "starts"
)

// record returns the stored form of the query.
func (q *Query) record() *record {
	r := &record{Type: q.Type, ID: q.ID, Table: q.Table, Start: q.Start, End: q.End, In: q.In, Filter: storeFilter(q.Filter), Present: q.Present}
	if q.Shape != nil {
		r.Shape = q.Shape.outline().name
		q.Shape.store(r)
	}
	return r
}

// query returns the query that is stored so. What its shape does not have is an
// error.
func (r *record) query() (Query, error) {
	q := Query{Type: r.Type, ID: r.ID, Table: r.Table, Start: r.Start, End: r.End, In: r.In, Filter: r.Filter.filter(), Present: r.Present}
	if q.Shape = r.shape(); q.Shape == nil {
		if r.Shape != "" {
			return Query{}, fmt.Errorf("query %s %d: there is no shape %q", r.Type, r.ID, r.Shape)
		}
		return q, nil
	}
	stored, err := json.Marshal(r)
	if err != nil {
		return Query{}, err
	}
	understood, err := json.Marshal(q.record())
	if err != nil {
		return Query{}, err
	}
	if !bytes.Equal(stored, understood) {
		return Query{}, fmt.Errorf("query %s %d has what the shape %s has not: of %s only %s", r.Type, r.ID, r.Shape, stored, understood)
	}
	return q, nil
}

// MarshalJSON implements json.Marshaler.
func (q Query) MarshalJSON() ([]byte, error) { return json.Marshal(q.record()) }

// UnmarshalJSON implements json.Unmarshaler.
func (q *Query) UnmarshalJSON(text []byte) error {
	var r record
	err := json.Unmarshal(text, &r)
	if err != nil {
		return err
	}
	*q, err = r.query()
	return err
}

// Rename returns the query with all names of tables, and of tags and fields, mapped by the functions.
// No other code depends on where a query contains names.
func (q *Query) Rename(table, column func(string) string) (*Query, error) {
	r := q.record()
	r.Table, r.Join = table(r.Table), r.Join.rename(table, column)
	for _, name := range []*string{&r.GroupBy, &r.Unit, &r.Over} {
		*name = column(*name)
	}
	for _, list := range []*[]string{&r.Fields, &r.Present, &r.Tags, &r.Group, &r.MeanTags} {
		*list = renameAll(*list, column)
	}
	if r.In != nil {
		r.In = &TagIn{Key: column(r.In.Key), Values: r.In.Values}
	}
	if r.Filter != nil {
		r.Filter.Field, r.Filter.And = column(r.Filter.Field), renameAll(r.Filter.And, column)
	}
	if r.Having != nil {
		r.Having.Field, r.Having.Over = column(r.Having.Field), column(r.Having.Over)
	}
	if r.Active != nil {
		r.Active.Field = column(r.Active.Field)
	}
	if r.Event != nil {
		event := *r.Event
		event.Field = column(event.Field)
		r.Event = &event
	}
	if r.PromQL != nil && r.PromQL.Over != nil {
		over := r.PromQL.Over.rename(r.Table, column)
		r.PromQL = &promqlRecord{over.PromQL(), r.PromQL.Step, over}
	}
	renamed, err := r.query()
	return &renamed, err
}

func renameAll(names []string, column func(string) string) []string {
	var list []string
	for _, name := range names {
		list = append(list, column(name))
	}
	return list
}

// shape returns the stored shape, or nil for an unknown name.
func (r *record) shape() Shape {
	switch r.Shape {
	case "buckets":
		return Buckets{r.Aggregate, r.Fields, r.Bucket, r.GroupBy, r.Order, r.Limit}
	case "totals":
		return Totals{r.Aggregate, r.Fields, r.GroupBy}
	case "rows":
		switch {
		case r.Set != nil:
			return RowSet{r.Fields, r.GroupBy, *r.Set}
		case r.Limit != 0:
			return AnyRows{r.Fields, r.GroupBy, r.Limit}
		}
		return Rows{r.Fields, r.GroupBy, r.Order}
	case "last":
		last := Last{By: r.GroupBy, Tags: r.Tags, Fields: r.Fields}
		if r.Having != nil {
			last.Having = &RatioCondition{r.Having.condition(), r.Having.Over}
		}
		return last
	case "means":
		if r.Unit != "" {
			return UnitMeans{r.Group, r.Unit, r.Fields, r.Over}
		}
		means := Means{Group: r.Group, Fields: r.Fields, MeanTags: r.MeanTags}
		if r.Having != nil {
			having := r.Having.condition()
			means.Having = &having
		}
		return means
	case "activity":
		return r.activity()
	case promqlName:
		if r.PromQL != nil {
			return PromQL{r.PromQL.Expr, r.PromQL.Step, r.PromQL.Over}
		}
	case writtenName:
		if r.Text != nil {
			return Written{Texts: r.Text.Texts, Parameters: r.Text.Parameters, Ordered: r.Text.Ordered}
		}
	}
	return r.ofTicks()
}

func (r *record) activity() Shape {
	if r.Active == nil {
		return nil
	}
	a := Activity{r.Unit, r.Bucket, r.Active.Field, r.Active.Zeros, comparison(r.Active.Below, r.Active.AtLeast), r.Active.Value}
	switch r.Active.Summary {
	case moreSummary:
		return ActiveUnits{a, r.Active.More}
	case hoursSummary:
		return ActiveHours{a}
	case sessionsSummary:
		return Sessions{a}
	case shareSummary:
		return ActiveShare{a, r.Group}
	case startsSummary:
		return Starts{a, r.Group}
	}
	return nil
}

func storeFilter(f *ValueFilter) *filterRecord {
	if f == nil {
		return nil
	}
	r := &filterRecord{Field: f.Field, Value: f.Value, And: f.And}
	if f.Compare != Greater {
		r.Compare = f.Compare.String()
	}
	return r
}

func (r *filterRecord) filter() *ValueFilter {
	if r == nil {
		return nil
	}
	f := &ValueFilter{Field: r.Field, Value: r.Value, And: r.And}
	for _, c := range Comparisons() {
		if r.Compare == c.String() {
			f.Compare = c
		}
	}
	return f
}

func comparison(below, atLeast bool) Comparison {
	switch {
	case below:
		return Less
	case atLeast:
		return AtLeast
	}
	return Greater
}

func (c *conditionRecord) condition() Condition {
	return Condition{c.Field, comparison(c.Below, c.AtLeast), c.Value}
}

func (c *Condition) record(over string) *conditionRecord {
	return &conditionRecord{Field: c.Field, Over: over, Below: c.Compare == Less, AtLeast: c.Compare == AtLeast, Value: c.Value}
}

func (s Buckets) store(r *record) {
	r.Aggregate, r.Fields, r.Bucket, r.GroupBy, r.Order, r.Limit = s.Aggregate, s.Fields, s.Width, s.GroupBy, s.Order, s.Limit
}

func (s Totals) store(r *record) { r.Aggregate, r.Fields, r.GroupBy = s.Aggregate, s.Fields, s.GroupBy }

func (s Rows) store(r *record) { r.Fields, r.GroupBy, r.Order = s.Fields, s.Tag, s.Order }

func (s AnyRows) store(r *record) { r.Fields, r.GroupBy, r.Limit = s.Fields, s.Tag, s.Limit }

func (s RowSet) store(r *record) { r.Fields, r.GroupBy, r.Set = s.Fields, s.Tag, &s.Set }

func (s Last) store(r *record) {
	r.GroupBy, r.Tags, r.Fields = s.By, s.Tags, s.Fields
	if s.Having != nil {
		r.Having = s.Having.record(s.Having.Over)
	}
}

func (s Means) store(r *record) {
	r.Group, r.Fields, r.MeanTags = s.Group, s.Fields, s.MeanTags
	if s.Having != nil {
		r.Having = s.Having.record("")
	}
}

func (s UnitMeans) store(r *record) {
	r.Group, r.Unit, r.Fields, r.Over = s.Group, s.Unit, s.Fields, s.Over
}

func (a *Activity) fillRecord(r *record, summary string) {
	r.Unit, r.Bucket = a.Unit, a.Width
	r.Active = &activityRecord{Field: a.Field, Zeros: a.Zeros, Below: a.Compare == Less, AtLeast: a.Compare == AtLeast, Value: a.Value, Summary: summary}
}

func (s ActiveUnits) store(r *record) {
	s.fillRecord(r, moreSummary)
	r.Active.More = s.More
}

func (s ActiveHours) store(r *record) { s.fillRecord(r, hoursSummary) }

func (s Sessions) store(r *record) {
	s.fillRecord(r, sessionsSummary)
	r.Order = Ascending
}

func (s ActiveShare) store(r *record) {
	s.fillRecord(r, shareSummary)
	r.Group, r.Order = s.Group, Ascending
}

func (s Starts) store(r *record) {
	s.fillRecord(r, startsSummary)
	r.Group = s.Group
}

// Package ownqueries adds query types to a workload that users declare. A declaration describes the
// rows that a query covers and the result it computes from them, in the terms of package
// conformance/meaning, and the parameters drawn at random for each query: a window, series, a
// threshold.
//
// The package does not depend on a workload's tables. It reads the dataset's schema, so a
// declaration works on any workload with the tables, tags and fields that it names.
package ownqueries

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/query"
)

// Query declares a query type. The yaml tags are the keys of files, in their order. An
// empty value leaves its key out.
type Query struct {
	Name  string `yaml:"name"`           // of the query type, which no other has
	Help  string `yaml:"help,omitempty"` // one line that describes the query
	Table string `yaml:"table,omitempty"`

	// Window is the length of each query's time window, which begins anywhere in the dataset. 0:
	// the whole dataset. NoStart removes the beginning: a query covers everything before the end of
	// its window.
	Window  time.Duration `yaml:"window,omitempty"`
	NoStart bool          `yaml:"no-start,omitempty"`
	Where   Where         `yaml:"where,omitempty"`
	Above   Above         `yaml:"above,omitempty"`
	Present []string      `yaml:"present,flow,omitempty"` // tags that a row must have

	// Shape is one of Shapes; the keys after it belong to some of them.
	Shape     string        `yaml:"shape,omitempty"`
	Aggregate string        `yaml:"aggregate,omitempty"`
	Fields    []string      `yaml:"fields,flow,omitempty"`
	Every     time.Duration `yaml:"every,omitempty"` // width of buckets
	By        string        `yaml:"by,omitempty"`
	Tag       string        `yaml:"tag,omitempty"`
	Tags      []string      `yaml:"tags,flow,omitempty"`
	Group     []string      `yaml:"group,flow,omitempty"`
	MeanTags  []string      `yaml:"mean-tags,flow,omitempty"`
	Unit      string        `yaml:"unit,omitempty"`
	Over      string        `yaml:"over,omitempty"`
	Order     string        `yaml:"order,omitempty"`
	Limit     int           `yaml:"limit,omitempty"`
	Set       Set           `yaml:"set,omitempty"`
	Having    Condition     `yaml:"having,omitempty"`
	Active    Active        `yaml:"active,omitempty"`
	PromQL    string        `yaml:"promql,omitempty"` // evaluated at the end of the window, or each Every in it

	// Texts are query texts to run instead of a shape, by driver or query language. Parameters are
	// drawn to fill them, or an expression of PromQL, in.
	Parameters []Parameter `yaml:"parameters,omitempty"`
	Texts      Texts       `yaml:"texts,omitempty"`
	// Reference is a query text for DuckDB, over the same rows, whose answers are the expected
	// ones; empty: unknown. Ordered means that their order is significant.
	Reference string `yaml:"reference,omitempty"`
	Ordered   bool   `yaml:"ordered,omitempty"`
}

// Texts holds texts by driver, or by the lower-case name of a language for all drivers that use it.
type Texts map[string]string

// MarshalYAML implements yaml.BytesMarshaler: all on one line, line breaks as \n.
func (t Texts) MarshalYAML() ([]byte, error) {
	items := make([]string, 0, len(t))
	for _, of := range slices.Sorted(maps.Keys(t)) {
		items = append(items, strconv.Quote(of)+": "+strconv.Quote(t[of]))
	}
	return []byte("{" + strings.Join(items, ", ") + "}"), nil
}

// Parameter is a placeholder of texts, or of an expression of PromQL, and the values drawn for it: Draw of the listed values or, if
// none are listed, of the values of a tag.
type Parameter struct {
	Name   string   `yaml:"name"`
	Table  string   `yaml:"table,omitempty"` // empty: the first one
	Tag    string   `yaml:"tag,omitempty"`
	Values []string `yaml:"values,flow,omitempty"`
	Draw   int      `yaml:"draw,omitempty"` // 0: one
	Text   bool     `yaml:"text,omitempty"` // values are texts, even if all of them are numbers
}

// numeric reports whether the values are written as numbers.
func (p *Parameter) numeric() bool {
	return !p.Text && p.Tag == "" && !slices.ContainsFunc(p.Values, func(v string) bool { return !number.MatchString(v) })
}

// number matches numbers that every language reads the same way.
var number = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// IsText reports whether the declaration is of texts, and not of a shape.
func (q *Query) IsText() bool { return len(q.Texts) > 0 }

// Where keeps rows whose tag has one of the given values: the listed ones or, if none are listed,
// those of the dataset's series. Draw is the number of different values drawn at random for each
// query; 0: all listed values.
type Where struct {
	Tag    string   `yaml:"tag"`
	Values []string `yaml:"values,flow,omitempty"`
	Draw   int      `yaml:"draw,omitempty"`
}

// Above keeps rows in which a field, and further ones, are greater than a value: one of
// those listed, drawn for each query.
type Above struct {
	Field string   `yaml:"field"`
	Value Choices  `yaml:"value,flow"`
	And   []string `yaml:"and,flow,omitempty"`
}

// Choices lists values; one of them is drawn for each query.
type Choices []string

// Set is a set operation on the answer and itself.
type Set struct {
	Operation string `yaml:"operation"`
	All       bool   `yaml:"all,omitempty"`
	Operands  int    `yaml:"operands,omitempty"` // 0: 2
}

// Condition keeps rows of an answer whose field satisfies a comparison with a value. The value is
// drawn from a list for each query.
type Condition struct {
	Field   string  `yaml:"field"`
	Compare string  `yaml:"compare"` // > < or >=
	Value   Choices `yaml:"value,flow"`
}

// Active defines when a bucket is active: the mean of a field in the bucket, or the share of rows
// in which the field is 0, satisfies a comparison with a value. For active-units, more than More
// buckets must be active.
type Active struct {
	Field   string  `yaml:"field"`
	Zeros   bool    `yaml:"zeros,omitempty"`
	Compare string  `yaml:"compare"`
	Value   Choices `yaml:"value,flow"`
	More    int     `yaml:"more,omitempty"`
}

func (a *Active) condition() *Condition { return &Condition{a.Field, a.Compare, a.Value} }

// The shapes, and the keys that each of them has in addition to the keys that select rows.
const (
	buckets     = "buckets"
	totals      = "totals"
	rows        = "rows"
	anyRows     = "any-rows"
	rowSet      = "row-set"
	last        = "last"
	means       = "means"
	unitMeans   = "unit-means"
	activeUnits = "active-units"
	activeHours = "active-hours"
	sessions    = "sessions"
	activeShare = "active-share"
	starts      = "starts"
	promql      = "promql"
)

// Shapes lists the names of shapes.
func Shapes() []string {
	return []string{buckets, totals, rows, anyRows, rowSet, last, means, unitMeans, activeUnits, activeHours, sessions, activeShare, starts, promql}
}

// keysOf lists the keys that a shape has in addition to those of every query: the required ones and
// the optional ones.
func keysOf(shape string) (needs, takes []string) {
	switch shape {
	case buckets:
		return []string{"aggregate", "fields", "every"}, []string{"by", "order", "limit"}
	case totals:
		return []string{"aggregate", "fields", "by"}, nil
	case rows:
		return []string{"fields"}, []string{"tag", "order"}
	case anyRows:
		return []string{"fields", "limit"}, []string{"tag"}
	case rowSet:
		return []string{"fields", "set"}, []string{"tag"}
	case last:
		return []string{"by", "fields"}, []string{"tags", "having", "over"}
	case means:
		return []string{"group", "fields"}, []string{"mean-tags", "having"}
	case unitMeans:
		return []string{"group", "unit", "fields"}, []string{"over"}
	case activeUnits, activeHours, sessions:
		return []string{"unit", "every", "active"}, nil
	case activeShare, starts:
		return []string{"unit", "every", "active", "group"}, nil
	case promql:
		return []string{"promql"}, []string{"every", "parameters"}
	}
	return nil, nil
}

// declaredKeys lists the keys of shapes that the declaration has.
func (q *Query) declaredKeys() []string {
	var keys []string
	for _, k := range []struct {
		key string
		set bool
	}{
		{"aggregate", q.Aggregate != ""}, {"fields", len(q.Fields) > 0}, {"every", q.Every != 0}, {"by", q.By != ""}, {"tag", q.Tag != ""},
		{"tags", len(q.Tags) > 0}, {"group", len(q.Group) > 0}, {"mean-tags", len(q.MeanTags) > 0}, {"unit", q.Unit != ""}, {"over", q.Over != ""},
		{"order", q.Order != ""}, {"limit", q.Limit != 0}, {"set", q.Set != Set{}}, {"having", q.Having.isSet()}, {"active", q.Active.condition().isSet() || q.Active.Zeros || q.Active.More != 0},
		{"promql", q.PromQL != ""},
	} {
		if k.set {
			keys = append(keys, k.key)
		}
	}
	return keys
}

func (c *Condition) isSet() bool { return c.Field != "" || c.Compare != "" || len(c.Value) > 0 }

func (a *Above) isSet() bool { return a.Field != "" || len(a.Value) > 0 || len(a.And) > 0 }

func (w *Where) isSet() bool { return w.Tag != "" || len(w.Values) > 0 || w.Draw != 0 }

// makeCondition returns the condition with the value that was picked.
func (c *Condition) makeCondition(pick func(Choices) float64) query.Condition {
	made := query.Condition{Field: c.Field, Value: pick(c.Value)}
	for _, compare := range comparisons() {
		if compare.String() == c.Compare {
			made.Compare = compare
		}
	}
	return made
}

func comparisons() []query.Comparison {
	return []query.Comparison{query.Greater, query.Less, query.AtLeast}
}

// shape returns the shape of a query with the picked values.
func (q *Query) shape(pick func(Choices) float64) query.Shape {
	switch q.Shape {
	case buckets:
		return query.Buckets{Aggregate: query.Aggregate(q.Aggregate), Fields: q.Fields, Width: q.Every, GroupBy: q.By, Order: query.Order(q.Order), Limit: q.Limit}
	case totals:
		return query.Totals{Aggregate: query.Aggregate(q.Aggregate), Fields: q.Fields, GroupBy: q.By}
	case rows:
		return query.Rows{Fields: q.Fields, Tag: q.Tag, Order: query.Order(q.Order)}
	case anyRows:
		return query.AnyRows{Fields: q.Fields, Tag: q.Tag, Limit: q.Limit}
	case rowSet:
		set := query.Set{Operation: query.SetOperation(q.Set.Operation), All: q.Set.All, Operands: max(q.Set.Operands, 2)}
		return query.RowSet{Fields: q.Fields, Tag: q.Tag, Set: set}
	case last:
		s := query.Last{By: q.By, Tags: q.Tags, Fields: q.Fields}
		if q.Having.isSet() {
			s.Having = &query.RatioCondition{Condition: q.Having.makeCondition(pick), Over: q.Over}
		}
		return s
	case means:
		s := query.Means{Group: q.Group, Fields: q.Fields, MeanTags: q.MeanTags}
		if q.Having.isSet() {
			having := q.Having.makeCondition(pick)
			s.Having = &having
		}
		return s
	case unitMeans:
		return query.UnitMeans{Group: q.Group, Unit: q.Unit, Fields: q.Fields, Over: q.Over}
	}
	return q.activity(pick)
}

// activity returns the shape of queries about active buckets.
func (q *Query) activity(pick func(Choices) float64) query.Shape {
	c := q.Active.condition().makeCondition(pick)
	a := query.Activity{Unit: q.Unit, Width: q.Every, Field: c.Field, Zeros: q.Active.Zeros, Compare: c.Compare, Value: c.Value}
	switch q.Shape {
	case activeUnits:
		return query.ActiveUnits{Activity: a, More: q.Active.More}
	case activeHours:
		return query.ActiveHours{Activity: a}
	case sessions:
		return query.Sessions{Activity: a}
	case activeShare:
		return query.ActiveShare{Activity: a, Group: q.Group}
	case starts:
		return query.Starts{Activity: a, Group: q.Group}
	}
	return nil
}

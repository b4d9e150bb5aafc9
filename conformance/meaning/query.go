package meaning

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// words are the lines of a query: of each its first word and the rest. The words
// of all shapes, which select the rows:
//
//	table   cpu
//	start   2016-01-01T00:00:00Z    rows at or after
//	end     2016-01-01T01:00:00Z    rows before
//	where   host a b                rows whose tag is one of the values
//	filter  usage > 90 idle         rows in which the field, and further ones, compare with the value
//	present rack                    rows that have the tags
//
// "shape" is one of the following, listed with its other words.
//
//	buckets       aggregate fields every by order limit
//	totals        aggregate fields by
//	rows          fields tag order
//	any-rows      fields tag limit
//	row-set       fields tag set (union, intersect or except; then all or distinct; then the number of operands)
//	last          by tags fields having (a field, an operator, a value; over divides by a tag first)
//	means         group fields mean-tags having
//	unit-means    group unit fields over
//	active-units  unit every active more
//	active-hours  unit every active
//	sessions      unit every active
//	active-share  unit every active group
//	starts        unit every active group
//	over          func range aggregate by top above step, and match: a label, an operator and a value
//	promql        expr step
//	candles       price size every by
//	weighted      value weight every by
//	as-of         by fields right right-fields tolerance
//	around        by fields right field minus before after
//	movers        field by top
//	gaps          field by longer
//	profile       field every
//	nth           by event (a field and its text) n fields
//
// "active" is a field, an operator and a value; zeros before it compares the
// share of rows in which the field is 0.
type words struct {
	lines map[string][]string
	used  []string
	err   error
}

func (w *words) add(line string) error {
	list, err := fields(line)
	if err != nil {
		return err
	}
	if w.lines == nil {
		w.lines = map[string][]string{}
	}
	if _, twice := w.lines[list[0]]; twice {
		return fmt.Errorf("%s is there twice", list[0])
	}
	w.lines[list[0]] = list[1:]
	return nil
}

// list returns the values behind a word.
func (w *words) list(word string) []string {
	w.used = append(w.used, word)
	return w.lines[word]
}

// one returns the only text behind a word, or "".
func (w *words) one(word string) string {
	list := w.list(word)
	if len(list) > 1 {
		w.fail("%s takes one text, not %q", word, list)
	}
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

func (w *words) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

func (w *words) number(word string) int {
	text := w.one(word)
	n, err := strconv.Atoi(text)
	if text != "" && err != nil {
		w.fail("%s is %q, not a number", word, text)
	}
	return n
}

func (w *words) time(word string) (at time.Time) {
	text := w.one(word)
	if text == "" {
		return at
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		w.fail("%s is %q, not a time such as 2016-01-01T00:00:00Z", word, text)
	}
	return at
}

func (w *words) float(text string) float64 {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		w.fail("%q is not a number", text)
	}
	return v
}

func (w *words) duration(word string) time.Duration {
	d, err := time.ParseDuration(w.one(word))
	if err != nil {
		w.fail("%s is %q, not a duration such as 10m", word, w.lines[word])
	}
	return d
}

// optionalDuration returns the duration behind a word; 0: there is no such word.
func (w *words) optionalDuration(word string) time.Duration {
	if w.lines[word] == nil {
		return 0
	}
	return w.duration(word)
}

func (w *words) readOver() *query.Over {
	o := &query.Over{Func: w.one("func"), Range: w.duration("range"), Aggregate: w.one("aggregate"), By: w.list("by"), Top: w.number("top")}
	if list := w.list("match"); len(list) == 3 {
		o.Match = []query.Matcher{{Label: list[0], Op: list[1], Value: list[2]}}
	} else if list != nil {
		w.fail("match is a label, an operator and a value, not %q", list)
	}
	if text := w.one("above"); text != "" {
		above := w.float(text)
		o.Above = &above
	}
	return o
}

func (w *words) order() query.Order {
	order := query.Order(w.one("order"))
	if !slices.Contains([]query.Order{query.Unordered, query.Ascending, query.Descending}, order) {
		w.fail("order is %q, not asc or desc", order)
	}
	return order
}

// condition reads a field, an operator and a value.
func (w *words) condition(word string, list []string) query.Condition {
	for _, c := range query.Comparisons() {
		if len(list) == 3 && list[1] == c.String() {
			return query.Condition{Field: list[0], Compare: c, Value: w.float(list[2])}
		}
	}
	w.fail("%s is a field, one of > < >= =, and a value, not %q", word, list)
	return query.Condition{}
}

func (w *words) having() *query.Condition {
	list := w.list("having")
	if list == nil {
		return nil
	}
	c := w.condition("having", list)
	return &c
}

func (w *words) activity() query.Activity {
	a := query.Activity{Unit: w.one("unit"), Width: w.duration("every")}
	list := w.list("active")
	if len(list) > 0 && list[0] == "zeros" {
		a.Zeros, list = true, list[1:]
	}
	c := w.condition("active", list)
	a.Field, a.Compare, a.Value = c.Field, c.Compare, c.Value
	return a
}

// query returns the query that the lines are, about a table of the schema.
func (w *words) query(s *series.Schema) (query.Query, error) {
	if len(s.Tables) == 0 {
		return query.Query{}, errors.New("a query precedes all rows")
	}
	q := query.Query{Table: s.Tables[0].Name, Start: w.time("start"), End: w.time("end"), Present: w.list("present")}
	if name := w.one("table"); name != "" {
		q.Table = name
	}
	if where := w.list("where"); len(where) > 0 {
		q.In = &query.TagIn{Key: where[0], Values: where[1:]}
	}
	if list := w.list("filter"); list != nil {
		c := w.condition("filter", list[:min(3, len(list))])
		q.Filter = &query.ValueFilter{Field: c.Field, Compare: c.Compare, Value: c.Value, And: list[min(3, len(list)):]}
	}
	q.Shape = w.shape()
	if promql, ok := q.AsPromQL(); ok && promql.Over == nil {
		q.Table = ""
	} else if ok {
		promql.Over.Metric = q.Table
		promql.Expr = promql.Over.PromQL()
		q.Shape = promql
	}
	for word := range w.lines {
		if !slices.Contains(w.used, word) {
			w.fail("the shape %q has no %s", w.one("shape"), word)
		}
	}
	if w.err != nil {
		return q, w.err
	}
	table := s.Table(q.Table)
	if table == nil && q.Table != "" {
		return q, fmt.Errorf("there is no table %q", q.Table)
	}
	if q.OfTicks() {
		return q, q.CheckIn(s)
	}
	return q, q.Check(table)
}

func (w *words) shape() query.Shape {
	switch name := w.one("shape"); name {
	case "buckets":
		return query.Buckets{Aggregate: query.Aggregate(w.one("aggregate")), Fields: w.list("fields"), Width: w.duration("every"),
			GroupBy: w.one("by"), Order: w.order(), Limit: w.number("limit")}
	case "totals":
		return query.Totals{Aggregate: query.Aggregate(w.one("aggregate")), Fields: w.list("fields"), GroupBy: w.one("by")}
	case "rows":
		return query.Rows{Fields: w.list("fields"), Tag: w.one("tag"), Order: w.order()}
	case "any-rows":
		return query.AnyRows{Fields: w.list("fields"), Tag: w.one("tag"), Limit: w.number("limit")}
	case "row-set":
		return query.RowSet{Fields: w.list("fields"), Tag: w.one("tag"), Set: w.set()}
	case "last":
		s := query.Last{By: w.one("by"), Tags: w.list("tags"), Fields: w.list("fields")}
		if c := w.having(); c != nil {
			s.Having = &query.RatioCondition{Condition: *c, Over: w.one("over")}
		}
		return s
	case "means":
		return query.Means{Group: w.list("group"), Fields: w.list("fields"), MeanTags: w.list("mean-tags"), Having: w.having()}
	case "unit-means":
		return query.UnitMeans{Group: w.list("group"), Unit: w.one("unit"), Fields: w.list("fields"), Over: w.one("over")}
	case "active-units":
		return query.ActiveUnits{Activity: w.activity(), More: w.number("more")}
	case "active-hours":
		return query.ActiveHours{Activity: w.activity()}
	case "sessions":
		return query.Sessions{Activity: w.activity()}
	case "active-share":
		return query.ActiveShare{Activity: w.activity(), Group: w.list("group")}
	case "over":
		return query.PromQL{Over: w.readOver(), Step: w.optionalDuration("step")}
	case "promql":
		return query.PromQL{Expr: w.one("expr"), Step: w.optionalDuration("step")}
	case "starts":
		return query.Starts{Activity: w.activity(), Group: w.list("group")}
	default:
		if s := w.ticks(name); s != nil {
			return s
		}
		w.fail("there is no shape %q", name)
		return nil
	}
}

// ticks returns a shape of ticks; nil: an unknown name.
func (w *words) ticks(name string) query.Shape {
	switch name {
	case "candles":
		return query.Candles{Price: w.one("price"), Size: w.one("size"), Width: w.duration("every"), By: w.one("by")}
	case "weighted":
		return query.Weighted{Value: w.one("value"), Weight: w.one("weight"), Width: w.duration("every"), By: w.one("by")}
	case "as-of":
		return query.AsOf{By: w.one("by"), Fields: w.list("fields"), Right: w.one("right"), RightFields: w.list("right-fields"), Tolerance: w.optionalDuration("tolerance")}
	case "around":
		return query.Around{By: w.one("by"), Fields: w.list("fields"), Right: w.one("right"), Field: w.one("field"), Minus: w.one("minus"),
			Before: w.optionalDuration("before"), After: w.optionalDuration("after")}
	case "movers":
		return query.Movers{Field: w.one("field"), By: w.one("by"), Top: w.number("top")}
	case "gaps":
		return query.Gaps{Field: w.one("field"), By: w.one("by"), Longer: w.duration("longer")}
	case "profile":
		return query.Profile{Field: w.one("field"), Width: w.duration("every")}
	case "nth":
		event := append(w.list("event"), "", "")
		return query.Nth{By: w.one("by"), Event: event[0], Is: event[1], N: w.number("n"), Fields: w.list("fields")}
	}
	return nil
}

func (w *words) set() query.Set {
	list := w.list("set")
	if len(list) != 3 || list[1] != "all" && list[1] != "distinct" {
		w.fail("set is an operation, all or distinct, and a number, not %q", list)
		return query.Set{}
	}
	return query.Set{Operation: query.SetOperation(list[0]), All: list[1] == "all", Operands: int(w.float(list[2]))}
}

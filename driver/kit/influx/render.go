package influx

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// OwnPrefix begins the names of columns that do not belong to the result. InfluxQL always returns a
// time. InfluxDB also has values rather than rows: it returns a row whose selected fields are all NULL
// only if the statement selects another field as well.
const OwnPrefix = "tsmark_"

// untimed selects the time that InfluxQL always returns under a name that is not part of the result.
const untimed = `time AS "` + OwnPrefix + `time"`

// zeroPrefix begins the names of columns in which NULL means 0: InfluxQL returns a count of zero as
// NULL if other columns of the row have values.
const zeroPrefix = OwnPrefix + "zero_"

// NullField is a field, always true, of rows that have no other field.
const NullField = OwnPrefix + "null"

// Product is a server that runs InfluxQL. Each has its own dialect.
type Product int

// The products. OpenGemini is not made by InfluxData.
const (
	InfluxDB Product = iota
	OpenGemini
)

// Render renders a query as one statement of InfluxQL. The statement returns the columns of
// query.Columns and others whose names begin with OwnPrefix; the tags of groups follow the time.
func Render(q *query.Query, s *series.Schema, by Product) (driver.Request, error) {
	r := renderer{q: q, table: s.Table(q.Table), schema: s, gemini: by == OpenGemini}
	text, err := r.render()
	if err != nil {
		return driver.Request{}, fmt.Errorf("query %s: %w", q.Type, err)
	}
	return driver.Request{Text: text}, nil
}

// renderer renders one query.
type renderer struct {
	q      *query.Query
	table  *series.Table
	schema *series.Schema
	gemini bool // the server is openGemini
	// aggregate is the aggregate that the query is answered from; nil: rows.
	aggregate *query.Materialized
	err       error // the first construct that InfluxQL cannot express; the rendered text is then invalid
}

func (r *renderer) render() (string, error) {
	if err := r.q.RefuseRare("InfluxQL"); err != nil {
		return "", err
	}
	if r.table == nil {
		return "", fmt.Errorf("there is no table %q", r.q.Table)
	}
	if err := r.q.Check(r.table); err != nil {
		return "", err
	}
	s := r.statement()
	if r.err != nil {
		return "", r.err
	}
	return s.String(), nil
}

// statement renders the shape of the query.
func (r *renderer) statement() *statement {
	switch s := r.q.Shape.(type) {
	case query.Buckets:
		return r.buckets(s)
	case query.Totals:
		return r.totals(s)
	case query.Rows:
		return r.rows(s)
	case query.AnyRows:
		all := r.rows(query.Rows{Fields: s.Fields, Tag: s.Tag})
		all.limit = s.Limit // without a GROUP BY, a limit for all rows
		return all
	case query.Last:
		return r.last(s)
	case query.Means:
		return r.means(s)
	case query.UnitMeans:
		return r.unitMeans(s)
	case query.ActiveUnits:
		return r.activeUnits(s)
	case query.ActiveHours:
		return r.activeHours(s)
	case query.ActiveShare:
		return r.activeShare(s)
	case query.Starts:
		return r.starts(s)
	case query.Sessions:
		return r.setUnsupported("InfluxQL knows a session's length, by elapsed(), where it ends, and no statement can bring it to the day on which it began")
	}
	return r.setUnsupported("InfluxQL has no set operations: its statements take rows of measurements and of one another, and compare none")
}

// selection returns the rows that the query selects.
func (r *renderer) selection() Rows { return Rows{r.q, r.table} }

// fail keeps the first error.
func (r *renderer) fail(err error) { r.err = cmp.Or(r.err, err) }

// setUnsupported records that InfluxQL cannot express the query, and returns nil.
func (r *renderer) setUnsupported(format string, args ...any) *statement {
	r.fail(fmt.Errorf("%w: "+format, append([]any{query.ErrUnsupported}, args...)...))
	return nil
}

// numeric reports whether a tag is a number, which line protocol stores as a field.
func (r *renderer) numeric(key string) bool { return r.table.Tag(key).Numeric() }

// numbers returns the numeric tags among keys.
func (r *renderer) numbers(keys ...string) []string {
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return key == "" || !r.numeric(key) })
}

// groupable fails if one of the tags is numeric.
func (r *renderer) groupable(keys ...string) {
	for _, key := range r.numbers(keys...) {
		r.setUnsupported("%s is a number, which line protocol holds as a field, and InfluxQL groups by tags only", key)
	}
}

// selectRows returns a statement of columns of the rows that the query is about, in groups
// of tags.
func (r *renderer) selectRows(columns, group []string) *statement {
	return &statement{columns: columns, from: r.q.Table, where: r.conditions(), ends: !r.q.End.IsZero(), group: group}
}

// conditions returns the conditions that the query sets on rows.
func (r *renderer) conditions() []string {
	var all []string
	if in := r.q.In; in != nil {
		if r.gemini && !r.numeric(in.Key) && !r.occurs(in.Key) {
			r.setUnsupported("%s", passedOver(in.Key))
		}
		values := r.equals(in)
		condition := strings.Join(values, " OR ")
		if len(values) > 1 {
			condition = "(" + condition + ")"
		}
		all = append(all, condition)
	}
	for _, key := range r.q.Demands() {
		if r.gemini && !r.numeric(key) && !r.occurs(key) {
			r.setUnsupported("%s", passedOver(key))
		}
		switch {
		case r.q.In != nil && r.q.In.Key == key: // the filter demands it
		case r.numeric(key):
			all = append(all, fmt.Sprintf("(%s > 0 OR %[1]s <= 0)", Ident(key))) // the row has the number
		default:
			all = append(all, Ident(key)+" != ''")
		}
	}
	if filter := r.q.Filter; filter != nil {
		for _, field := range filter.Fields() {
			all = append(all, compareField(field, filter, r.table.Fields[r.table.FieldIndex(field)].Type))
		}
	}
	if !r.q.Start.IsZero() {
		all = append(all, "time >= "+instant(r.q.Start))
	}
	if end := r.q.End; !end.IsZero() {
		if r.gemini && end.Before(r.q.Start) {
			end = r.q.Start // of such a window it counts -1 values
		}
		all = append(all, "time < "+instant(end))
	}
	return all
}

// occurs reports whether a series has the tag.
func (r *renderer) occurs(key string) bool {
	values := r.table.Tag(key).Values
	for s := range r.schema.Series {
		if _, has := values.Append(nil, s); has {
			return true
		}
	}
	return false
}

// passedOver says why openGemini gets no condition on such a tag.
func passedOver(key string) string {
	return fmt.Sprintf("a condition on %s, a tag that no series has: openGemini passes over it in a statement within another", key)
}

// equals returns a comparison for each value of a filter.
func (r *renderer) equals(in *query.TagIn) []string {
	var all []string
	for _, v := range in.Values {
		if !r.numeric(in.Key) {
			all = append(all, Ident(in.Key)+" = "+text(v))
			continue
		}
		n, err := strconv.ParseFloat(v, 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			r.fail(fmt.Errorf("the filter on tag %s, whose values are numbers, has %q", in.Key, v))
		}
		all = append(all, Ident(in.Key)+" = "+number(n))
	}
	return all
}

// compareField returns the condition on a field of the type.
func compareField(field string, f *query.ValueFilter, t series.Type) string {
	if !t.Integer() {
		return comparison(Ident(field), f.Compare, f.Value)
	}
	c, n := f.Compare.Wholes(f.Value, series.Int) // like is compared with like, so that no integer is rounded
	return fmt.Sprintf("%s %s %d", Ident(field), c, n)
}

// comparison returns a condition on a value.
func comparison(value string, c query.Comparison, bound float64) string {
	return fmt.Sprintf("%s %s %s", value, c, number(bound))
}

// oneGroup reports whether the query is about a single value of a tag.
func (r *renderer) oneGroup(tag string) bool {
	in := r.q.In
	return in != nil && in.Key == tag && len(distinct(in.Values)) == 1
}

// distinct returns values once each.
func distinct(values []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(values)))
}

// valueNames returns the names of the answer's last columns.
func (r *renderer) valueNames(n int) []string {
	columns := r.q.Columns(r.table)
	names := make([]string, n)
	for i, column := range columns[len(columns)-n:] {
		names[i] = column.Name
	}
	return names
}

package promql

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

const day = int64(24 * time.Hour / time.Millisecond)

// IntervalOption is the name of the option for the interval that divides the times of all rows.
const IntervalOption = "interval"

// Option returns that option.
func Option() driver.Option {
	return driver.Option{
		Name: IntervalOption, Empty: "the dataset's; if unknown, thresholds over rows are n/a", Help: "interval of the rows, such as 10s: all times are multiples of it since 1970",
		Type: option.CheckedBy("duration", func(v string) error {
			d, err := time.ParseDuration(v)
			if err != nil || d < 2*time.Millisecond || d%time.Millisecond != 0 {
				return errors.New("must be a duration of whole milliseconds, at least 2, as 10s")
			}
			return nil
		}),
	}
}

// Interval returns the value of that option; 0: unknown.
func Interval(o driver.Options) time.Duration {
	if o[IntervalOption] == "" {
		return 0
	}
	return o.Duration(IntervalOption)
}

// Language is a dialect of PromQL. The series of expressions have the names of the metrics, or the name
// set by SetName, unless a method says otherwise.
type Language interface {
	// Name is its name in messages.
	Name() string
	// Metric returns the name of a field's metric. Label returns the name of a tag's label, and Ident
	// the label as it is written in an expression.
	Metric(t *series.Table, field string) string
	Label(tag string) string
	Ident(tag string) string
	// Seconds and Duration format milliseconds for expressions.
	Seconds(ms int64) string
	Duration(ms int64) string
	// Instant returns the samples of a selector at exactly the time of evaluation.
	Instant(selector string) string
	// Rows makes a plan return the samples of fields.
	Rows(p *metric.Plan, r *Renderer, fields []string, s Span)
	// Aggregate returns an aggregate of fields in groups of series.
	Aggregate(r *Renderer, a query.Aggregate, fields []string, s Span, by []string) []string
	// Mean returns the means of a field's samples in groups, and ZeroShare the share of its samples
	// that are 0. Their series have no names.
	Mean(r *Renderer, field string, s Span, by []string) string
	ZeroShare(r *Renderer, field string, s Span, by []string) (string, error)
	// UnitMeans returns the mean of the means of each group's units, which are divided by a tag unless
	// over is empty.
	UnitMeans(r *Renderer, fields []string, s Span, group []string, unit, over string) ([]string, error)
	// TagMean returns the means of a tag in groups, counting each sample of a field.
	TagMean(r *Renderer, tag, field string, s Span, group []string) (string, error)
	// Exists returns a sample for each group that has samples of one of the fields.
	Exists(r *Renderer, fields []string, s Span, by []string) string
	// Last makes a plan return the newest rows: values, and times as metric.TimeName.
	Last(p *metric.Plan, r *Renderer, q query.Last, s Span) error
	// Rises returns how often a subquery with values 0 and 1 rises.
	Rises(subquery string) string
	// SetName sets the name of an expression's series.
	SetName(expression, name string) string
	// Filter keeps the series whose labels match a series of the condition.
	Filter(expression string, labels []string, condition string) string
	// LimitTimes restricts an expression to evaluation times after one time and before another; 0 means no
	// bound.
	LimitTimes(expression string, after, before int64) string
	// Part makes the series of an expression distinct from those of other parts. At any time, only one
	// of the parts has a value.
	Part(expression string, number int) string
	// Union combines expressions.
	Union(expressions ...string) string
}

// least is the smallest step of a dataset for which subqueries look for its rows.
const least = time.Second

// Render renders a query as one instant or range query. The times of all rows are multiples of
// interval; 0: use the schema's step.
func Render(l Language, q *query.Query, s *series.Schema, interval time.Duration) (*metric.Plan, error) {
	if interval == 0 && s.Step >= least && s.Step%time.Millisecond == 0 {
		interval = s.Step
	}
	r := Renderer{Language: l, Query: q, Table: s.Table(q.Table), Series: s.Series, Interval: interval.Milliseconds()}
	p, err := r.render(s)
	if err != nil {
		return nil, fmt.Errorf("query %s: %w", q.Type, err)
	}
	return p, nil
}

// Renderer renders one query.
type Renderer struct {
	Language
	Query    *query.Query
	Table    *series.Table
	Series   uint32 // in the schema
	From, To int64  // the window's first and last millisecond
	Interval int64  // see Render; in milliseconds

	bounded bool   // both bounds of the window are known
	where   string // a further condition on labels
}

// WithTag returns a renderer for the query's rows with a value of a tag.
func (r *Renderer) WithTag(tag, value string) *Renderer {
	some := *r
	some.where = Matches(r.Ident(tag), []string{value})
	return &some
}

// Everything returns a renderer for queries on all samples of a table.
func Everything(l Language, t *series.Table) *Renderer {
	r := &Renderer{Language: l, Query: &query.Query{Table: t.Name}, Table: t, From: metric.Earliest, To: metric.Latest}
	r.roundLong()
	return r
}

// OfSeries selects all samples of a table's series that have a value in a tag.
func OfSeries(l Language, t *series.Table, tag, value string) string {
	return Everything(l, t).WithTag(tag, value).Selector(metric.StoredMetrics(t))
}

// OfTable selects all samples of a table.
func OfTable(l Language, t *series.Table) string {
	return Everything(l, t).Selector(metric.StoredMetrics(t))
}

// roundLong makes a window of more than 30 days one of whole seconds by moving a bound beyond all rows. Systems
// compute the length of such a range in seconds as doubles, and Mimir also prints it in milliseconds and parses it
// again, which may take one off.
func (r *Renderer) roundLong() {
	length := r.To - r.From + 1
	switch part := length % 1000; {
	case length < 30*day || part == 0:
	case r.From == metric.Earliest:
		r.From += part - 1000
	case r.To == metric.Latest:
		r.To -= part
	}
}

func (r *Renderer) render(s *series.Schema) (*metric.Plan, error) {
	if promQL, ok := r.Query.AsPromQL(); ok {
		return r.promQL(promQL, s)
	}
	if r.Table == nil {
		return nil, fmt.Errorf("there is no table %q", r.Query.Table)
	}
	if err := r.Query.Check(r.Table); err != nil {
		return nil, err
	}
	w := metric.WindowOf(r.Query, s)
	r.From, r.To, r.bounded = w.From, w.To, w.Known
	r.roundLong()
	if err := r.thresholds(); err != nil {
		return nil, err
	}
	plan, err := r.shape()
	if err == nil && plan.At == 0 && plan.Step == 0 {
		plan.At = r.To
	}
	return plan, err
}

func (r *Renderer) shape() (*metric.Plan, error) {
	if err := r.Query.RefuseTicks("query of " + r.Name()); err != nil {
		return nil, err
	}
	if r.isNative() {
		if _, ok := r.Query.Shape.(query.Rows); !ok {
			return nil, metric.UnsupportedError("%s computes with native histograms, and not with their buckets", r.Name())
		}
	}
	switch s := r.Query.Shape.(type) {
	case query.Buckets:
		return r.buckets(s)
	case query.Totals:
		return r.totals(s), nil
	case query.Rows:
		return r.rows(s), nil
	case query.AnyRows:
		p := r.rows(query.Rows{Fields: s.Fields, Tag: s.Tag})
		p.Limit = s.Limit
		return p, nil
	case query.Last:
		return r.last(s)
	case query.Means:
		return r.means(s)
	case query.UnitMeans:
		return r.unitMeans(s)
	case query.Sessions:
		return nil, metric.UnsupportedError("%s counts how often a value changes, and knows of no time between two changes", r.Name())
	case query.RowSet:
		return nil, metric.UnsupportedError("%s's set operations are on series, which several samples at a time do not have", r.Name())
	}
	return r.activity()
}

// boundless returns the error for a query that needs both bounds and lacks one.
func boundless(what string) error {
	return metric.UnsupportedError("%s needs a beginning and an end, and it is not known when the rows of this dataset begin and end", what)
}

// filterable returns an error for a query with a value filter that cannot be run: it needs a subquery
// whose steps are all times of rows.
func (r *Renderer) thresholds() error {
	switch {
	case r.Query.Filter == nil:
	case r.Interval == 0:
		return metric.UnsupportedError("%s compares what its functions make of samples at the steps of a query, and not the samples themselves; give the option %s where all rows stand at its multiples", r.Name(), IntervalOption)
	case !r.bounded:
		return boundless("a subquery at the data's interval")
	}
	return nil
}

func floor(t, width int64) int64 { return metric.Floor(t, width) }

// Idents lists the labels of tags as they are written in an expression.
func (r *Renderer) Idents(tags ...string) string {
	list := make([]string, len(tags))
	for i, tag := range tags {
		list[i] = r.Ident(tag)
	}
	return strings.Join(list, ", ")
}

// Matches returns the condition that a label has one of the given values.
func Matches(ident string, values []string) string {
	values = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(values))), func(v string) bool { return v == "" })
	switch len(values) {
	case 0: // no label is empty
		return ident + `="", ` + ident + `!=""`
	case 1:
		return ident + "=" + strconv.Quote(values[0])
	}
	for i, v := range values {
		values[i] = regexp.QuoteMeta(v)
	}
	return ident + "=~" + strconv.Quote(strings.Join(values, "|"))
}

// Selector selects the series of fields that the query is about. Their rows have all demanded tags.
func (r *Renderer) Selector(fields []string, demanded ...string) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = r.Metric(r.Table, f)
	}
	conditions := []string{Matches("__name__", names)}
	if in := r.Query.In; in != nil {
		conditions = append(conditions, Matches(r.Ident(in.Key), in.Values))
	}
	for _, key := range slices.Concat(r.Query.Demands(), demanded) {
		if r.Query.In == nil || r.Query.In.Key != key {
			conditions = append(conditions, r.Ident(key)+`!=""`)
		}
	}
	if r.where != "" {
		conditions = append(conditions, r.where)
	}
	return "{" + strings.Join(conditions, ", ") + "}"
}

// Tags returns the keys of the table's tags: the labels that the samples of a row share.
func (r *Renderer) Tags() []string {
	var keys []string
	for i := range r.Table.Tags {
		keys = append(keys, r.Table.Tags[i].Key)
	}
	return keys
}

// Span is the range of samples that a function reads, in milliseconds.
type Span struct {
	Length int64 // including the millisecond at which the span ends
	Offset int64 // from the time of evaluation back to the end of the span
	At     int64 // the time of evaluation; 0: the query's
	Last   int64 // its last millisecond if it is evaluated once; else 0
}

// All returns the query's window.
func (r *Renderer) All() Span { return Span{Length: r.To - r.From + 1, Last: r.To} }

// AppendRange returns an expression with the range appended.
func (s Span) AppendRange(l Language, expression, step string) string {
	text := expression + "[" + l.Duration(s.Length) + step + "]"
	if s.Offset != 0 {
		text += " offset " + l.Duration(s.Offset)
	}
	if s.At != 0 {
		text += " @ " + l.Seconds(s.At)
	}
	return text
}

// Samples returns the samples of fields in a span, restricted to the rows that fulfil the query's value
// filter if it has one.
func (r *Renderer) Samples(fields []string, s Span, demanded ...string) string {
	if r.Query.Filter == nil {
		return s.AppendRange(r, r.Selector(fields, demanded...), "")
	}
	if s.Length == 1 && s.Last%r.Interval != 0 {
		s.At, s.Offset = 1000, 0 // a time without rows
	}
	return s.AppendRange(r, Parenthesize(r.FilteredRows(fields, demanded...)), ":"+r.Duration(r.Interval))
}

// FilteredRows returns the samples of fields at the time of evaluation, restricted to the rows that
// fulfil the query's value filter.
func (r *Renderer) FilteredRows(fields []string, demanded ...string) string {
	rows := r.Instant(r.Selector(fields, demanded...))
	for _, f := range r.Query.Filter.Fields() {
		rows = r.Filter(rows, r.Tags(), r.Instant(r.Selector([]string{f}, demanded...))+" "+r.Query.Filter.Compare.DoubleEquals()+" "+Number(r.Query.Filter.Value))
	}
	return rows
}

// GroupBy aggregates series by labels.
func (r *Renderer) GroupBy(function, of string, by ...string) string {
	return fmt.Sprintf("%s(%s) by (%s)", function, of, r.Idents(by...))
}

// Parenthesize puts an expression in parentheses.
func Parenthesize(expression string) string { return "(" + expression + ")" }

// Number formats a number for an expression.
func Number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// aggregateRows returns an aggregate of fields in groups, and an expression for groups whose rows have no
// value.
func (r *Renderer) aggregateRows(a query.Aggregate, fields []string, s Span, by ...string) []string {
	return append(r.Aggregate(r, a, fields, s, by), r.groupsOf(fields, s, by...)...)
}

// groupsOf returns an expression with a sample for each group with rows, if a row may lack all of the
// fields.
func (r *Renderer) groupsOf(fields []string, s Span, by ...string) []string {
	witnesses := r.Witnesses(fields)
	if witnesses == nil {
		return nil
	}
	return []string{r.SetName(r.Exists(r, witnesses, s, by), metric.RowName)}
}

// Witnesses returns metric.Witnesses for fields.
func (r *Renderer) Witnesses(fields []string) []string {
	if r.Table.Metric != nil {
		return nil
	}
	return metric.Witnesses(r.Table, fields)
}

// AnyOf returns metric.AnyOf for a table. A row of a metric without a value is a staleness marker, which
// no query sees.
func AnyOf(t *series.Table) []string {
	if t.Metric != nil {
		return []string{t.Fields[0].Name}
	}
	return metric.AnyOf(t)
}

// Sure reports whether every row that queries see has a value of the field.
func (r *Renderer) Sure(field string) bool { return r.Table.Metric != nil || r.Table.EachRowHas(field) }

// isNative reports whether the table is a native histogram.
func (r *Renderer) isNative() bool { return r.Table.Metric != nil && r.Table.Metric.Native != nil }

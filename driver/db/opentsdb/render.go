package opentsdb

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// render renders a query as up to three requests, with a sub-query for each field.
func render(q *query.Query, s *series.Schema, o driver.Options) (driver.Request, error) {
	r := renderer{Query: q, table: s.Table(q.Table), schema: s, layout: layout(o[optionMetric])}
	request, err := r.render()
	if err != nil {
		return driver.Request{}, fmt.Errorf("query %s: %w", q.Type, err)
	}
	return request, nil
}

// renderer renders one query.
type renderer struct {
	*query.Query
	table   *series.Table
	schema  *series.Schema
	layout  layout
	window  metric.Window
	plan    metric.Plan
	queries []subQuery
	lines   []string // the requests
}

func (r *renderer) render() (driver.Request, error) {
	if err := r.RefuseRare("OpenTSDB"); err != nil {
		return driver.Request{}, err
	}
	if r.table == nil {
		return driver.Request{}, fmt.Errorf("there is no table %q", r.Table)
	}
	if err := r.Check(r.table); err != nil {
		return driver.Request{}, err
	}
	r.window = metric.WindowOf(r.Query, r.schema)
	if r.window.From = max(r.window.From, firstTime); r.window.From > r.window.To { // the server requires a window that is not empty
		r.window.From, r.window.To = metric.Latest+1, metric.Latest+hour
	}
	r.plan.Order = r.Order()
	if err := r.shape(); err != nil {
		return driver.Request{}, err
	}
	r.plan.Expression = strings.Join(r.lines, "\n")
	return r.plan.Request()
}

func (r *renderer) shape() error {
	switch s := r.Shape.(type) {
	case query.Buckets:
		return r.buckets(s)
	case query.Totals:
		return r.windowAggregates(s.Aggregate, s.Fields, s.GroupBy)
	case query.Rows:
		return r.rows(s.Fields, s.Tag)
	case query.AnyRows:
		r.plan.Limit = s.Limit
		return r.rows(s.Fields, s.Tag)
	case query.Means:
		return r.means(s)
	case query.UnitMeans:
		return r.unitMeans(s)
	case query.Last:
		return r.last(s)
	case query.RowSet:
		return metric.UnsupportedError("OpenTSDB has no set operations on rows")
	}
	return metric.UnsupportedError("OpenTSDB downsamples the points of a series once and puts series together once, and makes nothing further of the result")
}

// columns adds the columns of tags and of fields to the plan.
func (r *renderer) columns(tags, fields []string) {
	for _, key := range tags {
		r.plan.Tags = append(r.plan.Tags, metric.Tag{Label: name(key), Number: r.table.Tag(key).Numeric(), Must: slices.Contains(r.Demands(), key)})
	}
	for _, f := range fields {
		r.plan.Fields = append(r.plan.Fields, metric.Field{Name: r.layout.columnOf(r.table, f)})
	}
}

// addHiddenTags adds tags to the plan that are not columns of the result, but distinguish rows.
func (r *renderer) addHiddenTags(tags []string) {
	for _, key := range tags {
		if !slices.ContainsFunc(r.plan.Tags, func(t metric.Tag) bool { return t.Label == name(key) }) {
			r.plan.Tags = append(r.plan.Tags, metric.Tag{Label: name(key), Hidden: true})
		}
	}
}

// sub adds a sub-query for each of some fields.
func (r *renderer) sub(fields, by []string, aggregator, downsample string) {
	filters := r.filters(by, aggregator != none)
	for _, f := range fields {
		r.queries = append(r.queries, r.layout.subQuery(r.table, f, aggregator, downsample, filters))
	}
}

// witnesses returns fields that mark rows as present which may lack all of the fields.
func (r *renderer) witnesses(fields []string) []string {
	return slices.DeleteFunc(slices.Clone(metric.Witnesses(r.table, fields)), func(f string) bool { return slices.Contains(fields, f) })
}

// request adds a request about a part of the window.
func (r *renderer) request(w metric.Window) error {
	of := newRequest(w)
	of.Queries, of.Numbered = r.queries, r.numbered()
	text, err := of.text()
	r.lines = append(r.lines, text)
	return err
}

// filters returns the filters that select series: by the tags that a row must have, and by values. They
// also define the groups.
func (r *renderer) filters(by []string, grouped bool) []filter {
	var out []filter
	keys := r.Demands()
	for _, key := range by { // to group by a tag is to demand it
		if grouped && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	in := r.In
	for _, key := range keys {
		if in == nil || key != in.Key {
			out = append(out, filter{"wildcard", name(key), "*", grouped && slices.Contains(by, key)})
		}
	}
	if in == nil {
		return out
	}
	var values []string
	for _, v := range in.Values {
		if v != "" && !slices.Contains(values, name(v)) {
			values = append(values, name(v))
		}
	}
	if len(values) == 0 { // no tag is empty
		values = []string{metric.Own + "none"}
	}
	return append(out, filter{"literal_or", name(in.Key), strings.Join(values, "|"), grouped && slices.Contains(by, in.Key)})
}

// group is a list of the tags that are named.
func group(tags ...string) []string {
	return slices.DeleteFunc(slices.Clone(tags), func(tag string) bool { return tag == "" })
}

// all are the keys of the table's tags.
func (r *renderer) all() []string {
	var keys []string
	for i := range r.table.Tags {
		keys = append(keys, r.table.Tags[i].Key)
	}
	return keys
}

// aggregates adds the sub-queries of aggregates. The function maps an aggregate's name to the
// downsampling. If a mean is the quotient of a sum and a count, both are sub-queries, in the order of
// the plan's fields.
func (r *renderer) aggregates(a query.Aggregate, fields, by []string, downsample func(string) string) {
	r.queries = nil
	if r.numbered() {
		r.sub(fields, by, mergeFunction("sum"), downsample("sum"))
		r.sub(fields, by, mergeFunction("count"), downsample("count"))
	} else {
		r.sub(fields, by, mergeFunction(string(a)), downsample(string(a)))
	}
	r.sub(r.witnesses(fields), by, mergeFunction("count"), downsample("count"))
}

// errAggregated is of aggregates of points that are greater than a value.
var errAggregated = metric.UnsupportedError("OpenTSDB selects series by their tags and points by their times, and aggregates no points by their values")

// markCounts says of the plan that its values are counts, or means.
func (r *renderer) markCounts(a query.Aggregate, by []string) error {
	if r.Filter != nil {
		return errAggregated
	}
	for i := range r.plan.Fields {
		r.plan.Fields[i].Count = a == query.Count
	}
	if a == query.Avg {
		return r.divideByCounts(by)
	}
	return nil
}

// divideByCounts makes the client divide sums by counts if a group may have several series: the server would
// return the mean of the series' means.
func (r *renderer) divideByCounts(by []string) error {
	if r.Filter != nil {
		return errAggregated
	}
	if r.singleSeries(by) {
		return nil
	}
	for i := range r.plan.Fields {
		f := &r.plan.Fields[i]
		f.Divisor = f.Name + divisor
		r.plan.Fields = append(r.plan.Fields, metric.Field{Name: f.Divisor, Hidden: true})
	}
	return nil
}

// divisor ends the name of the column that counts a metric's points.
const divisor = "//count"

// numbered reports whether a metric occurs in several sub-queries.
func (r *renderer) numbered() bool {
	return slices.ContainsFunc(r.plan.Fields, func(f metric.Field) bool { return f.Divisor != "" })
}

// windowAggregates renders aggregates of the window in groups.
func (r *renderer) windowAggregates(a query.Aggregate, fields []string, by ...string) error {
	by = group(by...)
	r.columns(by, fields)
	if err := r.markCounts(a, by); err != nil {
		return err
	}
	return r.addWindow(a, fields, by, r.window)
}

// means renders the Means shape. The client leaves groups out.
func (r *renderer) means(s query.Means) error {
	if len(s.MeanTags) > 0 {
		return metric.UnsupportedError("OpenTSDB aggregates values, and no tags: tag %s", s.MeanTags[0])
	}
	by, fields := group(s.Group...), s.Fields
	r.columns(by, fields)
	if s.Having != nil {
		fields = r.further(fields, s.Having.Field)
		r.field(s.Having.Field).Keep = &metric.Condition{Compare: s.Having.Compare, Value: s.Having.Value}
	}
	if err := r.divideByCounts(by); err != nil {
		return err
	}
	return r.addWindow(query.Avg, fields, by, r.window)
}

// unitMeans renders the UnitMeans shape: the server's aggregator computes the mean of the means of
// series.
func (r *renderer) unitMeans(s query.UnitMeans) error {
	by := group(s.Group...)
	switch {
	case s.Over != "":
		return metric.UnsupportedError("OpenTSDB divides no value by a tag: tag %s", s.Over)
	case r.Filter != nil:
		return errAggregated
	case !r.singleSeries(append(by, s.Unit)):
		return metric.UnsupportedError("OpenTSDB makes the mean of the means of series, and a %s may have several", s.Unit)
	}
	r.columns(by, s.Fields)
	r.sub(s.Fields, by, "avg", all+"avg")
	r.sub(r.witnesses(s.Fields), by, mergeFunction("count"), all+"count")
	w := r.window
	w.To++
	return r.request(w)
}

// further adds a field to fields as a hidden one, unless it is among them.
func (r *renderer) further(fields []string, field string) []string {
	if slices.Contains(fields, field) {
		return fields
	}
	r.field(field)
	return append(slices.Clone(fields), field)
}

// field returns the column of a field.
func (r *renderer) field(field string) *metric.Field {
	return r.plan.Field(r.layout.columnOf(r.table, field))
}

// addWindow adds a request for aggregates of a window.
func (r *renderer) addWindow(a query.Aggregate, fields, by []string, w metric.Window) error {
	r.aggregates(a, fields, by, func(function string) string { return all + function })
	w.To++
	return r.request(w)
}

// buckets renders the Buckets shape. The server drops a bucket that begins before the window, and
// includes points after the window in the last one. Partial buckets are therefore aggregates of windows
// of their own.
func (r *renderer) buckets(s query.Buckets) error {
	width, by := s.Width.Milliseconds(), group(s.GroupBy)
	if s.Width%time.Millisecond != 0 {
		return metric.UnsupportedError("times are in milliseconds, and %v is not a multiple of that", s.Width)
	}
	r.columns(by, s.Fields)
	if err := r.markCounts(s.Aggregate, by); err != nil {
		return err
	}
	r.plan.Timed, r.plan.Limit, r.plan.Step = true, s.Limit, width
	w := r.window
	if r.Start.IsZero() {
		w.From = max(metric.Floor(w.From, width), firstTime)
	}
	first, behind := -metric.Floor(-w.From, width), metric.Floor(w.To+1, width)
	if first > behind || w.From == w.To { // it is in one bucket
		return r.addWindow(s.Aggregate, s.Fields, by, w)
	}
	if w.From < first {
		if err := r.addWindow(s.Aggregate, s.Fields, by, metric.Window{From: w.From, To: first - 1}); err != nil {
			return err
		}
	}
	if first < behind {
		r.aggregates(s.Aggregate, s.Fields, by, func(function string) string { return downsampling(width, function) })
		if err := r.request(metric.Window{From: first, To: behind - 1}); err != nil {
			return err
		}
	}
	if behind <= w.To {
		return r.addWindow(s.Aggregate, s.Fields, by, metric.Window{From: behind, To: w.To})
	}
	return nil
}

// rows renders the rows shapes: the points themselves. The client drops rows that are not above a
// threshold.
func (r *renderer) rows(fields []string, tag string) error {
	r.columns(group(tag), fields)
	r.plan.Timed = true
	return r.raw(fields, r.window)
}

// raw adds a request for points. The server refuses a window of one millisecond: the request then reads
// the last point before the next millisecond, which aggregates of a window exclude.
func (r *renderer) raw(fields []string, w metric.Window) error {
	downsample := ""
	if w.From == w.To {
		downsample = all + "last"
		w.To++
	}
	r.addHiddenTags(r.all())
	if r.Filter != nil {
		for _, f := range r.Filter.Fields() {
			fields = r.further(fields, f)
			column := r.field(f)
			column.Filter, column.Compare = &r.Filter.Value, r.Filter.Compare
		}
	}
	for _, f := range fields {
		r.field(f).Single = r.table.Fields[r.table.FieldIndex(f)].Type == series.Float32
	}
	r.queries = nil
	r.sub(fields, nil, none, downsample)
	if r.Filter == nil { // whose rows have a value
		r.sub(r.witnesses(fields), nil, none, downsample)
	}
	return r.request(w)
}

// hour is the width of buckets in which the newest rows are searched for: the time that one row of
// HBase covers for a series.
const hour = int64(time.Hour / time.Millisecond)

// last renders the Last shape: first the number of points in each hour for each series, then all points
// since the earliest of the series' newest hours. The client chooses the newest of these. Rows above a
// threshold are chosen from all points.
func (r *renderer) last(s query.Last) error {
	r.columns(append([]string{s.By}, s.Tags...), s.Fields)
	r.plan.Timed, r.plan.One = true, true
	fields := s.Fields
	if h := s.Having; h != nil {
		fields = r.further(fields, h.Field)
		r.field(h.Field).Keep = &metric.Condition{Compare: h.Compare, Value: h.Value, DivideBy: r.plan.DivideBy(name(h.Over))}
	}
	w := r.window
	full := metric.Window{From: max(metric.Floor(w.From, hour), firstTime), To: metric.Floor(w.To+1, hour) - 1}
	if r.plan.Newest = r.Filter == nil && full.From < full.To; r.plan.Newest {
		r.sub(metric.AnyOf(r.table), nil, none, downsampling(hour, "count"))
		if err := r.request(full); err != nil {
			return err
		}
	}
	return r.raw(fields, w)
}

// mostSeries are as many as are looked at to find out whether groups are of one series
// each.
const mostSeries = 1 << 16

// singleSeries reports whether each group by tags is known to be of one series.
func (r *renderer) singleSeries(by []string) bool {
	if r.schema.Series > mostSeries {
		return false
	}
	seen := map[string]bool{}
	var key, value []byte
	for n := range r.schema.Series {
		if in := r.In; in != nil {
			var ok bool
			if value, ok = r.table.Tag(in.Key).Values.Append(value[:0], n); !ok || !slices.Contains(in.Values, string(value)) {
				continue
			}
		}
		key = key[:0]
		for _, tag := range by {
			value, _ = r.table.Tag(tag).Values.Append(value[:0], n)
			key = fmt.Appendf(key, "%q", value)
		}
		if seen[string(key)] {
			return false
		}
		seen[string(key)] = true
	}
	return true
}

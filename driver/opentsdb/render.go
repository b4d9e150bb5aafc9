package opentsdb

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/metric"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// render renders a query as up to three requests, of a sub-query for each field.
func render(q *query.Query, s *series.Schema, _ driver.Options) (driver.Request, error) {
	r := renderer{Query: q, table: s.Table(q.Table), schema: s}
	text, err := r.render()
	if err != nil {
		return driver.Request{}, fmt.Errorf("query %s: %w", q.Type, err)
	}
	return driver.Request{Text: text}, nil
}

// renderer renders one query.
type renderer struct {
	*query.Query
	table   *series.Table
	schema  *series.Schema
	window  metric.Window
	plan    metric.Plan
	queries []subQuery
	lines   []string // the requests
}

func (r *renderer) render() (string, error) {
	if r.table == nil {
		return "", fmt.Errorf("there is no table %q", r.Table)
	}
	if err := r.Check(r.table); err != nil {
		return "", err
	}
	if r.Above != nil {
		return "", metric.Unsupported("OpenTSDB selects series by their tags and points by their times, and no points by their values")
	}
	r.window = metric.WindowOf(r.Query, r.schema)
	r.window.From = max(r.window.From, firstTime)
	r.plan.Order = r.Order()
	if err := r.shape(); err != nil {
		return "", err
	}
	r.plan.Expression = strings.Join(r.lines, "\n")
	return r.plan.Text()
}

func (r *renderer) shape() error {
	switch s := r.Shape.(type) {
	case query.Buckets:
		return r.buckets(s)
	case query.Totals:
		return r.aggregated(s.Aggregate, s.Fields, s.GroupBy)
	case query.Rows:
		return r.rows(s.Fields, s.Tag)
	case query.AnyRows:
		r.plan.Limit = s.Limit
		return r.rows(s.Fields, s.Tag)
	case query.Means:
		switch {
		case len(s.MeanTags) > 0:
			return metric.Unsupported("OpenTSDB aggregates values, and no tags: tag %s", s.MeanTags[0])
		case s.Having != nil:
			return metric.Unsupported("OpenTSDB leaves no group out by its aggregate")
		}
		return r.aggregated(query.Avg, s.Fields, s.Group...)
	case query.Last:
		return metric.Unsupported("OpenTSDB tells the newest value of a window (0all-last) and not its time; its /api/query/last looks back from now, hour by hour")
	case query.RowSet:
		return metric.Unsupported("OpenTSDB has no set operations on rows")
	}
	return metric.Unsupported("OpenTSDB downsamples the points of a series once and puts series together once, and makes nothing further of the result")
}

// columns adds the columns of tags and of fields to the plan.
func (r *renderer) columns(tags, fields []string) {
	for _, key := range tags {
		r.plan.Tags = append(r.plan.Tags, metric.Tag{Label: name(key), Number: r.table.Tag(key).Numeric(), Must: slices.Contains(r.Demands(), key)})
	}
	for _, f := range fields {
		r.plan.Fields = append(r.plan.Fields, metric.Field{Name: metricOf(r.Table, f)})
	}
}

// hidden adds tags to the plan that are no columns, and tell rows apart.
func (r *renderer) hidden(tags []string) {
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
		r.queries = append(r.queries, subQuery{Metric: metricOf(r.Table, f), Aggregator: aggregator, Downsample: downsample, Filters: filters})
	}
}

// witnesses returns fields that tell of rows in which none of the fields needs to have a
// value.
func (r *renderer) witnesses(fields []string) []string {
	return slices.DeleteFunc(slices.Clone(metric.Witnesses(r.table, fields)), func(f string) bool { return slices.Contains(fields, f) })
}

// request adds a request about a part of the window.
func (r *renderer) request(w metric.Window) error {
	of := newRequest(w)
	of.Queries = r.queries
	text, err := of.text()
	r.lines = append(r.lines, text)
	return err
}

// filters returns those that select series: by the tags that a row must have, and by
// values. Groups are made by them as well.
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

// aggregates adds the sub-queries of aggregates, by a function that makes the downsampling
// of the name of an aggregate's.
func (r *renderer) aggregates(a query.Aggregate, fields, by []string, downsample func(string) string) {
	r.queries = nil
	r.sub(fields, by, together(string(a)), downsample(string(a)))
	r.sub(r.witnesses(fields), by, together("count"), downsample("count"))
}

// counted says of the plan that its values are counts, and whether the server can make an
// aggregate of groups by tags.
func (r *renderer) counted(a query.Aggregate, by []string) error {
	for i := range r.plan.Fields {
		r.plan.Fields[i].Count = a == query.Count
	}
	if a == query.Avg && !r.alone(by) {
		return metric.Unsupported("OpenTSDB's mean of several series is the mean of their means, and not of all their points")
	}
	return nil
}

// aggregated renders aggregates of the window in groups.
func (r *renderer) aggregated(a query.Aggregate, fields []string, by ...string) error {
	by = group(by...)
	r.columns(by, fields)
	if err := r.counted(a, by); err != nil {
		return err
	}
	return r.whole(a, fields, by, r.window)
}

// whole adds a request for aggregates of a window.
func (r *renderer) whole(a query.Aggregate, fields, by []string, w metric.Window) error {
	r.aggregates(a, fields, by, func(function string) string { return all + function })
	w.To++
	return r.request(w)
}

// buckets renders the Buckets shape. The server leaves out a bucket that begins before
// the window, and makes the last one of points behind the window as well: where these are
// parts of buckets, each is an aggregate of a window of its own.
func (r *renderer) buckets(s query.Buckets) error {
	width, by := s.Width.Milliseconds(), group(s.GroupBy)
	if s.Width%time.Millisecond != 0 {
		return metric.Unsupported("times are milliseconds, and buckets of %v are none", s.Width)
	}
	r.columns(by, s.Fields)
	if err := r.counted(s.Aggregate, by); err != nil {
		return err
	}
	r.plan.Timed, r.plan.Limit, r.plan.Step = true, s.Limit, width
	w := r.window
	if r.Start.IsZero() {
		w.From = max(metric.Floor(w.From, width), firstTime)
	}
	first, behind := -metric.Floor(-w.From, width), metric.Floor(w.To+1, width)
	if first > behind { // it is in one bucket
		return r.whole(s.Aggregate, s.Fields, by, w)
	}
	if w.From < first {
		if err := r.whole(s.Aggregate, s.Fields, by, metric.Window{From: w.From, To: first - 1}); err != nil {
			return err
		}
	}
	if first < behind {
		r.aggregates(s.Aggregate, s.Fields, by, func(function string) string { return bucketed(width, function) })
		if err := r.request(metric.Window{From: first, To: behind - 1}); err != nil {
			return err
		}
	}
	if behind <= w.To {
		return r.whole(s.Aggregate, s.Fields, by, metric.Window{From: behind, To: w.To})
	}
	return nil
}

// rows renders the rows shapes: the points themselves.
func (r *renderer) rows(fields []string, tag string) error {
	r.columns(group(tag), fields)
	r.hidden(r.all())
	for i, f := range fields {
		r.plan.Fields[i].Single = r.table.Fields[r.table.FieldIndex(f)].Type == series.Float32
	}
	r.plan.Timed = true
	r.sub(fields, nil, none, "")
	r.sub(r.witnesses(fields), nil, none, "")
	return r.request(r.window)
}

// mostSeries are as many as are looked at to find out whether groups are of one series
// each.
const mostSeries = 1 << 16

// alone reports whether each group by tags is known to be of one series.
func (r *renderer) alone(by []string) bool {
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

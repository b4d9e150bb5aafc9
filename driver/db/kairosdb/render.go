package kairosdb

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

// render renders a query as one request with a sub-query for each field.
func render(q *query.Query, s *series.Schema, o driver.Options) (driver.Request, error) {
	r := renderer{Query: q, table: s.Table(q.Table), schema: s, h2: o[optionDatastore] == datastoreH2}
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
	h2      bool
	window  metric.Window
	plan    metric.Plan
	request request
}

func (r *renderer) render() (driver.Request, error) {
	if err := r.RefuseRare("KairosDB"); err != nil {
		return driver.Request{}, err
	}
	if r.table == nil {
		return driver.Request{}, fmt.Errorf("there is no table %q", r.Table)
	}
	if err := r.Check(r.table); err != nil {
		return driver.Request{}, err
	}
	r.window = metric.WindowOf(r.Query, r.schema)
	r.plan.Order = r.Order()
	if err := r.shape(); err != nil {
		return driver.Request{}, err
	}
	r.request.Start, r.request.End = r.window.From, r.window.To
	body, err := r.request.text()
	if err != nil {
		return driver.Request{}, err
	}
	r.plan.Expression = body
	return r.plan.Request()
}

func (r *renderer) shape() error {
	switch s := r.Shape.(type) {
	case query.Buckets:
		return r.buckets(s)
	case query.Totals:
		return r.aggregates(string(s.Aggregate), s.Fields, s.GroupBy)
	case query.Rows:
		return r.rows(s.Fields, s.Tag)
	case query.AnyRows:
		err := r.rows(s.Fields, s.Tag)
		// The server limits points of each group before they pass through a filter, and the points of
		// several metrics may belong to different rows.
		if r.plan.Limit = s.Limit; len(r.request.Metrics) == 1 && r.Filter == nil {
			r.request.Metrics[0].Limit = s.Limit
		}
		return err
	case query.Last:
		return r.last(s)
	case query.Means:
		return r.means(s)
	case query.UnitMeans:
		return metric.UnsupportedError("KairosDB groups series before it aggregates them, and puts nothing together that it has made of each: it has no means of units' means")
	case query.RowSet:
		return metric.UnsupportedError("KairosDB has no set operations")
	case query.ActiveUnits:
		if s.More < 0 {
			return metric.UnsupportedError("more than %d buckets", s.More)
		}
		return r.activity(s.Activity, s.Unit, wholeWindow("count"), filter("lte", float64(s.More)))
	case query.ActiveHours:
		// The metric's name identifies the aggregate made from it.
		r.plan.Fields = []metric.Field{{Name: metric.Name(r.table, s.Field)}}
		days := aggregator{Name: "count", ranges: &ranges{Sampling: sampling{1, "days"}, Align: true}}
		return r.activity(s.Activity, s.Unit, days, wholeWindow("avg"), aggregator{Name: "scale", Factor: s.Width.Hours()})
	}
	return metric.UnsupportedError("KairosDB groups series before it aggregates them, and puts nothing together that it has made of each")
}

// columns adds the columns of tags and of fields to the plan. Groups are by the tags in by; tags that
// a row must have and that are not columns of the result become hidden columns.
func (r *renderer) columns(tags, by, fields []string) {
	demanded := r.Demands()
	tag := func(key string, hidden bool) {
		r.plan.Tags = append(r.plan.Tags, metric.Tag{
			Label: key, Number: r.table.Tag(key).Numeric(), Must: slices.Contains(demanded, key), Hidden: hidden,
		})
	}
	for _, key := range tags {
		tag(key, false)
	}
	for _, key := range demanded {
		if slices.Contains(by, key) && !slices.Contains(tags, key) {
			tag(key, true)
		}
	}
	for _, f := range fields {
		r.plan.Fields = append(r.plan.Fields, metric.Field{Name: metric.Name(r.table, f)})
	}
}

// markStored marks the values of the plan's fields as stored values.
func (r *renderer) markStored() {
	for i := range r.plan.Fields {
		for _, f := range r.table.Fields {
			if f.Type == series.Float32 && r.plan.Fields[i].Name == metric.Name(r.table, f.Name) {
				r.plan.Fields[i].Single = true
			}
		}
	}
}

// markCounts says of the plan that its values are counts.
func (r *renderer) markCounts(a query.Aggregate) {
	for i := range r.plan.Fields {
		r.plan.Fields[i].Count = a == query.Count
	}
}

// add adds a sub-query for each of some fields. Its points pass through the query's threshold and then
// the aggregators. Without aggregators, only the fields of the threshold pass through it, and the
// client forms rows of these only.
func (r *renderer) add(fields, by []string, chain ...aggregator) error {
	tags, err := r.tags(by)
	if err != nil {
		return err
	}
	filtered := chain
	if f := r.Filter; f != nil {
		if len(chain) > 0 && (len(f.And) > 0 || slices.ContainsFunc(fields, func(name string) bool { return name != f.Field })) {
			return metric.UnsupportedError("KairosDB's filter compares the points of a metric with a threshold, and leaves none of other metrics out of aggregates by them")
		}
		filtered = append(keepFilters(f.Compare, f.Value), chain...)
	}
	for _, f := range fields {
		sub := subQuery{Name: metric.Name(r.table, f), Tags: tags, Aggregators: chain, ExcludeTags: true}
		if r.Filter != nil && slices.Contains(r.Filter.Fields(), f) {
			sub.Aggregators = filtered
		}
		if len(by) > 0 {
			sub.GroupBy = []groupBy{{"tag", by}}
		}
		r.request.Metrics = append(r.request.Metrics, sub)
	}
	return nil
}

// witnesses adds sub-queries for fields that mark rows as present which may lack all of the fields.
func (r *renderer) witnesses(fields, by []string, chain ...aggregator) error {
	if r.Filter != nil { // whose rows have a value
		return nil
	}
	others := slices.DeleteFunc(metric.Witnesses(r.table, fields), func(f string) bool { return slices.Contains(fields, f) })
	return r.add(others, by, chain...)
}

// tags returns the values of tags that series must have.
func (r *renderer) tags(by []string) (map[string][]string, error) {
	tags := map[string][]string{}
	for _, key := range r.Demands() {
		switch {
		case slices.Contains(by, key): // the plan leaves out groups without it
		case r.everywhere(key):
		case r.h2:
			return nil, metric.UnsupportedError("KairosDB selects series by the values of a tag, and where its datastore is H2 none by a regular expression: none that have the tag %s, whatever its value", key)
		default:
			tags[key] = []string{regular + ".+"}
		}
	}
	if in := r.In; in != nil {
		var values []string
		for _, v := range in.Values {
			if strings.HasPrefix(v, regular) {
				return nil, metric.UnsupportedError("KairosDB takes the tag's value %q for a regular expression", v)
			}
			if r.h2 { // which puts values into SQL as they are
				v = strings.ReplaceAll(v, "'", "''")
			}
			if v != "" && !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		if len(values) == 0 { // no tag is empty
			values = []string{metric.Own + "none"}
		}
		tags[in.Key] = values
	}
	return tags, nil
}

// regular begins a tag's value that is a regular expression (kairosdb.queries.regex_prefix).
const regular = "regex:"

// mostSeries are as many as are looked at to find out whether all have a tag.
const mostSeries = 1 << 16

// everywhere reports whether all series of the table are known to have a tag.
func (r *renderer) everywhere(key string) bool {
	if r.schema.Series > mostSeries {
		return false
	}
	values, memory, ok := r.table.Tag(key).Values, []byte(nil), true
	for n := range r.schema.Series {
		if memory, ok = values.Append(memory[:0], n); !ok {
			return false
		}
	}
	return true
}

// group is a list of the tags that are named.
func group(tags ...string) []string {
	return slices.DeleteFunc(slices.Clone(tags), func(tag string) bool { return tag == "" })
}

// all returns the keys of the table's tags; grouping by them makes each series a group.
func (r *renderer) all() []string {
	var keys []string
	for i := range r.table.Tags {
		keys = append(keys, r.table.Tags[i].Key)
	}
	return keys
}

// aggregates renders aggregates of the window in groups.
func (r *renderer) aggregates(function string, fields []string, by ...string) error {
	by = group(by...)
	r.columns(by, by, fields)
	r.markCounts(query.Aggregate(function))
	if err := r.add(fields, by, wholeWindow(function)); err != nil {
		return err
	}
	return r.witnesses(fields, by, wholeWindow("count"))
}

// buckets renders the Buckets shape.
func (r *renderer) buckets(s query.Buckets) error {
	width, by := s.Width.Milliseconds(), group(s.GroupBy)
	if s.Width%time.Millisecond != 0 {
		return metric.UnsupportedError("times are in milliseconds, and %v is not a multiple of that", s.Width)
	}
	if r.Start.IsZero() && r.window.From >= metric.Earliest {
		r.window.From = metric.Floor(r.window.From, width)
	}
	of, err := r.ranges(width)
	if err != nil {
		return err
	}
	r.columns(by, by, s.Fields)
	r.markCounts(s.Aggregate)
	of.Stamp = true
	r.plan.Timed, r.plan.Limit = true, s.Limit
	if err := r.add(s.Fields, by, aggregator{Name: string(s.Aggregate), ranges: &of}); err != nil {
		return err
	}
	return r.witnesses(s.Fields, by, aggregator{Name: "count", ranges: &of})
}

// ranges returns the ranges for buckets.
func (r *renderer) ranges(width int64) (ranges, error) {
	of, ok := newRanges(width, r.window.From)
	if !ok {
		return of, metric.UnsupportedError("KairosDB's ranges begin at midnight or where the window does, and so do not begin at multiples of %v unless the window does (queries.align-windows)", time.Duration(width)*time.Millisecond)
	}
	return of, nil
}

// rows renders the Rows shape: the points themselves. Each field that must be above a
// threshold passes through a filter, and rows need all of these: of other fields' points
// the client leaves out the rest.
func (r *renderer) rows(fields []string, tag string) error {
	r.columns(group(tag), r.all(), fields)
	if r.Filter != nil {
		for _, f := range r.Filter.Fields() {
			fields = r.further(fields, f)
			r.field(f).Must = true
		}
	}
	r.markStored()
	r.plan.Timed = true
	if err := r.add(fields, r.all()); err != nil {
		return err
	}
	return r.witnesses(fields, r.all())
}

// last renders the Last shape: the newest point of each metric of each series; the points with the
// newest time form the row. The client applies the conditions: a filter on the server would drop the
// newest point and return an older one.
func (r *renderer) last(s query.Last) error {
	r.columns(append([]string{s.By}, s.Tags...), r.all(), s.Fields)
	r.markStored()
	r.plan.Timed, r.plan.One = true, true
	fields, newest := s.Fields, chosen("last")
	if h := s.Having; h != nil {
		fields = r.further(fields, h.Field)
		r.field(h.Field).Keep = &metric.Condition{Compare: h.Compare, Value: h.Value, DivideBy: r.plan.DivideBy(h.Over)}
	}
	if err := r.add(fields, r.all(), newest); err != nil {
		return err
	}
	return r.witnesses(fields, r.all(), newest)
}

// means renders the Means shape.
func (r *renderer) means(s query.Means) error {
	if len(s.MeanTags) > 0 {
		return metric.UnsupportedError("KairosDB aggregates values, and no tags: tag %s", s.MeanTags[0])
	}
	by := group(s.Group...)
	r.columns(by, by, s.Fields)
	fields := s.Fields
	if s.Having != nil {
		fields = r.further(fields, s.Having.Field)
	}
	for _, f := range fields {
		chain := []aggregator{wholeWindow("avg")}
		if s.Having != nil && s.Having.Field == f {
			chain = append(chain, keepFilters(s.Having.Compare, s.Having.Value)...)
			r.field(f).Must = true
		}
		if err := r.add([]string{f}, by, chain...); err != nil {
			return err
		}
	}
	if s.Having != nil { // every row has a value of this field
		return nil
	}
	return r.witnesses(fields, by, wholeWindow("count"))
}

// further adds a field as a hidden one, unless it is among fields.
func (r *renderer) further(fields []string, field string) []string {
	if slices.Contains(fields, field) {
		return fields
	}
	r.field(field)
	return append(slices.Clone(fields), field)
}

// field returns the column of a field.
func (r *renderer) field(name string) *metric.Field { return r.plan.Field(metric.Name(r.table, name)) }

// keepFilters returns filters that keep only values that compare with a constant.
func keepFilters(c query.Comparison, constant float64) []aggregator {
	operators := map[query.Comparison][]string{query.Greater: {"lte"}, query.Less: {"gte"}, query.AtLeast: {"lt"}, query.Equal: {"lt", "gt"}}
	var filters []aggregator
	for _, operator := range operators[c] {
		filters = append(filters, filter(operator, constant))
	}
	return filters
}

// activity renders the shapes that look at the active buckets of each unit.
func (r *renderer) activity(a query.Activity, unit string, made ...aggregator) error {
	if a.Zeros {
		return metric.UnsupportedError("KairosDB leaves points out by a filter, and then does not know how many there were")
	}
	of, err := r.ranges(a.Width.Milliseconds())
	if err != nil {
		return err
	}
	r.columns([]string{unit}, []string{unit}, nil)
	buckets := append([]aggregator{{Name: "avg", ranges: &of}}, keepFilters(a.Compare, a.Value)...)
	return r.add([]string{a.Field}, []string{unit}, append(buckets, made...)...)
}

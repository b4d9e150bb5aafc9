package influx

import (
	"slices"

	"github.com/tsmark/tsmark/query"
)

// functions are the names of aggregates in InfluxQL.
func functions() map[query.Aggregate]string {
	return map[query.Aggregate]string{query.Max: "max", query.Min: "min", query.Avg: "mean", query.Sum: "sum", query.Count: "count"}
}

// aggregateStatement returns the statement that aggregates fields, in groups of a tag if it is not empty, and
// the names of its result columns. Each name begins with the prefix.
func (r *renderer) aggregateStatement(prefix string, a query.Aggregate, fields []string, tag string) (*statement, []string) {
	s := r.selectRows(nil, nil)
	if tag != "" {
		r.groupable(tag)
		s.group = []string{tag}
	}
	answer := r.valueNames(len(fields))
	for i, field := range fields {
		if a == query.Count && !r.selection().Sure(field) {
			answer[i] = zeroPrefix + answer[i]
		}
		answer[i] = prefix + answer[i]
		s.columns = append(s.columns, alias(r.aggregateOf(a, field), answer[i]))
	}
	s.columns = append(s.columns, r.witnessColumns("count", fields)...)
	return s, answer
}

// totals renders the Totals shape. Without buckets, InfluxQL returns a meaningless time with each
// aggregate.
func (r *renderer) totals(q query.Totals) *statement {
	s, _ := r.aggregateStatement("", q.Aggregate, q.Fields, q.GroupBy)
	s.columns = append([]string{untimed}, s.columns...)
	return s
}

// groupByGroup explains why openGemini cannot order the buckets of several groups by time.
const groupByGroup = "buckets by time in several groups: openGemini returns them group by group, whatever statement surrounds them"

// buckets renders the Buckets shape. InfluxQL returns the groups one after the other as series; if the
// query orders buckets by time, an outer statement merges them.
func (r *renderer) buckets(q query.Buckets) *statement {
	s, names := r.aggregateStatement("", q.Aggregate, q.Fields, q.GroupBy)
	s.bucket = q.Width
	merged := &statement{columns: idents(append(slices.Clone(s.group), names...)), inner: r.alignTimes(s, q.Aggregate, names, q.Fields), limit: q.Limit}
	nulls := slices.ContainsFunc(q.Fields, func(f string) bool { return !r.selection().Sure(f) })
	newest, in := q.Order == query.Descending, r.q.In
	switch {
	case q.GroupBy == "" || r.oneGroup(q.GroupBy):
		s.newest = newest
		if nulls && q.Limit > 0 { // InfluxQL limits the values of each column, not rows
			merged.newest = newest
			return merged
		}
		s.limit = q.Limit
		return s
	case q.Order == query.Unordered:
		return s
	case r.gemini:
		return r.setUnsupported("%s", groupByGroup)
	case in != nil && in.Key == q.GroupBy && (newest || nulls):
		return r.groupsApart(&q, names)
	case newest:
		return r.setUnsupported("newest buckets first and groups in descending order: InfluxQL orders by time alone")
	case nulls:
		return r.setUnsupported("groups of one time in order where values can be NULL: InfluxQL sets a group without any value apart")
	}
	return merged
}

// alignTimes returns a statement of buckets as a subquery whose rows are merged with others by time, with
// those of min and max at the starts of buckets. InfluxDB since 1.8, and 2, keeps them at the times of
// the points found, until it responds, and would merge by these. The sum of a bucket's single value has
// no such time.
func (r *renderer) alignTimes(s *statement, a query.Aggregate, answer, fields []string) *statement {
	if a != query.Min && a != query.Max {
		return s
	}
	around := &statement{inner: s, group: s.group, bucket: s.bucket}
	for _, field := range r.selection().Witnesses(fields) {
		answer = append(slices.Clip(answer), ownName(field))
	}
	for _, name := range answer {
		around.columns = append(around.columns, alias(call("sum", name), name))
	}
	return around
}

// groupsApart renders the buckets of the groups that the filter names, with a subquery for each.
// InfluxDB merges the rows of several subqueries like those of series: rows of equal time are ordered
// by the tag, as long as its name comes first among the column names; see orders.
func (r *renderer) groupsApart(q *query.Buckets, names []string) *statement {
	behind := q.GroupBy + " "
	all := &statement{columns: []string{Ident(q.GroupBy)}, newest: q.Order == query.Descending, limit: q.Limit}
	for _, name := range names {
		all.columns = append(all.columns, alias(Ident(behind+name), name))
	}
	for _, value := range distinct(r.q.In.Values) {
		one := *r.q
		one.In = &query.TagIn{Key: q.GroupBy, Values: []string{value}}
		group := &renderer{q: &one, table: r.table, schema: r.schema, gemini: r.gemini}
		s, groupNames := group.aggregateStatement(behind, q.Aggregate, q.Fields, q.GroupBy)
		s.bucket = q.Width
		s = group.alignTimes(s, q.Aggregate, groupNames, q.Fields)
		r.fail(group.err)
		if all.inner == nil {
			all.inner = s
		} else {
			all.further = append(all.further, s)
		}
	}
	return all
}

package influxdb

import (
	"slices"

	"github.com/tsmark/tsmark/query"
)

// functions are the names of aggregates in InfluxQL.
func functions() map[query.Aggregate]string {
	return map[query.Aggregate]string{query.Max: "max", query.Min: "min", query.Avg: "mean", query.Sum: "sum", query.Count: "count"}
}

// aggregated returns the statement that aggregates fields, in groups of a tag if
// there is one, and the names of its columns that are the answer. Each name begins
// with the prefix.
func (r *renderer) aggregated(prefix string, a query.Aggregate, fields []string, tag string) (*statement, []string, error) {
	if err := r.groupable(tag); err != nil {
		return nil, nil, err
	}
	where, err := r.where()
	if err != nil {
		return nil, nil, err
	}
	s := &statement{from: r.q.Table, where: where}
	if tag != "" {
		s.group = []string{tag}
	}
	answer := r.valueNames(len(fields))
	for i, field := range fields {
		if a == query.Count && !r.sure(field) {
			answer[i] = zeroPrefix + answer[i]
		}
		answer[i] = prefix + answer[i]
		s.columns = append(s.columns, as(call(functions()[a], field), answer[i]))
	}
	s.columns = append(s.columns, counts(r.witnesses(fields))...)
	return s, answer, nil
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

// totals renders the Totals shape. Without buckets, InfluxQL sets a time beside
// each aggregate that means nothing.
func (r *renderer) totals(q query.Totals) (*statement, error) {
	s, _, err := r.aggregated("", q.Aggregate, q.Fields, q.GroupBy)
	if err != nil {
		return nil, err
	}
	s.columns = append([]string{as("time", timeColumn)}, s.columns...)
	return s, nil
}

// bucketed is aggregated with buckets.
func (r *renderer) bucketed(prefix string, q *query.Buckets) (*statement, []string, error) {
	s, names, err := r.aggregated(prefix, q.Aggregate, q.Fields, q.GroupBy)
	if err != nil {
		return nil, nil, err
	}
	s.bucket = q.Width
	s.where = append(s.where, r.untilTheEnd()...)
	return s, names, nil
}

// buckets renders the Buckets shape. InfluxQL returns a series for each group,
// one after the other; where the query wants them by time, a statement around it
// merges them.
func (r *renderer) buckets(q query.Buckets) (*statement, error) {
	s, names, err := r.bucketed("", &q)
	if err != nil {
		return nil, err
	}
	outer := idents(append(slices.Clone(s.group), names...))
	nulls := slices.ContainsFunc(q.Fields, func(f string) bool { return !r.sure(f) })
	newest, in := q.Order == query.Descending, r.q.In
	switch {
	case q.GroupBy == "" || r.oneGroup(q.GroupBy):
		s.newest = newest
		if nulls && q.Limit > 0 {
			// InfluxQL limits the values of each column, not rows.
			return &statement{columns: outer, inner: s, newest: newest, limit: q.Limit}, nil
		}
		s.limit = q.Limit
		return s, nil
	case q.Order == query.Unordered:
		return s, nil
	case in != nil && in.Key == q.GroupBy && (newest || nulls):
		return r.groupsApart(&q, names)
	case newest:
		return nil, unsupported("newest buckets first and groups in descending order: InfluxQL orders by time alone")
	case nulls:
		return nil, unsupported("groups of one time in order where values can be NULL: InfluxQL sets a group without any value apart")
	}
	return &statement{columns: outer, inner: s, limit: q.Limit}, nil
}

// groupsApart renders buckets of the groups that the filter names, each by
// a subquery of its own. InfluxDB merges the rows of several subqueries as it
// merges those of series: those of one time by the tag, as long as no other
// column's name comes before its; see orders.
func (r *renderer) groupsApart(q *query.Buckets, names []string) (*statement, error) {
	behind := q.GroupBy + " "
	all := &statement{columns: []string{ident(q.GroupBy)}, newest: q.Order == query.Descending, limit: q.Limit}
	for _, name := range names {
		all.columns = append(all.columns, as(ident(behind+name), name))
	}
	for _, value := range distinct(r.q.In.Values) {
		one := *r.q
		one.In = &query.TagIn{Key: q.GroupBy, Values: []string{value}}
		group := &renderer{q: &one, table: r.table, schema: r.schema}
		s, _, err := group.bucketed(behind, q)
		if err != nil {
			return nil, err
		}
		if all.inner == nil {
			all.inner = s
		} else {
			all.further = append(all.further, s)
		}
	}
	return all, nil
}

// distinct returns values once each.
func distinct(values []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(values)))
}

// untilTheEnd returns a bound for statements with buckets of time, which end
// with the present unless they are told otherwise.
func (r *renderer) untilTheEnd() []string {
	if !r.q.End.IsZero() {
		return nil
	}
	return []string{lastTime}
}

// lastTime is true of every time that InfluxDB can hold.
const lastTime = "time <= 9223372036854775806"

package influxdb

import (
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/query"
)

// functions are the names of aggregates in InfluxQL.
func functions() map[query.Aggregate]string {
	return map[query.Aggregate]string{query.Max: "max", query.Min: "min", query.Avg: "mean", query.Sum: "sum", query.Count: "count"}
}

// aggregated returns the statement that aggregates the fields that are asked
// for, in groups where there are any, and the names of its columns that are the
// answer. Each name begins with the prefix.
func (r *renderer) aggregated(prefix string) (*statement, []string, error) {
	q := r.q
	function := functions()[q.Aggregate]
	if function == "" {
		return nil, nil, unsupported("the aggregate %s", q.Aggregate)
	}
	if err := r.groupable(q.GroupBy); err != nil {
		return nil, nil, err
	}
	where, err := r.where()
	if err != nil {
		return nil, nil, err
	}
	s := &statement{from: q.Table, where: where}
	if q.GroupBy != "" {
		s.group = []string{q.GroupBy}
	}
	names := r.aggregateNames()
	for i, field := range q.Fields {
		names[i] = prefix + names[i]
		s.columns = append(s.columns, as(call(function, field), names[i]))
	}
	s.columns = append(s.columns, counts(r.witnesses(q.Fields))...)
	return s, names, nil
}

// aggregateNames returns the names of an answer's columns of aggregates.
func (r *renderer) aggregateNames() []string {
	columns := r.q.Columns(r.table)
	columns = columns[len(columns)-len(r.q.Fields):]
	names := make([]string, len(columns))
	for i, field := range r.q.Fields {
		if names[i] = columns[i].Name; r.q.Aggregate == query.Count && !r.sure(field) {
			names[i] = zeroPrefix + names[i]
		}
	}
	return names
}

// totals renders the Totals shape. Without buckets, InfluxQL sets a time beside
// each aggregate that means nothing.
func (r *renderer) totals() (*statement, error) {
	if r.q.Order != query.Unordered {
		return nil, unsupported("totals in an order: InfluxQL orders by time alone")
	}
	s, _, err := r.aggregated("")
	if err != nil {
		return nil, err
	}
	s.columns = append([]string{as("time", timeColumn)}, s.columns...)
	return s, nil
}

// bucketed is aggregated with buckets.
func (r *renderer) bucketed(prefix string) (*statement, []string, error) {
	s, names, err := r.aggregated(prefix)
	if err != nil {
		return nil, nil, err
	}
	s.bucket = r.q.Bucket
	s.where = append(s.where, r.untilTheEnd()...)
	return s, names, nil
}

// buckets renders the Buckets shape. InfluxQL returns a series for each group,
// one after the other; where the question wants them by time, a query around it
// merges them.
func (r *renderer) buckets() (*statement, error) {
	q := r.q
	if q.Bucket <= 0 {
		return nil, fmt.Errorf("a bucket of %v has no width", q.Bucket)
	}
	s, names, err := r.bucketed("")
	if err != nil {
		return nil, err
	}
	outer := idents(append(slices.Clone(s.group), names...))
	nulls := slices.ContainsFunc(q.Fields, func(f string) bool { return !r.sure(f) })
	newest := q.Order == query.Descending
	switch {
	case q.GroupBy == "" || r.oneGroup():
		s.newest = newest
		if nulls && q.Limit > 0 {
			// InfluxQL limits the values of each column, not rows.
			return &statement{columns: outer, inner: s, newest: newest, limit: q.Limit}, nil
		}
		s.limit = q.Limit
		return s, nil
	case q.Order == query.Unordered:
		return s, nil
	case q.In != nil && q.In.Key == q.GroupBy && (newest || nulls):
		return r.groupsApart(names)
	case newest:
		return nil, unsupported("newest buckets first and groups in descending order: InfluxQL orders by time alone")
	case nulls:
		return nil, unsupported("groups of one time in order where values can be NULL: InfluxQL sets a group without any value apart")
	}
	return &statement{columns: outer, inner: s, limit: q.Limit}, nil
}

// groupsApart renders buckets of the groups that are asked for by name, each by
// a subquery of its own. InfluxDB merges the rows of several subqueries as it
// merges those of series: those of one time by the tag, as long as no other
// column's name comes before its; see orders.
func (r *renderer) groupsApart(names []string) (*statement, error) {
	q := r.q
	behind := q.GroupBy + " "
	all := &statement{columns: []string{ident(q.GroupBy)}, newest: q.Order == query.Descending, limit: q.Limit}
	for _, name := range names {
		all.columns = append(all.columns, as(ident(behind+name), name))
	}
	for _, value := range distinct(q.In.Values) {
		one := *q
		one.In = &query.TagIn{Key: q.GroupBy, Values: []string{value}}
		group := &renderer{q: &one, table: r.table, schema: r.schema}
		s, _, err := group.bucketed(behind)
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

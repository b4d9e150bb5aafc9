package influxdb

import (
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/query"
)

// buckets renders the Buckets shape. InfluxQL returns a series for each group,
// one after the other; where the question wants them by time, a query around it
// merges them.
func (r *renderer) buckets() (*statement, error) {
	q := r.q
	if q.Bucket <= 0 {
		return nil, fmt.Errorf("a bucket of %v has no width", q.Bucket)
	}
	if err := r.groupable(q.GroupBy); err != nil {
		return nil, err
	}
	function := map[query.Aggregate]string{query.Max: "max", query.Avg: "mean"}[q.Aggregate]
	if function == "" {
		return nil, unsupported("the aggregate %s", q.Aggregate)
	}
	where, err := r.where()
	if err != nil {
		return nil, err
	}
	s := &statement{from: q.Table, where: where, bucket: q.Bucket}
	s.where = append(s.where, r.untilTheEnd()...)
	answer := q.Columns(r.table)
	names := answer[len(answer)-len(q.Fields):]
	var outer []string
	for i, field := range q.Fields {
		s.columns = append(s.columns, as(call(function, field), names[i].Name))
		outer = append(outer, ident(names[i].Name))
	}
	s.columns = append(s.columns, counts(r.witnesses(q.Fields))...)
	nulls := slices.ContainsFunc(q.Fields, func(f string) bool { return !r.sure(f) })
	if q.GroupBy == "" {
		s.newest, s.limit = q.Order == query.Descending, q.Limit
		if nulls && q.Limit > 0 {
			// InfluxQL limits the values of each column, not rows.
			s.limit = 0
			s = &statement{columns: outer, inner: s, newest: s.newest, limit: q.Limit}
		}
		return s, nil
	}
	s.group = []string{q.GroupBy}
	switch {
	case q.Order == query.Unordered:
		return s, nil
	case q.Order == query.Descending:
		return nil, unsupported("newest buckets first and groups in descending order: InfluxQL orders by time alone")
	case nulls:
		return nil, unsupported("groups of one time in order where values can be NULL: InfluxQL sets a group without any value apart")
	}
	return &statement{columns: append([]string{ident(q.GroupBy)}, outer...), inner: s, limit: q.Limit}, nil
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

// counts returns columns of tsmark's own that count fields.
func counts(fields []string) []string {
	var columns []string
	for _, f := range fields {
		columns = append(columns, as(call("count", f), ownName(f)))
	}
	return columns
}

// ownName is the name of a column of tsmark's own about a field.
func ownName(field string) string {
	if field == nullField {
		return field
	}
	return ownPrefix + "of_" + field
}

// rows renders the Rows shape.
func (r *renderer) rows() (*statement, error) {
	q := r.q
	where, err := r.where()
	if err != nil {
		return nil, err
	}
	s := &statement{from: q.Table, where: where}
	if q.GroupBy != "" {
		s.columns = append(s.columns, ident(q.GroupBy))
	}
	s.columns = append(s.columns, idents(q.Fields)...)
	asked := slices.Clone(q.Fields)
	if q.GroupBy != "" && r.numeric(q.GroupBy) {
		asked = append(asked, q.GroupBy)
	}
	s.columns = append(s.columns, r.own(asked)...)
	return s, nil
}

// own returns columns of tsmark's own for the witnesses of what is asked.
func (r *renderer) own(asked []string) []string {
	var columns []string
	for _, w := range r.witnesses(asked) {
		if w == nullField {
			columns = append(columns, ident(w))
		} else {
			columns = append(columns, as(ident(w), ownName(w)))
		}
	}
	return columns
}

// last renders the Last shape: of each group the newest of its rows.
func (r *renderer) last() (*statement, error) {
	q := r.q
	if err := r.groupable(q.GroupBy); err != nil {
		return nil, err
	}
	where, err := r.where()
	if err != nil {
		return nil, err
	}
	asked := slices.Clone(q.Fields)
	for _, key := range q.Tags {
		if r.numeric(key) {
			asked = append(asked, key)
		}
	}
	s := &statement{from: q.Table, where: where, group: []string{q.GroupBy}, newest: true, limit: 1}
	s.columns = slices.Concat(idents(q.Tags), idents(q.Fields))
	having := q.Having
	if having == nil {
		s.columns = append(s.columns, r.own(asked)...)
		return s, nil
	}
	// The inner limit is one for each group only where the outer one has the
	// same groups.
	outer := &statement{columns: slices.Clone(s.columns), inner: s, group: s.group, newest: true}
	for _, name := range []string{having.Field, having.Over} {
		if name != "" && !slices.Contains(q.Fields, name) && !slices.Contains(q.Tags, name) {
			s.columns = append(s.columns, ident(name))
			asked = append(asked, name)
		}
	}
	s.columns = append(s.columns, r.own(asked)...)
	value := ident(having.Field)
	if having.Over != "" {
		value += " / " + ident(having.Over)
	}
	outer.where = []string{compared(value, having)}
	return outer, nil
}

// compared returns a condition on a value.
func compared(value string, c *query.Condition) string {
	if c.Below {
		return value + " < " + number(c.Value)
	}
	return value + " > " + number(c.Value)
}

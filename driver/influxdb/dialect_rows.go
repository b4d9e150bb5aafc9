package influxdb

import (
	"slices"

	"github.com/tsmark/tsmark/query"
)

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

// rows renders the Rows shape. Without a GROUP BY, a limit is one of all rows.
func (r *renderer) rows() (*statement, error) {
	q := r.q
	where, err := r.where()
	if err != nil {
		return nil, err
	}
	s := &statement{from: q.Table, where: where, newest: q.Order == query.Descending, limit: q.Limit}
	if q.GroupBy != "" {
		s.columns = append(s.columns, ident(q.GroupBy))
	}
	s.columns = append(s.columns, idents(q.Fields)...)
	asked := slices.Clone(q.Fields)
	if q.GroupBy != "" && r.numeric(q.GroupBy) {
		asked = append(asked, q.GroupBy)
	}
	s.columns = append(s.columns, r.own(asked)...)
	if !r.orders(slices.Concat(asked, r.witnesses(asked))) {
		return nil, unsupported("rows of one time in the order of %s: InfluxQL orders them by the tag or field whose name comes first, and if it is a number not at all", q.GroupBy)
	}
	return s, nil
}

// orders reports whether rows with the columns come in the order that is asked
// for. Beyond the order by time, which is all that InfluxQL promises, InfluxDB
// from 1.6 to 1.8 merges the rows of one time by their columns in the order of
// the columns' names, as long as these are texts, and backwards where time runs
// backwards.
func (r *renderer) orders(columns []string) bool {
	tag := r.q.GroupBy
	if r.q.Order == query.Unordered || tag == "" || r.oneGroup() {
		return true
	}
	return !r.numeric(tag) && !slices.ContainsFunc(columns, func(c string) bool { return c < tag })
}

// oneGroup reports whether the question is about a single value of GroupBy.
func (r *renderer) oneGroup() bool {
	in := r.q.In
	return in != nil && in.Key == r.q.GroupBy && len(distinct(in.Values)) == 1
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

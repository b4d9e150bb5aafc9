package influxdb

import (
	"fmt"
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

// rows renders the Rows shape.
func (r *renderer) rows(q query.Rows) (*statement, error) {
	where, err := r.where()
	if err != nil {
		return nil, err
	}
	s := &statement{from: r.q.Table, where: where, newest: q.Order == query.Descending}
	if q.Tag != "" {
		s.columns = append(s.columns, ident(q.Tag))
	}
	s.columns = append(s.columns, idents(q.Fields)...)
	returned := slices.Clone(q.Fields)
	if q.Tag != "" && r.numeric(q.Tag) {
		returned = append(returned, q.Tag)
	}
	s.columns = append(s.columns, r.own(returned)...)
	if !r.orders(&q, slices.Concat(returned, r.witnesses(returned))) {
		return nil, unsupported("rows of one time in the order of %s: InfluxQL orders them by the tag or field whose name comes first, and if it is a number not at all", q.Tag)
	}
	return s, nil
}

// orders reports whether rows with the columns come in the order of the query.
// Beyond the order by time, which is all that InfluxQL promises, InfluxDB from
// 1.6 to 1.8 merges the rows of one time by their columns in the order of the
// columns' names, as long as these are texts, and backwards where time runs
// backwards.
func (r *renderer) orders(q *query.Rows, columns []string) bool {
	if q.Order == query.Unordered || q.Tag == "" || r.oneGroup(q.Tag) {
		return true
	}
	return !r.numeric(q.Tag) && !slices.ContainsFunc(columns, func(c string) bool { return c < q.Tag })
}

// oneGroup reports whether the query is about a single value of a tag.
func (r *renderer) oneGroup(tag string) bool {
	in := r.q.In
	return in != nil && in.Key == tag && len(distinct(in.Values)) == 1
}

// own returns columns of tsmark's own for the witnesses of what is returned.
func (r *renderer) own(returned []string) []string {
	var columns []string
	for _, w := range r.witnesses(returned) {
		if w == nullField {
			columns = append(columns, ident(w))
		} else {
			columns = append(columns, as(ident(w), ownName(w)))
		}
	}
	return columns
}

// last renders the Last shape: of each group the newest of its rows.
func (r *renderer) last(q query.Last) (*statement, error) {
	if err := r.groupable(q.By); err != nil {
		return nil, err
	}
	where, err := r.where()
	if err != nil {
		return nil, err
	}
	returned := slices.Clone(q.Fields)
	for _, key := range q.Tags {
		if r.numeric(key) {
			returned = append(returned, key)
		}
	}
	s := &statement{from: r.q.Table, where: where, group: []string{q.By}, newest: true, limit: 1}
	s.columns = slices.Concat(idents(q.Tags), idents(q.Fields))
	having := q.Having
	if having == nil {
		s.columns = append(s.columns, r.own(returned)...)
		return s, nil
	}
	// The inner limit is one for each group only where the outer one has the
	// same groups.
	outer := &statement{columns: slices.Clone(s.columns), inner: s, group: s.group, newest: true}
	value := ident(having.Field)
	if having.Over != "" {
		value += " / " + ident(having.Over)
		if !slices.Contains(q.Tags, having.Over) {
			s.columns = append(s.columns, ident(having.Over))
			returned = append(returned, having.Over)
		}
	}
	s.columns = append(s.columns, r.own(returned)...)
	outer.where = []string{compared(value, having.Compare, having.Value)}
	return outer, nil
}

// compared returns a condition on a value.
func compared(value string, c query.Comparison, bound float64) string {
	return fmt.Sprintf("%s %s %s", value, c, number(bound))
}

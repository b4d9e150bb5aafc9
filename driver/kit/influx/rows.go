package influx

import (
	"slices"

	"github.com/tsmark/tsmark/query"
)

// rows renders the Rows shape.
func (r *renderer) rows(q query.Rows) *statement {
	s := r.selectRows(nil, nil)
	s.newest = q.Order == query.Descending
	if q.Tag != "" {
		s.columns = []string{Ident(q.Tag)}
	}
	returned := slices.Concat(q.Fields, r.numbers(q.Tag))
	s.columns = slices.Concat(s.columns, idents(q.Fields), r.witnessColumns("", returned))
	if !r.orders(&q, slices.Concat(returned, r.selection().Witnesses(returned))) {
		r.setUnsupported("rows of one time in the order of %s: InfluxQL orders them by the tag or field whose name comes first, and if it is a number not at all", q.Tag)
	}
	return s
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

// last renders the Last shape: of each group the newest of its rows. A statement
// around it chooses among these; the inner limit is one for each group only where
// the outer one has the same groups.
func (r *renderer) last(q query.Last) *statement {
	r.groupable(q.By)
	if r.gemini && !r.oneGroup(q.By) {
		return r.geminiLast(q)
	}
	s := r.selectRows(slices.Concat(idents(q.Tags), idents(q.Fields)), []string{q.By})
	s.newest, s.limit = true, 1
	returned, outer := slices.Concat(q.Fields, r.numbers(q.Tags...)), s
	if having := q.Having; having != nil {
		outer = &statement{columns: slices.Clone(s.columns), inner: s, group: s.group, newest: true}
		value := Ident(having.Field)
		if having.Over != "" {
			value += " / " + Ident(having.Over)
			if !slices.Contains(q.Tags, having.Over) {
				s.columns, returned = append(s.columns, Ident(having.Over)), append(returned, having.Over)
			}
		}
		outer.where = []string{comparison(value, having.Compare, having.Value)}
	}
	s.columns = append(s.columns, r.witnessColumns("", returned)...)
	return outer
}

// geminiLast renders the Last shape for openGemini, whose LIMIT is one of all groups
// together. Its last() returns the row in which a field was last set: that is the
// newest where each row has the field.
func (r *renderer) geminiLast(q query.Last) *statement {
	fields := slices.Clone(q.Fields)
	at := slices.IndexFunc(fields, r.selection().Sure)
	if at < 0 || q.Having != nil {
		return r.setUnsupported("the newest row of each group where its values may be NULL: openGemini's LIMIT is one of all groups together, and its last() passes over NULL")
	}
	columns := idents(fields)
	columns[at] = alias(call("last", fields[at]), fields[at])
	return r.selectRows(slices.Concat(idents(q.Tags), columns), []string{q.By})
}

// witnessColumns returns columns of tsmark's own, a function of each field, that mark a row as present if all
// of its returned fields are NULL.
func (r *renderer) witnessColumns(function string, returned []string) []string {
	var columns []string
	for _, field := range r.selection().Witnesses(returned) {
		columns = append(columns, alias(call(function, field), ownName(field)))
	}
	return columns
}

// ownName is the name of a column of tsmark's own about a field.
func ownName(field string) string {
	if field == NullField {
		return field
	}
	return OwnPrefix + "of_" + field
}

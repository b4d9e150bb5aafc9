package sql

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// writeWhere writes the conditions that the query sets. The table of series is
// joined where from is set, and queried in a subquery where not.
func (r *renderer) writeWhere(indent, from string) {
	r.conditions(indent, append(r.ofSeries(from), r.ofRows(from)...))
}

// conditions writes a WHERE.
func (r *renderer) conditions(indent string, conditions []string) {
	for i, c := range conditions {
		word := "WHERE"
		if i > 0 {
			word = "  AND"
		}
		r.line("%s%s %s", indent, word, c)
	}
}

// ofSeries returns the conditions on tags.
func (r *renderer) ofSeries(from string) []string {
	var conditions []string
	if in := r.q.In; in != nil {
		name := r.Ident(in.Key)
		if (r.Indexed || r.Newest == LatestOn && r.last()) && slices.ContainsFunc(in.Values, func(v string) bool { return strings.Contains(v, "'") }) {
			name += "::varchar" // QuestDB 9.3 looks such symbols up in its index with the quotes doubled, and finds none
		}
		condition := fmt.Sprintf("%s IN (%s)", name, strings.Join(r.values(in), ", "))
		switch {
		case r.Wide:
		case from != "":
			condition = r.tags + "." + condition
		default:
			condition = r.inSeries()
		}
		if !r.Narrow {
			conditions = append(conditions, condition)
		}
	}
	if from != "" || r.Wide {
		for _, key := range r.present() {
			conditions = append(conditions, r.tag(key)+" IS NOT NULL")
		}
	}
	return conditions
}

// inSeries returns the condition that a row's series has one of the filter's
// values.
func (r *renderer) inSeries() string {
	return fmt.Sprintf("%s IN (SELECT %s FROM %s WHERE %s IN (%s))",
		r.tagsID(), r.id(), r.tags, r.Ident(r.q.In.Key), strings.Join(r.values(r.q.In), ", "))
}

// OfTag returns the condition that a row's series has the value in a tag. Wide tables need no schema.
func (d *Dialect) OfTag(s *series.Schema, t *series.Table, key, value string) string {
	r := renderer{Dialect: d, q: &query.Query{In: &query.TagIn{Key: key, Values: []string{value}}}, table: t}
	if !d.Wide {
		r.tags = d.Ident(TagsTable(s, t))
		return r.inSeries()
	}
	return d.Ident(key) + " = " + r.values(r.q.In)[0]
}

// OfSeries returns the conditions that a row of a wide table is one of a series.
func (d *Dialect) OfSeries(t *series.Table, id uint32) []string {
	conditions := make([]string, len(t.Tags))
	for i := range t.Tags {
		tag := &t.Tags[i]
		value, ok := tag.Values.Append(nil, id)
		number, _ := strconv.ParseFloat(string(value), 64)
		switch {
		case !ok:
			conditions[i] = d.Ident(tag.Key) + " IS NULL"
		case tag.Numeric():
			conditions[i] = d.Ident(tag.Key) + " = " + Double(number)
		default:
			conditions[i] = d.Ident(tag.Key) + " = " + d.Text(string(value))
		}
	}
	return conditions
}

// values returns the literals of a filter's values.
func (r *renderer) values(in *query.TagIn) []string {
	values := make([]string, len(in.Values))
	for i, v := range in.Values {
		if values[i] = r.Text(v); (r.Wide || r.Typed) && r.table.Tag(in.Key).Numeric() {
			n, _ := strconv.ParseFloat(v, 64) // check has done so
			values[i] = Double(n)
		}
	}
	return values
}

// ofRows returns the conditions on the table of rows alone.
func (r *renderer) ofRows(from string) []string {
	var conditions []string
	if filter := r.q.Filter; filter != nil {
		for _, name := range filter.Fields() {
			conditions = append(conditions, from+r.Ident(name)+r.compareField(filter, r.table.Fields[r.table.FieldIndex(name)].Type))
		}
	}
	if a := r.q.Activity(); a != nil {
		conditions = append(conditions, fmt.Sprintf("%s%s IS NOT NULL", from, r.Ident(a.Field)))
	}
	for _, name := range r.q.RequiredFields(r.table) {
		conditions = append(conditions, from+r.Ident(name)+" IS NOT NULL")
	}
	if r.Narrow {
		return conditions // fromRows has set the others
	}
	return append(conditions, r.ofTime(from)...)
}

// compareField returns the comparison of a field of the type, without the field.
func (r *renderer) compareField(f *query.ValueFilter, t series.Type) string {
	if !t.Integer() {
		return fmt.Sprintf(" %s %s", f.Compare, Double(f.Value))
	}
	c, n := f.Compare.Wholes(f.Value, t)
	switch least, most := t.Bounds(); {
	case c == query.AtLeast && n == least, c == query.Greater && n == math.MinInt64 && r.LeastIsNull:
		return " IS NOT NULL" // all are
	case c == query.Equal && n == least && r.LeastIsNull:
		c, n = query.Greater, most // none is
	}
	return fmt.Sprintf(" %s %d", c, n)
}

// ofTime returns the conditions on a row's time.
func (r *renderer) ofTime(from string) []string {
	var conditions []string
	if r.single() && !r.NoEqualTimes {
		return []string{fmt.Sprintf("%s%s = %s", from, r.time(), r.Time(r.roundUp(r.q.Start)))}
	}
	if !r.q.Start.IsZero() {
		conditions = append(conditions, fmt.Sprintf("%s%s >= %s", from, r.time(), r.Time(r.roundUp(r.q.Start))))
	}
	if !r.q.End.IsZero() {
		conditions = append(conditions, fmt.Sprintf("%s%s < %s", from, r.time(), r.Time(r.roundUp(r.q.End))))
	}
	return conditions
}

// single reports whether only one time that the database can name is within the
// bounds.
func (r *renderer) single() bool {
	q := r.q
	return !q.Start.IsZero() && !q.End.IsZero() && r.roundUp(q.End).Sub(r.roundUp(q.Start)) == r.Precision
}

// last reports whether the query is about newest rows.
func (r *renderer) last() bool {
	_, last := r.q.Shape.(query.Last)
	return last
}

// present returns the tags that a row must have and that no filter demands.
func (r *renderer) present() []string {
	return slices.DeleteFunc(r.q.Demands(), func(key string) bool { return r.q.In != nil && r.q.In.Key == key })
}

// roundUp returns the first time at or after t that the database can name.
func (d *Dialect) roundUp(t time.Time) time.Time {
	ns := t.UnixNano()
	down := query.BucketOf(ns, d.Precision)
	if down < ns {
		down += int64(d.Precision)
	}
	return time.Unix(0, down).UTC()
}

// having writes a HAVING of conditions on groups of a tag's.
func (r *renderer) having(indent string, conditions ...string) {
	if r.EmptyGroups && r.selective() {
		conditions = append([]string{"count(*) > 0"}, conditions...)
	}
	if len(conditions) > 0 {
		r.line("%sHAVING %s", indent, strings.Join(conditions, " AND "))
	}
}

// selective reports whether the query is about some of a series' rows.
func (r *renderer) selective() bool {
	number := func(key string) bool { return r.table.Tag(key).Numeric() }
	in := r.q.In
	return len(r.ofRows("")) > 0 || in != nil && number(in.Key) || slices.ContainsFunc(r.present(), number)
}

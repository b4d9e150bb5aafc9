package sql

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/query"
)

// newestRows writes the Last shape. An inner query finds the newest time of each
// series from two columns, which is far cheaper than sorting whole rows. Few
// rows are then left to choose from, where several series share the tag's
// value or a series has several rows at one time.
func (r *renderer) newestRows(s query.Last) {
	if r.Newest == LastBy {
		r.lastBy(s)
		return
	}
	from, tag, having := r.columnPrefix(), r.tag(s.By), s.Having
	if having != nil || r.numbers() {
		names := []string{r.time()}
		for _, c := range r.q.Columns(r.table)[1:] {
			names = append(names, r.Ident(c.Name))
		}
		r.line("SELECT %s", strings.Join(names, ", "))
		r.line("FROM (")
	}
	if r.Newest == DistinctOn || r.Newest == Lateral {
		r.line("SELECT DISTINCT ON (%s)", tag)
	} else {
		r.line("SELECT")
	}
	time := from + r.time()
	if r.Newest == MaxRow {
		time = fmt.Sprintf("max(%s) AS %s", time, r.time())
	}
	selected := []string{time, tag}
	for _, key := range s.Tags {
		selected = append(selected, r.tag(key))
	}
	r.list("  ", append(selected, r.fields(from, s.Fields)...))
	if having != nil && having.Over != "" {
		r.appendToLine(",\n  %s AS divisor", r.tag(having.Over))
	}
	if r.numbers() {
		r.appendToLine(",\n  row_number() OVER (PARTITION BY %s ORDER BY %s DESC) AS newest", tag, time)
	}
	r.newest(from, tag)
	if r.numbers() {
		r.line(") AS newest_rows")
		r.line("WHERE newest = 1")
	}
	if having != nil {
		word := "  AND"
		if !r.numbers() {
			r.line(") AS newest_rows")
			word = "WHERE"
		}
		value := r.Ident(having.Field)
		if having.Over != "" {
			value += " / divisor"
		}
		r.line("%s %s", word, comparison(value, having.Compare, having.Value))
	}
}

// numbers reports whether the newest row is the first by ROW_NUMBER.
func (r *renderer) numbers() bool { return r.Newest == Numbered || r.Newest == Joined }

// newest writes where the newest rows of a tag's values come from.
func (r *renderer) newest(from, tag string) {
	id, time := r.tagsID(), r.time()
	switch {
	case r.Newest == LimitBy:
		key := id
		if r.Wide {
			key = tag // from is empty then
		}
		r.line("FROM %s", r.rows)
		r.joinTags("")
		r.line("WHERE (%s, %s) IN (", from+key, from+time)
		r.line("  SELECT %s, max(%s)", key, time)
		r.line("  FROM %s", r.rows)
		r.writeWhere("  ", "")
		r.line("  GROUP BY 1")
		r.line(")")
		for _, c := range append(r.ofSeries(from), r.ofRows(from)...) {
			r.line("  AND %s", c)
		}
		if !r.Wide {
			r.line("ORDER BY %s, %s%s DESC", tag, from, time)
		}
		r.line("LIMIT 1 BY %s", tag)
	case r.Wide && r.Newest == Numbered:
		r.line("FROM %s", r.rows)
		r.line("JOIN (")
		r.line("  SELECT %s AS newest_tag, max(%s) AS newest_time", tag, time)
		r.line("  FROM %s", r.rows)
		r.writeWhere("  ", "")
		r.line("  GROUP BY 1")
		r.line(") AS newest ON newest_tag = %s AND newest_time = %s", tag, time)
		r.writeWhere("", "")
	case r.Wide && r.Newest != LatestOn:
		r.line("FROM %s", r.rows)
		r.writeWhere("", from)
		r.line("ORDER BY %s, %s DESC", tag, time)
	case r.Newest == Lateral:
		r.line("FROM %s", r.tags)
		r.line("CROSS JOIN LATERAL (")
		r.line("  SELECT *")
		same := fmt.Sprintf("%s%s = %s.%s", from, id, r.tags, r.id())
		r.fromRows("  ", same)
		conditions := r.ofRows("")
		if !r.Narrow {
			conditions = append([]string{same}, conditions...)
		}
		r.conditions("  ", conditions)
		r.line("  ORDER BY %s DESC", time)
		r.line("  LIMIT 1")
		r.line(") AS %s", r.rows)
		r.conditions("", r.ofSeries(from))
		r.line("ORDER BY %s, %s%s DESC", tag, from, time)
	case r.Newest == DistinctOn, r.Newest == Joined:
		r.line("FROM %s", r.rows)
		r.joinTags("")
		r.line("JOIN (")
		r.line("  SELECT %s, max(%s) AS %[2]s", id, time)
		r.line("  FROM %s", r.rows)
		r.writeWhere("  ", "")
		r.line("  GROUP BY 1")
		r.line(") AS newest ON newest.%s = %s%[1]s AND newest.%[3]s = %[2]s%[3]s", id, from, time)
		r.writeWhere("", from)
		if r.Newest == Joined {
			return
		}
		r.line("ORDER BY %s, %s%s DESC", tag, from, time)
	case r.Narrow && r.Newest == Numbered:
		r.fromRows("", r.newestOfSeries())
		r.joinTags("")
		r.writeWhere("", from)
	case r.Newest == MaxRow, r.Newest == Numbered:
		// An index of series and time finds each newest time at once.
		r.line("FROM %s", r.tags)
		r.line("JOIN %s ON %[1]s.%s = %s.%s AND %[1]s.%[5]s = (", r.rows, id, r.tags, r.id(), time)
		if r.Newest == MaxRow {
			r.line("  SELECT max(%s)", time)
		} else {
			r.line("  SELECT %s", time)
		}
		r.line("  FROM %s", r.rows)
		r.line("  WHERE %s = %s.%s", id, r.tags, r.id())
		for _, c := range r.ofRows("") {
			r.line("    AND %s", c)
		}
		if r.Newest == Numbered {
			r.line("  ORDER BY %s DESC", time)
			r.line("  LIMIT 1")
		}
		r.line(")")
		r.writeWhere("", from)
		if r.Newest == MaxRow {
			r.line("GROUP BY %s", tag)
		}
	case r.Newest == LatestOn:
		r.line("FROM %s", r.rows)
		r.writeWhere("", from)
		r.line("LATEST ON %s PARTITION BY %s", time, tag)
	}
}

// newestOfSeries returns the condition that the row of a narrow table's value is the newest of its
// series, which an index of series and time finds at once. It is empty if only some rows count and
// the values that select them are in rows of their own.
func (r *renderer) newestOfSeries() string {
	if r.q.Filter != nil {
		return ""
	}
	id, time := r.tagsID(), r.time()
	conditions := append([]string{fmt.Sprintf("%s = %s.%s", id, r.tags, r.id())}, r.ofTime("")...)
	return fmt.Sprintf("(%s, %s) IN (SELECT %s, (SELECT %[2]s FROM %[4]s WHERE %[5]s ORDER BY %[2]s DESC LIMIT 1) FROM %[6]s)",
		id, time, r.id(), r.rows, strings.Join(conditions, " AND "), r.tags)
}

// lastBy writes the Last shape by the values at the latest time of each group.
func (r *renderer) lastBy(s query.Last) {
	latest, by := "last", "last_by"
	text := func(name string) bool {
		f := r.table.FieldIndex(name)
		return f < 0 && !r.table.Tag(name).Numeric() || f >= 0 && r.table.Fields[f].Type.Textual()
	}
	if r.table.Tag(s.By).Numeric() && slices.ContainsFunc(slices.Concat(s.Tags, s.Fields), text) {
		latest, by = "max", "max_by"
	}
	last := func(name string) string { return fmt.Sprintf("%s(%s, %s)", by, r.Ident(name), r.time()) }
	columns := []string{fmt.Sprintf("%s(%s) AS %[2]s", latest, r.time()), r.Ident(s.By)}
	for _, name := range slices.Concat(s.Tags, s.Fields) {
		columns = append(columns, last(name)+" AS "+r.Ident(name))
	}
	r.line("SELECT")
	r.list("  ", columns)
	r.fromJoined("")
	r.line("GROUP BY 2")
	var conditions []string
	if c := s.Having; c != nil {
		value := last(c.Field)
		if c.Over != "" {
			value += " / " + last(c.Over)
		}
		conditions = append(conditions, comparison(value, c.Compare, c.Value))
	}
	r.having("", conditions...)
}

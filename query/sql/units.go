package sql

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/query"
)

// tagColumns returns the tags as selected from the joined tables, and as named in an outer query.
func (r *renderer) tagColumns(keys []string) (inner, outer []string) {
	for _, key := range keys {
		inner, outer = append(inner, r.tag(key)), append(outer, r.Ident(key))
	}
	return inner, outer
}

// valueNames returns the names of the answer's last columns.
func (r *renderer) valueNames(n int) []string {
	columns := r.q.Columns(r.table)
	names := make([]string, n)
	for i, column := range columns[len(columns)-n:] {
		names[i] = r.Ident(column.Name)
	}
	return names
}

// means writes the Means shape.
func (r *renderer) means(s query.Means) {
	group, outer := r.tagColumns(s.Group)
	var means []string
	for _, field := range s.Fields {
		means = append(means, r.mean(field))
	}
	for _, key := range s.MeanTags {
		means = append(means, fmt.Sprintf("avg(%s)", r.tag(key)))
	}
	names, having := r.valueNames(len(means)), s.Having
	expressions := append(group, aliasAll(means, names)...)
	switch {
	case having == nil:
		r.groups("", len(group), expressions)
		r.having("")
	case !r.NoHaving:
		r.groups("", len(group), expressions)
		r.having("", comparison(r.mean(having.Field), having.Compare, having.Value))
	default:
		r.line("SELECT %s", strings.Join(append(outer, names...), ", "))
		r.line("FROM (")
		r.groups("  ", len(group), expressions)
		r.line(") AS groups_of_rows")
		r.line("WHERE %s", comparison(names[slices.Index(s.Fields, having.Field)], having.Compare, having.Value))
	}
}

// groups writes the query of expressions by the first of them.
func (r *renderer) groups(indent string, keys int, expressions []string) {
	r.line("%sSELECT", indent)
	r.list(indent+"  ", expressions)
	r.fromJoined(indent)
	r.line("%sGROUP BY %s", indent, numbers(keys))
}

// unitMeans writes the UnitMeans shape.
func (r *renderer) unitMeans(s query.UnitMeans) {
	group, outer := r.tagColumns(s.Group)
	names := r.valueNames(len(s.Fields))
	means := make([]string, len(s.Fields))
	for i, field := range s.Fields {
		means[i] = r.mean(field)
		if s.Over != "" {
			means[i] += " / " + r.tag(s.Over)
		}
		outer = append(outer, fmt.Sprintf("avg(%s) AS %[1]s", names[i]))
	}
	r.line("SELECT")
	r.list("  ", outer)
	r.line("FROM (")
	r.line("  SELECT")
	r.list("    ", append(group, aliasAll(means, names)...))
	r.fromJoined("  ")
	r.line("  GROUP BY %s, %s", numbers(len(s.Group)), r.tag(s.Unit))
	r.having("  ")
	r.line(") AS units")
	r.line("GROUP BY %s", numbers(len(s.Group)))
}

// mean returns the mean of a field.
func (r *renderer) mean(field string) string {
	return fmt.Sprintf("avg(%s%s%s)", r.columnPrefix(), r.Ident(field), r.asDouble(field))
}

// aliasAll gives names to expressions.
func aliasAll(expressions, names []string) []string {
	list := make([]string, len(expressions))
	for i, e := range expressions {
		list[i] = e + " AS " + names[i]
	}
	return list
}

// fromJoined writes the joined tables and the conditions.
func (r *renderer) fromJoined(indent string) {
	r.fromRows(indent, "")
	r.joinTags(indent)
	r.writeWhere(indent, r.columnPrefix())
}

// list writes expressions, one a line.
func (r *renderer) list(indent string, expressions []string) {
	r.line("%s%s", indent, strings.Join(expressions, ",\n"+indent))
}

// numbers returns the numbers of the first n columns.
func numbers(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint(i + 1)
	}
	return strings.Join(list, ", ")
}

// comparison returns the condition that compares the expression with the value.
func comparison(expression string, c query.Comparison, value float64) string {
	return fmt.Sprintf("%s %s %s", expression, c, Double(value))
}

// The names of computed columns.
const (
	conditionColumn = "condition_value" // what a condition on a group compares
	bucketColumn    = "bucket"
	activeColumn    = "active"
	beforeColumn    = "before"
)

// activity writes the shapes that look at active buckets: first whether each
// unit's buckets are active, then what the shape makes of that.
func (r *renderer) activity() {
	const day = 24 * time.Hour
	a := r.q.Activity()
	unit := r.Ident(a.Unit)
	r.line("WITH buckets AS (")
	switch s := r.q.Shape.(type) {
	case query.ActiveUnits:
		r.buckets(a, nil)
		r.line(")")
		r.unitsWithMore(unit, s.More)
	case query.ActiveHours:
		r.buckets(a, nil)
		r.line(")")
		r.line("SELECT")
		r.list("  ", []string{unit, fmt.Sprintf("count(*) * %s / count(DISTINCT %s) AS hours", Double(a.Width.Hours()), r.Bucket(day, bucketColumn))})
		r.line("FROM buckets")
		r.line("WHERE %s", r.truth(activeColumn))
		r.line("GROUP BY 1")
	case query.ActiveShare:
		inner, outer := r.tagColumns(s.Group)
		r.buckets(a, inner)
		r.line(")")
		r.shares(a, outer, func() {
			r.line("FROM buckets")
			r.line("WHERE %s", r.truth(activeColumn))
		})
	case query.Starts:
		inner, outer := r.tagColumns(s.Group)
		r.buckets(a, inner)
		r.changes(unit, outer)
		r.line(")")
		r.line("SELECT")
		r.list("  ", append(outer, "count(*) AS starts"))
		r.line("FROM changes")
		r.line("WHERE %s AND %s", r.truth(activeColumn), r.falsehood(r.Ident(beforeColumn)))
		r.line("GROUP BY %s", numbers(len(outer)))
	case query.Sessions:
		r.buckets(a, nil)
		r.changes(unit, nil)
		r.line("), sessions AS (")
		r.line("  SELECT")
		r.list("    ", []string{unit, bucketColumn + " AS start", activeColumn,
			r.neighbor("lead", bucketColumn, 1, unit, bucketColumn) + " AS stop"})
		r.line("  FROM changes")
		r.line("  WHERE %s", r.differ(activeColumn, r.Ident(beforeColumn)))
		r.line(")")
		r.line("SELECT")
		r.list("  ", []string{r.Bucket(day, "start") + " AS day", unit, fmt.Sprintf("avg(%s) AS seconds", r.Seconds("start", "stop"))})
		r.line("FROM sessions")
		r.line("WHERE %s AND stop IS NOT NULL", r.truth(activeColumn))
		r.line("GROUP BY 1, 2")
		r.line("ORDER BY 1, 2")
	}
}

// unitsWithMore writes the units that have more active buckets.
func (r *renderer) unitsWithMore(unit string, more int) {
	if !r.NoHaving {
		r.line("SELECT %s", unit)
		r.line("FROM buckets")
		r.line("WHERE %s", r.truth(activeColumn))
		r.line("GROUP BY 1")
		r.line("HAVING count(*) > %d", more)
		return
	}
	r.line("SELECT %s", unit)
	r.line("FROM (")
	r.line("  SELECT %s, count(*) AS %s", unit, conditionColumn)
	r.line("  FROM buckets")
	r.line("  WHERE %s", r.truth(activeColumn))
	r.line("  GROUP BY 1")
	r.line(") AS units")
	r.line("WHERE %s > %d", conditionColumn, more)
}

// truth returns the condition that a computed boolean is true.
func (r *renderer) truth(column string) string {
	if r.NoBooleanNulls {
		return column + " = 1"
	}
	return column
}

// falsehood returns the condition that a computed boolean is false.
func (r *renderer) falsehood(column string) string {
	if r.NoBooleanNulls {
		return column + " = 0"
	}
	return "NOT " + column
}

// differ returns the condition that two computed booleans differ. The second one may be NULL.
func (r *renderer) differ(a, b string) string {
	condition := fmt.Sprintf("%s <> %s", a, b)
	if r.NoBooleanNulls {
		condition += fmt.Sprintf(" AND %s IS NOT NULL", b)
	}
	return condition
}

// buckets writes the query of each unit's buckets, with the group's columns.
func (r *renderer) buckets(a *query.Activity, group []string) {
	columns, holds := r.bucketColumns(a, group)
	keys := len(columns)
	if r.NoBooleanNulls {
		holds = "CASE WHEN " + holds + " THEN 1 ELSE 0 END"
	}
	r.groups("  ", keys, append(columns, holds+" AS "+activeColumn))
}

// bucketColumns returns the columns by which each unit's buckets are grouped, and the
// condition that one is active.
func (r *renderer) bucketColumns(a *query.Activity, group []string) (columns []string, holds string) {
	from := r.columnPrefix()
	measure := r.mean(a.Field)
	if a.Zeros {
		measure = fmt.Sprintf("avg(CASE WHEN %s%s = 0 THEN 1e0 ELSE 0e0 END)", from, r.Ident(a.Field))
	}
	columns = append(slices.Clone(group), r.tag(a.Unit), r.Bucket(a.Width, from+r.time())+" AS "+bucketColumn)
	return columns, comparison(measure, a.Compare, a.Value)
}

// nestedActivity writes those shapes of activity that look at active buckets alone,
// with these in a subquery.
func (r *renderer) nestedActivity() {
	const day = 24 * time.Hour
	a := r.q.Activity()
	unit := r.Ident(a.Unit)
	active := func(indent string, group []string) {
		columns, holds := r.bucketColumns(a, group)
		r.line("%sFROM (", indent)
		r.groups(indent+"  ", len(columns), columns)
		r.having(indent+"  ", holds)
		r.line("%s) AS buckets", indent)
	}
	switch s := r.q.Shape.(type) {
	case query.ActiveUnits:
		r.line("SELECT %s", unit)
		active("", nil)
		r.line("GROUP BY 1")
		r.line("HAVING count(*) > %d", s.More)
	case query.ActiveHours:
		r.line("SELECT %s, avg(hours) AS hours", unit)
		r.line("FROM (")
		r.line("  SELECT %s, %s AS day, count(*) * %s AS hours", unit, r.Bucket(day, bucketColumn), Double(a.Width.Hours()))
		active("  ", nil)
		r.line("  GROUP BY 1, 2")
		r.line(") AS days")
		r.line("GROUP BY 1")
	case query.ActiveShare:
		inner, outer := r.tagColumns(s.Group)
		r.shares(a, outer, func() { active("", inner) })
	}
}

// shares writes the ActiveShare shape; from writes where the active buckets come from.
func (r *renderer) shares(a *query.Activity, group []string, from func()) {
	const day = 24 * time.Hour
	columns := append([]string{r.Bucket(day, bucketColumn) + " AS day"}, group...)
	r.line("SELECT")
	r.list("  ", append(columns, fmt.Sprintf("count(*) / %s AS share", Double(float64(day/a.Width)))))
	from()
	r.line("GROUP BY %s", numbers(len(columns)))
	r.line("ORDER BY %s", numbers(len(columns)))
}

// changes writes the beginning of the query that combines each bucket with the previous one.
func (r *renderer) changes(unit string, group []string) {
	keys := append(slices.Clone(group), unit)
	before := r.neighbor("lag", activeColumn, 1, strings.Join(keys, ", "), bucketColumn) + " AS " + r.Ident(beforeColumn)
	r.line("), changes AS (")
	r.line("  SELECT")
	r.list("    ", append(keys, bucketColumn, activeColumn, before))
	r.line("  FROM buckets")
}

// neighbor returns the expression of a value in a row at a distance.
func (r *renderer) neighbor(function, value string, distance int, partition, order string) string {
	if r.Neighbor != nil {
		return r.Neighbor(function, value, distance, partition, order)
	}
	if distance > 1 {
		value += fmt.Sprintf(", %d", distance)
	}
	return fmt.Sprintf("%s(%s) OVER (PARTITION BY %s ORDER BY %s)", function, value, partition, order)
}

package sql

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/query"
)

// means writes the Means shape.
func (r *renderer) means() {
	q := r.q
	var group, outer, means []string
	for _, key := range q.Group {
		group, outer = append(group, r.tag(key)), append(outer, r.Ident(key))
	}
	for _, field := range q.Fields {
		means = append(means, r.mean(field))
	}
	for _, key := range q.MeanTags {
		means = append(means, fmt.Sprintf("avg(%s)", r.tag(key)))
	}
	names := make([]string, len(means))
	for i, column := range q.Columns(r.table)[len(group):] {
		names[i] = r.Ident(column.Name)
	}
	if q.Unit == "" {
		r.meansOfRows(group, append(outer, names...), named(means, names))
		return
	}
	for i, name := range names {
		outer = append(outer, fmt.Sprintf("avg(%s) AS %[1]s", name))
		if q.Over != "" {
			means[i] += " / " + r.tag(q.Over)
		}
	}
	r.line("SELECT")
	r.list("  ", outer)
	r.line("FROM (")
	r.line("  SELECT")
	r.list("    ", append(group, named(means, names)...))
	r.fromJoined("  ")
	r.line("  GROUP BY %s, %s", numbers(len(q.Group)), r.tag(q.Unit))
	r.line(") AS units")
	r.line("GROUP BY %s", numbers(len(q.Group)))
}

// meansOfRows writes means over all rows of each group.
func (r *renderer) meansOfRows(group, outer, means []string) {
	having := r.q.Having
	if having == nil || !r.NoHaving {
		r.groups("", append(group, means...))
		if having != nil {
			r.line("HAVING %s", comparison(r.mean(having.Field), having.Below, having.Value))
		}
		return
	}
	condition := conditionColumn
	if at := slices.Index(r.q.Fields, having.Field); at >= 0 {
		condition = outer[len(group)+at]
	} else {
		means = append(means, r.mean(having.Field)+" AS "+condition)
	}
	r.line("SELECT %s", strings.Join(outer, ", "))
	r.line("FROM (")
	r.groups("  ", append(group, means...))
	r.line(") AS groups_of_rows")
	r.line("WHERE %s", comparison(condition, having.Below, having.Value))
}

// groups writes the query of expressions by the Group tags.
func (r *renderer) groups(indent string, expressions []string) {
	r.line("%sSELECT", indent)
	r.list(indent+"  ", expressions)
	r.fromJoined(indent)
	r.line("%sGROUP BY %s", indent, numbers(len(r.q.Group)))
}

// mean returns the mean of a field.
func (r *renderer) mean(field string) string {
	return fmt.Sprintf("avg(%s%s)", r.from(), r.Ident(field))
}

// named gives names to expressions.
func named(expressions, names []string) []string {
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
	r.where(indent, r.from())
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

// comparison returns the condition that the expression is below or above the
// value.
func comparison(expression string, below bool, value float64) string {
	if below {
		return fmt.Sprintf("%s < %s", expression, double(value))
	}
	return fmt.Sprintf("%s > %s", expression, double(value))
}

// The names given to what is computed.
const (
	conditionColumn = "condition_value" // what a condition on a group compares
	bucketColumn    = "bucket"
	activeColumn    = "active"
	beforeColumn    = "before"
)

// activity writes the Activity shape: first whether each unit's buckets are
// active, then what is asked about that.
func (r *renderer) activity() {
	q, a := r.q, r.q.Active
	const day = 24 * time.Hour
	unit := r.Ident(q.Unit)
	var group []string
	for _, key := range q.Group {
		group = append(group, r.Ident(key))
	}
	r.line("WITH buckets AS (")
	r.buckets()
	switch a.Summary {
	case query.UnitsWithMore:
		r.line(")")
		r.unitsWithMore(unit)
	case query.HoursPerDay:
		r.line(")")
		r.line("SELECT")
		r.list("  ", []string{unit, fmt.Sprintf("count(*) * %s / count(DISTINCT %s) AS hours", double(q.Bucket.Hours()), r.Bucket(day, bucketColumn))})
		r.line("FROM buckets")
		r.line("WHERE %s", r.truth(activeColumn))
		r.line("GROUP BY 1")
	case query.SharePerDay:
		r.line(")")
		r.line("SELECT")
		columns := append([]string{r.Bucket(day, bucketColumn) + " AS day"}, group...)
		r.list("  ", append(columns, fmt.Sprintf("count(*) / %s AS share", double(float64(day/q.Bucket)))))
		r.line("FROM buckets")
		r.line("WHERE %s", r.truth(activeColumn))
		r.line("GROUP BY %s", numbers(len(columns)))
		r.line("ORDER BY %s", numbers(len(columns)))
	case query.Starts:
		r.changes(group)
		r.line(")")
		r.line("SELECT")
		r.list("  ", append(group, "count(*) AS starts"))
		r.line("FROM changes")
		r.line("WHERE %s AND %s", r.truth(activeColumn), r.falsehood(beforeColumn))
		r.line("GROUP BY %s", numbers(len(group)))
	case query.SessionPerDay:
		r.changes(nil)
		r.line("), sessions AS (")
		r.line("  SELECT")
		r.list("    ", []string{unit, bucketColumn + " AS start", activeColumn,
			fmt.Sprintf("lead(%s) OVER (PARTITION BY %s ORDER BY %[1]s) AS stop", bucketColumn, unit)})
		r.line("  FROM changes")
		r.line("  WHERE %s", r.differ(activeColumn, beforeColumn))
		r.line(")")
		r.line("SELECT")
		r.list("  ", []string{r.Bucket(day, "start") + " AS day", unit, fmt.Sprintf("avg(%s) AS seconds", r.Seconds("start", "stop"))})
		r.line("FROM sessions")
		r.line("WHERE %s AND stop IS NOT NULL", r.truth(activeColumn))
		r.line("GROUP BY 1, 2")
		r.line("ORDER BY 1, 2")
	}
}

// unitsWithMore writes the units that have more active buckets than asked.
func (r *renderer) unitsWithMore(unit string) {
	more := r.q.Active.More
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

// differ returns the condition that two computed booleans differ, of which the
// second may be NULL.
func (r *renderer) differ(a, b string) string {
	condition := fmt.Sprintf("%s <> %s", a, b)
	if r.NoBooleanNulls {
		condition += fmt.Sprintf(" AND %s IS NOT NULL", b)
	}
	return condition
}

// buckets writes the query of each unit's buckets.
func (r *renderer) buckets() {
	q, from := r.q, r.from()
	columns := []string{}
	for _, key := range q.Group {
		columns = append(columns, r.tag(key))
	}
	columns = append(columns, r.tag(q.Unit), r.Bucket(q.Bucket, from+r.time())+" AS "+bucketColumn)
	keys := len(columns)
	measure := r.mean(q.Active.Field)
	if q.Active.Zeros {
		measure = fmt.Sprintf("avg(CASE WHEN %s%s = 0 THEN 1e0 ELSE 0e0 END)", from, r.Ident(q.Active.Field))
	}
	holds := comparison(measure, q.Active.Below, q.Active.Value)
	if q.Active.AtLeast {
		holds = fmt.Sprintf("%s >= %s", measure, double(q.Active.Value))
	}
	if r.NoBooleanNulls {
		holds = "CASE WHEN " + holds + " THEN 1 ELSE 0 END"
	}
	r.line("  SELECT")
	r.list("    ", append(columns, holds+" AS "+activeColumn))
	r.fromJoined("  ")
	r.line("  GROUP BY %s", numbers(keys))
}

// changes writes the beginning of the query that sets each bucket beside the
// one before it.
func (r *renderer) changes(group []string) {
	partition := strings.Join(append(group[:len(group):len(group)], r.Ident(r.q.Unit)), ", ")
	r.line("), changes AS (")
	r.line("  SELECT")
	r.list("    ", append(group[:len(group):len(group)], r.Ident(r.q.Unit), bucketColumn, activeColumn,
		fmt.Sprintf("lag(%s) OVER (PARTITION BY %s ORDER BY %s) AS %s", activeColumn, partition, bucketColumn, beforeColumn)))
	r.line("  FROM buckets")
}

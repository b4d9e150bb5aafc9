package sql

import (
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/query"
)

// means writes the Means shape.
func (r *renderer) means() {
	q, from := r.q, r.rows+"."
	var group, means []string
	for _, key := range q.Group {
		group = append(group, r.tags+"."+r.Ident(key))
	}
	for _, field := range q.Fields {
		means = append(means, fmt.Sprintf("avg(%s%s)", from, r.Ident(field)))
	}
	for _, key := range q.MeanTags {
		means = append(means, fmt.Sprintf("avg(%s.%s)", r.tags, r.Ident(key)))
	}
	columns := q.Columns(r.table)[len(group):]
	named := func(means []string) []string {
		list := make([]string, len(means))
		for i, m := range means {
			list[i] = m + " AS " + r.Ident(columns[i].Name)
		}
		return list
	}
	if q.Unit == "" {
		r.line("SELECT")
		r.list("  ", append(group, named(means)...))
		r.fromJoined("")
		r.line("GROUP BY %s", numbers(len(q.Group)))
		if h := q.Having; h != nil {
			r.line("HAVING %s", comparison(fmt.Sprintf("avg(%s%s)", from, r.Ident(h.Field)), h.Below, h.Value))
		}
		return
	}
	var outer []string
	for _, key := range q.Group {
		outer = append(outer, r.Ident(key))
	}
	for i := range means {
		name := r.Ident(columns[i].Name)
		outer = append(outer, fmt.Sprintf("avg(%s) AS %[1]s", name))
		if q.Over != "" {
			means[i] += fmt.Sprintf(" / %s.%s", r.tags, r.Ident(q.Over))
		}
	}
	r.line("SELECT")
	r.list("  ", outer)
	r.line("FROM (")
	r.line("  SELECT")
	r.list("    ", append(group, named(means)...))
	r.fromJoined("  ")
	r.line("  GROUP BY %s, %s.%s", numbers(len(q.Group)), r.tags, r.Ident(q.Unit))
	r.line(") AS units")
	r.line("GROUP BY %s", numbers(len(q.Group)))
}

// fromJoined writes the joined tables and the conditions.
func (r *renderer) fromJoined(indent string) {
	r.line("%sFROM %s", indent, r.rows)
	r.line("%sJOIN %s ON %[2]s.%s = %s.%s", indent, r.tags, r.Ident(IDColumn), r.rows, r.Ident(TagsIDColumn))
	r.where(indent, r.rows+".")
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

// The names that the Activity shape gives to what it computes.
const (
	bucketColumn = "bucket"
	activeColumn = "active"
	beforeColumn = "before"
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
		r.line("SELECT %s", unit)
		r.line("FROM buckets")
		r.line("WHERE %s", activeColumn)
		r.line("GROUP BY 1")
		r.line("HAVING count(*) > %d", a.More)
	case query.HoursPerDay:
		r.line(")")
		r.line("SELECT")
		r.list("  ", []string{unit, fmt.Sprintf("count(*) * %s / count(DISTINCT %s) AS hours", double(q.Bucket.Hours()), r.Bucket(day, bucketColumn))})
		r.line("FROM buckets")
		r.line("WHERE %s", activeColumn)
		r.line("GROUP BY 1")
	case query.SharePerDay:
		r.line(")")
		r.line("SELECT")
		columns := append([]string{r.Bucket(day, bucketColumn) + " AS day"}, group...)
		r.list("  ", append(columns, fmt.Sprintf("count(*) / %s AS share", double(float64(day/q.Bucket)))))
		r.line("FROM buckets")
		r.line("WHERE %s", activeColumn)
		r.line("GROUP BY %s", numbers(len(columns)))
		r.line("ORDER BY %s", numbers(len(columns)))
	case query.Starts:
		r.changes(group)
		r.line(")")
		r.line("SELECT")
		r.list("  ", append(group, "count(*) AS starts"))
		r.line("FROM changes")
		r.line("WHERE %s AND NOT %s", activeColumn, beforeColumn)
		r.line("GROUP BY %s", numbers(len(group)))
	case query.SessionPerDay:
		r.changes(nil)
		r.line("), sessions AS (")
		r.line("  SELECT")
		r.list("    ", []string{unit, bucketColumn + " AS start", activeColumn,
			fmt.Sprintf("lead(%s) OVER (PARTITION BY %s ORDER BY %[1]s) AS stop", bucketColumn, unit)})
		r.line("  FROM changes")
		r.line("  WHERE %s <> %s", activeColumn, beforeColumn)
		r.line(")")
		r.line("SELECT")
		r.list("  ", []string{r.Bucket(day, "start") + " AS day", unit, fmt.Sprintf("avg(%s) AS seconds", r.Seconds("start", "stop"))})
		r.line("FROM sessions")
		r.line("WHERE %s AND stop IS NOT NULL", activeColumn)
		r.line("GROUP BY 1, 2")
		r.line("ORDER BY 1, 2")
	}
}

// buckets writes the query of each unit's buckets.
func (r *renderer) buckets() {
	q, from := r.q, r.rows+"."
	columns := []string{}
	for _, key := range q.Group {
		columns = append(columns, r.tags+"."+r.Ident(key))
	}
	columns = append(columns, r.tags+"."+r.Ident(q.Unit),
		r.Bucket(q.Bucket, from+r.Ident(TimeColumn))+" AS "+bucketColumn)
	keys := len(columns)
	measure := "avg(" + from + r.Ident(q.Active.Field) + ")"
	if q.Active.Zeros {
		measure = fmt.Sprintf("avg(CASE WHEN %s%s = 0 THEN 1e0 ELSE 0e0 END)", from, r.Ident(q.Active.Field))
	}
	holds := comparison(measure, q.Active.Below, q.Active.Value)
	if q.Active.AtLeast {
		holds = fmt.Sprintf("%s >= %s", measure, double(q.Active.Value))
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

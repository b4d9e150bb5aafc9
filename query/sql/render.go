package sql

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Render returns the query as one SELECT without a semicolon, whose columns
// are those of query.Columns. Its error says what in the query contradicts the
// schema or itself; it wraps query.ErrUnsupported for what SQL could say and
// this package or the database cannot.
func (d *Dialect) Render(q *query.Query, s *series.Schema) (string, error) {
	r := renderer{Dialect: d, q: q, table: s.Table(q.Table)}
	if r.table == nil {
		return "", fmt.Errorf("query %s: there is no table %q", q.Type, q.Table)
	}
	if err := r.check(); err != nil {
		return "", fmt.Errorf("query %s: %w", q.Type, err)
	}
	r.rows, r.tags = d.Ident(q.Table), d.Ident(TagsTable(s, r.table))
	if q.Shape == query.Last {
		r.last()
	} else {
		r.scan()
	}
	return strings.TrimSuffix(r.text.String(), "\n"), nil
}

// renderer writes one query.
type renderer struct {
	*Dialect
	q     *query.Query
	table *series.Table
	rows  string // name of the table of rows, as SQL
	tags  string // name of the table of series, as SQL
	text  strings.Builder
}

// check returns an error for a query that has no meaning, so that writing it
// cannot fail.
func (r *renderer) check() error {
	q := r.q
	if len(q.Fields) == 0 {
		return errors.New("it asks for no field")
	}
	for _, name := range q.Fields {
		if r.table.FieldIndex(name) < 0 {
			return fmt.Errorf("table %s has no field %q", q.Table, name)
		}
	}
	if q.GroupBy != "" && r.table.Tag(q.GroupBy) == nil {
		return fmt.Errorf("table %s has no tag %q", q.Table, q.GroupBy)
	}
	if in := q.In; in != nil {
		switch {
		case r.table.Tag(in.Key) == nil:
			return fmt.Errorf("table %s has no tag %q", q.Table, in.Key)
		case len(in.Values) == 0:
			return fmt.Errorf("the filter on tag %s has no values", in.Key)
		}
		for _, v := range in.Values {
			if strings.Contains(v, "\x00") {
				return fmt.Errorf("%w: SQL text cannot hold the NUL character in %s=%q", query.ErrUnsupported, in.Key, v)
			}
		}
	}
	if above := q.Above; above != nil {
		switch {
		case r.table.FieldIndex(above.Field) < 0:
			return fmt.Errorf("table %s has no field %q", q.Table, above.Field)
		case math.IsNaN(above.Value) || math.IsInf(above.Value, 0):
			return fmt.Errorf("the threshold of %s is %v, not a number", above.Field, above.Value)
		}
	}
	switch q.Shape {
	case query.Buckets:
		if q.Aggregate != query.Max && q.Aggregate != query.Avg {
			return fmt.Errorf("%w: aggregate %q", query.ErrUnsupported, q.Aggregate)
		}
		if q.Bucket <= 0 {
			return fmt.Errorf("a bucket of %v has no width", q.Bucket)
		}
		if q.Bucket%r.Precision != 0 {
			return fmt.Errorf("%w: %s cannot have buckets of %v, its times are multiples of %v",
				query.ErrUnsupported, r.Name, q.Bucket, r.Precision)
		}
	case query.Rows:
	case query.Last:
		if q.GroupBy == "" {
			return errors.New("it asks for last rows without naming a tag")
		}
		if q.Order != query.Unordered || q.Limit != 0 {
			return fmt.Errorf("%w: last rows in an order or with a limit", query.ErrUnsupported)
		}
	default:
		return fmt.Errorf("%w: shape %q", query.ErrUnsupported, q.Shape)
	}
	return nil
}

// scan writes the Buckets and Rows shapes: one pass over the table of rows.
func (r *renderer) scan() {
	from := ""
	if r.q.GroupBy != "" {
		from = r.rows + "."
	}
	r.line("SELECT")
	r.columns(from)
	r.line("FROM %s", r.rows)
	if r.q.GroupBy != "" {
		r.joinTags()
	}
	r.where("", from)
	// By number, since the bucket bears the name of the column it is made from.
	if r.q.Shape == query.Buckets {
		r.line("GROUP BY 1%s", r.second())
	}
	switch r.q.Order {
	case query.Ascending:
		r.line("ORDER BY 1%s", r.second())
	case query.Descending:
		r.line("ORDER BY 1 DESC%s", r.second())
	}
	if r.q.Limit > 0 {
		r.line("LIMIT %d", r.q.Limit)
	}
}

// second returns the number of the tag's column, for lists that begin with
// the time's, or nothing where there is no tag.
func (r *renderer) second() string {
	if r.q.GroupBy == "" {
		return ""
	}
	return ", 2"
}

// last writes the Last shape. The inner query finds the newest time of each
// series from two columns, which is far cheaper than sorting whole rows. Few
// rows are then left to choose from, where several series share the tag's
// value or a series has several rows at one time.
func (r *renderer) last() {
	from := r.rows + "."
	tag := r.tags + "." + r.Ident(r.q.GroupBy)
	id, time := r.Ident(TagsIDColumn), r.Ident(TimeColumn)
	r.line("SELECT DISTINCT ON (%s)", tag)
	r.columns(from)
	r.line("FROM %s", r.rows)
	r.joinTags()
	r.line("JOIN (")
	r.line("  SELECT %s, max(%s) AS %[2]s", id, time)
	r.line("  FROM %s", r.rows)
	r.where("  ", "")
	r.line("  GROUP BY 1")
	r.line(") AS newest ON newest.%s = %s%[1]s AND newest.%[3]s = %[2]s%[3]s", id, from, time)
	r.where("", from)
	r.line("ORDER BY %s, %s%s DESC", tag, from, time)
}

// line writes a formatted line.
func (r *renderer) line(format string, args ...any) {
	fmt.Fprintf(&r.text, format+"\n", args...)
}

// joinTags writes the join with the table of series.
func (r *renderer) joinTags() {
	r.line("JOIN %s ON %[1]s.%s = %s.%s", r.tags, r.Ident(IDColumn), r.rows, r.Ident(TagsIDColumn))
}

// columns writes what is selected. Columns of the table of rows begin with
// from: its name and a dot where tables are joined, or nothing.
func (r *renderer) columns(from string) {
	time := from + r.Ident(TimeColumn)
	if r.q.Shape == query.Buckets {
		time = r.Bucket(r.q.Bucket, time) + " AS " + r.Ident(TimeColumn)
	}
	selected := []string{time}
	if r.q.GroupBy != "" {
		selected = append(selected, r.tags+"."+r.Ident(r.q.GroupBy))
	}
	answer := r.q.Columns(r.table)
	answer = answer[len(selected):]
	for i, field := range r.q.Fields {
		column := from + r.Ident(field)
		if r.q.Shape == query.Buckets {
			column = fmt.Sprintf("%s(%s) AS %s", r.q.Aggregate, column, r.Ident(answer[i].Name))
		}
		selected = append(selected, column)
	}
	r.line("  %s", strings.Join(selected, ",\n  "))
}

// where writes the conditions that the query sets. The table of series is
// joined where from is set, and asked in a subquery where not.
func (r *renderer) where(indent, from string) {
	var conditions []string
	if in := r.q.In; in != nil {
		values := make([]string, len(in.Values))
		for i, v := range in.Values {
			values[i] = r.Text(v)
		}
		in := fmt.Sprintf("%s IN (%s)", r.Ident(in.Key), strings.Join(values, ", "))
		if from != "" {
			conditions = append(conditions, r.tags+"."+in)
		} else {
			conditions = append(conditions, fmt.Sprintf("%s IN (SELECT %s FROM %s WHERE %s)",
				r.Ident(TagsIDColumn), r.Ident(IDColumn), r.tags, in))
		}
	}
	if above := r.q.Above; above != nil {
		field := r.table.Fields[r.table.FieldIndex(above.Field)]
		conditions = append(conditions, fmt.Sprintf("%s%s > %s", from, r.Ident(field.Name), threshold(above.Value, field.Type)))
	}
	if !r.q.Start.IsZero() {
		conditions = append(conditions, fmt.Sprintf("%s%s >= %s", from, r.Ident(TimeColumn), r.Time(r.roundUp(r.q.Start))))
	}
	if !r.q.End.IsZero() {
		conditions = append(conditions, fmt.Sprintf("%s%s < %s", from, r.Ident(TimeColumn), r.Time(r.roundUp(r.q.End))))
	}
	for i, c := range conditions {
		word := "WHERE"
		if i > 0 {
			word = "  AND"
		}
		r.line("%s%s %s", indent, word, c)
	}
}

// roundUp returns the first time at or after t that the database can name.
func (r *renderer) roundUp(t time.Time) time.Time {
	ns := t.UnixNano()
	down := query.BucketOf(ns, r.Precision)
	if down < ns {
		down += int64(r.Precision)
	}
	return time.Unix(0, down).UTC()
}

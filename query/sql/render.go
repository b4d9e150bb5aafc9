package sql

import (
	"cmp"
	"fmt"
	"strings"

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
	switch q.Shape {
	case query.Last:
		r.last()
	case query.Means:
		r.means()
	case query.Activity:
		r.activity()
	default:
		r.scan()
		r.repeat()
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

// time returns the name of a row's time.
func (r *renderer) time() string { return r.Ident(cmp.Or(r.TimeName, TimeColumn)) }

// from returns what stands before a column of the table of rows where the table
// of series is joined.
func (r *renderer) from() string {
	if r.Wide {
		return ""
	}
	return r.rows + "."
}

// tag returns the column of a tag where the table of series is joined.
func (r *renderer) tag(key string) string {
	if r.Wide {
		return r.Ident(key)
	}
	return r.tags + "." + r.Ident(key)
}

// repeat writes the further operands of a set operation, which are all the same.
func (r *renderer) repeat() {
	s := r.q.Set
	if s == nil {
		return
	}
	operation := strings.ToUpper(string(s.Operation))
	if s.All {
		operation += " ALL"
	}
	operand := r.text.String()
	for range s.Operands - 1 {
		r.line("%s", operation)
		r.text.WriteString(operand)
	}
}

// scan writes the Buckets, Rows and Totals shapes: one pass over the table of
// rows.
func (r *renderer) scan() {
	from := ""
	joined := r.q.GroupBy != "" || len(r.q.Present) > 0
	if joined {
		from = r.from()
	}
	r.line("SELECT")
	r.columns(from)
	r.fromRows("", "")
	if joined {
		r.joinTags("")
	}
	r.where("", from)
	// By number, since the bucket bears the name of the column it is made from.
	if r.q.Shape == query.Buckets {
		r.line("GROUP BY 1%s", r.second())
	}
	if r.q.Shape == query.Totals {
		r.line("GROUP BY 1")
	}
	switch r.q.Order {
	case query.Ascending:
		r.line("ORDER BY 1%s", r.second())
	case query.Descending:
		if r.q.GroupBy == "" {
			r.line("ORDER BY 1 DESC")
		} else {
			r.line("ORDER BY 1 DESC, 2 DESC")
		}
	}
	if r.q.Limit > 0 {
		r.line("LIMIT %d", r.q.Limit)
	}
}

// appendToLine writes at the end of the line before.
func (r *renderer) appendToLine(format string, args ...any) {
	written := strings.TrimSuffix(r.text.String(), "\n")
	r.text.Reset()
	r.text.WriteString(written)
	r.line(format, args...)
}

// line writes a formatted line.
func (r *renderer) line(format string, args ...any) {
	fmt.Fprintf(&r.text, format+"\n", args...)
}

// joinTags writes the join with the table of series, if there is one.
func (r *renderer) joinTags(indent string) {
	if !r.Wide {
		r.line("%sJOIN %s ON %[2]s.%s = %s.%s", indent, r.tags, r.Ident(IDColumn), r.rows, r.Ident(TagsIDColumn))
	}
}

// columns writes what is selected. Columns of the table of rows begin with
// from: its name and a dot where tables are joined, or nothing.
func (r *renderer) columns(from string) {
	time := from + r.time()
	switch {
	case r.q.Shape == query.Buckets:
		time = r.Bucket(r.q.Bucket, time) + " AS " + r.Ident(TimeColumn)
	case r.q.Shape == query.Last && r.Newest == MaxRow:
		time = fmt.Sprintf("max(%s) AS %s", time, r.time())
	}
	selected := []string{time}
	if r.q.Shape == query.Totals {
		selected = nil
	}
	if r.q.GroupBy != "" {
		selected = append(selected, r.tag(r.q.GroupBy))
	}
	for _, key := range r.q.Tags {
		selected = append(selected, r.tag(key))
	}
	answer := r.q.Columns(r.table)
	answer = answer[len(selected):]
	for i, field := range r.q.Fields {
		column := from + r.Ident(field)
		if r.q.Shape == query.Buckets || r.q.Shape == query.Totals {
			switch kind := r.table.Fields[r.table.FieldIndex(field)].Type; {
			case r.q.Aggregate == query.Sum && kind != series.Float:
				column += " * 1e0" // sums of integers have types of their own, and bounds; those of singles are singles
			case r.q.Aggregate == query.Count:
				column = r.Counted(kind, column)
			}
			column = fmt.Sprintf("%s(%s) AS %s", r.q.Aggregate, column, r.Ident(answer[i].Name))
		}
		selected = append(selected, column)
	}
	r.line("  %s", strings.Join(selected, ",\n  "))
}

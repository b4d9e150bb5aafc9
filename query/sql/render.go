package sql

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Render returns the query as one SELECT without a semicolon, with the columns of query.Columns.
// Its error says how the query contradicts the schema or itself; it wraps query.ErrUnsupported if
// SQL could express the query but this package or the database cannot.
func (d *Dialect) Render(q *query.Query, s *series.Schema) (string, error) {
	if s, ok := q.AsPromQL(); ok && s.Over == nil {
		return "", fmt.Errorf("query %s: %w", q.Type, q.RefusePromQL("SQL"))
	}
	right, _ := q.Right()
	r := renderer{Dialect: d, q: q, table: s.Table(q.Table), right: s.Table(right)}
	if r.table == nil {
		return "", fmt.Errorf("query %s: there is no table %q", q.Type, q.Table)
	}
	err := r.check()
	if err == nil && q.OfTicks() {
		if err = q.CheckIn(s); err == nil {
			err = r.checkTicks()
		}
	}
	if err != nil {
		return "", fmt.Errorf("query %s: %w", q.Type, err)
	}
	tags := TagsTable(s, r.table)
	if d.Tags != nil {
		tags = d.Tags(r.table)
	}
	r.rows, r.tags = d.Ident(q.Table), d.Ident(tags)
	switch shape := q.Shape.(type) {
	case query.Buckets:
		r.writeBuckets(shape)
	case query.Totals:
		r.totals(shape)
	case query.Rows:
		r.scan(scan{tag: shape.Tag, columns: r.rowColumns(shape.Tag, shape.Fields), order: shape.Order})
	case query.AnyRows:
		r.scan(scan{tag: shape.Tag, columns: r.rowColumns(shape.Tag, shape.Fields), limit: shape.Limit})
	case query.RowSet:
		r.scan(scan{tag: shape.Tag, columns: r.rowColumns(shape.Tag, shape.Fields)})
		r.repeat(&shape.Set)
	case query.Last:
		r.newestRows(shape)
	case query.Means:
		r.means(shape)
	case query.UnitMeans:
		r.unitMeans(shape)
	case query.PromQL:
		r.overTime(shape)
	case query.Candles, query.Weighted, query.AsOf, query.Around, query.Movers, query.Gaps, query.Profile, query.Nth:
		r.writeTicks()
	default:
		if r.NoWith {
			r.nestedActivity()
		} else {
			r.activity()
		}
	}
	text := strings.TrimSuffix(r.text.String(), "\n")
	if r.Nested {
		text = nest(text)
	}
	return text, nil
}

// nest moves the subqueries that a query names by WITH, as activity writes it, to the place where
// they are used, once each.
func nest(text string) string {
	named := map[string][]string{}
	name, found := "", false
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		first, begins := strings.CutPrefix(line, "WITH ")
		next, follows := strings.CutPrefix(line, "), ")
		switch {
		case begins:
			name, found = strings.CutSuffix(first, " AS (")
			continue
		case found && follows:
			name, _ = strings.CutSuffix(next, " AS (")
			continue
		case found && line == ")":
			name, found = "", false
			continue
		}
		lines := []string{line}
		bare := strings.TrimLeft(line, " ")
		if used, from := strings.CutPrefix(bare, "FROM "); from && named[used] != nil {
			indent := line[:len(line)-len(bare)]
			lines = []string{indent + "FROM ("}
			for _, inner := range named[used] { // which are indented
				lines = append(lines, indent+inner)
			}
			lines = append(lines, indent+") AS "+used)
		}
		if name == "" {
			out = append(out, lines...)
			continue
		}
		named[name] = append(named[name], lines...)
	}
	return strings.Join(out, "\n")
}

// renderer writes one query.
type renderer struct {
	*Dialect
	q     *query.Query
	table *series.Table
	right *series.Table // that is joined; nil: none
	rows  string        // name of the table of rows, as SQL
	tags  string        // name of the table of series, as SQL
	// aggregate is the continuous aggregate that answers the query; nil: rows.
	aggregate *query.Materialized
	text      strings.Builder
}

// time returns the name of a row's time.
func (r *renderer) time() string { return r.Ident(cmp.Or(r.TimeName, TimeColumn)) }

// tagsID returns the column that identifies the series in the table of rows.
func (r *renderer) tagsID() string { return r.Ident(cmp.Or(r.TagsID, TagsIDColumn)) }

// id returns the column that identifies the series in the table of series.
func (r *renderer) id() string { return r.Ident(cmp.Or(r.ID, IDColumn)) }

// columnPrefix returns the qualifier of a column of the table of rows if the table
// of series is joined.
func (r *renderer) columnPrefix() string {
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

// repeat writes the further operands of a set operation, which are equal to the first.
func (r *renderer) repeat(s *query.Set) {
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

// scan is one pass over the table of rows.
type scan struct {
	tag     string // in the answer; empty: none
	columns []string
	groups  int // columns by which rows are grouped, the first ones; 0: rows stay
	order   query.Order
	limit   int // 0: none
}

// writeBuckets writes the Buckets shape.
func (r *renderer) writeBuckets(s query.Buckets) {
	from := r.scanPrefix(s.GroupBy)
	out := scan{tag: s.GroupBy, columns: []string{r.bucketOf(s, from+r.time()) + " AS " + r.Ident(TimeColumn)}, groups: 1, order: s.Order, limit: s.Limit}
	if s.GroupBy != "" {
		out.columns, out.groups = append(out.columns, r.tag(s.GroupBy)), 2
	}
	if r.aggregate != nil {
		out.columns = append(out.columns, r.mergeColumns(from, s.Aggregate, s.Fields)...)
	} else {
		out.columns = append(out.columns, r.aggregates(from, s.GroupBy, s.Aggregate, s.Fields)...)
	}
	r.scan(out)
}

// totals writes the Totals shape.
func (r *renderer) totals(s query.Totals) {
	columns := append([]string{r.tag(s.GroupBy)}, r.aggregates(r.scanPrefix(s.GroupBy), s.GroupBy, s.Aggregate, s.Fields)...)
	r.scan(scan{tag: s.GroupBy, columns: columns, groups: 1})
}

// rowColumns returns the columns of unaggregated rows.
func (r *renderer) rowColumns(tag string, fields []string) []string {
	from := r.scanPrefix(tag)
	columns := []string{from + r.time()}
	if tag != "" {
		columns = append(columns, r.tag(tag))
	}
	return append(columns, r.fields(from, fields)...)
}

// joined reports whether a scan needs the table of series.
func (r *renderer) joined(tag string) bool { return tag != "" || len(r.q.Present) > 0 }

// scanPrefix returns the qualifier of columns of the table of rows in a scan.
func (r *renderer) scanPrefix(tag string) string {
	if r.joined(tag) {
		return r.columnPrefix()
	}
	return ""
}

// scan writes one pass over the table of rows.
func (r *renderer) scan(s scan) {
	r.line("SELECT")
	r.list("  ", s.columns)
	r.fromRows("", "")
	if r.joined(s.tag) {
		r.joinTags("")
	}
	r.writeWhere("", r.scanPrefix(s.tag))
	// By number, since the bucket bears the name of the column it is made from.
	if s.groups > 0 {
		r.line("GROUP BY %s", numbers(s.groups))
		if s.tag != "" {
			r.having("")
		}
	}
	keys := []string{"1"}
	if s.tag != "" {
		keys = append(keys, "2")
	}
	switch s.order {
	case query.Ascending:
		r.line("ORDER BY %s", strings.Join(keys, ", "))
	case query.Descending:
		r.line("ORDER BY %s DESC", strings.Join(keys, " DESC, "))
	}
	if s.limit > 0 {
		r.line("LIMIT %d", s.limit)
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
		r.line("%sJOIN %s ON %[2]s.%s = %s.%s", indent, r.tags, r.id(), r.rows, r.tagsID())
	}
}

// fields returns columns of fields. Columns of the table of rows begin with from:
// its name and a dot where tables are joined, or nothing.
func (r *renderer) fields(from string, names []string) []string {
	columns := make([]string, len(names))
	for i, name := range names {
		columns[i] = from + r.Ident(name)
	}
	return columns
}

// aggregates returns the columns of fields aggregated by a tag, or none.
func (r *renderer) aggregates(from, by string, a query.Aggregate, fields []string) []string {
	answer := r.q.Columns(r.table)
	answer = answer[len(answer)-len(fields):]
	columns := r.fields(from, fields)
	for i, field := range fields {
		switch kind := r.table.Fields[r.table.FieldIndex(field)].Type; {
		case a == query.Sum && kind != series.Float:
			columns[i] += " * 1e0" // sums of integers have types of their own, and bounds; those of singles are singles
		case a == query.Avg:
			columns[i] += r.asDouble(field)
		case a == query.Count:
			columns[i] = r.CountExpression(kind, columns[i])
		}
		value := fmt.Sprintf("%s(%s)", a, columns[i])
		if a == query.Max && r.Largest != nil {
			value = r.Largest(r.table, by, r.table.Fields[r.table.FieldIndex(field)], columns[i])
		}
		columns[i] = value + " AS " + r.Ident(answer[i].Name)
	}
	return columns
}

// asDouble returns an expression that converts a field to double if the mean of its values would
// not be one.
func (r *renderer) asDouble(field string) string {
	if f := &r.table.Fields[r.table.FieldIndex(field)]; r.DecimalMeans && (f.Type.UsesInts() || r.DecimalType(f) != "") {
		return " * 1e0"
	}
	return ""
}

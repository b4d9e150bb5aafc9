package sql

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
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

// check returns an error for a query that has no meaning, so that writing it
// cannot fail.
func (r *renderer) check() error {
	q := r.q
	if err := q.Check(); err != nil {
		return err
	}
	fields := slices.Clone(q.Fields)
	if q.Shape == query.Activity {
		fields = append(fields, q.Active.Field)
	}
	if q.Having != nil {
		fields = append(fields, q.Having.Field)
	}
	if len(fields) == 0 {
		return errors.New("it asks for no field")
	}
	for _, name := range fields {
		if r.table.FieldIndex(name) < 0 {
			return fmt.Errorf("table %s has no field %q", q.Table, name)
		}
	}
	for _, key := range slices.Concat([]string{q.GroupBy, q.Unit, q.Over}, q.Tags, q.Group, q.MeanTags, q.Present) {
		if key != "" && r.table.Tag(key) == nil {
			return fmt.Errorf("table %s has no tag %q", q.Table, key)
		}
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
			if !r.table.Tag(in.Key).Numeric() {
				continue
			}
			if n, err := strconv.ParseFloat(v, 64); err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
				return fmt.Errorf("the filter on tag %s, whose values are numbers, has %q", in.Key, v)
			}
		}
	}
	if above := q.Above; above != nil {
		for _, name := range above.All() {
			if r.table.FieldIndex(name) < 0 {
				return fmt.Errorf("table %s has no field %q", q.Table, name)
			}
		}
		switch {
		case math.IsNaN(above.Value) || math.IsInf(above.Value, 0):
			return fmt.Errorf("the threshold of %s is %v, not a number", above.Field, above.Value)
		}
	}
	if err := q.CheckFields(r.table); err != nil {
		return err
	}
	switch q.Shape {
	case query.Buckets, query.Totals:
		if !slices.Contains(query.Aggregates(), q.Aggregate) {
			return fmt.Errorf("%w: aggregate %q", query.ErrUnsupported, q.Aggregate)
		}
		if q.Shape == query.Totals {
			return nil
		}
		if q.Bucket <= 0 {
			return fmt.Errorf("a bucket of %v has no width", q.Bucket)
		}
		if q.Bucket%r.Precision != 0 {
			return fmt.Errorf("%w: %s cannot have buckets of %v, its times are multiples of %v",
				query.ErrUnsupported, r.Name, q.Bucket, r.Precision)
		}
	case query.Rows:
		if q.Set != nil && q.Set.All && q.Set.Operation != query.Union && r.NoSetAll {
			return fmt.Errorf("%w: %s has no %s ALL", query.ErrUnsupported, r.Name, strings.ToUpper(string(q.Set.Operation)))
		}
	case query.Means:
	case query.Activity:
		const day = 24 * time.Hour
		if q.Bucket <= 0 || day%q.Bucket != 0 || q.Bucket%r.Precision != 0 {
			return fmt.Errorf("%w: buckets of %v, which do not divide a day into steps of %s", query.ErrUnsupported, q.Bucket, r.Name)
		}
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

// second returns the number of the tag's column, for lists that begin with
// the time's, or nothing where there is no tag.
func (r *renderer) second() string {
	if r.q.GroupBy == "" {
		return ""
	}
	return ", 2"
}

// last writes the Last shape. An inner query finds the newest time of each
// series from two columns, which is far cheaper than sorting whole rows. Few
// rows are then left to choose from, where several series share the tag's
// value or a series has several rows at one time.
func (r *renderer) last() {
	from, tag := r.from(), r.tag(r.q.GroupBy)
	having := r.q.Having
	if having != nil {
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
	r.columns(from)
	if having != nil && having.Over != "" {
		r.appendToLine(",\n  %s AS divisor", r.tag(having.Over))
	}
	r.newest(from, tag)
	if having != nil {
		r.line(") AS newest_rows")
		value := r.Ident(having.Field)
		if having.Over != "" {
			value += " / divisor"
		}
		r.line("WHERE %s", comparison(value, having.Below, having.Value))
	}
}

// newest writes where the newest rows of a tag's values come from.
func (r *renderer) newest(from, tag string) {
	id, time := r.Ident(TagsIDColumn), r.time()
	switch {
	case r.Wide && r.Newest != LatestOn:
		r.line("FROM %s", r.rows)
		r.where("", from)
		r.line("ORDER BY %s, %s DESC", tag, time)
	case r.Newest == Lateral:
		r.line("FROM %s", r.tags)
		r.line("CROSS JOIN LATERAL (")
		r.line("  SELECT *")
		same := fmt.Sprintf("%s%s = %s.%s", from, id, r.tags, r.Ident(IDColumn))
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
	case r.Newest == DistinctOn:
		r.line("FROM %s", r.rows)
		r.joinTags("")
		r.line("JOIN (")
		r.line("  SELECT %s, max(%s) AS %[2]s", id, time)
		r.line("  FROM %s", r.rows)
		r.where("  ", "")
		r.line("  GROUP BY 1")
		r.line(") AS newest ON newest.%s = %s%[1]s AND newest.%[3]s = %[2]s%[3]s", id, from, time)
		r.where("", from)
		r.line("ORDER BY %s, %s%s DESC", tag, from, time)
	case r.Newest == MaxRow:
		// An index of series and time finds each newest time at once.
		r.line("FROM %s", r.tags)
		r.line("JOIN %s ON %[1]s.%s = %s.%s AND %[1]s.%[5]s = (", r.rows, id, r.tags, r.Ident(IDColumn), time)
		r.line("  SELECT max(%s)", time)
		r.line("  FROM %s", r.rows)
		r.line("  WHERE %s = %s.%s", id, r.tags, r.Ident(IDColumn))
		for _, c := range r.ofRows("") {
			r.line("    AND %s", c)
		}
		r.line(")")
		r.where("", from)
		r.line("GROUP BY %s", tag)
	case r.Newest == LatestOn:
		r.line("FROM %s", r.rows)
		r.where("", from)
		r.line("LATEST ON %s PARTITION BY %s", time, tag)
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
				column = r.counted(kind, column)
			}
			column = fmt.Sprintf("%s(%s) AS %s", r.q.Aggregate, column, r.Ident(answer[i].Name))
		}
		selected = append(selected, column)
	}
	r.line("  %s", strings.Join(selected, ",\n  "))
}

// where writes the conditions that the query sets. The table of series is
// joined where from is set, and asked in a subquery where not.
func (r *renderer) where(indent, from string) {
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
		if r.Newest == LatestOn && r.q.Shape == query.Last && slices.ContainsFunc(in.Values, func(v string) bool { return strings.Contains(v, "'") }) {
			name += "::varchar" // QuestDB 9.3 looks such symbols up with the quotes doubled, and finds none
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
		r.Ident(TagsIDColumn), r.Ident(IDColumn), r.tags, r.Ident(r.q.In.Key), strings.Join(r.values(r.q.In), ", "))
}

// values returns the literals of a filter's values.
func (r *renderer) values(in *query.TagIn) []string {
	values := make([]string, len(in.Values))
	for i, v := range in.Values {
		if values[i] = r.Text(v); r.Wide && r.table.Tag(in.Key).Numeric() {
			n, _ := strconv.ParseFloat(v, 64) // check has done so
			values[i] = double(n)
		}
	}
	return values
}

// ofRows returns the conditions on the table of rows alone.
func (r *renderer) ofRows(from string) []string {
	var conditions []string
	if above := r.q.Above; above != nil {
		for _, name := range above.All() {
			field := r.table.Fields[r.table.FieldIndex(name)]
			if r.LeastIsNull && field.Type.Integer() && above.Value <= math.MinInt64 {
				conditions = append(conditions, fmt.Sprintf("%s%s IS NOT NULL", from, r.Ident(name)))
				continue
			}
			conditions = append(conditions, fmt.Sprintf("%s%s > %s", from, r.Ident(name), threshold(above.Value, field.Type)))
		}
	}
	if r.q.Shape == query.Activity {
		conditions = append(conditions, fmt.Sprintf("%s%s IS NOT NULL", from, r.Ident(r.q.Active.Field)))
	}
	if r.Narrow {
		return conditions // fromRows has set the others
	}
	return append(conditions, r.ofTime(from)...)
}

// ofTime returns the conditions on a row's time.
func (r *renderer) ofTime(from string) []string {
	var conditions []string
	if r.single() {
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

// present returns the tags that a row must have and that no filter demands.
func (r *renderer) present() []string {
	var keys []string
	demanded := slices.Concat(r.q.Present, r.q.Group, []string{r.q.Unit})
	if r.q.Shape != query.Rows || r.q.Order != query.Unordered {
		demanded = append(demanded, r.q.GroupBy) // without it a series is in no group
	}
	for _, key := range demanded {
		filtered := r.q.In != nil && r.q.In.Key == key
		if key != "" && !filtered && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
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

package tdengine

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

// render returns the query as one SELECT. TDengine groups by time in windows (INTERVAL), and by tags in
// partitions. It has no groups by expressions and no WITH, so constructs that need these in other
// systems are subqueries here. For a query that cannot be expressed, the error wraps
// query.ErrUnsupported.
func render(q *query.Query, s *series.Schema, d *design) (string, error) {
	if err := q.RefusePromQL("TDengine"); err != nil {
		return "", fmt.Errorf("query %s: %w", q.Type, err)
	}
	r := renderer{design: d, q: q, table: s.Table(q.Table)}
	if r.table == nil {
		return "", fmt.Errorf("query %s: there is no table %q", q.Type, q.Table)
	}
	err := q.CheckIn(s)
	if err == nil {
		err = r.check()
	}
	if name, _ := q.Right(); err == nil && name != "" {
		err = r.CheckNames(s.Table(name))
	}
	text := ""
	if err == nil {
		text, err = r.render()
	}
	if err != nil {
		return "", fmt.Errorf("query %s: %w", q.Type, err)
	}
	return text, nil
}

// renderer renders one query.
type renderer struct {
	*design
	q     *query.Query
	table *series.Table
	// aggregate is the aggregate that the query is answered from, and table its super table; nil: rows.
	aggregate *query.Materialized
	// joined means that conditions name columns with the alias of the query's table.
	joined bool
}

// check returns an error for a query that cannot be expressed.
func (r *renderer) check() error {
	if err := r.CheckNames(r.table); err != nil {
		return err
	}
	if in := r.q.In; in != nil {
		for _, v := range in.Values {
			if err := r.CheckText(v); err != nil {
				return fmt.Errorf("the filter on tag %s: %w", in.Key, err)
			}
			if n, err := strconv.ParseFloat(v, 64); r.table.Tag(in.Key).Numeric() && (err != nil || math.IsNaN(n) || math.IsInf(n, 0)) {
				return fmt.Errorf("the filter on tag %s, whose values are numbers, has %q", in.Key, v)
			}
		}
	}
	if width := r.q.Width(); width%r.unit != 0 {
		return fmt.Errorf("%w: TDengine cannot have buckets of %v, its times are multiples of %v", query.ErrUnsupported, width, r.unit)
	}
	return nil
}

func (r *renderer) render() (string, error) {
	switch s := r.q.Shape.(type) {
	case query.Buckets:
		return r.buckets(s), nil
	case query.Totals:
		columns := append([]string{r.Ident(s.GroupBy)}, r.aggregates(s.Aggregate, s.Fields)...)
		text := r.selectRows(columns...) + "\nGROUP BY " + r.Ident(s.GroupBy)
		if s.Aggregate == query.Count { // the server also returns groups without rows
			text += "\nHAVING count(*) > 0"
		}
		return text, nil
	case query.Rows:
		return r.rows(s.Tag, s.Fields) + orderBy(s.Order, "1", s.Tag != ""), nil
	case query.AnyRows:
		return r.rows(s.Tag, s.Fields) + fmt.Sprintf("\nLIMIT %d", s.Limit), nil
	case query.RowSet:
		if s.Operation != query.Union {
			return "", fmt.Errorf("%w: TDengine has no %s", query.ErrUnsupported, strings.ToUpper(string(s.Operation)))
		}
		word := "\nUNION\n"
		if s.All {
			word = "\nUNION ALL\n"
		}
		return strings.Join(slices.Repeat([]string{r.rows(s.Tag, s.Fields)}, s.Operands), word), nil
	case query.Last:
		return r.last(s), nil
	case query.Means:
		return r.means(s), nil
	case query.UnitMeans:
		return r.unitMeans(s), nil
	}
	if r.q.OfTicks() {
		return r.ticks()
	}
	return r.activity(), nil
}

// selectRows selects columns of the matching rows.
func (r *renderer) selectRows(columns ...string) string {
	return "SELECT " + strings.Join(columns, ", ") + "\nFROM " + r.Ident(r.q.Table) + r.conditions()
}

// conditions returns the conditions of the query.
func (r *renderer) conditions() string {
	q := r.q
	var conditions []string
	time := r.column(r.TimeName)
	if in := q.In; in != nil {
		values := make([]string, len(in.Values))
		for i, v := range in.Values {
			if values[i] = r.Text(v); r.table.Tag(in.Key).Numeric() {
				n, _ := strconv.ParseFloat(v, 64) // check has parsed it
				values[i] = double(n)
			}
		}
		conditions = append(conditions, fmt.Sprintf("%s IN (%s)", r.column(in.Key), strings.Join(values, ", ")))
	}
	for _, key := range q.Demands() {
		if q.In == nil || q.In.Key != key {
			conditions = append(conditions, r.column(key)+" IS NOT NULL")
		}
	}
	for _, name := range q.RequiredFields(r.table) {
		conditions = append(conditions, r.column(name)+" IS NOT NULL")
	}
	if filter := q.Filter; filter != nil {
		for _, name := range filter.Fields() {
			c, bound := filter.Compare, double(filter.Value)
			if r.table.Fields[r.table.FieldIndex(name)].Type.Integer() {
				var n int64
				c, n = filter.Compare.Wholes(filter.Value, series.Int)
				bound = strconv.FormatInt(n, 10)
				if c == query.Greater && n == math.MaxInt64 {
					bound = "9223372036854775808" // none is greater
				}
			}
			conditions = append(conditions, fmt.Sprintf("%s %s %s", r.Ident(name), c, bound))
		}
	}
	if a := q.Activity(); a != nil {
		conditions = append(conditions, r.Ident(a.Field)+" IS NOT NULL")
	}
	if !q.Start.IsZero() {
		conditions = append(conditions, time+" >= "+r.timeLiteral(q.Start))
	}
	if !q.End.IsZero() {
		conditions = append(conditions, time+" < "+r.timeLiteral(q.End))
	}
	if len(conditions) == 0 {
		return ""
	}
	return "\nWHERE " + strings.Join(conditions, "\n  AND ")
}

// double is the literal of a finite double.
func double(v float64) string {
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}

// aggregates returns the columns of aggregated fields.
func (r *renderer) aggregates(a query.Aggregate, fields []string) []string {
	columns := make([]string, len(fields))
	for i, f := range fields {
		if r.aggregate != nil {
			columns[i] = r.mergedAggregate(a, f)
			continue
		}
		columns[i] = fmt.Sprintf("%s(%s)", a, r.number(a, f))
	}
	return columns
}

// number converts a field for an aggregate. Sums of integers would be integers, and could overflow.
func (r *renderer) number(a query.Aggregate, field string) string {
	name := r.Ident(field)
	kind := r.table.Fields[r.table.FieldIndex(field)].Type
	if a == query.Sum && kind != series.Float {
		return "CAST(" + name + " AS DOUBLE)"
	}
	return name
}

// width is the width of buckets. All units up to hours count from 1970, whatever the time zone.
func (r *renderer) width(w time.Duration) string {
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}, {time.Millisecond, "a"}, {time.Microsecond, "u"}} {
		if w%u.unit == 0 {
			return fmt.Sprintf("%d%s", w/u.unit, u.name)
		}
	}
	return fmt.Sprintf("%db", w)
}

// partition returns the windows of a width for each value of tags.
func (r *renderer) partition(by []string, width time.Duration) string {
	text := "\n"
	if len(by) > 0 {
		text += "PARTITION BY " + strings.Join(by, ", ") + " "
	}
	return text + "INTERVAL(" + r.width(width) + ")"
}

// orderBy returns the order of a result by its time and then, if it has one, a tag.
func orderBy(o query.Order, time string, tagged bool) string {
	if o == query.Unordered {
		return ""
	}
	down := ""
	if o == query.Descending {
		down = " DESC"
	}
	text := "\nORDER BY " + time + down
	if tagged {
		text += ", 2" + down
	}
	return text
}

func (r *renderer) buckets(s query.Buckets) string {
	columns, by := []string{"_wstart"}, r.idents(tagList(s.GroupBy))
	columns = append(append(columns, by...), r.aggregates(s.Aggregate, s.Fields)...)
	text, order := r.selectRows(columns...)+r.partition(by, s.Width), orderBy(s.Order, "1", s.GroupBy != "")
	if s.Limit > 0 {
		order += fmt.Sprintf("\nLIMIT %d", s.Limit)
	}
	return text + order
}

func tagList(tag string) []string {
	if tag == "" {
		return nil
	}
	return []string{tag}
}

func (r *renderer) idents(names []string) []string {
	columns := make([]string, len(names))
	for i, name := range names {
		columns[i] = r.Ident(name)
	}
	return columns
}

func (r *renderer) rows(tag string, fields []string) string {
	return r.selectRows(append(append([]string{r.time()}, r.idents(tagList(tag))...), r.idents(fields)...)...)
}

// last renders the Last shape: next to last_row of the time, other columns come from the same row.
func (r *renderer) last(s query.Last) string {
	columns := append([]string{fmt.Sprintf("last_row(%s) AS %[1]s", r.time()), r.Ident(s.By)}, r.idents(s.Tags)...)
	columns = append(columns, r.idents(s.Fields)...)
	having := s.Having
	if having == nil {
		return r.selectRows(columns...) + "\nPARTITION BY " + r.Ident(s.By)
	}
	value := r.Ident(having.Field)
	if having.Over != "" {
		value += " / divisor"
		columns = append(columns, r.Ident(having.Over)+" AS divisor")
	}
	names := append(append([]string{r.time(), r.Ident(s.By)}, r.idents(s.Tags)...), r.idents(s.Fields)...)
	return fmt.Sprintf("SELECT %s\nFROM (\n%s\nPARTITION BY %s\n)\nWHERE %s", strings.Join(names, ", "), r.selectRows(columns...), r.Ident(s.By), comparison(value, having.Compare, having.Value))
}

func comparison(expression string, c query.Comparison, value float64) string {
	return fmt.Sprintf("%s %s %s", expression, c, double(value))
}

func (r *renderer) means(s query.Means) string {
	by := r.idents(s.Group)
	columns := slices.Clone(by)
	for _, f := range s.Fields {
		columns = append(columns, "avg("+r.Ident(f)+")")
	}
	for _, key := range s.MeanTags {
		columns = append(columns, "avg("+r.Ident(key)+")")
	}
	text := r.selectRows(columns...) + "\nGROUP BY " + strings.Join(by, ", ")
	if h := s.Having; h != nil {
		text += "\nHAVING " + comparison("avg("+r.Ident(h.Field)+")", h.Compare, h.Value)
	}
	return text
}

func (r *renderer) unitMeans(s query.UnitMeans) string {
	var inner, outer []string
	for i, key := range s.Group {
		inner = append(inner, fmt.Sprintf("%s AS g%d", r.Ident(key), i))
		outer = append(outer, fmt.Sprintf("g%d", i))
	}
	groups := strings.Join(outer, ", ")
	for i, f := range s.Fields {
		mean := "avg(" + r.Ident(f) + ")"
		if s.Over != "" {
			mean += " / " + r.Ident(s.Over)
		}
		inner, outer = append(inner, fmt.Sprintf("%s AS m%d", mean, i)), append(outer, fmt.Sprintf("avg(m%d)", i))
	}
	by := append(r.idents(s.Group), r.Ident(s.Unit))
	return fmt.Sprintf("SELECT %s\nFROM (\n%s\nGROUP BY %s\n)\nGROUP BY %s", strings.Join(outer, ", "), r.selectRows(inner...), strings.Join(by, ", "), groups)
}

const day = 24 * time.Hour

// activity renders the shapes that look at active buckets. diff needs the partitions of its subquery
// under the same names, so tags keep their names.
func (r *renderer) activity() string {
	a := r.q.Activity()
	unit := r.Ident(a.Unit)
	switch s := r.q.Shape.(type) {
	case query.ActiveUnits:
		return fmt.Sprintf("SELECT %s\nFROM (\nSELECT %[1]s, count(*) AS n\nFROM (\n%[2]s\n)\nWHERE active = 1\nGROUP BY %[1]s\n)\nWHERE n > %[3]d", unit, r.active(nil), s.More)
	case query.ActiveHours:
		return fmt.Sprintf("SELECT %s, avg(n) * %s\nFROM (\nSELECT _wstart AS day, %[1]s, count(*) AS n\nFROM (\n%[3]s\n)\nWHERE active = 1%[4]s\n)\nGROUP BY %[1]s",
			unit, double(a.Width.Hours()), r.active(nil), r.partition([]string{unit}, day))
	case query.ActiveShare:
		groups := r.idents(s.Group)
		return fmt.Sprintf("SELECT _wstart AS day, %s, count(*) / %s\nFROM (\n%s\nORDER BY ts\n)\nWHERE active = 1%s\nORDER BY day, %[1]s",
			strings.Join(groups, ", "), double(float64(day/a.Width)), r.active(s.Group), r.partition(groups, day))
	case query.Starts:
		return fmt.Sprintf("SELECT %s, count(*)\nFROM (\n%s\n)\nWHERE changed = 1\nGROUP BY %[1]s", strings.Join(r.idents(s.Group), ", "), r.changes(s.Group))
	}
	// Of two consecutive changes, the later one is an end, and the time between them is the length of
	// the session.
	seconds := double(float64(time.Second / r.unit))
	return fmt.Sprintf("SELECT day, %s, avg(length) / %s\nFROM (\nSELECT TIMETRUNCATE(CAST(CAST(ts AS BIGINT) - length AS TIMESTAMP), 1d, 0) AS day, %[1]s, length\nFROM (\n"+
		"SELECT ts, %[1]s, changed, diff(CAST(ts AS BIGINT)) AS length\nFROM (\n%[3]s\nORDER BY ts\n)\nWHERE changed <> 0\nPARTITION BY %[1]s\n)\nWHERE changed = -1\n)\nGROUP BY day, %[1]s\nORDER BY 1, 2",
		unit, seconds, r.changes(nil))
}

// active renders the query that says for each unit's buckets, with the group's columns, whether they
// are active.
func (r *renderer) active(group []string) string {
	a := r.q.Activity()
	by := append([]string{r.Ident(a.Unit)}, r.idents(group)...)
	measure := "avg(" + r.Ident(a.Field) + ")"
	if a.Zeros {
		measure = fmt.Sprintf("avg(CASE WHEN %s = 0 THEN 1.0 ELSE 0.0 END)", r.Ident(a.Field))
	}
	columns := append(append([]string{"_wstart AS ts"}, by...), "CASE WHEN "+comparison(measure, a.Compare, a.Value)+" THEN 1 ELSE 0 END AS active")
	return r.selectRows(columns...) + r.partition(by, a.Width)
}

// changes renders the query that compares each bucket with the one before it: 1 if only the later one
// is active, -1 if only the earlier one is.
func (r *renderer) changes(group []string) string {
	by := strings.Join(append([]string{r.Ident(r.q.Activity().Unit)}, r.idents(group)...), ", ")
	return fmt.Sprintf("SELECT ts, %s, diff(active) AS changed\nFROM (\n%s\n)\nPARTITION BY %[1]s", by, r.active(group))
}

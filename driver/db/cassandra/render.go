package cassandra

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/fold"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// render returns the text of a query's request.
func render(q *query.Query, s *series.Schema, o driver.Options) (driver.Request, error) {
	if err := q.RefuseRare("CQL"); err != nil {
		return driver.Request{}, fmt.Errorf("query %s: %w", q.Type, err)
	}
	r := renderer{layout: newLayout(o), q: q, table: s.Table(q.Table), schema: s}
	if r.table == nil {
		return driver.Request{}, fmt.Errorf("query %s: there is no table %q", q.Type, q.Table)
	}
	err := q.Check(r.table)
	if err == nil {
		r.shape()
		err = r.err
	}
	if err != nil {
		return driver.Request{}, fmt.Errorf("query %s: %w", q.Type, err)
	}
	return r.plan.request()
}

// renderer renders one query.
type renderer struct {
	*layout
	q      *query.Query
	table  *series.Table
	schema *series.Schema
	plan   plan
	tags   []string // tags read from the registry, in this order
	err    error    // the first construct that cannot be expressed; the rendered text is then invalid
}

// setUnsupported records that CQL cannot express the query.
func (r *renderer) setUnsupported(format string, args ...any) {
	r.err = cmp.Or(r.err, fmt.Errorf("%w: "+format, append([]any{query.ErrUnsupported}, args...)...))
}

// tag returns the index of a tag among the tags read from the registry.
func (r *renderer) tag(key string) int {
	if i := slices.Index(r.tags, key); i >= 0 {
		return i
	}
	r.tags = append(r.tags, key)
	return len(r.tags) - 1
}

// shape renders the query's shape.
func (r *renderer) shape() {
	r.plan.Span = int64(r.span / time.Millisecond)
	if !r.q.Start.IsZero() {
		ms := milliseconds(r.q.Start)
		r.plan.Start = &ms
	}
	if !r.q.End.IsZero() {
		ms := milliseconds(r.q.End)
		r.plan.End = &ms
	}
	if r.q.Activity() != nil {
		r.setUnsupported("it reads the result of another query, and CQL has no subqueries")
		return
	}
	p, fields, err := fold.New(r.q, "CQL", r.tag)
	if err != nil {
		r.err = cmp.Or(r.err, err)
		return
	}
	r.plan.Plan = p
	switch {
	case p.Rows != nil:
		r.rows(fields)
	case p.Newest != nil:
		r.last(fields)
	default:
		r.fold(fields)
	}
	for _, key := range r.q.Demands() {
		r.plan.Present = append(r.plan.Present, r.tag(key))
	}
	r.registry()
	r.count()
}

func columns(fields []string) string {
	list := make([]string, len(fields))
	for i, f := range fields {
		list[i] = ", " + ident(f)
	}
	return strings.Join(list, "")
}

// rows renders the shapes of stored rows.
func (r *renderer) rows(fields []string) {
	end := ""
	if most := r.plan.Rows.Limit; most > 0 {
		end = fmt.Sprintf(" LIMIT %d", most)
	}
	r.statement(fields, timeColumn+columns(fields), "", end)
}

// last renders the Last shape: the partitions of a series are read from the newest to the oldest, up to
// the first that has a row.
func (r *renderer) last(fields []string) {
	if r.layout.narrow {
		r.narrow(fields, " ORDER BY "+nanosecondsName+" DESC LIMIT 1")
		return
	}
	r.statement(fields, timeColumn+columns(fields), "", " LIMIT 1")
}

// fold renders a request whose results are combined.
func (r *renderer) fold(fields []string) {
	f := r.plan.Fold
	list, group := "count(*)", ""
	if f.Buckets {
		floor := r.floor(time.Duration(f.Width) * time.Millisecond)
		list, group = floor+", "+list, " GROUP BY "+floor
	}
	for i, name := range fields {
		c := ident(name)
		double := c
		if r.table.Fields[r.table.FieldIndex(name)].Type != series.Float {
			double = "CAST(" + c + " AS double)"
		}
		switch p := f.Parts[i]; p.Make {
		case "sum", "avg":
			list += fmt.Sprintf(", sum(%s), count(%s)", double, c)
		default:
			list += fmt.Sprintf(", %s(%s)", p.Make, c)
		}
	}
	r.statement(fields, list, group, "")
}

// floor is the start of a row's bucket. Without an explicit origin Cassandra counts from 1970 and
// refuses earlier times.
func (r *renderer) floor(width time.Duration) string {
	first := r.q.Start
	if r.schema.First.After(first) {
		first = r.schema.First
	}
	if !first.IsZero() && first.Unix() >= 0 {
		return fmt.Sprintf("floor(%s, %s)", timeColumn, duration(width))
	}
	least := query.BucketOf(math.MinInt64+int64(width), width) / int64(time.Millisecond)
	return fmt.Sprintf("floor(%s, %s, '%d')", timeColumn, duration(width), least)
}

// duration is the literal of a duration of whole milliseconds.
func duration(d time.Duration) string {
	for _, unit := range []struct {
		of   time.Duration
		name string
	}{{time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}} {
		if d%unit.of == 0 {
			return fmt.Sprintf("%d%s", d/unit.of, unit.name)
		}
	}
	return fmt.Sprintf("%dms", d/time.Millisecond)
}

// statement renders the statement for a partition, or for the partitions of fields.
func (r *renderer) statement(fields []string, list, group, end string) {
	if r.layout.narrow {
		r.narrow(fields, end)
		return
	}
	where := fmt.Sprintf("%s = ? AND %s = ?", seriesColumn, bucketColumn)
	if r.plan.Start != nil {
		where += " AND " + timeColumn + " >= ?"
	}
	if r.plan.End != nil {
		where += " AND " + timeColumn + " < ?"
	}
	if filter := r.q.Filter; filter != nil {
		for _, name := range filter.Fields() {
			where += " AND " + r.compareField(name, filter)
		}
		end += " ALLOW FILTERING"
	}
	r.plan.Partition = "SELECT " + list + " FROM " + r.layout.rows(r.table) + " WHERE " + where + group + end
}

// compareField is the condition on a field. Types are compared with equal types. Cassandra orders NaN after
// all numbers.
func (r *renderer) compareField(name string, f *query.ValueFilter) string {
	column, bind := ident(name), func(b bound) { r.plan.Filter = append(r.plan.Filter, b) }
	c, v := f.Compare, f.Value
	switch t := r.table.Fields[r.table.FieldIndex(name)].Type; t {
	case series.Float:
		bind(bound{Float: &v})
	case series.Float32:
		single := floor32(v)
		switch exact := float64(single) == v; {
		case exact:
		case c == query.Equal:
			return fmt.Sprintf("%s > Infinity AND %[1]s < NaN", column) // no value is
		case c == query.AtLeast:
			c = query.Greater
		case c == query.Less:
			single = math.Nextafter32(single, float32(math.Inf(1)))
		}
		bind(bound{Single: &single})
	default:
		c, n := c.Wholes(v, t)
		if small := int32(n); t == series.Int32 {
			bind(bound{Int32: &small})
		} else {
			bind(bound{Int: &n})
		}
		return fmt.Sprintf("%s %s ?", column, c)
	}
	if c == query.Less || c == query.Equal {
		return fmt.Sprintf("%s %s ?", column, c)
	}
	return fmt.Sprintf("%s %s ? AND %[1]s < NaN", column, c)
}

// registry renders the statement that reads the registry.
func (r *renderer) registry() {
	var where []string
	if in := r.q.In; in != nil {
		if r.table.Tag(in.Key).Numeric() {
			r.plan.Number = r.tag(in.Key)
			for _, v := range in.Values {
				n, err := strconv.ParseFloat(v, 64)
				if err != nil {
					r.err = cmp.Or(r.err, fmt.Errorf("the filter on tag %s, whose values are numbers, has %q", in.Key, v))
				}
				r.plan.Numbers = append(r.plan.Numbers, n)
			}
		} else {
			for _, v := range in.Values {
				if !slices.Contains(r.plan.Values, v) {
					r.plan.Values = append(r.plan.Values, v)
				}
			}
			where = append(where, ident(in.Key)+" = ?")
		}
	}
	if r.plan.Start != nil {
		where = append(where, bucketColumn+" >= ?")
	}
	if r.plan.End != nil {
		where = append(where, bucketColumn+" <= ?")
	}
	text := "SELECT " + seriesColumn + ", " + bucketColumn + columns(r.tags) + " FROM " + r.layout.registry(r.table)
	if len(where) > 0 {
		text += " WHERE " + strings.Join(where, " AND ") + " ALLOW FILTERING"
	}
	r.plan.Registry = text
}

// count sets the number of statements in the request.
func (r *renderer) count() {
	reads := max(1, len(r.plan.Values))
	each := "one"
	if p := r.plan.Narrow; p != nil && len(p.Fields) > 1 {
		each = fmt.Sprint(len(p.Fields))
	}
	r.plan.Statements = fmt.Sprintf("%d of the registry, and %s for each partition that it names", reads, each)
	if p := &r.plan; p.Start != nil && p.End != nil {
		spans := max(0, 1+(query.BucketOf(*p.End-1, time.Duration(p.Span))-query.BucketOf(*p.Start, time.Duration(p.Span)))/p.Span)
		r.plan.Statements += fmt.Sprintf(", up to %d a series", spans)
	}
}

package griddb

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
	if o[optionLanguage] == languageSQL {
		return renderSQL(q, s, o)
	}
	if err := q.RefuseRare("TQL"); err != nil {
		return driver.Request{}, fmt.Errorf("query %s: %w", q.Type, err)
	}
	r := renderer{layout: newLayout(o), q: q, table: s.Table(q.Table), schema: s}
	if r.table == nil {
		return driver.Request{}, fmt.Errorf("query %s: there is no table %q", q.Type, q.Table)
	}
	err := q.Check(r.table)
	if err == nil {
		err = r.render()
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
	tags   []string // of the registry that are read, in their order
	fields []string // that the plan's rows have
}

// ident is a name as TQL has it.
func ident(name string) string { return `"` + name + `"` }

// literal is a text as TQL has it.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// timeLiteral is a time as a literal of TQL, rounded up to the precision of row keys. There are no times
// before 1970.
func (l *layout) timeLiteral(ns int64) string {
	unit := int64(l.precision.unit)
	at := max(0, ns)
	if rest := at % unit; rest > 0 {
		at += unit - rest
	}
	return l.precision.literal + "('" + time.Unix(0, at).UTC().Format(l.precision.format) + "')"
}

// tag returns the index of a tag among the tags read from the registry.
func (r *renderer) tag(key string) int {
	if i := slices.Index(r.tags, key); i >= 0 {
		return i
	}
	r.tags = append(r.tags, key)
	for i := range r.table.Tags {
		if r.table.Tags[i].Key == key {
			r.plan.Tags = append(r.plan.Tags, tagColumns+i)
		}
	}
	return len(r.tags) - 1
}

func (r *renderer) render() (err error) {
	if r.plan.Plan, r.fields, err = fold.New(r.q, "TQL", r.tag); err != nil {
		return err
	}
	for _, key := range r.q.Demands() {
		r.plan.Present = append(r.plan.Present, r.tag(key))
	}
	if err := r.registry(); err != nil {
		return err
	}
	conditions, last := r.conditions(), ""
	switch p := &r.plan; {
	case p.Rows != nil && p.Rows.Limit > 0:
		last = fmt.Sprintf(" LIMIT %d", p.Rows.Limit)
	case p.Newest != nil && r.bare() && !r.layout.table:
		r.columns()
		r.newest()
		return nil
	case p.Newest != nil:
		last = fmt.Sprintf(" ORDER BY %s DESC LIMIT 1", ident(timeColumn))
	case p.Fold != nil && r.partial():
		return r.aggregates()
	case p.Fold != nil && p.Fold.Limit > 0 && p.Fold.Order == query.Descending:
		if w, ok := r.window(); ok {
			w.Back, w.Width = true, int64(p.Fold.Limit)*p.Fold.Width*int64(time.Millisecond)
			p.Windows = &w
			conditions = r.windowConditions()
		}
	}
	r.columns()
	r.plan.Series = []string{"SELECT *" + clause(conditions) + last}
	r.count("1", "")
	if r.plan.Windows != nil {
		r.plan.Statements += ", for as many windows of time as the answer needs"
	}
	return nil
}

// columns sets the columns of a series' rows that the plan's rows have.
func (r *renderer) columns() {
	before := 0
	if r.layout.table {
		before = 1
	}
	r.plan.Columns, r.plan.Texts = []int{before}, r.table.FreeRoom()
	for _, name := range r.fields {
		r.plan.Columns = append(r.plan.Columns, before+1+r.table.FieldIndex(name))
	}
}

// bare reports whether the query has no condition but on the tags, and on the end of time.
func (r *renderer) bare() bool { return r.q.Filter == nil }

// newest renders the statement for the newest row of a series before a time. It cannot include the
// first time that counts.
func (r *renderer) newest() {
	_, end := r.q.Bounds()
	if r.q.End.IsZero() { // behind all that nanoseconds in 64 bits can say
		end = math.MaxInt64 / int64(time.Second) * int64(time.Second)
	}
	if !r.q.Start.IsZero() {
		start, _ := r.q.Bounds()
		r.plan.Start = &start
	}
	r.plan.Series = []string{fmt.Sprintf("SELECT TIME_PREV_ONLY(*, %s)", r.timeLiteral(end))}
	if r.q.End.IsZero() {
		r.plan.Series = []string{fmt.Sprintf("SELECT TIME_PREV(*, %s)", r.timeLiteral(end))}
	}
	r.count("1", "")
}

// clause is a condition as a statement has it.
func clause(conditions []string) string {
	if len(conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(conditions, " AND ")
}

// conditions returns the conditions on rows of a series.
func (r *renderer) conditions() (list []string) {
	list = r.ofSeries()
	if !r.q.Start.IsZero() {
		list = append(list, ident(timeColumn)+" >= "+r.timeLiteral(r.q.Start.UnixNano()))
	}
	if !r.q.End.IsZero() {
		list = append(list, ident(timeColumn)+" < "+r.timeLiteral(r.q.End.UnixNano()))
	}
	return append(list, r.filterConditions()...)
}

// ofSeries is the condition that rows belong to a series, if its container has others.
func (r *renderer) ofSeries() []string {
	if !r.layout.table {
		return nil
	}
	return []string{ident(seriesColumn) + " = " + markSeries}
}

// windowConditions are the conditions of where in a window of time.
func (r *renderer) windowConditions() []string {
	list := append(r.ofSeries(), ident(timeColumn)+" >= "+markFrom, ident(timeColumn)+" < "+markTo)
	return append(list, r.filterConditions()...)
}

// filterConditions are the conditions on the values of fields. Whole numbers are compared with whole
// ones.
func (r *renderer) filterConditions() (list []string) {
	f := r.q.Filter
	if f == nil {
		return nil
	}
	for _, name := range f.Fields() {
		c, bound := f.Compare, double(f.Value)
		if r.table.Fields[r.table.FieldIndex(name)].Type.Integer() {
			var n int64
			c, n = f.Compare.WholesNoLeast(f.Value)
			bound = strconv.FormatInt(n, 10)
		}
		list = append(list, fmt.Sprintf("%s %s %s", ident(clean(name)), c, bound))
	}
	return list
}

// double is a number as TQL has it.
func double(v float64) string {
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}

// registry renders the statement that reads the registry.
func (r *renderer) registry() error {
	r.plan.Container = registryName(r.table)
	r.plan.Registry = "SELECT *"
	in := r.q.In
	if in == nil {
		return nil
	}
	column := ident(clean(in.Key))
	var list []string
	for _, v := range in.Values {
		of := literal(v)
		if r.table.Tag(in.Key).Numeric() {
			n, err := strconv.ParseFloat(v, 64)
			if err != nil {
				return fmt.Errorf("the filter on tag %s, whose values are numbers, has %q", in.Key, v)
			}
			of = double(n)
		} else if r.table.Tags[0].Key == in.Key && v != "" { // by the row key
			list = append(list, ident(keyColumn)+" = "+of)
			continue
		}
		list = append(list, column+" = "+of)
	}
	r.plan.Registry += " WHERE " + strings.Join(list, " OR ")
	return nil
}

// window is the time that the query is about, where the query or the dataset says when
// it begins and ends.
func (r *renderer) window() (w windows, known bool) {
	first, last := r.q.Start, r.q.End
	if first.IsZero() {
		first = r.schema.First
	}
	if last.IsZero() && !r.schema.Last.IsZero() {
		last = r.schema.Last.Add(1)
	}
	if first.IsZero() || last.IsZero() || first.Unix() < 0 {
		return w, false
	}
	return windows{From: first.UnixNano(), To: last.UnixNano()}, true
}

// partial reports whether the server is to aggregate: the option says so, TQL has the
// aggregates, and each row has the fields, since TQL does not count values.
func (r *renderer) partial() bool {
	f := r.plan.Fold
	if f.Activity != nil && f.Parts[0].Make == fold.MakeZeros { // a share
		return false
	}
	switch r.options[optionAggregate] {
	case aggregateRows:
		return false
	case aggregateAuto:
		if f.Buckets {
			return false
		}
	}
	for i, name := range r.fields {
		t := r.table.Fields[r.table.FieldIndex(name)].Type
		adds := f.Parts[i].Make == string(query.Sum) || f.Parts[i].Make == string(query.Avg)
		if !r.table.EachRowHas(name) || f.Parts[i].Make != string(query.Count) && !t.Numeric() || adds && (t == series.Int || t == series.Float32) {
			return false
		}
	}
	_, known := r.window()
	return !f.Buckets || known
}

// aggregates renders one statement for each field of a series that aggregates the field, after the one
// that counts the series' rows. Sums and means use the same sum and that count.
func (r *renderer) aggregates() error {
	r.plan.Partial = true
	r.plan.Columns = []int{}
	conditions := clause(r.conditions())
	f := r.plan.Fold
	each := ""
	if f.Buckets {
		w, _ := r.window()
		w.Width = f.Width * int64(time.Millisecond)
		r.plan.Windows = &w
		conditions = clause(r.windowConditions())
		each = fmt.Sprintf(" and for each of %d buckets", buckets(w.From, w.To, w.Width))
	}
	r.plan.Series = []string{"SELECT COUNT(*)" + conditions}
	for i, name := range r.fields {
		function := strings.ToUpper(f.Parts[i].Make)
		switch query.Aggregate(f.Parts[i].Make) {
		case query.Count:
			continue // each row has the field
		case query.Avg:
			function = "SUM"
		}
		r.plan.Series = append(r.plan.Series, fmt.Sprintf("SELECT %s(%s)%s", function, ident(clean(name)), conditions))
	}
	r.count(strconv.Itoa(len(r.plan.Series)), each)
	return nil
}

// buckets is how many buckets a window has something of.
func buckets(from, to, width int64) int64 {
	if to <= from {
		return 0
	}
	floor := func(t int64) int64 { return query.BucketOf(t, time.Duration(width)) }
	return 1 + (floor(to-1)-floor(from))/width
}

// count says how many statements the request has.
func (r *renderer) count(n, each string) {
	r.plan.Statements = fmt.Sprintf("1 of the registry, and %s for each series that it names%s", cmp.Or(n, "1"), each)
}

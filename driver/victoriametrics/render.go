package victoriametrics

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/metric"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// The bounds of windows without one, in milliseconds since 1970. VictoriaMetrics
// looks back before a window for some time, but to none before 1970, and has no
// samples of the far future.
const (
	earliest = 31 * day
	latest   = int64(4_102_444_800_000) // 2100
)

// nameLabel has the metric's name for a while: expressions with two operands do not
// match by names.
const nameLabel = metric.Own + "name"

// render renders a query as one instant or range query in MetricsQL.
func render(q *query.Query, s *series.Schema, _ driver.Options) (driver.Request, error) {
	r := renderer{q: q, table: s.Table(q.Table)}
	p, err := r.render()
	if err != nil {
		return driver.Request{}, fmt.Errorf("query %s: %w", q.Type, err)
	}
	text, err := p.Text()
	return driver.Request{Text: text}, err
}

// renderer renders one query.
type renderer struct {
	q        *query.Query
	table    *series.Table
	from, to int64 // the window's first and last millisecond
	bounded  bool  // it has both
}

func unsupported(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{query.ErrUnsupported}, args...)...)
}

func (r *renderer) render() (*metric.Plan, error) {
	if r.table == nil {
		return nil, fmt.Errorf("there is no table %q", r.q.Table)
	}
	if err := r.q.Check(r.table); err != nil {
		return nil, err
	}
	if r.q.Above != nil {
		return nil, unsupported("MetricsQL compares what its functions make of samples at the steps of a query, and not the samples themselves")
	}
	r.window()
	plan, err := r.shape()
	if err == nil && plan.At == 0 && plan.Step == 0 {
		plan.At = r.to
	}
	return plan, err
}

func (r *renderer) shape() (*metric.Plan, error) {
	switch s := r.q.Shape.(type) {
	case query.Buckets:
		return r.buckets(s)
	case query.Totals:
		return r.totals(s), nil
	case query.Rows:
		return r.rows(s), nil
	case query.AnyRows:
		p := r.rows(query.Rows{Fields: s.Fields, Tag: s.Tag})
		p.Limit = s.Limit
		return p, nil
	case query.Last:
		return r.last(s), nil
	case query.Means:
		return r.means(s)
	case query.UnitMeans:
		return r.unitMeans(s), nil
	case query.Sessions:
		return nil, unsupported("MetricsQL counts how often a value changes, and knows of no time between two changes")
	case query.RowSet:
		return nil, unsupported("MetricsQL's set operations are on series, which several samples at a time do not have")
	}
	return r.activity()
}

// window finds the bounds in milliseconds, which are rounded up. A window that is
// empty becomes one before all samples.
func (r *renderer) window() {
	up := func(t time.Time) int64 {
		return -floor(-t.UnixNano(), int64(time.Millisecond)) / int64(time.Millisecond)
	}
	r.from, r.to = earliest, latest
	if !r.q.Start.IsZero() {
		r.from = max(earliest, up(r.q.Start))
	}
	if !r.q.End.IsZero() {
		r.to = min(latest, up(r.q.End)-1)
	}
	if r.to < r.from {
		r.from, r.to = earliest-1, earliest-1
	}
	r.bounded = !r.q.Start.IsZero() && !r.q.End.IsZero()
}

func floor(t, width int64) int64 { return query.BucketOf(t, time.Duration(width)) }

// ident returns a label's name as it stands in MetricsQL.
func ident(name string) string {
	var b strings.Builder
	for i, c := range name {
		if c != '_' && (c > unicode.MaxASCII || !unicode.IsLetter(c) && (i == 0 || !unicode.IsDigit(c))) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

func idents(names ...string) string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = ident(n)
	}
	return strings.Join(list, ", ")
}

// matches returns the condition that a label has one of some values.
func matches(name string, values []string) string {
	values = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(values))), func(v string) bool { return v == "" })
	switch len(values) {
	case 0: // no label is empty
		return name + `="", ` + name + `!=""`
	case 1:
		return name + "=" + strconv.Quote(values[0])
	}
	for i, v := range values {
		values[i] = regexp.QuoteMeta(v)
	}
	return name + "=~" + strconv.Quote(strings.Join(values, "|"))
}

// selector selects the series of fields that the query is about. Their rows have
// all the tags that are demanded.
func (r *renderer) selector(fields []string, demanded ...string) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = metric.Name(r.q.Table, f)
	}
	conditions := []string{matches("__name__", names)}
	if in := r.q.In; in != nil {
		conditions = append(conditions, matches(ident(in.Key), in.Values))
	}
	for _, key := range slices.Concat(r.q.Demands(), demanded) {
		if r.q.In == nil || r.q.In.Key != key {
			conditions = append(conditions, ident(key)+`!=""`)
		}
	}
	return "{" + strings.Join(conditions, ", ") + "}"
}

// all is a range of samples that a function looks at: those of the window.
func (r *renderer) all() span { return span{length: r.to - r.from + 1} }

// span is the range that stands behind a selector, in milliseconds.
type span struct {
	length, offset int64
	at             int64 // 0: the time of the query
}

func (s span) of(selector string) string {
	text := selector + "[" + duration(s.length) + "]"
	if s.offset != 0 {
		text += " offset " + duration(s.offset)
	}
	if s.at != 0 {
		text += " @ " + seconds(s.at)
	}
	return text
}

// seconds returns milliseconds as MetricsQL has them. It computes with doubles, and
// cuts fractions of a millisecond off or rounds them: some of one keep 0.999 from
// becoming 0.998.
func seconds(ms int64) string {
	if ms%1000 == 0 {
		return strconv.FormatInt(ms/1000, 10)
	}
	return fmt.Sprintf("%d.%03d4", ms/1000, ms%1000)
}

// duration is seconds for a duration.
func duration(ms int64) string { return seconds(ms) + "s" }

// over applies a function to the samples of each series, whose names stay.
func over(function, selector string, s span, more ...string) string {
	return function + "(" + strings.Join(append([]string{s.of(selector)}, more...), ", ") + ") keep_metric_names"
}

// grouped aggregates series by labels.
func grouped(function, of string, by ...string) string {
	return fmt.Sprintf("%s(%s) by (%s)", function, of, idents(by...))
}

// named gives the series of an expression a name.
func named(expression, name string) string {
	return fmt.Sprintf("label_set(%s, \"__name__\", %s)", expression, strconv.Quote(name))
}

// aside puts names into a label, under which operands match, and back puts them
// where they were.
func aside(expression string) string {
	return fmt.Sprintf("label_move(%s, \"__name__\", %q)", expression, nameLabel)
}

func back(expression string) string {
	return fmt.Sprintf("label_move(%s, %q, \"__name__\")", expression, nameLabel)
}

// union puts expressions together.
func union(expressions ...string) string {
	if len(expressions) == 1 {
		return expressions[0]
	}
	return "union(\n  " + strings.Join(expressions, ",\n  ") + "\n)"
}

// number returns a number as it stands in MetricsQL.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// meansOf returns means of the samples of fields in groups, their names aside: of
// each group the sum divided by the count.
func (r *renderer) meansOf(fields []string, s span, by ...string) string {
	by = append([]string{"__name__"}, by...)
	selector := r.selector(fields)
	return aside(grouped("sum", over("sum_over_time", selector, s), by...)) + " / " +
		aside(grouped("sum", over("count_over_time", selector, s), by...))
}

// aggregated returns an aggregate of fields in groups, and what tells of groups
// whose rows have no value.
func (r *renderer) aggregated(a query.Aggregate, fields []string, s span, by ...string) []string {
	of := append([]string{"__name__"}, by...)
	var text string
	switch selector := r.selector(fields); a {
	case query.Avg:
		text = back(r.meansOf(fields, s, by...))
	case query.Count:
		text = grouped("sum", over("count_over_time", selector, s), of...)
	default:
		text = grouped(string(a), over(string(a)+"_over_time", selector, s), of...)
	}
	return append([]string{text}, r.groupsOf(fields, s, by...)...)
}

// groupsOf returns an expression that has a sample of each group with rows, where
// not all rows are sure to have one of the fields.
func (r *renderer) groupsOf(fields []string, s span, by ...string) []string {
	witnesses := r.witnesses(fields)
	if witnesses == nil {
		return nil
	}
	return []string{named(grouped("count", over("count_over_time", r.selector(witnesses), s), by...), metric.RowName)}
}

// witnesses returns fields of which each row has one, in place of fields of which a
// row may have none; nil: each has.
func (r *renderer) witnesses(fields []string) []string {
	if slices.ContainsFunc(fields, r.sure) {
		return nil
	}
	if first := r.table.Fields[0].Name; r.sure(first) {
		return []string{first}
	}
	var all []string
	for _, f := range r.table.Fields {
		all = append(all, f.Name)
	}
	return append(all, metric.NullField)
}

// sure reports whether every row has a value of the field.
func (r *renderer) sure(field string) bool { return sure(r.table, field) }

func sure(t *series.Table, field string) bool {
	narrowest := len(t.Fields)
	if t.Widths != nil {
		narrowest = int(slices.Min(t.Widths))
	}
	return t.Dense && t.FieldIndex(field) < narrowest
}

// plan returns one with the columns of the answer.
func (r *renderer) plan(timed bool, tags, fields []string) *metric.Plan {
	p := &metric.Plan{Timed: timed, Order: r.q.Order()}
	for _, key := range tags {
		if key != "" {
			p.Tags = append(p.Tags, metric.Tag{Label: key, Number: r.table.Tag(key).Numeric()})
		}
	}
	for _, f := range fields {
		p.Fields = append(p.Fields, metric.Field{Name: metric.Name(r.q.Table, f)})
	}
	return p
}

// stored says of the plan that its values are those that are stored.
func (r *renderer) stored(p *metric.Plan, fields []string) *metric.Plan {
	for i, f := range fields {
		p.Fields[i].Single = r.table.Fields[r.table.FieldIndex(f)].Type == series.Float32
	}
	return p
}

// counted says of the plan that its values are counts where they are.
func counted(p *metric.Plan, a query.Aggregate) *metric.Plan {
	for i := range p.Fields {
		p.Fields[i].Count = a == query.Count
	}
	return p
}

func (r *renderer) totals(q query.Totals) *metric.Plan {
	p := counted(r.plan(false, []string{q.GroupBy}, q.Fields), q.Aggregate)
	p.Expression = union(r.aggregated(q.Aggregate, q.Fields, r.all(), q.GroupBy)...)
	return p
}

// buckets renders the Buckets shape: a range query at the last millisecond of each
// bucket. The first and the last bucket, where the window cuts them, are parts of
// their own, evaluated once.
func (r *renderer) buckets(q query.Buckets) (*metric.Plan, error) {
	width := q.Width.Milliseconds()
	switch {
	case !r.bounded:
		return nil, unsupported("a range query needs a beginning and an end")
	case width < 1 || q.Width%time.Millisecond != 0:
		return nil, unsupported("times are milliseconds, and buckets of %v are none", q.Width)
	}
	p := counted(r.plan(true, []string{q.GroupBy}, q.Fields), q.Aggregate)
	p.Limit = q.Limit
	var by []string
	if q.GroupBy != "" {
		by = []string{q.GroupBy}
	}
	first, end := floor(r.from, width), floor(r.to, width)+width
	if end-first == width {
		p.At, p.Shift = r.to, first-r.to
		p.Expression = union(r.aggregated(q.Aggregate, q.Fields, r.all(), by...)...)
		return p, nil
	}
	p.Start, p.End, p.Step, p.Shift = first+width-1, end-1, width, 1-width
	var parts []string
	part := func(s span, condition string) {
		for _, expression := range r.aggregated(q.Aggregate, q.Fields, s, by...) {
			if condition != "" {
				expression = fmt.Sprintf("label_set(%s if (%s), %q, \"%d\")", enclosed(expression), condition, metric.PartLabel, len(parts))
			}
			parts = append(parts, expression)
		}
	}
	var whole []string // the conditions of whole buckets
	if r.from > first {
		border := seconds(first + width)
		part(span{length: first + width - r.from, at: first + width - 1}, "time() < "+border)
		whole = append(whole, "time() > "+border)
	}
	if border := end - width; r.to < end-1 {
		part(span{length: r.to - border + 1, at: r.to}, "time() > "+seconds(border))
		whole = append(whole, "time() < "+seconds(border))
	}
	part(span{length: width}, strings.Join(whole, " and "))
	p.Expression = union(parts...)
	return p, nil
}

func enclosed(expression string) string { return "(" + expression + ")" }

// rows renders the Rows shape: the samples themselves.
func (r *renderer) rows(q query.Rows) *metric.Plan {
	p := r.stored(r.plan(true, []string{q.Tag}, q.Fields), q.Fields)
	p.Expression = r.all().of(r.selector(append(slices.Clone(q.Fields), r.witnesses(q.Fields)...)))
	return p
}

// last renders the Last shape: the last sample of each series, if its time is the
// latest of its group's.
func (r *renderer) last(q query.Last) *metric.Plan {
	p := r.stored(r.plan(true, append([]string{q.By}, q.Tags...), q.Fields), q.Fields)
	p.One = true
	var labels []string
	for i := range r.table.Tags {
		labels = append(labels, r.table.Tags[i].Key)
	}
	s, witnesses := r.all(), r.witnesses(q.Fields)
	if witnesses == nil {
		witnesses = q.Fields
	}
	moments := over("tlast_over_time", r.selector(witnesses), s)
	newest := fmt.Sprintf("== on (%s) group_left() %s", ident(q.By), grouped("max", moments, q.By))
	// valuesOf are those of the newest row, their names aside.
	valuesOf := func(fields ...string) string {
		selector := r.selector(fields)
		return fmt.Sprintf("%s if on (%s) (%s %s)", aside(over("last_over_time", selector, s)),
			idents(append([]string{nameLabel}, labels...)...), aside(over("tlast_over_time", selector, s)), newest)
	}
	values := back(valuesOf(q.Fields...))
	times := named(fmt.Sprintf("%s %s", grouped("max", moments, labels...), newest), metric.TimeName)
	if having := q.Having; having != nil {
		compared := enclosed(valuesOf(having.Field))
		if having.Over != "" {
			compared = fmt.Sprintf("(%s / label_value(%[1]s, %s))", compared, strconv.Quote(having.Over))
		}
		condition := fmt.Sprintf(" if on (%s) (%s %s %s)", idents(labels...), compared, having.Compare, number(having.Value))
		values, times = values+condition, times+condition
	}
	p.Expression = union(values, times)
	return p
}

// means renders the Means shape.
func (r *renderer) means(q query.Means) (*metric.Plan, error) {
	p := r.plan(false, q.Group, append(slices.Clone(q.Fields), q.MeanTags...))
	var parts []string
	if len(q.Fields) > 0 {
		parts = append(parts, back(r.meansOf(q.Fields, r.all(), q.Group...)))
	}
	counter := slices.IndexFunc(r.table.Fields, func(f series.Field) bool { return r.sure(f.Name) })
	for _, tag := range q.MeanTags {
		if counter < 0 {
			return nil, unsupported("the mean of tag %s counts each row once, and VictoriaMetrics counts samples: no field of table %s has one in each row", tag, r.table.Name)
		}
		count := over("count_over_time", r.selector([]string{r.table.Fields[counter].Name}, tag), r.all())
		weighed := fmt.Sprintf("label_value(%s, %s) * %s", count, strconv.Quote(tag), enclosed(count))
		parts = append(parts, named(grouped("sum", weighed, q.Group...)+" / "+grouped("sum", count, q.Group...), metric.Name(r.q.Table, tag)))
	}
	parts = append(parts, r.groupsOf(q.Fields, r.all(), q.Group...)...)
	if having := q.Having; having != nil {
		condition := fmt.Sprintf(" if on (%s) (%s %s %s)", idents(q.Group...), enclosed(r.meansOf([]string{having.Field}, r.all(), q.Group...)), having.Compare, number(having.Value))
		for i := range parts {
			parts[i] = enclosed(parts[i]) + condition
		}
	}
	p.Expression = union(parts...)
	return p, nil
}

// unitMeans renders the UnitMeans shape.
func (r *renderer) unitMeans(q query.UnitMeans) *metric.Plan {
	p := r.plan(false, q.Group, q.Fields)
	units := r.meansOf(q.Fields, r.all(), append(slices.Clone(q.Group), q.Unit)...)
	mean := grouped("avg", units, append([]string{nameLabel}, q.Group...)...)
	if q.Over != "" {
		mean = fmt.Sprintf("%s / label_value(%[1]s, %s)", mean, strconv.Quote(q.Over))
	}
	p.Expression = union(append([]string{back(mean)}, r.groupsOf(q.Fields, r.all(), q.Group...)...)...)
	return p
}

const day = int64(24 * time.Hour / time.Millisecond)

// activity renders the shapes that look at each unit's buckets: by subqueries,
// whose steps are multiples of the bucket's width, so that a bucket stands where it
// ends.
func (r *renderer) activity() (*metric.Plan, error) {
	a := r.q.Activity()
	if !r.bounded {
		return nil, unsupported("a subquery needs a beginning and an end")
	}
	width := a.Width.Milliseconds()
	if width < 1 || a.Width%time.Millisecond != 0 {
		return nil, unsupported("times are milliseconds, and buckets of %v are none", a.Width)
	}
	first, end := floor(r.from, width), floor(r.to, width)+width
	firstDay, lastDay := floor(first, day), floor(end-1, day)+day
	steps := func(length int64) string { return fmt.Sprintf("[%s:%s]", duration(length), duration(width)) }
	var p *metric.Plan
	switch s := r.q.Shape.(type) {
	case query.ActiveUnits:
		p = r.plan(false, []string{a.Unit}, nil)
		p.At = end
		p.Expression = fmt.Sprintf("count_over_time(%s%s) > %d", enclosed(r.active(first, end, "", a.Unit)), steps(end-first), s.More)
		if s.More < 0 {
			return nil, unsupported("more than %d buckets", s.More)
		}
	case query.ActiveHours:
		p = r.plan(false, []string{a.Unit}, nil)
		p.Fields = []metric.Field{{Name: "hours"}}
		p.At = lastDay
		p.Expression = named(fmt.Sprintf("avg_over_time(count_over_time(%s%s)[%s:1d]) * %s",
			enclosed(r.active(first, end, "", a.Unit)), steps(day), duration(lastDay-firstDay), number(a.Width.Hours())), "hours")
	case query.ActiveShare:
		p = r.plan(true, s.Group, nil)
		p.Fields = []metric.Field{{Name: "share"}}
		p.Start, p.End, p.Step, p.Shift = firstDay+day, lastDay, day, -day
		buckets := grouped("sum", fmt.Sprintf("count_over_time(%s%s)", enclosed(r.active(first, end, "", append(slices.Clone(s.Group), a.Unit)...)), steps(day)), s.Group...)
		p.Expression = named(fmt.Sprintf("%s / %d", buckets, day/width), "share")
	case query.Starts:
		p = r.plan(false, s.Group, nil)
		p.Fields = []metric.Field{{Name: "starts"}}
		p.At = end
		changes := fmt.Sprintf("increases_over_time(%s%s)", enclosed(r.active(first, end, "bool ", append(slices.Clone(s.Group), a.Unit)...)), steps(end-first))
		p.Expression = named(grouped("sum", changes, s.Group...)+" > 0", "starts")
	default:
		return nil, unsupported("MetricsQL has nothing for %s", r.q.ShapeName())
	}
	return p, nil
}

// active returns an expression that, where a bucket ends, has the units of which it
// is active; with bool it has all that have samples, as 1 and 0.
func (r *renderer) active(first, end int64, boolean string, by ...string) string {
	a, width := r.q.Activity(), r.q.Activity().Width.Milliseconds()
	selector := r.selector([]string{a.Field})
	part := func(s span, after, before int64) string {
		value := over("sum_over_time", selector, s)
		if a.Zeros {
			value = over("count_eq_over_time", selector, s, "0")
		}
		return fmt.Sprintf("(%s / %s if (time() > %s and time() < %s))", grouped("sum", value, by...),
			grouped("sum", over("count_over_time", selector, s), by...), seconds(after), seconds(before))
	}
	// half keeps the borders of conditions away from the steps.
	half := max(1, width/2)
	var parts []string
	after, before := first, end+half
	switch {
	case end-first == width:
		parts = append(parts, part(span{length: r.to - r.from + 1, offset: end - r.to}, end-half, before))
		after = before
	case r.from > first:
		after = first + width + half
		parts = append(parts, part(span{length: first + width - r.from, offset: 1}, first+half, after))
		fallthrough
	default:
		if r.to < end-1 {
			before = end - half
			parts = append(parts, part(span{length: r.to - (end - width) + 1, offset: end - r.to}, before, end+half))
		}
	}
	if after < before && (end-first > width) {
		parts = append(parts, part(span{length: width, offset: 1}, after, before))
	}
	mean := parts[0]
	if len(parts) > 1 { // of a step one alone has a value
		for i := range parts {
			parts[i] = fmt.Sprintf("label_set(%s, %q, \"%d\")", parts[i], metric.PartLabel, i)
		}
		mean = grouped("sum", union(parts...), by...)
	}
	return fmt.Sprintf("%s %s %s%s", mean, a.Compare, boolean, number(a.Value))
}

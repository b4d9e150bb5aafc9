package influxdb2

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/influx"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// The names of Flux's columns.
const (
	timeColumn  = "_time"
	fieldColumn = "_field"
	valueColumn = "_value"
)

// rowColumn is a column of tsmark's own that each row has.
const rowColumn = influx.OwnPrefix + "row"

// flux renders a query in Flux. The first line of the text is a comment that names the columns of the
// result, which is the plan: see header.
func flux(q *query.Query, s *series.Schema, bucket string) (driver.Request, error) {
	if err := q.RefuseRare("Flux"); err != nil {
		return driver.Request{}, fmt.Errorf("query %s: %w", q.Type, err)
	}
	r := renderer{q: q, table: s.Table(q.Table), bucket: bucket}
	if r.table == nil {
		return driver.Request{}, fmt.Errorf("query %s: there is no table %q", q.Type, q.Table)
	}
	err := q.Check(r.table)
	if err == nil {
		err = r.checkFilter()
	}
	if err != nil {
		return driver.Request{}, fmt.Errorf("query %s: %w", q.Type, err)
	}
	steps, columns := r.shape()
	text := header(columns)
	if r.unpivots {
		text += "import \"experimental\"\n\n"
	}
	for _, d := range r.definitions {
		text += d + "\n\n"
	}
	return driver.Request{Text: text + steps.String(), Plan: columns}, nil
}

// renderer renders one query.
type renderer struct {
	q           *query.Query
	table       *series.Table
	bucket      string
	definitions []string // definitions before the query
	unpivots    bool     // it uses the package experimental
}

// column is a column of the result.
type column struct {
	name string // in Flux
	zero bool   // NULL means 0
}

func newColumns(names ...string) []column {
	list := make([]column, len(names))
	for i, name := range names {
		list[i] = column{name: name}
	}
	return list
}

// flow is a pipeline in Flux: a source of tables, and the functions applied to it.
type flow []string

// pipe returns the flow with further steps.
func (f flow) pipe(steps ...string) flow { return append(slices.Clone(f), steps...) }

// String returns the text with a line for each step.
func (f flow) String() string { return strings.Join(f, "\n  |> ") }

// inline returns the text in one line.
func (f flow) inline() string { return strings.Join(f, " |> ") }

// shape renders the shape of the query.
func (r *renderer) shape() (flow, []column) {
	switch s := r.q.Shape.(type) {
	case query.Buckets:
		return r.buckets(s)
	case query.Totals:
		return r.totals(s)
	case query.Rows:
		return r.rows(s)
	case query.AnyRows:
		all, columns := r.rows(query.Rows{Fields: s.Fields, Tag: s.Tag})
		return all.pipe(first(s.Limit)), columns
	case query.RowSet:
		return r.rowSet(s)
	case query.Last:
		return r.last(s)
	case query.Means:
		return r.means(s)
	case query.UnitMeans:
		return r.unitMeans(s)
	}
	return r.activity()
}

// The bounds of range for queries without bounds.
const (
	firstTime = "1677-09-21T00:12:43.145224194Z"
	lastTime  = "2262-04-11T23:47:16.854775806Z"
)

// source returns the values of fields that the query is about, as far as the index can select them.
func (r *renderer) source(fields ...string) flow {
	start, stop := firstTime, lastTime
	if !r.q.Start.IsZero() {
		start = instant(r.q.Start)
	}
	if !r.q.End.IsZero() {
		stop = instant(r.q.End)
	}
	empty := !r.q.Start.IsZero() && !r.q.End.IsZero() && !r.q.Start.Before(r.q.End)
	if empty { // range rejects it
		stop = instant(r.q.Start.Add(1))
	}
	f := flow{"from(bucket: " + text(r.bucket) + ")", fmt.Sprintf("range(start: %s, stop: %s)", start, stop)}
	if empty {
		f = f.pipe(filter("false"))
	}
	f = f.pipe(filter(equals("_measurement", r.table.Name)))
	f = f.pipe(filter(oneOf(fieldColumn, fields)))
	in := r.q.In
	if in != nil && !r.numeric(in.Key) {
		f = f.pipe(filter(oneOf(in.Key, in.Values)))
	}
	for _, key := range r.q.Demands() {
		if !r.numeric(key) && (in == nil || in.Key != key) {
			f = f.pipe(filter("exists " + member(key)))
		}
	}
	return f
}

// wholes returns rows with the fields as columns, restricted by the conditions that need several values
// of a row.
func (r *renderer) wholes(fields ...string) flow {
	fields = distinct(fields, r.conditionFields())
	f := r.source(fields...).pipe(pivot(timeColumn))
	for _, condition := range r.conditions() {
		f = f.pipe(filter(condition))
	}
	return f
}

// conditionFields returns the fields in conditions on rows.
func (r *renderer) conditionFields() []string {
	var names []string
	if r.q.Filter != nil {
		names = r.q.Filter.Fields()
	}
	keys := r.q.Demands()
	if r.q.In != nil {
		keys = append(slices.Clone(keys), r.q.In.Key)
	}
	return distinct(names, r.numbers(keys...))
}

// conditions returns the conditions on the judged fields.
func (r *renderer) conditions() []string {
	var all []string
	if by := r.q.Filter; by != nil {
		for _, name := range by.Fields() {
			all = append(all, compareField(member(name), by, r.table.Fields[r.table.FieldIndex(name)].Type))
		}
	}
	in := r.q.In
	if in != nil && r.numeric(in.Key) {
		var values []string
		for _, v := range in.Values {
			n, _ := strconv.ParseFloat(v, 64) // checkFilter has parsed it
			values = append(values, member(in.Key)+" == "+float(n))
		}
		all = append(all, fmt.Sprintf("exists %s and (%s)", member(in.Key), strings.Join(values, " or ")))
	}
	for _, key := range r.numbers(r.q.Demands()...) {
		if in == nil || in.Key != key {
			all = append(all, "exists "+member(key))
		}
	}
	return all
}

// checkFilter returns an error if a filter on a numeric tag has a value that is not a number.
func (r *renderer) checkFilter() error {
	in := r.q.In
	if in == nil || !r.numeric(in.Key) {
		return nil
	}
	for _, v := range in.Values {
		if n, err := strconv.ParseFloat(v, 64); err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			return fmt.Errorf("the filter on tag %s, whose values are numbers, has %q", in.Key, v)
		}
	}
	return nil
}

// selection returns the rows that the query selects.
func (r *renderer) selection() influx.Rows { return influx.Rows{Query: r.q, Table: r.table} }

// numeric reports whether a tag is a number, which line protocol stores as a field.
func (r *renderer) numeric(key string) bool { return r.table.Tag(key).Numeric() }

// numbers returns the numeric tags among keys.
func (r *renderer) numbers(keys ...string) []string {
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return key == "" || !r.numeric(key) })
}

// values returns the values of fields, each with the name of its field, and the values of witnesses:
// fields such that each row has at least one of them. It also returns the fields that mark a row as
// present. The values of each series form a table in the order of time; if a key is a number, and
// therefore not part of a series' key, the tables are those of the keys.
func (r *renderer) values(fields, keys, witnesses []string) (f flow, present []string) {
	numbers := r.numbers(keys...)
	if conditionFields := r.conditionFields(); len(numbers) == 0 {
		switch {
		case len(conditionFields) == 0:
			return r.source(distinct(fields, witnesses)...), witnesses
		case len(fields) == 1 && r.q.Filter != nil && slices.Equal(conditionFields, fields):
			return r.filterValues(fields[0]), nil
		}
	}
	f = r.wholes(distinct(fields, witnesses, numbers)...)
	if len(numbers) > 0 {
		f = f.pipe(group(keys...), "sort(columns: "+list([]string{timeColumn})+")")
	}
	kept := distinct(keys, []string{timeColumn, "_start", "_stop"}, fields)
	if len(witnesses) > 0 {
		present, kept = []string{rowColumn}, append(kept, rowColumn)
		f = f.pipe(setColumn(rowColumn, "1"))
	}
	if len(numbers) > 0 {
		f = f.pipe("keep(columns: " + list(kept) + ")")
	}
	r.unpivots = true
	return f.pipe("experimental.unpivot()"), present
}

// filterValues returns the values of a field that fulfil the query's value filter themselves.
func (r *renderer) filterValues(field string) flow {
	return r.source(field).pipe(filter(compareField(member(valueColumn), r.q.Filter, r.table.Fields[r.table.FieldIndex(field)].Type)))
}

// folding says how values are folded: the values of fields, and the values of fields that only mark
// rows as present.
type folding struct {
	fields, groups []string // the fields, and the tags of the first groups
	keys           []string // the columns that identify rows of the result
	steps, present []string
	zero           bool // the steps return 0 for no values
}

// fold returns the rows of the result, and the columns of its values.
func (r *renderer) fold(o folding) (flow, []column) {
	f, present := r.values(o.fields, o.groups, r.selection().Witnesses(o.fields))
	keep := "keep(columns: " + list(append(slices.Clone(o.keys), fieldColumn, valueColumn)) + ")"
	sure := func(name string) bool { return !o.zero || r.selection().Sure(name) }
	only := filter(oneOf(fieldColumn, o.fields))
	switch {
	case len(o.fields) == 1 && len(present) == 0:
		if r.unpivots {
			f = f.pipe(only)
		}
		return f.pipe(o.steps...).pipe(keep, "group()"), []column{{name: valueColumn, zero: !sure(o.fields[0])}}
	case len(present) == 0:
		if r.unpivots {
			f = f.pipe(only)
		}
		f = f.pipe(o.steps...).pipe(keep)
	default:
		r.definitions = append(r.definitions, "data = "+f.String())
		f = flow{fmt.Sprintf("union(tables: [\n  %s,\n  %s,\n])",
			flow{"data", only}.pipe(o.steps...).pipe(keep).inline(),
			flow{"data", filter(oneOf(fieldColumn, present))}.pipe(o.present...).pipe(keep).inline())}
	}
	var answer []column
	for _, name := range o.fields {
		answer = append(answer, column{name: name, zero: !sure(name)})
	}
	return f.pipe(pivotFields(o.keys...)...), answer
}

// pivotFields turns fields into columns, in rows identified by the keys. The pivot of Flux 0.196 assumes
// that the columns of all tables have the positions they have in the first one. Therefore the kept
// columns are copies in a fixed order, and have names of tsmark's own during the pivot.
func pivotFields(keys ...string) []string {
	steps, copies, names := []string{group(fieldColumn)}, make([]string, len(keys)), make([]string, len(keys))
	for i, key := range keys {
		copies[i] = fmt.Sprintf("%skey_%d", influx.OwnPrefix, i)
		names[i] = copies[i] + ": " + text(key)
		steps = append(steps, fmt.Sprintf("duplicate(column: %s, as: %s)", text(key), text(copies[i])))
	}
	return append(steps, "keep(columns: "+list(append(slices.Clone(copies), fieldColumn, valueColumn))+")",
		pivot(copies...), "rename(columns: {"+strings.Join(names, ", ")+"})", "group()")
}

// regroup groups by columns and by fields, and drops all other columns: Flux 0.196 cannot find the
// minimum of tables whose series have different tags ("index out of range").
func regroup(keys ...string) []string {
	by := append(slices.Clone(keys), fieldColumn)
	return []string{group(by...), "keep(columns: " + list(append(by, timeColumn, valueColumn, "_start", "_stop")) + ")"}
}

// functions are the names of aggregates in Flux.
func functions() map[query.Aggregate]string {
	return map[query.Aggregate]string{query.Max: "max", query.Min: "min", query.Avg: "mean", query.Sum: "sum", query.Count: "count"}
}

// totals renders the Totals shape.
func (r *renderer) totals(q query.Totals) (flow, []column) {
	keys := []string{q.GroupBy}
	f, values := r.fold(folding{
		fields: q.Fields, groups: keys, keys: keys, zero: q.Aggregate == query.Count,
		steps: append(regroup(keys...), functions()[q.Aggregate]+"()"), present: append(regroup(keys...), "count()"),
	})
	return f, append(newColumns(keys...), values...)
}

// buckets renders the Buckets shape. The storage folds each series first, and the partial results are
// folded next. Means are an exception: a mean of means would be a different value.
func (r *renderer) buckets(q query.Buckets) (flow, []column) {
	var groups []string
	if q.GroupBy != "" {
		groups = []string{q.GroupBy}
	}
	keys := append([]string{timeColumn}, groups...)
	function := functions()[q.Aggregate]
	count := slices.Concat([]string{window(q.Width, "count")}, regroup(groups...), []string{window(q.Width, "sum")})
	o := folding{fields: q.Fields, groups: groups, keys: keys, present: count, zero: q.Aggregate == query.Count}
	switch q.Aggregate {
	case query.Avg:
		o.steps = append(regroup(groups...), window(q.Width, function))
	case query.Count:
		o.steps = count
	default:
		o.steps = slices.Concat([]string{window(q.Width, function)}, regroup(groups...), []string{window(q.Width, function)})
	}
	f, values := r.fold(o)
	f = f.pipe(r.truncateTimes(q.Width)...)
	f = f.pipe(sortRows(q.Order, keys...)...)
	if q.Limit > 0 {
		f = f.pipe(first(q.Limit))
	}
	return f, append(newColumns(keys...), values...)
}

// truncateTimes is the step that moves the time of the first bucket, which begins with the range, to the
// start of the bucket.
func (r *renderer) truncateTimes(width time.Duration) []string {
	if r.q.Start.IsZero() || query.BucketOf(r.q.Start.UnixNano(), width) == r.q.Start.UnixNano() {
		return nil
	}
	return []string{fmt.Sprintf("truncateTimeColumn(unit: %s)", duration(width))}
}

// means renders the Means shape.
func (r *renderer) means(q query.Means) (flow, []column) {
	fields := slices.DeleteFunc(slices.Concat(q.Fields, q.MeanTags), func(name string) bool { return slices.Contains(q.Group, name) })
	f, values := r.fold(folding{
		fields: fields, groups: q.Group, keys: q.Group, steps: append(regroup(q.Group...), "mean()"), present: append(regroup(q.Group...), "count()"),
	})
	for i, key := range slices.Concat(q.Fields, q.MeanTags) {
		if slices.Contains(q.Group, key) { // the mean of a number that is equal in all of the group
			values = slices.Insert(values, i, column{name: key})
		}
	}
	if having := q.Having; having != nil {
		value := values[slices.Index(q.Fields, having.Field)].name
		f = f.pipe(filter(comparison(member(value), having.Compare, having.Value)))
	}
	return f, append(newColumns(q.Group...), values...)
}

// unitMeans renders the UnitMeans shape: the mean of each unit, and the mean of these for each group.
func (r *renderer) unitMeans(q query.UnitMeans) (flow, []column) {
	units := append(slices.Clone(q.Group), q.Unit)
	steps := append(regroup(units...), "mean()")
	if q.Over != "" {
		steps = append(steps, setColumn(valueColumn, member(valueColumn)+" / "+member(q.Over)))
	}
	f, values := r.fold(folding{
		fields: q.Fields, groups: units, keys: q.Group,
		steps: append(steps, group(append(slices.Clone(q.Group), fieldColumn)...), "mean()"), present: append(regroup(q.Group...), "count()"),
	})
	return f, append(newColumns(q.Group...), values...)
}

// rows renders the Rows shape.
func (r *renderer) rows(q query.Rows) (flow, []column) {
	var tags []string
	if q.Tag != "" {
		tags = []string{q.Tag}
	}
	keys := append([]string{timeColumn}, tags...)
	f, values := r.plain(q.Fields, r.numbers(tags...))
	answer := append(newColumns(keys...), values...)
	return f.pipe("group()", keepColumns(answer)).pipe(sortRows(q.Order, keys...)...), answer
}

// plain returns rows with fields and numeric tags as columns.
func (r *renderer) plain(fields, numbers []string) (flow, []column) {
	present := r.selection().Witnesses(append(slices.Clone(fields), numbers...))
	if len(fields) == 1 && len(numbers)+len(present) == 0 {
		switch conditionFields := r.conditionFields(); {
		case len(conditionFields) == 0:
			return r.source(fields...), newColumns(valueColumn)
		case r.q.Filter != nil && slices.Equal(conditionFields, fields):
			return r.filterValues(fields[0]), newColumns(valueColumn)
		}
	}
	return r.wholes(distinct(fields, numbers, present)...), newColumns(fields...)
}

// last renders the Last shape: the newest row of each group. If only the index selects rows, the newest
// value of each field of each series suffices: it is the newest row's, or an older one.
func (r *renderer) last(q query.Last) (flow, []column) {
	returned := distinct(q.Fields, r.numbers(append([]string{q.By}, q.Tags...)...))
	var over []string
	if q.Having != nil && q.Having.Over != "" {
		over = []string{q.Having.Over}
	}
	needed := distinct(returned, over)
	needed = distinct(needed, r.selection().Witnesses(needed))
	var f flow
	if len(r.conditionFields()) == 0 {
		f = r.source(needed...).pipe("last()", pivot(timeColumn))
	} else {
		f = r.wholes(needed...)
	}
	f = f.pipe(group(q.By), fmt.Sprintf("sort(columns: %s, desc: true)", list([]string{timeColumn})), first(1), "group()")
	if having := q.Having; having != nil {
		value := fmt.Sprintf("float(v: %s)", member(having.Field))
		there := "exists " + member(having.Field)
		if having.Over != "" {
			value += " / " + member(having.Over)
			there += " and exists " + member(having.Over)
		}
		f = f.pipe(filter(fmt.Sprintf("%s and %s %s %s", there, value, having.Compare, float(having.Value))))
	}
	answer := newColumns(slices.Concat([]string{timeColumn, q.By}, q.Tags, q.Fields)...)
	return f.pipe(keepColumns(answer)), answer
}

// filter is the step that keeps rows that satisfy a condition.
func filter(condition string) string { return "filter(fn: (r) => " + condition + ")" }

// first is the step that keeps the first rows.
func first(n int) string { return fmt.Sprintf("limit(n: %d)", n) }

// group is the step that groups by columns.
func group(keys ...string) string { return "group(columns: " + list(keys) + ")" }

// pivot is the step that turns fields into columns, in rows identified by the keys.
func pivot(keys ...string) string {
	return fmt.Sprintf("pivot(rowKey: %s, columnKey: %s, valueColumn: %s)", list(keys), list([]string{fieldColumn}), text(valueColumn))
}

// window is the step that folds the values of each bucket of time.
func window(width time.Duration, function string) string {
	return fmt.Sprintf("aggregateWindow(every: %s, fn: %s, createEmpty: false, timeSrc: %s)", duration(width), function, text("_start"))
}

// setColumn is the step that sets a column.
func setColumn(column, value string) string {
	return fmt.Sprintf("map(fn: (r) => ({r with %s: %s}))", column, value)
}

// keepColumns is the step that keeps the columns of the result.
func keepColumns(answer []column) string {
	names := make([]string, len(answer))
	for i, c := range answer {
		names[i] = c.name
	}
	return "keep(columns: " + list(names) + ")"
}

// sortRows is the step that sorts rows, if there is an order.
func sortRows(order query.Order, keys ...string) []string {
	switch order {
	case query.Ascending:
		return []string{"sort(columns: " + list(keys) + ")"}
	case query.Descending:
		return []string{"sort(columns: " + list(keys) + ", desc: true)"}
	}
	return nil
}

// member is a column of a row.
func member(name string) string { return "r[" + text(name) + "]" }

func equals(name, value string) string { return member(name) + " == " + text(value) }

// oneOf is the condition that a column has one of the values.
func oneOf(name string, values []string) string {
	var all []string
	for _, v := range distinct(values) {
		all = append(all, equals(name, v))
	}
	return strings.Join(all, " or ")
}

// compareField is the condition that a value of the type exists, and its comparison with a constant. Types
// are compared with equal types, so that integers are not rounded.
func compareField(value string, f *query.ValueFilter, t series.Type) string {
	if !t.Integer() {
		return comparison(value, f.Compare, f.Value)
	}
	if c, n := f.Compare.Wholes(f.Value, series.Int); c == query.AtLeast && n == math.MinInt64 {
		return "exists " + value // always true
	}
	c, n := f.Compare.WholesNoLeast(f.Value)
	return fmt.Sprintf("exists %s and %[1]s %s %d", value, c.DoubleEquals(), n)
}

// comparison is the condition that a double exists, and its comparison with a bound.
func comparison(value string, c query.Comparison, bound float64) string {
	return fmt.Sprintf("exists %s and %[1]s %s %s", value, c.DoubleEquals(), float(bound))
}

// distinct returns the names in lists, in their order, without duplicates.
func distinct(lists ...[]string) []string {
	var names []string
	for _, names2 := range lists {
		for _, name := range names2 {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// text returns a text literal of Flux, in which ${ would begin an expression.
func text(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "${", `\${`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(value) + `"`
}

// list returns texts as an array literal.
func list(values []string) string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = text(v)
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// float returns a double without an exponent, which Flux does not support.
func float(v float64) string {
	digits := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(digits, ".") {
		digits += ".0"
	}
	return digits
}

// instant returns a time.
func instant(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// duration returns the width of buckets. Days and weeks in Flux are calendar units.
func duration(d time.Duration) string {
	return sql.InUnits(d, [...]string{"", "h", "m", "s", "ms", "us", "ns"})
}

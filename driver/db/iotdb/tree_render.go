package iotdb

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// render returns the text of a query's request.
func (l *tree) render(q *query.Query, s *series.Schema) (driver.Request, error) {
	if err := q.RefusePromQL("the tree model"); err != nil {
		return driver.Request{}, fmt.Errorf("query %s: %w", q.Type, err)
	}
	r := treeRenderer{tree: l, q: q, table: s.Table(q.Table), schema: s}
	if r.table == nil {
		return driver.Request{}, fmt.Errorf("query %s: there is no table %q", q.Type, q.Table)
	}
	err := q.Check(r.table)
	if err == nil {
		r.texts, _ = split(r.table)
		r.shape()
		err = r.err
	}
	if err != nil {
		return driver.Request{}, fmt.Errorf("query %s: %w", q.Type, err)
	}
	r.plan.Columns = len(r.columns)
	return r.plan.request()
}

// treeRenderer renders one query.
type treeRenderer struct {
	*tree
	q       *query.Query
	table   *series.Table
	schema  *series.Schema
	texts   []*series.Tag
	plan    plan
	columns []string // that are selected
	// aggregate is the aggregate that the query is answered from, and table its devices; nil: rows.
	aggregate *query.Materialized
	err       error // the first construct that the tree model cannot express; the rendered text is then invalid
}

// setUnsupported records that the tree model cannot express the query.
func (r *treeRenderer) setUnsupported(format string, args ...any) {
	r.err = cmp.Or(r.err, fmt.Errorf("%w: "+format, append([]any{query.ErrUnsupported}, args...)...))
}

// column selects an expression, once, and returns its index.
func (r *treeRenderer) column(expression string) int {
	at := slices.Index(r.columns, expression)
	if at < 0 {
		at = len(r.columns)
		r.columns = append(r.columns, expression)
	}
	return at
}

// output adds a column to the result.
func (r *treeRenderer) output(devicePaths string, at int) {
	r.plan.Output = append(r.plan.Output, output{From: devicePaths, At: at})
}

// tag adds a tag to the result: a node of the path, or, for a numeric tag, a measurement, with a
// function if rows are aggregated.
func (r *treeRenderer) tag(key, function string) {
	if key == "" {
		return
	}
	if at := r.nodeOf(key); at >= 0 {
		r.output(fromTag, at)
		return
	}
	r.output(fromValue, r.column(call(function, node(key))))
}

// call applies a function to an expression; without a function it is the expression.
func call(function, expression string) string {
	if function == "" {
		return expression
	}
	return function + "(" + expression + ")"
}

// nodeOf returns the index of a tag among the nodes after the table; -1: it is a number.
func (r *treeRenderer) nodeOf(key string) int {
	return slices.IndexFunc(r.texts, func(t *series.Tag) bool { return t.Key == key })
}

const noSubqueries = "the tree model has no subqueries: it aggregates rows, not aggregates"

// shape renders the shape of the query.
func (r *treeRenderer) shape() {
	switch s := r.q.Shape.(type) {
	case query.Rows:
		r.rows(s, 0)
	case query.AnyRows:
		r.rows(query.Rows{Fields: s.Fields, Tag: s.Tag}, s.Limit)
	case query.Buckets:
		r.buckets(s)
	case query.Totals:
		if r.byLevel(s.GroupBy) {
			r.output(fromTag, 0)
			r.levels(s.GroupBy, s.Aggregate, s.Fields, "", r.times(), "")
			return
		}
		r.tag(s.GroupBy, "max_value")
		r.aggregates(s.Aggregate, s.Fields)
		r.perDevice("", r.rowsExist(), "")
	case query.Last:
		r.last(s)
	case query.Means:
		r.means(s)
	case query.Candles:
		price := node(s.Price)
		r.perBucket(s.Width, s.By, func() {
			for _, e := range []string{call("first_value", price), call("max_value", price), call("min_value", price), call("last_value", price), call("sum", node(s.Size))} {
				r.output(fromValue, r.column(e))
			}
		})
	case query.Weighted:
		r.perBucket(s.Width, s.By, func() {
			products := r.column(fmt.Sprintf("sum(%s * %s)", node(s.Value), node(s.Weight)))
			r.plan.Output = append(r.plan.Output, output{From: fromRatio, At: products, Over: r.column(call("sum", node(s.Weight)))})
		})
	case query.Movers:
		r.setUnsupported("the largest quotients of aggregates: IoTDB 2.0.1 refuses their order (Raw data and aggregation hybrid query is not supported, error 701)")
	case query.AsOf, query.Around, query.Gaps, query.Nth, query.Profile:
		r.err = fmt.Errorf("%w: it compares no row with another one, and groups by intervals of time alone", r.q.RefuseTicks("statement of the tree model"))
	case query.RowSet:
		r.setUnsupported("the tree model has no set operations")
	default:
		r.setUnsupported(noSubqueries)
	}
}

// rows renders rows as they are.
func (r *treeRenderer) rows(s query.Rows, limit int) {
	r.output(fromTime, 0)
	r.tag(s.Tag, "")
	for _, f := range s.Fields {
		r.output(fromValue, r.column(node(f)))
	}
	r.column(node(witness(r.table)))
	order := r.order(s.Order, s.Tag)
	if limit > 0 {
		order += fmt.Sprintf("\nLIMIT %d", limit)
		if r.dropped() {
			r.setUnsupported("rows of some devices, up to a limit: FROM cannot leave out devices by a node that they have")
		}
	}
	r.perDevice("", "", order)
}

// order returns the order of rows. Rows of equal time are ordered by the paths of their devices.
func (r *treeRenderer) order(o query.Order, tag string) string {
	if o == query.Unordered {
		return ""
	}
	word := strings.ToUpper(string(o))
	by := "\nORDER BY TIME " + word
	if tag == "" || r.oneGroup(tag) {
		return by
	}
	if r.nodeOf(tag) != 0 || !r.sorts() {
		r.setUnsupported("rows of one time in the order of %s: the tree model orders them by the whole path of their device, as it is written", tag)
	}
	return by + ", DEVICE " + word
}

// oneGroup reports whether the query is about a single value of a tag.
func (r *treeRenderer) oneGroup(tag string) bool {
	in := r.q.In
	return in != nil && in.Key == tag && !slices.ContainsFunc(in.Values, func(v string) bool { return v != in.Values[0] })
}

// sorts reports whether the paths of devices are in the order of their first tag, which is so if no
// value of it is quoted.
func (r *treeRenderer) sorts() bool {
	sorted := true
	r.forEachValue(r.texts[0], func(value []byte) bool {
		sorted = plainName(view(value)) && !escaped(view(value))
		return sorted
	})
	return sorted
}

// forEachValue calls a function with each series' value of a tag until it returns false.
func (r *treeRenderer) forEachValue(t *series.Tag, value func([]byte) bool) {
	var text []byte
	for s := range r.schema.Series {
		var ok bool
		if text, ok = t.Values.Append(text[:0], s); ok && !value(text) {
			return
		}
	}
}

// lacking reports whether a series lacks a tag.
func (r *treeRenderer) lacking(t *series.Tag) bool {
	if _, ok := t.Values.(series.Numbered); ok {
		return false
	}
	var text []byte
	for s := range r.schema.Series {
		var ok bool
		if text, ok = t.Values.Append(text[:0], s); !ok {
			return true
		}
	}
	return false
}

// identifies reports whether no two series share a value of a tag, so that grouping by it is grouping
// by device.
func (r *treeRenderer) identifies(key string) bool {
	at := r.nodeOf(key)
	if at < 0 {
		return false
	}
	if _, ok := r.texts[at].Values.(series.Numbered); ok {
		return true
	}
	seen, once := map[string]bool{}, true
	r.forEachValue(r.texts[at], func(value []byte) bool {
		once = !seen[string(value)]
		seen[string(value)] = true
		return once
	})
	return once
}

// byLevel reports whether groups of a tag contain several devices, which needs GROUP BY LEVEL.
func (r *treeRenderer) byLevel(key string) bool {
	if r.nodeOf(key) < 0 {
		r.requireDevices(key)
		return false
	}
	return !r.identifies(key)
}

// levels renders aggregates over the devices of each value of a tag.
func (r *treeRenderer) levels(key string, a query.Aggregate, fields []string, window, where, order string) {
	if len(r.values()) > 0 {
		r.setUnsupported("a condition on values of several devices together: in the tree model it were one on all of them at once")
	}
	if slices.ContainsFunc(r.q.Demands(), func(k string) bool { return k != key && r.drops(k) }) {
		r.setUnsupported("some devices of each value of %s together: FROM cannot leave out devices by a node that they have", key)
	}
	add := func(function, name string) int {
		want := [2]string{function, node(name)}
		at := slices.Index(r.plan.Groups, want)
		if at < 0 {
			at = len(r.plan.Groups)
			r.plan.Groups = append(r.plan.Groups, want)
			r.column(call(function, node(name)))
		}
		return at
	}
	add("count", witness(r.table))
	for _, f := range fields {
		r.addAggregate(a, f, add)
	}
	level := r.nodeOf(key)
	r.plan.Skip = r.level() + 1 + level
	by := window + ","
	if window == "" {
		by = "\nGROUP BY"
	}
	r.statement(where, fmt.Sprintf("%s LEVEL = %d", by, r.plan.Skip), "", order)
}

// requireDevices marks the query as unsupported unless groups of the tags are devices.
func (r *treeRenderer) requireDevices(keys ...string) {
	if !slices.ContainsFunc(keys, r.identifies) {
		r.setUnsupported("several devices share the values of %s, and the tree model cannot group devices by them",
			strings.Join(keys, ", "))
	}
}

// functions are the names of aggregates.
func functions() map[query.Aggregate]string {
	return map[query.Aggregate]string{query.Max: "max_value", query.Min: "min_value", query.Avg: "avg", query.Sum: "sum", query.Count: "count"}
}

// aggregateSource returns the source of an aggregate's column.
func aggregateSource(a query.Aggregate) string {
	if a == query.Count {
		return fromCount
	}
	return fromValue
}

func (r *treeRenderer) aggregates(a query.Aggregate, fields []string) {
	for _, f := range fields {
		r.addAggregate(a, f, func(function, name string) int { return r.column(call(function, node(name))) })
	}
}

// addAggregate adds the aggregate of a field to the result. The function add selects a function of a
// measurement.
func (r *treeRenderer) addAggregate(a query.Aggregate, field string, add func(function, name string) int) {
	switch m := r.aggregate; {
	case m == nil:
		r.output(aggregateSource(a), add(functions()[a], field))
	case a == query.Avg:
		sum := add("sum", m.Column(query.Sum, field))
		r.plan.Output = append(r.plan.Output, output{From: fromRatio, At: sum, Over: add("sum", m.Column(query.Count, field))})
	case a == query.Count:
		r.output(fromWhole, add("sum", m.Column(a, field)))
	default:
		r.output(fromValue, add(functions()[a], m.Column(a, field)))
	}
}

// rowsExist is the condition that rows were aggregated.
func (r *treeRenderer) rowsExist() string { return call("count", node(witness(r.table))) + " > 0" }

// buckets renders the Buckets shape.
func (r *treeRenderer) buckets(s query.Buckets) {
	if s.Width%r.unit != 0 {
		r.setUnsupported("IoTDB cannot have buckets of %v, its times are multiples of %v", s.Width, r.unit)
		return
	}
	window, where := r.window(s)
	r.output(fromTime, 0)
	if s.GroupBy != "" && r.byLevel(s.GroupBy) {
		if s.Limit > 0 {
			r.setUnsupported("buckets of several devices for each value of %s, up to a limit: GROUP BY LEVEL answers with a column, not a row, for each", s.GroupBy)
		}
		r.output(fromTag, 0)
		r.plan.Down = s.Order == query.Descending
		r.levels(s.GroupBy, s.Aggregate, s.Fields, window, where, r.order(s.Order, ""))
		return
	}
	r.tag(s.GroupBy, "max_value")
	r.aggregates(s.Aggregate, s.Fields)
	limit := ""
	if s.Limit > 0 {
		limit = fmt.Sprintf("\nLIMIT %d", s.Limit)
		if r.dropped() {
			r.setUnsupported("buckets of some devices, up to a limit: FROM cannot leave out devices by a node that they have")
		}
	}
	in := r.q.In
	switch {
	case s.GroupBy != "", in != nil && r.oneGroup(in.Key) && r.identifies(in.Key):
		r.perDevice(where, r.rowsExist(), r.order(s.Order, s.GroupBy)+limit, window)
	default:
		if limit != "" && len(r.devicePaths()) > 1 {
			r.setUnsupported("buckets of several values of %s together, up to a limit: a HAVING over several paths keeps nothing if one of them has no device", in.Key)
		}
		r.ofAll(window, where, r.order(s.Order, "")+limit)
	}
}

// window returns the GROUP BY of buckets, and a WHERE with the query's bounds if the buckets extend
// beyond them. GROUP BY needs a range, and the server computes every bucket in it. For a query without
// a range, an earlier statement reads the first and the last time.
func (r *treeRenderer) window(s query.Buckets) (window, where string) {
	start, end := r.bounds()
	width := int64(s.Width / r.unit)
	if r.q.Start.IsZero() || r.q.End.IsZero() {
		w := node(witness(r.table))
		r.plan.Range = fmt.Sprintf("SELECT min_time(%s), max_time(%[1]s)\nFROM %s\nGROUP BY LEVEL = %d", w, strings.Join(r.devicePaths(), ", "), r.level())
		r.plan.Width = width
		if !r.q.Start.IsZero() {
			r.plan.Start = &start
		}
		if !r.q.End.IsZero() {
			r.plan.End = &end
		}
		return fmt.Sprintf("\nGROUP BY (%s, %s)", rangeMark, duration(s.Width)), r.times()
	}
	first := bucket(start, width)
	last := bucket(end-1, width) + width
	if first != start || last != end {
		where = fmt.Sprintf("time >= %d AND time < %d", start, end)
	}
	return fmt.Sprintf("\nGROUP BY ([%d, %d), %s)", first, max(last, first+width), duration(s.Width)), where
}

// bounds returns the query's bounds in the server's unit, rounded up, which selects the same times.
func (r *treeRenderer) bounds() (start, end int64) {
	up := func(ns int64) int64 {
		at := query.BucketOf(ns, r.unit)
		if at < ns {
			at += int64(r.unit)
		}
		return at / int64(r.unit)
	}
	if !r.q.Start.IsZero() {
		start = up(r.q.Start.UnixNano())
	}
	if !r.q.End.IsZero() {
		end = up(r.q.End.UnixNano())
	}
	return start, end
}

// ofAll renders a query over all devices together, with GROUP BY LEVEL of the table.
func (r *treeRenderer) ofAll(window, where, order string) {
	if len(r.values()) > 0 && len(r.texts) > 0 {
		r.setUnsupported("a condition on values of several devices together: in the tree model it were one on all of them at once")
	}
	if r.dropped() {
		r.setUnsupported("some devices together: FROM cannot leave out devices by a node that they have")
	}
	if where == "" && window == "" {
		where = r.times()
	}
	counted, having := -1, r.rowsExist()
	if r.ragged() || len(r.devicePaths()) > 1 {
		counted = r.column(call("count", node(witness(r.table))))
	}
	if len(r.devicePaths()) > 1 { // a HAVING over several paths keeps nothing if one of them has no device
		r.plan.Counted, having = &counted, ""
	}
	r.statement(where, fmt.Sprintf("%s, LEVEL = %d", window, r.level()), having, order)
}

// perDevice renders a query whose result has one or several rows for each device.
func (r *treeRenderer) perDevice(where, having, order string, window ...string) {
	r.plan.Device, r.plan.Skip = true, r.level()+1
	for _, key := range r.q.Demands() {
		if r.drops(key) {
			r.plan.Present = append(r.plan.Present, r.nodeOf(key))
		}
	}
	conditions := r.values()
	if where == "" && len(window) == 0 {
		where = r.times()
	}
	if where != "" {
		conditions = append(conditions, where)
	}
	if having != "" && r.ragged() { // a device without any of the measurements has rows all the same
		r.column(call("count", node(witness(r.table))))
	}
	r.statement(strings.Join(conditions, " AND "), strings.Join(window, ""), having, order+"\nALIGN BY DEVICE")
}

func (r *treeRenderer) filters(key string) bool { return r.q.In != nil && r.q.In.Key == key }

// drops reports whether rows of the result are dropped because their device lacks a tag.
func (r *treeRenderer) drops(key string) bool {
	at := r.nodeOf(key)
	return at >= 0 && !r.filters(key) && r.lacking(r.texts[at])
}

// dropped reports whether any rows are.
func (r *treeRenderer) dropped() bool { return slices.ContainsFunc(r.q.Demands(), r.drops) }

// statement sets the plan's statement.
func (r *treeRenderer) statement(where, group, having, end string) {
	columns := r.columns
	// Columns are found by name if devices may lack a measurement, or if the result repeats them for
	// each path.
	if (r.ragged() || !r.plan.Device && len(r.devicePaths()) > 1) && len(r.plan.Last) == 0 && len(r.plan.Groups) == 0 {
		columns = slices.Clone(columns)
		for i := range columns {
			r.plan.Names = append(r.plan.Names, fmt.Sprintf("v%d", i))
			columns[i] += " AS " + r.plan.Names[i]
		}
	}
	text := "SELECT " + strings.Join(columns, ", ") + "\nFROM " + strings.Join(r.devicePaths(), ", ")
	if where != "" {
		text += "\nWHERE " + where
	}
	text += group
	if having != "" {
		text += "\nHAVING " + having
	}
	r.plan.Statement = text + end
}

// ragged reports whether devices may lack measurements.
func (r *treeRenderer) ragged() bool { return !r.table.Dense || r.table.Widths != nil }

// devicePaths returns the paths of the devices that the query is about.
func (r *treeRenderer) devicePaths() []string {
	table := r.path(r.table.Name)
	if len(r.texts) == 0 {
		return []string{table}
	}
	in := r.q.In
	if in == nil || r.nodeOf(in.Key) < 0 {
		return []string{table + ".**"}
	}
	at := r.nodeOf(in.Key)
	before, behind := strings.Repeat(".*", at), ".**"
	if at == len(r.texts)-1 {
		behind = ""
	}
	var paths []string
	for _, v := range in.Values {
		if path := table + before + "." + tagNode(v) + behind; !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// times returns the conditions on a row's time.
func (r *treeRenderer) times() string {
	start, end := r.bounds()
	var all []string
	switch {
	case !r.q.Start.IsZero() && !r.q.End.IsZero() && end == start+1:
		return fmt.Sprintf("time = %d", start)
	case !r.q.Start.IsZero():
		all = append(all, fmt.Sprintf("time >= %d", start))
	}
	if !r.q.End.IsZero() {
		all = append(all, fmt.Sprintf("time < %d", end))
	}
	return strings.Join(all, " AND ")
}

// values returns the conditions on measurements.
func (r *treeRenderer) values() []string {
	var all []string
	if filter := r.q.Filter; filter != nil {
		for _, f := range filter.Fields() {
			all = append(all, compareField(node(f), filter, r.table.Fields[r.table.FieldIndex(f)].Type))
		}
	}
	if in := r.q.In; in != nil && r.nodeOf(in.Key) < 0 {
		var equal []string
		for _, v := range in.Values {
			n, err := strconv.ParseFloat(v, 64)
			if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
				r.err = cmp.Or(r.err, fmt.Errorf("the filter on tag %s, whose values are numbers, has %q", in.Key, v))
			}
			equal = append(equal, fmt.Sprintf("%s = %s", node(in.Key), number(n)))
		}
		all = append(all, "("+strings.Join(equal, " OR ")+")")
	}
	for _, key := range r.q.Demands() {
		if r.nodeOf(key) < 0 && !r.filters(key) {
			all = append(all, node(key)+" IS NOT NULL")
		}
	}
	for _, name := range r.q.RequiredFields(r.table) {
		all = append(all, node(name)+" IS NOT NULL")
	}
	return all
}

// compareField is the condition on a field of the type. Types are compared with equal types.
func compareField(field string, f *query.ValueFilter, t series.Type) string {
	if !t.Integer() {
		return fmt.Sprintf("%s %s %s", field, f.Compare, number(f.Value))
	}
	c, n := f.Compare.Wholes(f.Value, t)
	return fmt.Sprintf("%s %s %d", field, c, n)
}

// number is the literal of a finite double.
func number(v float64) string {
	text := strconv.FormatFloat(v, 'E', -1, 64)
	if math.Abs(v) < 1e15 && math.Abs(v) >= 1e-6 || v == 0 {
		if text = strconv.FormatFloat(v, 'f', -1, 64); !strings.Contains(text, ".") {
			text += ".0"
		}
	}
	return text
}

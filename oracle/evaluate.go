package oracle

import (
	"fmt"
	"math"
	"slices"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// evaluator answers one query by looking at every row of its table.
type evaluator struct {
	query      *query.Query
	columns    []query.Column
	start, end int64
	series     bitset // that match In; nil: all do
	above      []int  // fields that must exceed the threshold
	needed     int64  // rows that any answer has, being limited and unordered; 0: all
	found      int64  // of these
	fields     []int
	groups     *grouping   // nil: no GroupBy
	whole      *grouping   // series without a number lack a tag of Present; nil: there is none
	tags       []*grouping // Last: of each further tag
	over       []float64   // Last: per series, what Having divides by; nil: nothing
	units      *units      // Means and Activity
	keep       bool        // row answers are kept, not only digested

	// Buckets: the cells of a bucket are one block, group after group, field
	// after field. Rows arrive mostly in time order, so the last block is at
	// hand.
	blocks   map[int64]*block
	bucket   int64
	current  *block
	lastTime int64

	// Rows
	digest    *query.Digest
	rows      query.Answer
	row       []query.Value
	texts     []byte     // of the row
	operand   *query.Bag // its rows, for a set operation
	strangers *query.Bag // rows that are taken out as they come; nil: none

	// Last: per group, the newest row so far
	newest       [][]query.Value
	newestTexts  [][]byte // of its fields
	newestSeries []uint32
}

// block holds the aggregates of one bucket.
type block struct {
	present bitset // groups with a row
	cells   []cell
}

// cell folds the values of one field.
type cell struct {
	n       int64   // values
	integer int64   // the largest or smallest
	float   float64 // the largest or smallest, or for Avg and Sum the sum
}

func newEvaluator(q *query.Query, s *series.Schema, groups *groupings, keep bool) (*evaluator, error) {
	table := s.Table(q.Table)
	if table == nil {
		return nil, fmt.Errorf("query %s %d asks about table %q, which the dataset does not have", q.Type, q.ID, q.Table)
	}
	if err := q.Check(); err != nil {
		return nil, fmt.Errorf("query %s %d: %w", q.Type, q.ID, err)
	}
	e := &evaluator{query: q, keep: keep || q.Shape == query.Rows && q.Order != query.Unordered}
	e.start, e.end = q.Bounds()
	switch {
	case q.Limit > 0 && q.Shape == query.Rows:
		e.needed = int64(q.Limit)
	case q.Limit > 0 && (q.Shape != query.Buckets || q.Order == query.Unordered):
		return nil, fmt.Errorf("query %s %d limits an answer that has no order", q.Type, q.ID)
	}
	field := func(name string) (int, error) {
		if i := table.FieldIndex(name); i >= 0 {
			return i, nil
		}
		return 0, fmt.Errorf("query %s %d asks about field %q, which table %s does not have", q.Type, q.ID, name, q.Table)
	}
	for _, name := range q.Fields {
		f, err := field(name)
		if err != nil {
			return nil, err
		}
		e.fields = append(e.fields, f)
	}
	e.columns = q.Columns(table)
	if err := q.CheckFields(table); err != nil {
		return nil, fmt.Errorf("query %s %d: %w", q.Type, q.ID, err)
	}
	var err error
	if q.Above != nil {
		for _, name := range q.Above.All() {
			f, err := field(name)
			if err != nil {
				return nil, err
			}
			e.above = append(e.above, f)
		}
	}
	if q.In != nil {
		if e.series, err = groups.matching(table, q.In); err != nil {
			return nil, err
		}
	}
	if len(q.Present) > 0 {
		if e.whole, err = groups.by(table, q.Present...); err != nil {
			return nil, err
		}
	}
	for _, key := range q.Tags {
		by, err := groups.by(table, key)
		if err != nil {
			return nil, err
		}
		e.tags = append(e.tags, by)
	}
	if q.GroupBy != "" {
		if e.groups, err = groups.by(table, q.GroupBy); err != nil {
			return nil, err
		}
	}
	switch q.Shape {
	case query.Buckets, query.Totals:
		e.blocks = map[int64]*block{}
	case query.Rows, query.Last:
		if q.Set != nil {
			e.operand = query.NewBag(e.columns)
		}
		e.digest = query.NewDigest(e.columns)
		e.row = make([]query.Value, len(e.columns))
		if q.Having != nil && q.Having.Over != "" {
			if e.over, err = groups.numeric(table, q.Having.Over); err != nil {
				return nil, err
			}
		}
	case query.Means, query.Activity:
		if e.units, err = newUnits(q, table, groups, field); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("query %s %d has the shape %q, which the oracle does not know", q.Type, q.ID, q.Shape)
	}
	return e, nil
}

// addAll takes the runs that the query is about.
func (e *evaluator) addAll(runs []span) {
	for _, run := range runs {
		if e.concerns(run) {
			e.add(run.Run)
		}
	}
}

// concerns reports whether a run may hold rows of the query's table and window.
func (e *evaluator) concerns(run span) bool {
	return run.Table.Name == e.query.Table && e.start <= run.last && run.first < e.end && (e.needed == 0 || e.found < e.needed)
}

// add takes a run of the query's table.
func (e *evaluator) add(run *series.Run) {
	for row, t := range run.Times {
		if t < e.start || t >= e.end {
			continue
		}
		s := run.Series[row]
		if e.series != nil && !e.series.has(int(s)) {
			continue
		}
		if e.whole != nil && e.whole.of[s] < 0 {
			continue
		}
		group := int32(0)
		if e.groups != nil {
			if group = e.groups.of[s]; group < 0 && (e.query.Shape != query.Rows || e.query.Order != query.Unordered) {
				continue // a series without the tag is in no group
			}
		}
		if len(e.above) > 0 && !allExceed(run, e.above, row, e.query.Above.Value) {
			continue
		}
		switch e.query.Shape {
		case query.Buckets, query.Totals:
			e.fold(run, row, t, group)
		case query.Rows:
			e.take(run, row, group)
		case query.Last:
			e.takeNewest(run, row, t, group)
		default:
			e.units.add(run, row)
		}
	}
}

// allExceed reports whether the values of all fields in a row are above the
// threshold.
func allExceed(run *series.Run, fields []int, row int, threshold float64) bool {
	for _, f := range fields {
		if !exceeds(run, f, row, threshold) {
			return false
		}
	}
	return true
}

// exceeds reports whether the field's value in a row is above the threshold.
// NULL never is.
func exceeds(run *series.Run, field, row int, threshold float64) bool {
	if run.Lacks(field, row) {
		return false
	}
	c := &run.Columns[field]
	if run.Table.Fields[field].Type.Whole() {
		return wholeExceeds(c.Ints[row], threshold)
	}
	return c.Floats[row] > threshold
}

// wholeExceeds compares a whole number, of which doubles do not tell all apart
// beyond 2^53.
func wholeExceeds(v int64, threshold float64) bool {
	if math.Abs(threshold) < 1<<53 {
		return float64(v) > threshold
	}
	switch {
	case !(threshold < 1<<63): // or it is NaN
		return false
	case threshold < -1<<63:
		return true
	}
	return v > int64(threshold) // which is whole
}

// fold adds a row to the aggregates of its bucket.
func (e *evaluator) fold(run *series.Run, row int, t int64, group int32) {
	if e.current == nil || t != e.lastTime {
		e.lastTime = t
		if b := e.bucketOf(t); e.current == nil || b != e.bucket {
			e.bucket = b
			if e.current = e.blocks[b]; e.current == nil {
				e.current = &block{}
				e.blocks[b] = e.current
			}
		}
	}
	b := e.current
	base := int(group) * len(e.fields)
	if need := base + len(e.fields); len(b.cells) < need {
		b.cells = append(b.cells, make([]cell, need-len(b.cells))...)
	}
	b.present.add(int(group))
	for i, f := range e.fields {
		if run.Lacks(f, row) {
			continue
		}
		into := &b.cells[base+i]
		if c := &run.Columns[f]; run.Table.Fields[f].Type.Whole() {
			into.foldInt(e.query.Aggregate, c.Ints[row])
		} else {
			into.foldFloat(e.query.Aggregate, c.Floats[row])
		}
		into.n++
	}
}

// bucketOf returns the bucket of a time; totals have one for all times.
func (e *evaluator) bucketOf(t int64) int64 {
	if e.query.Shape == query.Totals {
		return 0
	}
	return query.BucketOf(t, e.query.Bucket)
}

func (c *cell) foldInt(a query.Aggregate, v int64) {
	switch {
	case a == query.Avg || a == query.Sum:
		c.float += float64(v)
	case c.n == 0 || a == query.Max && v > c.integer || a == query.Min && v < c.integer:
		c.integer = v
	}
}

func (c *cell) foldFloat(a query.Aggregate, v float64) {
	switch {
	case a == query.Avg || a == query.Sum:
		c.float += v
	case c.n == 0 || a == query.Max && v > c.float || a == query.Min && v < c.float:
		c.float = v
	}
}

// fill writes a row's answer values into e.row.
func (e *evaluator) fill(run *series.Run, row int, group int32) []query.Value {
	out := e.row[:0]
	out = append(out, query.Value{Kind: query.Time, Int: run.Times[row]})
	if e.groups != nil {
		out = append(out, e.groups.value(group))
	}
	for _, tag := range e.tags {
		out = append(out, tag.value(tag.of[run.Series[row]]))
	}
	e.texts = e.texts[:0]
	for _, f := range e.fields {
		out = append(out, e.value(run, f, row))
	}
	return out
}

// value is the tag value of a group in an answer, of a single tag.
func (g *grouping) value(group int32) query.Value {
	if group < 0 {
		return query.Value{}
	}
	return g.values[group][0]
}

// take adds a row to a row answer.
func (e *evaluator) take(run *series.Run, row int, group int32) {
	if e.needed > 0 && !e.keep {
		e.found++ // which rows, the target chooses
		return
	}
	values := e.fill(run, row, group)
	if e.strangers != nil {
		e.strangers.Take(values)
		return
	}
	if e.operand != nil {
		_ = e.operand.Row(values)
		return
	}
	_ = e.digest.Row(values) // a Digest takes every row
	if e.keep {
		_ = e.rows.Row(values)
	}
}

// takeNewest keeps the row if it is its group's newest. Of rows with the same
// time the one that arrived last counts.
func (e *evaluator) takeNewest(run *series.Run, row int, t int64, group int32) {
	for int(group) >= len(e.newest) {
		e.newest = append(e.newest, nil)
		e.newestTexts = append(e.newestTexts, nil)
		e.newestSeries = append(e.newestSeries, 0)
	}
	if old := e.newest[group]; old == nil || t >= old[0].Int {
		e.newest[group] = append(old[:0], e.fill(run, row, group)...)
		e.newestTexts[group] = ownTexts(e.newest[group][len(e.columns)-len(e.fields):], e.newestTexts[group])
		e.newestSeries[group] = run.Series[row]
	}
}

// expectation returns the answer, once all rows have been added.
func (e *evaluator) expectation() Expectation {
	x := Expectation{Query: e.query}
	switch e.query.Shape {
	case query.Buckets, query.Totals:
		x.Answer = &query.Answer{Rows: e.bucketRows()}
		x.Rows = int64(len(x.Answer.Rows))
		return x
	case query.Means, query.Activity:
		x.Answer = &query.Answer{Rows: e.units.rows()}
		x.Rows = int64(len(x.Answer.Rows))
		return x
	case query.Last:
		digest, kept := query.NewDigest(e.columns), query.Answer{}
		for group, row := range e.newest {
			if row == nil || !e.having(row, e.newestSeries[group]) {
				continue
			}
			_ = digest.Row(row)
			if e.keep {
				_ = kept.Row(row)
			}
		}
		x.Digest, e.rows = digest, kept
	default:
		if x.Any = e.needed > 0; x.Any && !e.keep {
			x.Rows = min(e.found, e.needed)
			return x
		}
		e.operate()
		x.Digest = e.digest
	}
	if e.keep {
		x.Answer = &e.rows
	}
	x.Rows = x.Digest.Rows()
	return x
}

// having reports whether the newest row of a group, which is the series', stays
// in the answer.
func (e *evaluator) having(row []query.Value, series uint32) bool {
	c := e.query.Having
	if c == nil {
		return true
	}
	i := slices.IndexFunc(e.columns, func(col query.Column) bool { return col.Name == c.Field })
	v := row[i].Float
	switch row[i].Kind {
	case query.Null:
		return false
	case query.Int:
		v = float64(row[i].Int)
	}
	if e.over != nil {
		v /= e.over[series]
	}
	return c.Holds(v) // false for NaN, which a missing tag makes of v
}

// bucketRows returns the aggregated rows in the query's order, cut to its
// limit.
func (e *evaluator) bucketRows() [][]query.Value {
	q := e.query
	var rows [][]query.Value
	for start, b := range e.blocks {
		for group := 0; group < len(b.present)*64; group++ {
			if !b.present.has(group) {
				continue
			}
			row := make([]query.Value, 0, len(e.columns))
			if q.Shape == query.Buckets {
				row = append(row, query.Value{Kind: query.Time, Int: start})
			}
			if e.groups != nil {
				row = append(row, e.groups.value(int32(group)))
			}
			for i := range e.fields {
				row = append(row, b.cells[group*len(e.fields)+i].value(q.Aggregate, e.columns[len(row)].Kind))
			}
			rows = append(rows, row)
		}
	}
	return inOrder(q, rows)
}

// inOrder puts rows in the order of a question and cuts them to its limit.
func inOrder(q *query.Query, rows [][]query.Value) [][]query.Value {
	keys := q.Keys()
	slices.SortFunc(rows, func(a, b []query.Value) int {
		order := query.CompareRows(a[:keys], b[:keys])
		if q.Order == query.Descending {
			return -order
		}
		return order
	})
	if q.Limit > 0 && len(rows) > q.Limit {
		rows = rows[:q.Limit]
	}
	return rows
}

// value is the folded value; NULL where there was none to fold.
func (c *cell) value(a query.Aggregate, kind query.Kind) query.Value {
	switch {
	case a == query.Count:
		return query.Value{Kind: query.Int, Int: c.n}
	case c.n == 0:
		return query.Value{}
	case a == query.Avg:
		return query.Value{Kind: query.Float, Float: c.float / float64(c.n)}
	case kind == query.Int:
		return query.Value{Kind: query.Int, Int: c.integer}
	}
	return query.Value{Kind: query.Float, Float: c.float}
}

package oracle

import (
	"fmt"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// evaluator answers one query: alone, by looking at every row of its table, or
// from what the rows of a family's cells come to.
type evaluator struct {
	query      *query.Query
	table      *series.Table
	columns    []query.Column
	start, end int64
	series     bitset // that match In, for an evaluator that is alone; nil: all do
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
	made     [][]query.Value // the answer, where a family made it

	// Rows
	digest    *query.Digest
	rows      query.Answer
	row       []query.Value
	texts     []byte     // of the row
	operand   *query.Bag // its rows, for a set operation
	strangers *query.Bag // rows that are taken out as they come; nil: none

	newest newest // Last: by group

	// In a family
	demands []*demand // what it asks about
	from    []*column // that its values come from
	known   *Expectation
}

// block holds the aggregates of one bucket.
type block struct {
	present bitset // groups with a row
	cells   []cell
}

// newAlone returns an evaluator that is given all rows.
func newAlone(q *query.Query, s *series.Schema, groups *groupings, keep bool) (*evaluator, error) {
	e, err := newEvaluator(q, s, groups, keep)
	if err == nil && q.In != nil {
		e.series, err = groups.matching(e.table, q.In)
	}
	return e, err
}

func newEvaluator(q *query.Query, s *series.Schema, groups *groupings, keep bool) (*evaluator, error) {
	table := s.Table(q.Table)
	if table == nil {
		return nil, fmt.Errorf("query %s %d asks about table %q, which the dataset does not have", q.Type, q.ID, q.Table)
	}
	if err := q.Check(); err != nil {
		return nil, fmt.Errorf("query %s %d: %w", q.Type, q.ID, err)
	}
	e := &evaluator{query: q, table: table, keep: keep || q.Shape == query.Rows && q.Order != query.Unordered}
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
		if _, err = groups.by(table, q.In.Key); err != nil {
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
		e.addRow(run, row)
	}
}

// addRow takes a row that lies in the query's window and matches In.
func (e *evaluator) addRow(run *series.Run, row int) {
	s := run.Series[row]
	if e.whole != nil && e.whole.of[s] < 0 {
		return
	}
	group := int32(0)
	if e.groups != nil {
		if group = e.groups.of[s]; group < 0 && (e.query.Shape != query.Rows || e.query.Order != query.Unordered) {
			return // a series without the tag is in no group
		}
	}
	if len(e.above) > 0 && !allExceed(run, e.above, row, e.query.Above.Value) {
		return
	}
	switch e.query.Shape {
	case query.Buckets, query.Totals:
		e.fold(run, row, run.Times[row], group)
	case query.Rows:
		e.take(run, row, group)
	case query.Last:
		if e.newest.wins(int(group), run.Times[row]) {
			e.newest.keep(int(group), e.fill(run, row, group), len(e.fields), s)
		}
	default:
		e.units.add(run, row)
	}
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

// fill writes a row's answer values into e.row.
func (e *evaluator) fill(run *series.Run, row int, group int32) []query.Value {
	out, n := e.row, 1
	out[0].Kind, out[0].Int = query.Time, run.Times[row]
	if e.groups != nil {
		out[n] = e.groups.value(group)
		n++
	}
	for _, tag := range e.tags {
		out[n] = tag.value(tag.of[run.Series[row]])
		n++
	}
	e.texts = e.texts[:0]
	for i, f := range e.fields {
		e.put(&out[n+i], e.columns[n+i].Kind, run, f, row)
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

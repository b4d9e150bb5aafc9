package oracle

import (
	"errors"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/oracle/ticks"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// evaluator answers one query: alone, by processing every row of its table, or from the cells of a
// family.
type evaluator struct {
	query      *query.Query
	table      *series.Table
	columns    []query.Column
	start, end int64
	series     bitset // that match In, for an evaluator that is alone; nil: all do
	filter     valueFilter
	needed     int64 // rows that any answer has, being limited and unordered; 0: all
	found      int64 // of these
	fields     []int
	role       role // how it processes rows
	aggregate  query.Aggregate
	width      int64 // width of buckets, in nanoseconds; 0: no buckets
	order      query.Order
	limit      int                   // of an answer that has an order; 0: none
	keys       []string              // tags that rows are grouped by, or that stand in the answer
	groups     *grouping             // by the only key; nil: no key
	whole      *grouping             // series without a number lack a tag of Present; nil: Present is empty
	tags       []*grouping           // Last: of each further tag
	condition  *query.RatioCondition // Last
	over       []float64             // Last: per series, what Having divides by; nil: nothing
	units      *units                // of means and active buckets
	keep       bool                  // row answers are kept, not only digested
	ticks      *ticks.Collector      // shapes of ticks
	err        error                 // of them: the answer depends on the order of rows with equal times

	// Buckets: the cells of a bucket are one block, group after group, field
	// after field. Rows arrive mostly in time order, so the last block is at
	// hand.
	blocks   map[int64]*block
	bucket   int64
	current  *block
	lastTime int64
	made     [][]query.Value // the answer, if a family made it

	// Rows
	digest    *query.Digest
	rows      query.Answer
	row       []query.Value
	texts     []byte     // of the row
	set       *query.Set // nil: none
	operand   *query.Bag // the rows of an operand of it
	unmatched *query.Bag // rows that are taken out as they come; nil: none

	newest newest // Last: by group

	// In a family
	demands []*demand // the times and series that it needs
	from    []*column // columns of its values
	known   *Expectation
}

// role is the way an evaluator processes rows.
type role uint8

const (
	folds       role = iota // into aggregates of fields, in buckets or not
	takes                   // keeps the rows
	takesNewest             // of each group
	foldsUnits              // into sums of each unit
	collects                // hands them to a collector of ticks
)

// block holds the aggregates of one bucket.
type block struct {
	present bitset // groups with a row
	cells   []cell
}

// newSingle returns an evaluator that is given all rows.
func newSingle(q *query.Query, s *series.Schema, groups *groupings, keep bool) (*evaluator, error) {
	e, err := newEvaluator(q, s, groups, keep)
	if err == nil && q.In != nil {
		e.series, err = groups.matching(e.table, q.In)
	}
	return e, err
}

func newEvaluator(q *query.Query, s *series.Schema, groups *groupings, keep bool) (*evaluator, error) {
	table := s.Table(q.Table)
	if table == nil {
		return nil, fmt.Errorf("query %s %d is about table %q, which the dataset does not have", q.Type, q.ID, q.Table)
	}
	if err := q.Check(table); err != nil {
		return nil, fmt.Errorf("query %s %d: %w", q.Type, q.ID, err)
	}
	e := &evaluator{query: q, table: table, keep: keep, columns: q.Columns(table), order: q.Order()}
	e.start, e.end = q.Bounds()
	if q.OfTicks() {
		if err := e.newTicks(s, groups); err != nil {
			return nil, fmt.Errorf("query %s %d: %w", q.Type, q.ID, err)
		}
		return e, nil
	}
	var err error
	e.filter = newValueFilter(table, q.Filter)
	if q.In != nil {
		if _, err = groups.groupBy(table, q.In.Key); err != nil {
			return nil, err
		}
	}
	if len(q.Present) > 0 {
		if e.whole, err = groups.groupBy(table, q.Present...); err != nil {
			return nil, err
		}
	}
	return e, e.shape(groups)
}

// fieldsOf returns the indexes of a table's fields.
func fieldsOf(table *series.Table, names []string) []int {
	var fields []int
	for _, name := range names {
		fields = append(fields, table.FieldIndex(name))
	}
	return fields
}

// shape initializes the evaluator from the query's shape.
func (e *evaluator) shape(groups *groupings) (err error) {
	fields := func(role role, tag string, names []string) {
		e.role, e.fields = role, fieldsOf(e.table, names)
		if tag != "" {
			e.keys = []string{tag}
			e.groups, err = groups.groupBy(e.table, tag)
		}
		if role == folds {
			e.blocks = map[int64]*block{}
		} else {
			e.digest, e.row = query.NewDigest(e.columns), make([]query.Value, len(e.columns))
		}
	}
	switch s := e.query.Shape.(type) {
	case query.Buckets:
		e.aggregate, e.width, e.limit = s.Aggregate, int64(s.Width), s.Limit
		fields(folds, s.GroupBy, s.Fields)
	case query.Totals:
		e.aggregate = s.Aggregate
		fields(folds, s.GroupBy, s.Fields)
	case query.Rows:
		fields(takes, s.Tag, s.Fields)
		e.keep = e.keep || s.Order != query.Unordered
	case query.AnyRows:
		fields(takes, s.Tag, s.Fields)
		e.needed = int64(s.Limit)
	case query.RowSet:
		fields(takes, s.Tag, s.Fields)
		e.set, e.operand = &s.Set, query.NewBag(e.columns)
	case query.Last:
		fields(takesNewest, s.By, s.Fields)
		for _, key := range s.Tags {
			by, failed := groups.groupBy(e.table, key)
			e.tags, err = append(e.tags, by), errors.Join(err, failed)
		}
		if e.condition = s.Having; s.Having != nil && s.Having.Over != "" {
			e.over, err = groups.numeric(e.table, s.Having.Over)
		}
	default:
		e.role = foldsUnits
		e.units, err = newUnits(e, groups)
	}
	return err
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
	if e.ticks != nil {
		return e.ticks.Concerns(run.Run, run.first, run.last)
	}
	return run.Table.Name == e.query.Table && e.start <= run.last && run.first < e.end && (e.needed == 0 || e.found < e.needed)
}

// add takes a run of the query's table, or of one that is joined.
func (e *evaluator) add(run *series.Run) {
	if e.ticks != nil {
		e.ticks.Add(run)
		return
	}
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

// addRow processes a row in the query's window that matches In.
func (e *evaluator) addRow(run *series.Run, row int) {
	s := run.Series[row]
	if e.whole != nil && e.whole.of[s] < 0 {
		return
	}
	group := int32(0)
	if e.groups != nil {
		if group = e.groups.of[s]; group < 0 && (e.role != takes || e.order != query.Unordered) {
			return // a series without the tag is in no group
		}
	}
	if !e.filter.keeps(run, row) {
		return
	}
	switch e.role {
	case folds:
		e.fold(run, row, run.Times[row], group)
	case takes:
		e.take(run, row, group)
	case takesNewest:
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
		if c := &run.Columns[f]; run.Table.Fields[f].Type.UsesInts() {
			into.foldInt(e.aggregate, c.Ints[row])
		} else {
			into.foldFloat(e.aggregate, c.Floats[row])
		}
		into.n++
	}
}

// bucketOf returns the bucket of a time; totals have one for all times.
func (e *evaluator) bucketOf(t int64) int64 {
	if e.width == 0 {
		return 0
	}
	return query.BucketOf(t, time.Duration(e.width))
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
	if e.unmatched != nil {
		e.unmatched.Take(values)
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

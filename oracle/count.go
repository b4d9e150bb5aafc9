package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// counter counts the rows of answers without making them, so that thousands
// of queries cost little more than one. It rests on rows of a series arriving
// in time order; a query that meets a late row is reported as not counted.
type counter struct {
	schema  *series.Schema
	groups  *groupings
	queries []*countedQuery // by index; nil: not taken
	buckets map[bucketKey]*bucketWatch
	rows    map[rowKey]*rowWatch
	byTable map[*series.Table][]watch
}

// watch counts queries that have something in common.
type watch interface {
	start()
	add(*series.Run)
	finish()
}

// countedQuery is the count of one query as it grows.
type countedQuery struct {
	start, end int64
	limit      int64
	rows       int64
	buckets    bitset // seen, for answers whose buckets several units share
	base       int64  // first bucket
	late       bool
}

func newCounter(s *series.Schema, groups *groupings) *counter {
	return &counter{
		schema: s, groups: groups,
		buckets: map[bucketKey]*bucketWatch{}, rows: map[rowKey]*rowWatch{},
		byTable: map[*series.Table][]watch{},
	}
}

// Countable reports whether Pass counts the rows of the answer at little cost. For all other
// queries, counting costs as much as computing the whole answer.
func Countable(q *query.Query) bool {
	if len(q.Present) > 0 { // the watches do not know which series lack a tag
		return false
	}
	filtered := q.Filter != nil || q.In != nil
	switch s := countAs(q).Shape.(type) {
	case query.Buckets:
		return q.Filter == nil && (q.In == nil || s.GroupBy == "" && !q.Start.IsZero())
	case query.Rows:
		return filtered && (s.Order == query.Unordered || s.Tag == "" || q.In != nil && q.In.Key == s.Tag)
	case query.AnyRows:
		return filtered
	}
	return false
}

// watch adds a query to count; its index follows that of the previous query. It returns false if
// only an evaluator can count the rows of the query.
func (c *counter) watch(index int, q *query.Query) (bool, error) {
	for len(c.queries) <= index {
		c.queries = append(c.queries, nil)
	}
	table := c.schema.Table(q.Table)
	if table == nil {
		return false, nil // the evaluator explains
	}
	counted := &countedQuery{}
	counted.start, counted.end = q.Bounds()
	var taken bool
	var err error
	if !Countable(q) {
		return false, nil
	}
	switch s := q.Shape.(type) {
	case query.Buckets:
		counted.limit = int64(s.Limit)
		taken, err = c.watchBuckets(table, q, &s, counted)
	case query.AnyRows:
		counted.limit = int64(s.Limit)
		taken, err = c.watchRows(table, q, counted)
	default:
		taken, err = c.watchRows(table, q, counted)
	}
	if taken {
		c.queries[index] = counted
	}
	return taken, err
}

func (c *counter) start() {
	for _, watches := range c.byTable {
		for _, w := range watches {
			w.start()
		}
	}
}

func (c *counter) addAll(runs []span) {
	for _, run := range runs {
		for _, w := range c.byTable[run.Table] {
			w.add(run.Run)
		}
	}
}

// finish writes the counts and returns the indexes of queries that could not
// be counted.
func (c *counter) finish(counts []int64) (late []int) {
	for _, watches := range c.byTable {
		for _, w := range watches {
			w.finish()
		}
	}
	for i, q := range c.queries {
		if q == nil {
			continue
		}
		if q.late {
			late = append(late, i)
		}
		counts[i] = q.rows
		if q.buckets != nil {
			counts[i] = int64(q.buckets.count())
		}
		if q.limit > 0 {
			counts[i] = min(counts[i], q.limit)
		}
	}
	return late
}

// bucketKey is common to the queries counted by one bucketWatch.
type bucketKey struct {
	table *series.Table
	width time.Duration
	in    string // tag filtered by
	group string // tag grouped by
}

// bucketWatch counts distinct buckets, or pairs of bucket and group. Rows are distinguished by
// unit: the value of the tag filtered or grouped by, or a single unit. A row matters only if it is
// the first of its unit in a bucket, or the first since some window began: two comparisons skip
// nearly all rows.
type bucketWatch struct {
	key    bucketKey
	units  *grouping         // nil: a single unit
	lists  [][]*countedQuery // per unit, or one that all units share; by start
	states []unitState
	late   bool
}

type unitState struct {
	seen   bool
	next   int32 // of the unit's list: the first whose window has not begun
	time   int64 // of the last row
	bucket int64 // of the last row
}

func (c *counter) watchBuckets(table *series.Table, q *query.Query, s *query.Buckets, counted *countedQuery) (bool, error) {
	key := bucketKey{table: table, width: s.Width, group: s.GroupBy}
	if q.In != nil {
		key.in = q.In.Key
	}
	w := c.buckets[key]
	if w == nil {
		w = &bucketWatch{key: key}
		if tag := cmp.Or(key.in, key.group); tag != "" {
			var err error
			if w.units, err = c.groups.groupBy(table, tag); err != nil {
				return false, err
			}
		}
		w.lists = make([][]*countedQuery, 1)
		if key.in != "" {
			w.lists = make([][]*countedQuery, len(w.units.values))
		}
		c.buckets[key] = w
		c.byTable[table] = append(c.byTable[table], w)
	}
	if q.In == nil {
		w.lists[0] = append(w.lists[0], counted)
		return true, nil
	}
	counted.base = query.BucketOf(counted.start, s.Width)
	counted.buckets = bitset{0}
	for _, v := range slices.Compact(slices.Sorted(slices.Values(q.In.Values))) {
		if n, ok := w.units.number[v+"\x00"]; ok {
			w.lists[n] = append(w.lists[n], counted)
		}
	}
	return true, nil
}

func (w *bucketWatch) start() {
	for _, list := range w.lists {
		slices.SortStableFunc(list, func(a, b *countedQuery) int { return cmp.Compare(a.start, b.start) })
	}
	w.states = make([]unitState, 1)
	if w.units != nil {
		w.states = make([]unitState, len(w.units.values))
	}
}

func (w *bucketWatch) add(run *series.Run) {
	var list []*countedQuery
	if w.key.in == "" {
		list = w.lists[0]
	}
	bucket, of := int64(0), int64(0)
	for row, t := range run.Times {
		unit := int32(0)
		if w.units != nil {
			if unit = w.units.of[run.Series[row]]; unit < 0 {
				continue
			}
			if w.key.in != "" {
				if list = w.lists[unit]; len(list) == 0 {
					continue
				}
			}
		}
		if row == 0 || t != of {
			of, bucket = t, query.BucketOf(t, w.key.width)
		}
		state := &w.states[unit]
		if state.seen && t < state.time {
			w.late = true
			continue
		}
		state.time = t
		another := !state.seen || bucket != state.bucket
		if !another && (int(state.next) == len(list) || t < list[state.next].start) {
			continue
		}
		if another {
			state.seen, state.bucket = true, bucket
			for _, q := range list[:state.next] {
				w.hit(q, t, bucket)
			}
		}
		for int(state.next) < len(list) && list[state.next].start <= t {
			w.hit(list[state.next], t, bucket)
			state.next++
		}
	}
}

// hit counts a row that is the first of its unit in the query's window and
// bucket, if the window has not ended.
func (w *bucketWatch) hit(q *countedQuery, t, bucket int64) {
	switch {
	case t >= q.end:
	case q.buckets != nil:
		q.buckets.add(int((bucket - q.base) / int64(w.key.width)))
	default:
		q.rows++
	}
}

func (w *bucketWatch) finish() {
	if !w.late {
		return
	}
	for _, list := range w.lists {
		for _, q := range list {
			q.late = true
		}
	}
}

// rowKey is common to the queries counted by one rowWatch.
type rowKey struct {
	table  *series.Table
	filter string // the value filter
	in     string // tag filtered by
}

// rowWatch counts the rows that a value filter keeps, or all. Queries about all series
// are answered at the end from the number of such rows up to each time.
type rowWatch struct {
	key    rowKey
	filter valueFilter
	units  *grouping         // nil: queries about all series
	lists  [][]*countedQuery // per unit, or one

	times []int64 // distinct, ascending
	upTo  []int64 // rows that the filter keeps at or before the time
	late  bool
}

func (c *counter) watchRows(table *series.Table, q *query.Query, counted *countedQuery) (bool, error) {
	key := rowKey{table: table}
	filter := newValueFilter(table, q.Filter)
	if slices.Contains(filter.fields, -1) {
		return false, nil // the evaluator explains
	}
	key.filter = fmt.Sprint(filter)
	if q.In != nil {
		key.in = q.In.Key
	}
	w := c.rows[key]
	if w == nil {
		w = &rowWatch{key: key, filter: filter, lists: make([][]*countedQuery, 1)}
		if key.in != "" {
			var err error
			if w.units, err = c.groups.groupBy(table, key.in); err != nil {
				return false, err
			}
			w.lists = make([][]*countedQuery, len(w.units.values))
		}
		c.rows[key] = w
		c.byTable[table] = append(c.byTable[table], w)
	}
	if q.In == nil {
		w.lists[0] = append(w.lists[0], counted)
		return true, nil
	}
	for _, v := range slices.Compact(slices.Sorted(slices.Values(q.In.Values))) {
		if n, ok := w.units.number[v+"\x00"]; ok {
			w.lists[n] = append(w.lists[n], counted)
		}
	}
	return true, nil
}

func (w *rowWatch) start() {}

func (w *rowWatch) add(run *series.Run) {
	for row, t := range run.Times {
		if !w.filter.keeps(run, row) {
			continue
		}
		if w.units != nil {
			if unit := w.units.of[run.Series[row]]; unit >= 0 {
				for _, q := range w.lists[unit] {
					if t >= q.start && t < q.end {
						q.rows++
					}
				}
			}
			continue
		}
		last := len(w.times) - 1
		switch {
		case last < 0:
			w.times, w.upTo = append(w.times, t), append(w.upTo, 1)
		case t == w.times[last]:
			w.upTo[last]++
		case t > w.times[last]:
			w.times, w.upTo = append(w.times, t), append(w.upTo, w.upTo[last]+1)
		default:
			w.late = true
		}
	}
}

func (w *rowWatch) finish() {
	if w.units != nil {
		return
	}
	before := func(t int64) int64 {
		i := sort.Search(len(w.times), func(i int) bool { return w.times[i] >= t })
		if i == 0 {
			return 0
		}
		return w.upTo[i-1]
	}
	for _, q := range w.lists[0] {
		q.rows, q.late = max(before(q.end)-before(q.start), 0), w.late // a window may end before it starts
	}
}

package oracle

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/tsmark/tsmark/query"
)

// assemble computes a member's answer after all rows were added. It returns false if cells cannot
// determine the answer, and the query must process the rows itself.
func (f *family) assemble(e *evaluator, made *bucketRows) bool {
	for _, c := range e.from {
		if c.odd {
			return false
		}
	}
	switch part := f.part.(type) {
	case counted:
		f.visitStretches(e, func(_ *strand, of []stretch) {
			for _, at := range of {
				e.found += f.rows[at.cell]
			}
		})
	case *rowSums:
		f.visitStretches(e, func(_ *strand, of []stretch) {
			for _, at := range of {
				e.digest.Add(f.rows[at.cell], part.sums[at.cell])
			}
		})
	case *newestCells:
		return f.assembleNewest(e, part)
	case *columns:
		if e.units != nil {
			f.assembleUnits(e)
		} else {
			e.made = f.assembleBuckets(e, made)
		}
	}
	return true
}

// visitStretches calls visit with the strands that a member is about, and the stretches
// in its window.
func (f *family) visitStretches(e *evaluator, visit func(*strand, []stretch)) {
	for _, n := range f.strandsOf(e) {
		s := &f.strands[n]
		if of := s.stretchesBetween(e.start, e.end); len(of) > 0 {
			visit(s, of)
		}
	}
}

// assembleNewest merges the newest rows of cells. It returns false if several rows share the newest
// time of a group: cells keep only one of them, and any of them is a correct answer.
func (f *family) assembleNewest(e *evaluator, part *newestCells) bool {
	tied := map[int]bool{}
	f.visitStretches(e, func(s *strand, of []stretch) {
		for _, at := range of {
			if f.rows[at.cell] == 0 {
				continue
			}
			row, group := &part.rows[at.cell], int(s.group)
			switch t, newest := row.values[0].Int, e.newest.newestTime(group); {
			case t < newest:
			case t == newest:
				tied[group] = true
			default:
				tied[group] = part.tied[at.cell]
				e.newest.keep(group, row.values, len(e.fields), row.series)
			}
		}
	})
	for _, is := range tied {
		if is {
			return false
		}
	}
	return true
}

// assembleUnits makes the sums of the shapes Means and Activity.
func (f *family) assembleUnits(e *evaluator) {
	f.visitStretches(e, func(s *strand, of []stretch) {
		var unit *unit
		var cells []int32
		for i := 0; i < len(of); {
			next := i + 1
			if e.width == 0 {
				next = len(of)
			} else {
				for next < len(of) && f.bucketOf(of[next].from) == f.bucketOf(of[i].from) {
					next++
				}
			}
			here := of[i:next]
			var rows int64
			cells, rows = f.cellsIn(cells[:0], here)
			i = next
			if rows == 0 {
				continue
			}
			if unit == nil {
				unit = e.units.lookUp(s.series)
			}
			for k, c := range e.from {
				all := c.foldCells(cells, rows)
				if all.n == 0 {
					continue
				}
				to := &unit.sums[k].sum
				if e.width > 0 {
					to = unit.span(f.bucketOf(here[0].from))
				} else {
					unit.sums[k].negative += all.negative
				}
				to.total, to.n = to.total+all.float, to.n+all.n
			}
		}
	})
}

// cellsIn appends the cells of stretches, and returns the number of their rows.
func (f *family) cellsIn(to []int32, of []stretch) (cells []int32, rows int64) {
	for i := range of {
		rows += f.rows[of[i].cell]
		to = append(to, of[i].cell)
	}
	return to, rows
}

// bucketOf returns the bucket of a time; without buckets there is one for all.
func (f *family) bucketOf(t int64) int64 {
	if f.width == 0 {
		return 0
	}
	return query.BucketOf(t, time.Duration(f.width))
}

// assembleBuckets makes the answer of the shapes Buckets and Totals.
func (f *family) assembleBuckets(e *evaluator, made *bucketRows) [][]query.Value {
	q, strands := e.query, f.strandsOf(e)
	buckets := f.bucketsIn(e.start, e.end)
	rows := make([][]query.Value, 0, made.expectedRows(len(buckets), len(strands), e.limit))
	made.at = append(made.at[:0], make([]int, len(strands))...)
	for i := range buckets {
		if e.order == query.Descending {
			i = len(buckets) - 1 - i
		}
		bucket := buckets[i]
		start, end := f.boundsOf(bucket)
		from := len(rows)
		switch whole := e.start <= start && end <= e.end; {
		case !whole || q.In != nil:
			rows = f.bucketRows(rows, e, made, strands, max(start, e.start), min(end, e.end))
		case made.rows[bucket] == nil:
			made.rows[bucket] = f.bucketRows([][]query.Value{}, e, made, strands, start, end)
			fallthrough
		default:
			rows = append(rows, made.rows[bucket]...)
		}
		if e.order == query.Descending {
			slices.Reverse(rows[from:])
		}
		if e.limit > 0 && len(rows) >= e.limit {
			return rows[:e.limit]
		}
	}
	return rows
}

// boundsOf returns when a bucket begins and ends.
func (f *family) boundsOf(bucket int64) (start, end int64) {
	switch end = bucket + f.width; {
	case f.width == 0:
		return math.MinInt64, math.MaxInt64
	case end < bucket:
		end = math.MaxInt64
	}
	return bucket, end
}

// bucketsIn returns the buckets that overlap a window.
func (f *family) bucketsIn(start, end int64) []int64 {
	first := sort.Search(len(f.buckets), func(i int) bool {
		_, ends := f.boundsOf(f.buckets[i])
		return ends > start
	})
	last := sort.Search(len(f.buckets), func(i int) bool {
		begins, _ := f.boundsOf(f.buckets[i])
		return begins >= end
	})
	return f.buckets[first:max(first, last)]
}

// bucketRows appends the rows of a part of a bucket, by group.
func (f *family) bucketRows(to [][]query.Value, e *evaluator, made *bucketRows, strands []int32, start, end int64) [][]query.Value {
	bucket := f.bucketOf(start)
	for i := 0; i < len(strands); {
		group, rows := f.strands[strands[i]].group, int64(0)
		made.cells = made.cells[:0]
		for ; i < len(strands) && f.strands[strands[i]].group == group; i++ {
			n := int64(0)
			made.cells, n = f.cellsIn(made.cells, f.strands[strands[i]].stretchesIn(start, end, &made.at[i]))
			rows += n
		}
		if rows == 0 {
			continue
		}
		row := made.row(len(e.columns))
		at := e.begin(row, bucket, group)
		for k, c := range e.from {
			all := c.foldCells(made.cells, rows)
			all.put(&row[at+k], e.aggregate, e.columns[at+k].Kind)
		}
		to = append(to, row)
	}
	return to
}

// stretchesIn returns a strand's stretches in a part of a bucket. It starts searching at *at, the
// most likely place, and advances that beyond them.
func (s *strand) stretchesIn(start, end int64, at *int) []stretch {
	all, first := s.stretches, *at
	if first > len(all) || first < len(all) && all[first].from < start || first > 0 && all[first-1].from >= start {
		first = search(all, start)
	}
	last := first
	for last < len(all) && all[last].from < end {
		last++
	}
	*at = last
	return all[first:last]
}

// bucketRows is shared by answers that differ only in their windows and filters.
type bucketRows struct {
	rows   map[int64][][]query.Value // of buckets that lie within the window
	memory []query.Value             // for further rows
	cells  []int32                   // of a row
	at     []int                     // by strand: see within
}

// sharing returns a key that is equal for members of a family that can share bucketRows; empty: the
// member shares nothing.
func sharing(e *evaluator) string {
	if e.role != folds {
		return ""
	}
	return fmt.Sprint(e.columns)
}

func newBucketRows() *bucketRows { return &bucketRows{rows: map[int64][][]query.Value{}} }

// expectedRows returns for how many rows memory is laid aside at first.
func (m *bucketRows) expectedRows(buckets, groups, limit int) int {
	const most = 1 << 14
	if limit > 0 {
		groups = min(groups, limit)
		buckets = min(buckets, limit)
	}
	return min(min(buckets, most)*min(groups, most), most)
}

// row returns memory for a row, of NULLs.
func (m *bucketRows) row(columns int) []query.Value {
	if len(m.memory) < columns {
		m.memory = make([]query.Value, max(columns, 512))
	}
	row := m.memory[:columns:columns]
	m.memory = m.memory[columns:]
	return row
}

package oracle

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/tsmark/tsmark/series"
)

// family answers queries that distinguish rows by the same tags, buckets and value filter. The queries
// differ in their windows, filter values, fields and aggregates.
//
// It processes each row once, however many queries need it. A strand is a set of series that no
// query of the family distinguishes. The bounds of the windows of the queries about a strand, and
// the bounds of buckets, divide its time into stretches; no query distinguishes rows within one.
// Each row is added to the cell of its strand and stretch, and answers are assembled from cells.
//
// There is a cell for each strand and stretch that has rows and that a query needs: each query adds
// at most two stretches to each strand it covers, in addition to those of its buckets.
type family struct {
	familyKey
	members []*evaluator
	groups  *grouping // of the cells; nil: rows are not grouped
	filter  valueFilter

	strandOf []int32 // per series; -1: no query needs it
	strands  []strand
	buckets  []int64 // buckets with cells, ascending

	rows []int64 // per cell
	part part

	kept            []int32 // rows of a run that the filter keeps
	selected, cells []int32 // rows that queries need, and the cell of each
}

// familyKey is common to the queries of a family.
type familyKey struct {
	table   *series.Table
	keeps   keeps
	width   int64  // of buckets; 0: none
	in      string // tag filtered by
	tags    string // further tags that distinguish rows, each terminated by a zero byte
	present string // tags that rows must have, each terminated by a zero byte
	passing string // the value filter
	columns string // where whole rows are kept: the answer's tags and fields
}

// demand describes the queries about a value of the filter, and their windows.
type demand struct {
	members     []*evaluator
	bounds      []int64 // of their windows, ascending
	overlapping []int   // how many queries need the time from each bound to the next
	strands     []int32 // that it is about, by group
}

// strand is a set of series that no query of the family distinguishes.
type strand struct {
	series    uint32 // one of them
	group     int32
	demand    *demand
	next      int       // index of the bound after the last row
	from, to  int64     // the last row was here, and
	cell      int32     // in this cell; -1: no query needs that time
	stretches []stretch // ascending
}

// stretch is the cell of a strand's rows from a time on, until the next bound.
type stretch struct {
	from int64
	cell int32
}

func newFamily(key familyKey, first *evaluator) *family {
	f := &family{familyKey: key}
	if key.keeps != everything {
		f.groups, f.filter = first.groups, first.filter
	}
	switch key.keeps {
	case aggregates:
		f.part = &columns{}
	case digests:
		f.part = &rowSums{of: first}
	case newestRows:
		f.part = &newestCells{of: first}
	case nothing:
		f.part = counted{}
	case everything:
		f.part = &deliveries{family: f}
	}
	return f
}

// start prepares for rows, once all members are known.
func (f *family) start(groups *groupings) error {
	by, err := groups.groupBy(f.table, split(f.in+"\x00"+f.tags)...)
	if err != nil {
		return err
	}
	in, whole, err := f.filters(groups)
	if err != nil {
		return err
	}
	demandOf := make([]*demand, 1)
	if in != nil {
		demandOf = make([]*demand, len(in.values))
	}
	for _, e := range f.members {
		e.demands = f.demandsOf(demandOf, in, e)
	}
	for _, d := range demandOf {
		if d != nil {
			d.start()
		}
	}
	f.strandOf = make([]int32, len(by.of))
	strandAt := slices.Repeat([]int32{-1}, len(by.values))
	for s, n := range by.of {
		f.strandOf[s] = -1
		if n < 0 || whole != nil && whole.of[s] < 0 {
			continue
		}
		needed := demandOf[0]
		if in != nil {
			needed = demandOf[in.of[s]]
		}
		if needed == nil {
			continue
		}
		if strandAt[n] < 0 {
			strandAt[n] = int32(len(f.strands))
			one := strand{series: uint32(s), demand: needed}
			if f.groups != nil {
				one.group = f.groups.of[s]
			}
			needed.strands = append(needed.strands, strandAt[n])
			f.strands = append(f.strands, one)
		}
		f.strandOf[s] = strandAt[n]
	}
	if f.groups != nil && f.keeps == aggregates {
		ranks := f.groups.ranks()
		for _, d := range demandOf {
			if d != nil {
				slices.SortStableFunc(d.strands, func(a, b int32) int {
					return cmp.Compare(ranks[f.strands[a].group], ranks[f.strands[b].group])
				})
			}
		}
	}
	for _, e := range f.members {
		f.part.demand(e)
	}
	return nil
}

// filters returns the groupings by the tag of the filter and by the tags that must be present; nil
// if the queries have no filter or no such tags.
func (f *family) filters(groups *groupings) (in, whole *grouping, err error) {
	if f.in != "" {
		if in, err = groups.groupBy(f.table, f.in); err != nil {
			return nil, nil, err
		}
	}
	if f.present != "" {
		whole, err = groups.groupBy(f.table, split(f.present)...)
	}
	return in, whole, err
}

// demandsOf adds a member to the demand of each value that it filters on.
func (f *family) demandsOf(demandOf []*demand, in *grouping, e *evaluator) (of []*demand) {
	numbers := []int32{0}
	if in != nil {
		numbers = numbers[:0]
		for _, v := range e.query.In.Values {
			if n, ok := in.number[v+"\x00"]; ok {
				numbers = append(numbers, n)
			}
		}
		slices.Sort(numbers)
		numbers = slices.Compact(numbers)
	}
	for _, n := range numbers {
		if demandOf[n] == nil {
			demandOf[n] = &demand{}
		}
		demandOf[n].members = append(demandOf[n].members, e)
		of = append(of, demandOf[n])
	}
	return of
}

// split returns the different keys in a text that ends each by a zero byte.
func split(text string) (keys []string) {
	for key := range strings.SplitSeq(text, "\x00") {
		if key != "" && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

func (d *demand) start() {
	change := map[int64]int{}
	for _, e := range d.members {
		if e.start < e.end {
			change[e.start]++
			change[e.end]--
		}
	}
	overlapping := 0
	for t := range change {
		d.bounds = append(d.bounds, t)
	}
	slices.Sort(d.bounds)
	for _, t := range d.bounds {
		overlapping += change[t]
		d.overlapping = append(d.overlapping, overlapping)
	}
}

func (f *family) addAll(runs []span) {
	for _, run := range runs {
		if run.Table == f.table {
			f.locate(run.Run)
			if len(f.selected) > 0 {
				f.part.add(run.Run, f.selected, f.cells)
			}
		}
	}
}

// locate finds the rows of a run that queries need, and their cells.
func (f *family) locate(run *series.Run) {
	f.selected, f.cells = f.selected[:0], f.cells[:0]
	if len(f.filter.fields) > 0 { // few rows pass it
		f.kept = f.filter.appendKept(f.kept[:0], run)
		for _, row := range f.kept {
			f.place(row, f.cellOf(run.Series[row], run.Times[row]))
		}
		return
	}
	for row, t := range run.Times {
		f.place(int32(row), f.cellOf(run.Series[row], t))
	}
}

// place notes the cell of a row; -1: no query needs it.
func (f *family) place(row, cell int32) {
	if cell >= 0 {
		f.rows[cell]++
		f.selected = append(f.selected, row)
		f.cells = append(f.cells, cell)
	}
}

// cellOf returns the cell of a series and time; -1: no query needs it.
func (f *family) cellOf(series uint32, t int64) int32 {
	n := f.strandOf[series]
	if n < 0 {
		return -1
	}
	s := &f.strands[n]
	if t < s.from || t >= s.to {
		f.seek(s, t)
	}
	return s.cell
}

// seek moves a strand to the stretch of a time.
func (f *family) seek(s *strand, t int64) {
	bounds := s.demand.bounds
	next := s.next
	if next > 0 && bounds[next-1] > t || next < len(bounds) && bounds[next] <= t {
		if next++; next >= len(bounds) || bounds[next-1] > t || bounds[next] <= t { // not the next one
			next = sort.Search(len(bounds), func(i int) bool { return bounds[i] > t })
		}
		s.next = next
	}
	s.from, s.to, s.cell = math.MinInt64, math.MaxInt64, -1
	if next < len(bounds) {
		s.to = bounds[next]
	}
	if next == 0 {
		return
	}
	s.from = bounds[next-1]
	if s.demand.overlapping[next-1] == 0 {
		return
	}
	bucket := int64(0)
	if f.width > 0 {
		bucket = f.bucketOf(t)
		start, end := f.boundsOf(bucket)
		s.from, s.to = max(s.from, start), min(s.to, end)
	}
	at := len(s.stretches)
	if at > 0 && s.stretches[at-1].from >= s.from {
		at = search(s.stretches, s.from)
		if s.stretches[at].from == s.from {
			s.cell = s.stretches[at].cell
			return
		}
	}
	s.cell = int32(len(f.rows))
	f.rows = append(f.rows, 0)
	f.part.grow(s)
	if s.stretches = append(s.stretches, stretch{s.from, s.cell}); at < len(s.stretches)-1 { // a late row's
		copy(s.stretches[at+1:], s.stretches[at:])
		s.stretches[at] = stretch{s.from, s.cell}
	}
	if last := len(f.buckets) - 1; last < 0 || f.buckets[last] < bucket {
		f.buckets = append(f.buckets, bucket)
	} else if i, there := slices.BinarySearch(f.buckets, bucket); !there {
		f.buckets = slices.Insert(f.buckets, i, bucket)
	}
}

// search returns the index of the first stretch at or after a time.
func search(in []stretch, from int64) int {
	low, high := 0, len(in)
	for low < high {
		if middle := (low + high) / 2; in[middle].from < from {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// stretchesBetween returns the strand's stretches in a window. Both bounds of the window lie
// between two stretches.
func (s *strand) stretchesBetween(start, end int64) []stretch {
	from := s.stretches[search(s.stretches, start):]
	return from[:search(from, end)]
}

// strandsOf returns the numbers of the strands that a member covers, by group if rows are grouped.
func (f *family) strandsOf(e *evaluator) []int32 {
	if len(e.demands) == 1 {
		return e.demands[0].strands
	}
	var all []int32
	for _, d := range e.demands {
		all = append(all, d.strands...)
	}
	if f.groups != nil && f.keeps == aggregates {
		ranks := f.groups.ranks()
		slices.SortFunc(all, func(a, b int32) int {
			return cmp.Compare(ranks[f.strands[a].group], ranks[f.strands[b].group])
		})
	}
	return all
}

// familyOf returns the key of an evaluator's family.
func familyOf(e *evaluator) familyKey {
	q := e.query
	key := familyKey{table: e.table, keeps: keepsFor(e)}
	ended := func(texts ...string) string {
		if len(texts) == 0 {
			return ""
		}
		return strings.Join(texts, "\x00") + "\x00"
	}
	if q.In != nil {
		key.in = q.In.Key
	}
	if key.keeps == everything {
		return key // each takes its own rows
	}
	key.present = ended(q.Present...)
	if q.Filter != nil {
		key.passing = fmt.Sprint(e.filter)
	}
	switch key.keeps {
	case aggregates:
		if key.tags, key.width = ended(e.keys...), e.width; e.units != nil {
			key.tags = "\x00" + key.tags // its strands are in no groups
		}
	case newestRows:
		key.tags, key.columns = ended(e.keys...), fmt.Sprint(e.columns)
	case digests:
		key.columns = ended(e.keys...) + fmt.Sprint(e.columns)
	}
	return key
}

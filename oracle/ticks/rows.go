package ticks

import (
	"bytes"
	"slices"
	"sort"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// rows are rows of one series: their times, and the values of some fields as they are stored.
type rows struct {
	times  []int64
	values []uint64 // of each row, a value for each field; 0 for NULL
	nulls  []uint64 // of each row, a bit for each field: query.Check allows 64
	late   bool     // times are not ascending
}

func (r *rows) add(run *series.Run, row int, fields []number) {
	if n := len(r.times); n > 0 && run.Times[row] < r.times[n-1] {
		r.late = true
	}
	nulls := uint64(0)
	for i := range fields {
		if run.Lacks(fields[i].field, row) {
			nulls |= 1 << i
			r.values = append(r.values, 0)
		} else {
			r.values = append(r.values, fields[i].bits(run, row))
		}
	}
	r.times, r.nulls = append(r.times, run.Times[row]), append(r.nulls, nulls)
}

// truncate removes the rows from an index on.
func (r *rows) truncate(n, fields int) {
	r.times, r.nulls, r.values = r.times[:n], r.nulls[:n], r.values[:n*fields]
}

// sort puts rows in the order of their times. It keeps the order of rows with equal times.
func (r *rows) sort(fields int) {
	if !r.late {
		return
	}
	order := make([]int, len(r.times))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return r.times[order[a]] < r.times[order[b]] })
	sorted := rows{}
	for _, i := range order {
		sorted.times, sorted.nulls = append(sorted.times, r.times[i]), append(sorted.nulls, r.nulls[i])
		sorted.values = append(sorted.values, r.values[i*fields:(i+1)*fields]...)
	}
	*r = sorted
}

// value returns a value of a row in an answer, as a double if the column has doubles.
func (r *rows) value(row, field int, fields []number, kind query.Kind) query.Value {
	if r.nulls[row]>>field&1 != 0 {
		return query.Value{}
	}
	v := r.values[row*len(fields)+field]
	if kind == query.Float {
		return double(fields[field].double(v))
	}
	return fields[field].value(v)
}

// equalRows reports whether two rows have the same values.
func (r *rows) equalRows(a, b, fields int) bool {
	return r.nulls[a] == r.nulls[b] && slices.Equal(r.values[a*fields:(a+1)*fields], r.values[b*fields:(b+1)*fields])
}

// bySeries are the rows of each series.
type bySeries map[uint32]*rows

func (b bySeries) take(s uint32) *rows {
	if b[s] == nil {
		b[s] = &rows{}
	}
	return b[s]
}

// joined are the rows of two tables, by series.
type joined struct {
	fields, rightFields []number
	left, right         bySeries
}

func (j *joined) add(run *series.Run, row int) { j.left.take(run.Series[row]).add(run, row, j.fields) }

func (j *joined) addRight(run *series.Run, row int) {
	j.right.take(run.Series[row]).add(run, row, j.rightFields)
}

// visit calls a function with the rows of each series that has a name, in the order of their times, and with the answer's row
// for it to complete: its values behind the fields are set.
func (j *joined) visit(c *Collector, do func(series uint32, left, right *rows, fill func(i int, row []query.Value))) {
	for s, left := range j.left {
		by, ok := c.seriesName(s)
		if !ok {
			continue
		}
		right := j.right[s]
		if right == nil {
			right = &rows{}
		}
		left.sort(len(j.fields))
		right.sort(len(j.rightFields))
		do(s, left, right, func(i int, row []query.Value) {
			row[0], row[1] = timeValue(left.times[i]), by
			for f := range j.fields {
				row[2+f] = left.value(i, f, j.fields, c.columns[2+f].Kind)
			}
		})
	}
}

// asOf answers query.AsOf.
type asOf struct {
	joined
	start     int64
	tolerance int64    // 0: any age
	before    bySeries // rows of right before start, the newest of each series
}

func newAsOf(c *Collector, s query.AsOf) *asOf {
	return &asOf{
		joined: joined{numbersOf(c.table, s.Fields), numbersOf(c.right, s.RightFields), bySeries{}, bySeries{}},
		start:  c.start, tolerance: int64(s.Tolerance), before: bySeries{},
	}
}

func (a *asOf) addRight(run *series.Run, row int) {
	t := run.Times[row]
	if t >= a.start || a.tolerance > 0 {
		a.joined.addRight(run, row)
		return
	}
	before := a.before.take(run.Series[row])
	if len(before.times) > 0 {
		if t < before.times[0] {
			return
		}
		if t > before.times[0] {
			before.truncate(0, len(a.rightFields))
		}
	}
	before.add(run, row, a.rightFields)
}

func (a *asOf) answer(c *Collector, emit func([]query.Value)) error {
	var first *tie
	row := make([]query.Value, len(c.columns))
	keys := 2 + len(a.fields)
	n := len(a.rightFields)
	a.visit(c, func(s uint32, left, right *rows, fill func(int, []query.Value)) {
		before := a.before.take(s)
		next := 0 // of right
		for i, t := range left.times {
			fill(i, row)
			for next < len(right.times) && right.times[next] <= t {
				next++
			}
			from, newest := right, next-1
			if newest < 0 {
				from, newest = before, len(before.times)-1
			}
			if newest < 0 || a.tolerance > 0 && t-from.times[newest] > a.tolerance {
				clear(row[keys:])
				emit(row)
				continue
			}
			for k := newest - 1; first == nil && k >= 0 && from.times[k] == from.times[newest]; k-- {
				if !from.equalRows(k, newest, n) {
					first = &tie{c.right, s, from.times[newest]}
				}
			}
			for f := range a.rightFields {
				row[keys+f] = from.value(newest, f, a.rightFields, query.Float)
			}
			emit(row)
		}
	})
	return c.tieError(first)
}

// around answers query.Around.
type around struct {
	joined
	before, after int64
}

func newAround(c *Collector, s query.Around) *around {
	names := []string{s.Field}
	if s.Minus != "" {
		names = append(names, s.Minus)
	}
	return &around{joined{numbersOf(c.table, s.Fields), numbersOf(c.right, names), bySeries{}, bySeries{}}, int64(s.Before), int64(s.After)}
}

func (a *around) answer(c *Collector, emit func([]query.Value)) error {
	row := make([]query.Value, len(c.columns))
	last := len(row) - 1
	a.visit(c, func(_ uint32, left, right *rows, fill func(int, []query.Value)) {
		low := 0
		for i, t := range left.times {
			fill(i, row)
			for low < len(right.times) && right.times[low] < moveTime(t, -a.before) {
				low++
			}
			var total sum
			n := 0
			for k := low; k < len(right.times) && right.times[k] <= moveTime(t, a.after); k++ {
				if right.nulls[k] == 0 {
					total.add(a.difference(right, k))
					n++
				}
			}
			if row[last] = (query.Value{}); n > 0 {
				row[last] = double(total.value(a.scale()) / float64(n))
			}
			emit(row)
		}
	})
	return nil
}

// scale returns the scale of differences: that of both fields.
func (a *around) scale() float64 {
	scale := a.rightFields[0].scale
	if len(a.rightFields) > 1 && a.rightFields[1].scale != scale {
		return 1
	}
	return scale
}

// difference returns the scaled value of a row.
func (a *around) difference(r *rows, row int) float64 {
	value := func(i int) float64 {
		v := r.values[row*len(a.rightFields)+i]
		if a.scale() == 1 {
			return a.rightFields[i].double(v)
		}
		return a.rightFields[i].wholeNumber(v)
	}
	if len(a.rightFields) == 1 {
		return value(0)
	}
	return value(0) - value(1)
}

// nth answers query.Nth.
type nth struct {
	fields []number
	event  int // field
	length int // of its texts; 0: free
	is     []byte
	n      int
	rows   map[uint32]*numbered
	text   []byte
}

// numbered are rows of a series, and which of them, by time, are events.
type numbered struct {
	rows
	events []int64
}

func newNth(t *series.Table, s query.Nth) *nth {
	event := t.FieldIndex(s.Event)
	return &nth{fields: numbersOf(t, s.Fields), event: event, length: t.Fields[event].Length, is: []byte(s.Is), n: s.N, rows: map[uint32]*numbered{}}
}

func (n *nth) add(run *series.Run, row int) {
	if run.Lacks(n.event, row) || !complete(run, row, n.fields...) {
		return
	}
	s := run.Series[row]
	to := n.rows[s]
	if to == nil {
		to = &numbered{}
		n.rows[s] = to
	}
	to.rows.add(run, row, n.fields)
	if n.text = run.Columns[n.event].AppendText(n.text[:0], row, n.length); bytes.Equal(n.text, n.is) {
		to.events = append(to.events, run.Times[row])
	}
}

func (n *nth) answer(c *Collector, emit func([]query.Value)) error {
	var first *tie
	for s, of := range n.rows {
		by, ok := c.seriesName(s)
		if !ok {
			continue
		}
		of.sort(len(n.fields))
		shared := func(i int) bool {
			return i > 0 && of.times[i-1] == of.times[i] || i+1 < len(of.times) && of.times[i+1] == of.times[i]
		}
		for _, t := range of.events {
			row := make([]query.Value, len(c.columns))
			row[0], row[1] = timeValue(t), by
			i, _ := slices.BinarySearch(of.times, t)
			if first == nil && shared(i) {
				first = &tie{c.table, s, t}
			}
			if i += n.n; i < len(of.times) {
				if first == nil && shared(i) {
					first = &tie{c.table, s, of.times[i]}
				}
				row[2] = timeValue(of.times[i])
				for f := range n.fields {
					row[3+f] = of.value(i, f, n.fields, c.columns[3+f].Kind)
				}
			}
			emit(row)
		}
	}
	return c.tieError(first)
}

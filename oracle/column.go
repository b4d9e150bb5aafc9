package oracle

import (
	"math"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// columns holds aggregates of fields and of numeric tags: a column of cells for each different
// aggregate that a query of the family needs.
type columns struct {
	all   []*column
	cells int // that are in use
	room  int // that there is memory for

	rows, of []int32 // rows of a run that have a value, and their cells
}

// column holds one field, folded in one way, for each cell.
type column struct {
	fold   fold
	field  int
	whole  bool      // cells hold whole numbers
	units  float64   // units in 1, where cells are sums of decimals in units of their last place; 0: elsewhere
	tag    []float64 // of tagSum: per series; NaN: it lacks the tag
	ints   []int64   // where whole
	floats []float64 // where not
	absent []int64   // rows of a cell without a value; nil: every row has one
	odd    bool      // a NaN was met, to which the order of rows matters

	negative []float64 // of sums: see cell; nil: no value is negative
}

// fold is the way a column folds values.
type fold uint8

const (
	largest fold = iota
	smallest
	total
	zeros  // how many are 0
	values // how many there are
	tagSum // of a numeric tag of the rows' series
)

// foldFor returns the fold that an aggregate is made of.
func foldFor(a query.Aggregate) fold {
	switch a {
	case query.Max:
		return largest
	case query.Min:
		return smallest
	case query.Count:
		return values
	}
	return total
}

// demand makes the columns that a query needs.
func (k *columns) demand(e *evaluator) {
	add := func(c column) {
		c.whole = (c.fold == largest || c.fold == smallest) && e.table.Fields[c.field].Type.UsesInts()
		if c.fold == total && e.table.Fields[c.field].Decimals > 0 {
			c.units = math.Pow10(e.table.Fields[c.field].Decimals)
		}
		for _, known := range k.all {
			if known.fold == c.fold && known.field == c.field && (c.tag == nil || &known.tag[0] == &c.tag[0]) {
				e.from = append(e.from, known)
				return
			}
		}
		k.all = append(k.all, &c)
		e.from = append(e.from, &c)
	}
	switch {
	case e.units == nil:
		for _, f := range e.fields {
			add(column{fold: foldFor(e.aggregate), field: f})
		}
	case e.units.active != nil && e.units.active.Zeros:
		add(column{fold: zeros, field: e.units.fields[0]})
	default:
		for _, f := range e.units.fields {
			add(column{fold: total, field: f})
		}
		for _, tag := range e.units.tags {
			add(column{fold: tagSum, field: -1, tag: tag})
		}
	}
}

// grow doubles the memory if it is used up: there are many cells and columns.
func (k *columns) grow(*strand) {
	if k.cells++; k.cells <= k.room {
		return
	}
	k.room = max(2*k.room, 256)
	for _, c := range k.all {
		switch {
		case c.whole:
			c.ints = extend(c.ints, k.room, c.noInt())
		case c.fold != values:
			c.floats = extend(c.floats, k.room, c.noFloat())
		}
		if c.absent != nil {
			c.absent = extend(c.absent, k.room, 0)
		}
		if c.negative != nil {
			c.negative = extend(c.negative, k.room, 0)
		}
	}
}

// extend returns a copy of the given length, filled up with a value.
func extend[T number](from []T, length int, with T) []T {
	to := make([]T, length)
	for i := copy(to, from); i < length; i++ {
		to[i] = with
	}
	return to
}

// noInt and noFloat return the value of a cell without values.
func (c *column) noInt() int64 {
	if c.fold == largest {
		return math.MinInt64
	}
	return math.MaxInt64
}

func (c *column) noFloat() float64 {
	switch c.fold {
	case largest:
		return math.Inf(-1)
	case smallest:
		return math.Inf(1)
	}
	return 0
}

func (k *columns) add(run *series.Run, rows, cells []int32) {
	for _, c := range k.all {
		if c.fold == tagSum {
			k.addTags(c, run, rows, cells)
			continue
		}
		rows, cells := rows, cells
		if run.Table.Widths != nil || run.Columns[c.field].Nulls != nil {
			rows, cells = k.present(c, run, rows, cells)
		}
		from := &run.Columns[c.field]
		switch whole := run.Table.Fields[c.field].Type.UsesInts(); {
		case c.fold == values:
		case c.fold == zeros && whole:
			addZeros(c.floats, from.Ints, rows, cells)
		case c.fold == zeros:
			addZeros(c.floats, from.Floats, rows, cells)
		case c.fold == total && whole:
			addSums(c, from.Ints, rows, cells)
		case c.units > 0:
			c.addUnits(from.Floats, rows, cells)
		case c.fold == total:
			addSums(c, from.Floats, rows, cells)
		case c.fold == largest && whole:
			addLargest(c.ints, from.Ints, rows, cells)
		case c.fold == largest:
			c.odd = addLargest(c.floats, from.Floats, rows, cells) || c.odd
		case whole:
			addSmallest(c.ints, from.Ints, rows, cells)
		default:
			c.odd = addSmallest(c.floats, from.Floats, rows, cells) || c.odd
		}
	}
}

// present returns the rows that have a value of the column's field, and their
// cells, and notes the absence of the others.
func (k *columns) present(c *column, run *series.Run, rows, cells []int32) (with, of []int32) {
	k.rows, k.of = k.rows[:0], k.of[:0]
	for i, row := range rows {
		if run.Lacks(c.field, int(row)) {
			k.lacks(c, cells[i])
			continue
		}
		k.rows, k.of = append(k.rows, row), append(k.of, cells[i])
	}
	return k.rows, k.of
}

// lacks notes that a row of a cell has no value.
func (k *columns) lacks(c *column, cell int32) {
	if c.absent == nil {
		c.absent = make([]int64, k.room)
	}
	c.absent[cell]++
}

func (k *columns) addTags(c *column, run *series.Run, rows, cells []int32) {
	for i, row := range rows {
		v := c.tag[run.Series[row]]
		if math.IsNaN(v) {
			k.lacks(c, cells[i])
			continue
		}
		if c.floats[cells[i]] += v; v < 0 {
			c.addNegative(cells[i], v)
		}
	}
}

type number interface{ int64 | float64 }

func addSums[T number](c *column, from []T, rows, cells []int32) {
	to := c.floats
	cells = cells[:len(rows)]
	for i, row := range rows {
		v := float64(from[row])
		if to[cells[i]] += v; v < 0 {
			c.addNegative(cells[i], v)
		}
	}
}

// addUnits adds decimals as whole numbers, whose sums are exact up to 2^53.
func (c *column) addUnits(from []float64, rows, cells []int32) {
	to, units := c.floats, c.units
	cells = cells[:len(rows)]
	for i, row := range rows {
		v := math.Round(from[row] * units)
		if to[cells[i]] += v; v < 0 {
			c.addNegative(cells[i], v)
		}
	}
}

// addNegative notes that a negative value was added to a cell.
func (c *column) addNegative(cell int32, v float64) {
	if c.negative == nil {
		c.negative = make([]float64, len(c.floats))
	}
	c.negative[cell] -= v
}

func addZeros[T number](to []float64, from []T, rows, cells []int32) {
	for i, row := range rows {
		if from[row] == 0 {
			to[cells[i]]++
		}
	}
}

// addLargest reports whether a value is NaN, which it passes over.
func addLargest[T number](to []T, from []T, rows, cells []int32) (odd bool) {
	cells = cells[:len(rows)]
	for i, row := range rows {
		c, v := cells[i], from[row]
		if !(v <= to[c]) {
			if v != v {
				odd = true
				continue
			}
			to[c] = v
		}
	}
	return odd
}

// addSmallest is addLargest for the smallest values.
func addSmallest[T number](to []T, from []T, rows, cells []int32) (odd bool) {
	cells = cells[:len(rows)]
	for i, row := range rows {
		c, v := cells[i], from[row]
		if !(v >= to[c]) {
			if v != v {
				odd = true
				continue
			}
			to[c] = v
		}
	}
	return odd
}

// foldCells folds the values of cells with the given total number of rows. The bound of the
// rounding error of a sum of sums is not greater than that of one sum of all values, which adds
// more numbers in sequence.
func (c *column) foldCells(cells []int32, rows int64) cell {
	to := cell{n: rows}
	if c.absent != nil {
		for _, at := range cells {
			to.n -= c.absent[at]
		}
	}
	switch {
	case c.fold == values:
	case c.fold == largest && c.whole:
		to.integer = c.noInt()
		for _, at := range cells {
			to.integer = max(to.integer, c.ints[at])
		}
	case c.fold == largest:
		to.float = c.noFloat()
		for _, at := range cells {
			to.float = max(to.float, c.floats[at])
		}
	case c.whole:
		to.integer = c.noInt()
		for _, at := range cells {
			to.integer = min(to.integer, c.ints[at])
		}
	case c.fold == smallest:
		to.float = c.noFloat()
		for _, at := range cells {
			to.float = min(to.float, c.floats[at])
		}
	default:
		for _, at := range cells {
			to.float += c.floats[at]
			if c.negative != nil {
				to.negative += c.negative[at]
			}
		}
		if c.units > 0 {
			to.float, to.negative = to.float/c.units, to.negative/c.units
		}
	}
	return to
}

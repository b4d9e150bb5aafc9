package columnar

import (
	"bufio"
	"fmt"

	"github.com/tsmark/tsmark/internal/texts"
	"github.com/tsmark/tsmark/series"
)

// table is the rows of one table that were not written yet.
type table struct {
	of   *series.Table
	tags []*tag // as in the table
	file file
	out  *bufio.Writer // what file writes to
	free bool          // it has free fields

	series []uint32
	times  []int64
	fields []column // as in the table
}

// column holds the values of one field. NULLs are zero, so that equal rows give equal files.
type column struct {
	ints   []int64
	floats []float64
	free   *texts.List // of a free field, instead of ints; nil: not a free field
	valid  []byte      // bit r%8 of byte r/8: row r has a value
	nulls  int         // rows without
}

func newTable(of *series.Table, tags []*tag, rows int) *table {
	t := &table{
		of:     of,
		tags:   tags,
		series: make([]uint32, 0, rows),
		times:  make([]int64, 0, rows),
		fields: make([]column, len(of.Fields)),
	}
	for i, f := range of.Fields {
		c := &t.fields[i]
		c.valid = newValid(rows)
		if f.Free() {
			t.free, c.free = true, &texts.List{}
			c.free.Reset()
		} else if f.Type.UsesInts() {
			c.ints = make([]int64, 0, rows)
		} else {
			c.floats = make([]float64, 0, rows)
		}
	}
	return t
}

func (t *table) rows() int { return len(t.times) }

// full reports whether the buffered rows must be written; a row group has at most the given number
// of rows.
func (t *table) full(rows int) bool {
	if !t.free {
		return t.rows() == rows
	}
	size := 0
	for i := range t.fields {
		if free := t.fields[i].free; free != nil {
			size += len(free.Bytes)
		}
	}
	return t.rows() == rows || size >= maxText
}

// append copies n rows of the run, beginning with the one at from.
func (t *table) append(run *series.Run, from, n int) {
	at := t.rows()
	t.series = append(t.series, run.Series[from:from+n]...)
	t.times = append(t.times, run.Times[from:from+n]...)
	for i := range t.fields {
		c, src := &t.fields[i], &run.Columns[i]
		if c.free != nil {
			for row := from; row < from+n; row++ {
				text := []byte(nil)
				if !run.Lacks(i, row) {
					text = src.Text(row)
				}
				c.free.Add(text)
			}
		} else if t.of.Fields[i].Type.UsesInts() {
			c.ints = append(c.ints, src.Ints[from:from+n]...)
		} else {
			c.floats = append(c.floats, src.Floats[from:from+n]...)
		}
		if src.Nulls != nil {
			for r := range n {
				if src.Nulls.Has(from + r) {
					c.setNull(at + r)
				}
			}
		}
	}
	if t.of.Widths == nil {
		return
	}
	for r, s := range run.Series[from : from+n] {
		for i := t.of.Width(s); i < len(t.fields); i++ {
			t.fields[i].setNull(at + r)
		}
	}
}

// setNull takes the row's value away. A field beyond the width may be marked
// as NULL besides.
func (c *column) setNull(row int) {
	if !clearBit(c.valid, row) {
		return
	}
	c.nulls++
	switch {
	case c.free != nil: // is empty there
	case c.ints != nil:
		c.ints[row] = 0
	default:
		c.floats[row] = 0
	}
}

// flush writes the rows and forgets them.
func (t *table) flush() error {
	if err := t.file.write(t); err != nil {
		return fmt.Errorf("table %s: %w", t.of.Name, err)
	}
	t.series, t.times = t.series[:0], t.times[:0]
	for i := range t.fields {
		c := &t.fields[i]
		c.ints, c.floats = c.ints[:0], c.floats[:0]
		if c.free != nil {
			c.free.Reset()
		}
		if c.nulls > 0 {
			setAll(c.valid)
			c.nulls = 0
		}
	}
	return nil
}

// newValid returns a bitmap in which all rows have a value.
func newValid(rows int) []byte {
	valid := make([]byte, (rows+7)/8)
	setAll(valid)
	return valid
}

func setAll(valid []byte) {
	for i := range valid {
		valid[i] = 0xff
	}
}

// clearBit reports whether the bit was set.
func clearBit(valid []byte, row int) bool {
	bit := byte(1) << (row & 7)
	was := valid[row>>3]&bit != 0
	valid[row>>3] &^= bit
	return was
}

package series

import (
	"math"
	"math/bits"
	"slices"
)

// Bitmap marks rows; bit r%64 of word r/64 stands for row r.
type Bitmap []uint64

// Has reports whether row r is marked. A nil bitmap marks nothing; any other
// covers all rows.
func (b Bitmap) Has(r int) bool { return b != nil && b[r>>6]>>(uint(r)&63)&1 != 0 }

// Set marks row r, which must lie within the bitmap.
func (b Bitmap) Set(r int) { b[r>>6] |= 1 << (uint(r) & 63) }

// Count returns how many of the first n rows are marked.
func (b Bitmap) Count(n int) int {
	marked := 0
	for i, word := range b {
		if rest := n - i<<6; rest <= 0 {
			break
		} else if rest < 64 {
			word &= 1<<uint(rest) - 1
		}
		marked += bits.OnesCount64(word)
	}
	return marked
}

// Column holds the values of one field over the rows of a run. Only the slice of the field's type
// is filled (see Type.UsesInts); it is as long as the run. Values are within the bounds of their type,
// and those of a Float32 are single-precision. AppendText reads texts.
type Column struct {
	Ints   []int64
	Floats []float64
	Bytes  []byte // of free texts: see SetText
	Nulls  Bitmap // rows without a value; nil where every row has one

	bitmap Bitmap // memory for Nulls
}

// Run is consecutive rows of one table. All slices but Columns are as long as
// the run; Columns has one entry per field of the table.
type Run struct {
	Table   *Table
	Series  []uint32 // per row, its series
	Times   []int64  // per row, nanoseconds since 1970-01-01T00:00:00Z
	Columns []Column
}

// Rows returns the number of rows of the run.
func (r *Run) Rows() int { return len(r.Times) }

// Grow makes the run n rows long and keeps the rows that it has. What new rows
// hold is undefined: the caller fills every column. Nothing is allocated once
// the run has been as long before.
func (r *Run) Grow(n int) {
	r.Series = resize(r.Series, n)
	r.Times = resize(r.Times, n)
	for i, f := range r.Table.Fields {
		c := &r.Columns[i]
		if f.Type.UsesInts() {
			c.Ints = resize(c.Ints, n)
		} else {
			c.Floats = resize(c.Floats, n)
		}
		if c.Nulls != nil {
			c.Nulls = c.Nulls.covering(n)
		}
	}
}

// resize returns a slice of length n that begins with the elements of s.
func resize[T any](s []T, n int) []T {
	if n > cap(s) {
		s = slices.Grow(s, n-len(s))
	}
	return s[:n]
}

// Lacks reports whether a row has no value of the field: it is NULL, or rows
// of the series do not have it.
func (r *Run) Lacks(field, row int) bool {
	return r.Columns[field].Nulls.Has(row) || r.Table.Widths != nil && field >= r.Table.Width(r.Series[row])
}

// Values returns the number of rows in which the field exists and is not NULL.
func (r *Run) Values(field int) int {
	rows := r.Rows()
	if r.Table.Widths == nil {
		return rows - r.Columns[field].Nulls.Count(rows)
	}
	n := 0
	for row, s := range r.Series {
		if field < r.Table.Width(s) && !r.Columns[field].Nulls.Has(row) {
			n++
		}
	}
	return n
}

// FreeBytes returns how many bytes the texts of free fields have.
func (r *Run) FreeBytes() int64 {
	n := 0
	for i := range r.Columns {
		n += len(r.Columns[i].Bytes)
	}
	return int64(n)
}

// SetNull marks a field's value in a row as absent.
func (r *Run) SetNull(field, row int) {
	c := &r.Columns[field]
	if c.Nulls == nil {
		c.Nulls = c.bitmap[:0].covering(r.Rows())
	}
	c.Nulls.Set(row)
	c.bitmap = c.Nulls
}

// Copy copies rows of a run of the same table, by index, over the rows of this run from index at
// on, which must exist. The runs may be the same if no row moves back.
func (r *Run) Copy(at int, from *Run, rows []uint32) {
	for i, row := range rows {
		r.Series[at+i], r.Times[at+i] = from.Series[row], from.Times[row]
	}
	for f := range from.Columns {
		source, c := &from.Columns[f], &r.Columns[f]
		switch field := &from.Table.Fields[f]; {
		case field.Free() && source != c:
			for i, row := range rows {
				if c.Ints[at+i] = 0; !from.Lacks(f, int(row)) {
					c.SetText(at+i, source.Text(int(row)))
				}
			}
		case field.Type.UsesInts():
			for i, row := range rows {
				c.Ints[at+i] = source.Ints[row]
			}
		default:
			for i, row := range rows {
				c.Floats[at+i] = source.Floats[row]
			}
		}
		if source.Nulls == nil && c.Nulls == nil {
			continue
		}
		for i, row := range rows {
			switch {
			case source.Nulls.Has(int(row)):
				r.SetNull(f, at+i)
			case c.Nulls != nil:
				c.Nulls[(at+i)>>6] &^= 1 << (uint(at+i) & 63)
			}
		}
	}
}

// Deal appends each row of the batch to the part that place returns. The rows of a part keep their
// order.
func (b *Batch) Deal(parts []Batch, place func(run *Run, row int) int) {
	choices := b.choices
	for len(choices) < len(parts) {
		choices = append(choices, nil)
	}
	b.choices = choices
	for i := range b.Runs {
		run := &b.Runs[i]
		for p := range parts {
			choices[p] = choices[p][:0]
		}
		for row := range run.Times {
			p := place(run, row)
			choices[p] = append(choices[p], uint32(row))
		}
		for p := range parts {
			if rows := choices[p]; len(rows) > 0 {
				to := parts[p].Add(run.Table)
				to.Grow(len(rows))
				to.Copy(0, run, rows)
			}
		}
	}
}

// CopyRows returns a batch of its own with each row as often as copies says, or once where
// copies is nil.
func (b *Batch) CopyRows(copies func(run *Run, row int) int) *Batch {
	var out Batch
	for i := range b.Runs {
		from, rows := &b.Runs[i], []uint32(nil)
		for row := range from.Rows() {
			n := 1
			if copies != nil {
				n = copies(from, row)
			}
			for range n {
				rows = append(rows, uint32(row))
			}
		}
		if len(rows) > 0 {
			to := out.Add(from.Table)
			to.Grow(len(rows))
			to.Copy(0, from, rows)
		}
	}
	return &out
}

// Times returns the smallest and the largest time of the rows; of none the largest
// that there is, and the smallest.
func (b *Batch) Times() (first, last int64) {
	first, last = math.MaxInt64, math.MinInt64
	for i := range b.Runs {
		if times := b.Runs[i].Times; len(times) > 0 {
			first, last = min(first, slices.Min(times)), max(last, slices.Max(times))
		}
	}
	return first, last
}

// covering returns the bitmap extended to n rows; the added rows are not marked.
func (b Bitmap) covering(n int) Bitmap {
	for len(b) < (n+63)/64 {
		b = append(b, 0)
	}
	return b
}

// Batch is rows in the order in which they arrive, as runs of one table each.
// It is filled, encoded or written, and filled again.
type Batch struct {
	Runs []Run

	spare []Run // memory of earlier runs; one without a table was taken
	// places holds the indexes of the runs of each table in spare as of the last Reset; nil: not
	// needed since.
	places map[*Table][]int
	// next is the index in spare behind the run that was taken last: the tables of a batch often have
	// the order of the batch before.
	next int

	choices [][]uint32 // memory of Deal: places of rows in a run, by part
}

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() {
	kept := b.spare[:0]
	for i := range b.spare {
		if b.spare[i].Table != nil {
			kept = append(kept, b.spare[i])
		}
	}
	b.spare = append(kept, b.Runs...)
	b.Runs = b.Runs[:0]
	b.places, b.next = nil, 0
}

// Add appends an empty run of the table and returns it, for the caller to Grow and fill. The
// pointer is valid until the next Add. The memory of an earlier run of the table is reused.
func (b *Batch) Add(t *Table) *Run {
	if at := b.earlier(t); at < 0 {
		b.Runs = append(b.Runs, Run{Table: t, Columns: make([]Column, len(t.Fields))})
	} else {
		b.Runs = append(b.Runs, b.spare[at])
		b.spare[at], b.next = Run{}, at+1
		for n := len(b.spare); n > 0 && b.spare[n-1].Table == nil; n-- {
			b.spare = b.spare[:n-1]
		}
	}
	r := &b.Runs[len(b.Runs)-1]
	for i := range r.Columns {
		r.Columns[i].Nulls, r.Columns[i].Bytes = nil, r.Columns[i].Bytes[:0]
	}
	r.Grow(0)
	return r
}

// near is the number of earlier runs that are searched linearly: more than most datasets have
// tables.
const near = 512

// earlier returns the index of an earlier run of the table in spare; -1: not found.
func (b *Batch) earlier(t *Table) int {
	at := b.next
	for range min(len(b.spare), near) {
		if at >= len(b.spare) {
			at = 0
		}
		if b.spare[at].Table == t {
			return at
		}
		at++
	}
	if len(b.spare) <= near {
		return -1
	}
	if b.places == nil {
		b.places = make(map[*Table][]int)
		for at := range b.spare {
			if of := b.spare[at].Table; of != nil {
				b.places[of] = append(b.places[of], at)
			}
		}
	}
	places := b.places[t]
	for n := len(places); n > 0; n-- { // the last ones may have been taken
		if at := places[n-1]; at < len(b.spare) && b.spare[at].Table == t {
			b.places[t] = places[:n]
			return at
		}
	}
	delete(b.places, t)
	return -1
}

// Rows returns the number of rows in all runs.
func (b *Batch) Rows() int {
	n := 0
	for i := range b.Runs {
		n += b.Runs[i].Rows()
	}
	return n
}

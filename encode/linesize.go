package encode

import (
	"github.com/tsmark/tsmark/series"
)

// LineSizer computes the size of rows as line protocol without writing them. It is used by one
// goroutine, and allocates nothing per row.
type LineSizer struct {
	lineValues
	tables tables[sizedTable]
	memory []byte
}

// sizedTable is a table with the lengths of the line heads of its series, from the first one on; 0: not
// computed yet.
type sizedTable struct {
	lineTable
	first uint32
	heads []uint32
}

// NewSizer returns a sizer of the schema's rows as the encoder that New returns
// writes them.
func (l LineProtocol) NewSizer(s *series.Schema) *LineSizer {
	return &LineSizer{lineValues: l.values(), tables: newTables(s, func(t *series.Table) sizedTable {
		own := s.Range(t)
		return sizedTable{lineTable: l.table(t), first: own.First, heads: make([]uint32, own.End-own.First)}
	})}
}

// Size returns how many bytes an encoder's Append appends for the rows of a run.
func (z *LineSizer) Size(run *series.Run) int64 {
	table := z.tables.lookUp(run.Table)
	size, full := int64(0), len(run.Times) == 0
	last, length := int64(0), 0
	for row, t := range run.Times {
		if length == 0 || t != last {
			last, length = t, z.timeLength(t)
		}
		size += int64(z.headLength(table, run.Series[row]) + length)
	}
	for f := range run.Columns {
		if c := &run.Columns[f]; run.Table.Widths == nil && c.Nulls == nil {
			full = true
			size += int64(len(run.Times)*len(table.keys[f].text)) + z.column(table, run, f)
			continue
		}
		for row := range run.Times {
			if !run.Lacks(f, row) {
				size += int64(len(table.keys[f].text) + z.value(table, run, f, row))
			}
		}
	}
	if !full {
		size += z.bare(table, run)
	}
	return size
}

// headLength returns the length of the beginning that all lines of a series share.
func (z *LineSizer) headLength(table *sizedTable, series uint32) int {
	head := &table.heads[series-table.first]
	if *head == 0 {
		z.memory = table.series.append(z.memory[:0], series)
		*head = uint32(len(z.memory))
	}
	return int(*head)
}

// timeLength returns the length of a row's time and the end of its line.
func (z *LineSizer) timeLength(t int64) int { return intLength(t) + len("\n") }

// column returns the length of all values of a column without NULLs, including their commas.
func (z *LineSizer) column(table *sizedTable, run *series.Run, f int) int64 {
	n := 0
	if run.Table.Fields[f].Type.Integer() {
		small := &z.ints.words
		for _, v := range run.Columns[f].Ints {
			if u := uint64(v); u < smallInts { // as intText.length, which is not inlined
				n += int(small[u] >> 56)
			} else {
				n += z.ints.length(v)
			}
		}
		return int64(n)
	}
	for row := range run.Times {
		n += z.value(table, run, f, row)
	}
	return int64(n)
}

// value returns the length of a value and its comma.
func (z *LineSizer) value(table *sizedTable, run *series.Run, f, row int) (n int) {
	c := &run.Columns[f]
	switch field := &run.Table.Fields[f]; field.Type {
	case series.Int, series.Int32:
		return z.ints.length(c.Ints[row])
	case series.Float32:
		if z.singles {
			z.memory = appendSingle(z.memory[:0], c.Floats[row])
			return len(z.memory) + len(",")
		}
		fallthrough
	case series.Float:
		n, z.memory = floatLength(c.Floats[row], z.memory)
		return n + len(",")
	case series.Bool:
		return len(table.bools[c.Ints[row]&1])
	case series.Text, series.Blob:
		n := c.TextLength(row, field.Length) + len(`"",`)
		if field.Length == 0 {
			for _, b := range c.Text(row) {
				if z.escapes(b) {
					n++
				}
			}
		}
		return n
	default:
		return intLength(z.countUnits(field.Type, c.Ints[row])) + len("i,")
	}
}

// bare returns the size to add for rows without any value: the length of their replacement, or less
// than 0, as such rows are omitted.
func (z *LineSizer) bare(table *sizedTable, run *series.Run) (size int64) {
	for row, s := range run.Series {
		if hasValue(run, row) {
			continue
		}
		if z.memory = table.series.append(z.memory[:0], s); !bare(z.memory) {
			continue // a numeric tag
		}
		if size += int64(len(table.null)); table.null == "" {
			size -= int64(len(z.memory) + z.timeLength(run.Times[row]))
		}
	}
	return size
}

func hasValue(run *series.Run, row int) bool {
	for f := range run.Table.Width(run.Series[row]) {
		if !run.Columns[f].Nulls.Has(row) {
			return true
		}
	}
	return false
}

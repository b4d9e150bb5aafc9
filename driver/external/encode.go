//go:build !light

package external

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tsmark/tsmark/encode/columnar"
	"github.com/tsmark/tsmark/internal/texts"
	"github.com/tsmark/tsmark/series"
)

// mostSeries is the number of series whose tags are in the dictionaries of a stream. When more come,
// the dictionaries begin again with those of the batch.
const mostSeries = 1 << 15

// encoder turns the rows of a table into record batches. Columns whose values Arrow has in the same
// form are not copied, and its memory is reused: a record batch is valid until the next one.
type encoder struct {
	table  *series.Table
	schema *arrow.Schema

	first   uint32   // first series of the table
	slots   []uint32 // per series from first on: 1 + its slot; 0: it has none
	known   []uint32 // the series of each slot
	rows    []uint32 // per row of the batch, the slot of its series
	tags    []tagColumn
	fields  []fieldColumn
	columns []arrow.Array
	text    []byte
}

// tagColumn is a tag in all slots, and in the rows of a batch.
type tagColumn struct {
	of      *series.Tag
	values  texts.List // distinct values, of a text tag
	lookup  *texts.Lookup
	codes   []int32   // per slot, of a text tag; -1: the series lacks the tag
	numbers []float64 // per slot, of a numeric tag
	lacks   []bool    // per slot; nil: no series lacks the tag
	array   arrow.Array
	written int // values in array

	column []int32
	floats []float64
	valid  []byte
}

// fieldColumn is memory for the values of a field in a batch.
type fieldColumn struct {
	valid   []byte
	bits    []byte
	shorts  []int32
	singles []float32
	texts   texts.List
}

func newEncoder(t *series.Table) *encoder {
	e := &encoder{table: t, schema: columnar.ArrowSchema(t), first: t.Range.First, fields: make([]fieldColumn, len(t.Fields))}
	for i := range t.Tags {
		e.tags = append(e.tags, tagColumn{of: &t.Tags[i]})
	}
	e.forget()
	return e
}

// forget empties the dictionaries.
func (e *encoder) forget() {
	for _, s := range e.known {
		e.slots[s-e.first] = 0
	}
	e.known = e.known[:0]
	for i := range e.tags {
		t := &e.tags[i]
		t.values = texts.List{} // an array may still have its memory
		t.values.Reset()
		t.lookup, t.codes, t.numbers, t.lacks, t.array, t.written = texts.NewLookup(), t.codes[:0], t.numbers[:0], nil, nil, -1
	}
}

// encode returns the rows of a run as a record batch.
func (e *encoder) encode(run *series.Run) (arrow.RecordBatch, error) {
	if err := e.place(run); err != nil {
		return nil, err
	}
	rows := run.Rows()
	e.columns = append(e.columns[:0], newArray(e.schema.Field(0).Type, rows, nil, 0, arrow.Int64Traits.CastToBytes(run.Times)))
	for i := range e.tags {
		e.columns = append(e.columns, e.tags[i].encode(e.rows, e.schema.Field(len(e.columns)).Type))
	}
	for f := range run.Columns {
		e.columns = append(e.columns, e.field(run, f, e.schema.Field(len(e.columns)).Type))
	}
	return array.NewRecordBatch(e.schema, e.columns, int64(rows)), nil
}

// place finds the slot of each row, and gives new series one.
func (e *encoder) place(run *series.Run) error {
	for attempt := range 2 {
		before := len(e.known)
		e.rows = e.rows[:0]
		full := false
		for _, s := range run.Series {
			at := int(s - e.first)
			if at >= len(e.slots) {
				e.slots = append(e.slots, make([]uint32, at+1-len(e.slots))...)
			}
			if e.slots[at] == 0 {
				if full = before > 0 && attempt == 0 && len(e.known) >= mostSeries; full {
					break
				}
				if err := e.add(s); err != nil {
					return err
				}
			}
			e.rows = append(e.rows, e.slots[at]-1)
		}
		if !full {
			return nil
		}
		e.forget()
	}
	return nil
}

// add gives a series a slot.
func (e *encoder) add(s uint32) error {
	e.known = append(e.known, s)
	e.slots[s-e.first] = uint32(len(e.known))
	for i := range e.tags {
		t := &e.tags[i]
		value, has := t.of.Values.Append(e.text[:0], s)
		e.text = value
		if !has && t.lacks == nil {
			t.lacks = make([]bool, len(e.known)-1, mostSeries)
		}
		if t.lacks != nil {
			t.lacks = append(t.lacks, !has)
		}
		code, number := int32(-1), 0.0
		var err error
		switch {
		case !has:
		case t.of.Numeric():
			number, err = strconv.ParseFloat(string(value), 64)
		default:
			code, err = t.lookup.Code(&t.values, value)
		}
		if err != nil {
			return fmt.Errorf("tag %s of series %d: %w", t.of.Key, s, err)
		}
		if t.of.Numeric() {
			t.numbers = append(t.numbers, number)
		} else {
			t.codes = append(t.codes, code)
		}
	}
	return nil
}

// encode returns the tag of the rows, whose slots are given.
func (t *tagColumn) encode(rows []uint32, kind arrow.DataType) arrow.Array {
	nulls := 0
	if t.lacks != nil {
		t.valid = resize(t.valid, (len(rows)+7)/8)
		clear(t.valid)
		for row, slot := range rows {
			if t.lacks[slot] {
				nulls++
			} else {
				t.valid[row>>3] |= 1 << (row & 7)
			}
		}
	}
	if t.of.Numeric() {
		t.floats = resize(t.floats, len(rows))
		for row, slot := range rows {
			t.floats[row] = t.numbers[slot]
		}
		return newArray(kind, len(rows), t.valid, nulls, arrow.Float64Traits.CastToBytes(t.floats))
	}
	t.column = resize(t.column, len(rows))
	if t.lacks == nil {
		for row, slot := range rows {
			t.column[row] = t.codes[slot]
		}
	} else {
		for row, slot := range rows {
			t.column[row] = max(t.codes[slot], 0)
		}
	}
	if t.written != t.values.Len() { // the stream sends another dictionary
		t.array = newArray(arrow.BinaryTypes.String, t.values.Len(), nil, 0, arrow.Int32Traits.CastToBytes(t.values.Offsets), t.values.Bytes)
		t.written = t.values.Len()
	}
	codes := newArray(arrow.PrimitiveTypes.Int32, len(rows), t.valid, nulls, arrow.Int32Traits.CastToBytes(t.column))
	return array.NewDictionaryArray(kind, codes, t.array)
}

// validity returns the rows that have a value, as Arrow marks them, and how many have none.
func (e *encoder) validity(run *series.Run, f int) (valid []byte, nulls int) {
	c, rows := &run.Columns[f], run.Rows()
	if c.Nulls == nil && run.Table.Widths == nil {
		return nil, 0
	}
	valid = resize(e.fields[f].valid, (rows+63)/64*8)
	e.fields[f].valid = valid
	for word := range len(valid) / 8 {
		has := ^uint64(0)
		if c.Nulls != nil {
			has = ^c.Nulls[word]
		}
		if rest := rows - word*64; rest < 64 {
			has &= 1<<rest - 1
		}
		if run.Table.Widths != nil {
			for left := has; left != 0; left &= left - 1 {
				bit := bits.TrailingZeros64(left)
				if f >= run.Table.Width(run.Series[word*64+bit]) {
					has &^= 1 << bit
				}
			}
		}
		nulls += min(64, rows-word*64) - bits.OnesCount64(has)
		binary.LittleEndian.PutUint64(valid[word*8:], has)
	}
	return valid, nulls
}

// field returns the values of a field.
func (e *encoder) field(run *series.Run, f int, kind arrow.DataType) arrow.Array {
	c, memory, field, rows := &run.Columns[f], &e.fields[f], &run.Table.Fields[f], run.Rows()
	valid, nulls := e.validity(run, f)
	var values []byte
	switch field.Type {
	case series.Float:
		values = arrow.Float64Traits.CastToBytes(c.Floats)
	case series.Float32:
		memory.singles = resize(memory.singles, rows)
		for row, v := range c.Floats {
			memory.singles[row] = float32(v)
		}
		values = arrow.Float32Traits.CastToBytes(memory.singles)
	case series.Int32, series.Date:
		memory.shorts = resize(memory.shorts, rows)
		for row, v := range c.Ints {
			memory.shorts[row] = int32(v)
		}
		values = arrow.Int32Traits.CastToBytes(memory.shorts)
	case series.Bool:
		memory.bits = resize(memory.bits, (rows+7)/8)
		clear(memory.bits)
		for row, v := range c.Ints {
			memory.bits[row>>3] |= byte(v&1) << (row & 7)
		}
		values = memory.bits
	case series.Text, series.Blob:
		memory.texts.Reset()
		for row := range rows {
			if !run.Lacks(f, row) {
				memory.texts.Bytes = c.AppendText(memory.texts.Bytes, row, field.Length)
			}
			memory.texts.Offsets = append(memory.texts.Offsets, int32(len(memory.texts.Bytes)))
		}
		return newArray(kind, rows, valid, nulls, arrow.Int32Traits.CastToBytes(memory.texts.Offsets), memory.texts.Bytes)
	default:
		values = arrow.Int64Traits.CastToBytes(c.Ints)
	}
	return newArray(kind, rows, valid, nulls, values)
}

// newArray returns an array over memory that stays the caller's.
func newArray(kind arrow.DataType, rows int, valid []byte, nulls int, values ...[]byte) arrow.Array {
	buffers := []*memory.Buffer{nil}
	for _, v := range values {
		buffers = append(buffers, memory.NewBufferBytes(v))
	}
	if nulls > 0 {
		buffers[0] = memory.NewBufferBytes(valid[:(rows+7)/8])
	}
	return array.MakeFromData(array.NewData(kind, rows, buffers, nil, nulls, 0))
}

// resize returns a slice of length n, with any contents.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

package clickhouse

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/tsmark/tsmark/series"
)

// sized is a column of a block to send, with its size when encoded.
type sized interface {
	proto.ColInput
	size() int64
}

// size returns the uncompressed size of the columns of a block.
func size(columns proto.Input) (bytes int64) {
	for _, c := range columns {
		bytes += c.Data.(sized).size()
	}
	return bytes
}

// values is a column of consecutive values.
type values struct {
	proto.Column
	kind     string
	nullable bool
	nulls    proto.ColUInt8
	bytes    int64
}

// Type implements proto.ColInput.
func (v *values) Type() proto.ColumnType { return proto.ColumnType(v.kind) }

// EncodeColumn implements proto.ColInput.
func (v *values) EncodeColumn(b *proto.Buffer) {
	begin := len(b.Buf)
	if v.nullable {
		v.nulls.EncodeColumn(b)
	}
	v.Column.EncodeColumn(b)
	v.bytes = int64(len(b.Buf) - begin)
}

// WriteColumn implements proto.ColInput.
func (v *values) WriteColumn(w *proto.Writer) { w.ChainBuffer(v.EncodeColumn) }

func (v *values) size() int64 { return v.bytes }

// Reset empties the column.
func (v *values) Reset() {
	v.Column.Reset()
	v.nulls.Reset()
}

// null and present record whether the next value is missing.
func (v *values) null()    { v.nulls = append(v.nulls, 1) }
func (v *values) present() { v.nulls = append(v.nulls, 0) }

// times is a column of rows' times.
type times interface {
	proto.Column
	kind() string
	add(nanoseconds []int64)
}

// newTimes returns a column for TSBS's layout, or for the others.
func newTimes(tsbs bool) times {
	if tsbs {
		return new(seconds)
	}
	return new(nanoTimes)
}

// nanoTimes are times in nanoseconds.
type nanoTimes struct{ proto.ColDateTime64 }

func (*nanoTimes) kind() string { return timeType }

func (m *nanoTimes) add(nanoseconds []int64) {
	for _, t := range nanoseconds {
		m.Data = append(m.Data, proto.DateTime64(t))
	}
}

// seconds are times in whole seconds, as Caps promises.
type seconds struct{ proto.ColDateTime }

func (*seconds) kind() string { return tsbsTimes }

func (s *seconds) add(nanoseconds []int64) {
	for _, t := range nanoseconds {
		s.Data = append(s.Data, proto.DateTime(t/1e9))
	}
}

// field is a column of a field.
type field struct {
	values
	number int // index of the field in its table
	take   func(*series.Run, *series.Column)
}

// newField returns a column for values of a field, of a declared type.
func newField(number int, f series.Field, kind string, nullable bool) *field {
	out := &field{number: number, values: values{kind: kind, nullable: nullable}}
	if f.Type == series.Int && strings.Contains(kind, "Float64") { // in TSBS's layout
		d := new(proto.ColFloat64)
		out.Column, out.take = d, func(_ *series.Run, c *series.Column) {
			for _, v := range c.Ints {
				*d = append(*d, float64(v))
			}
		}
		return out
	}
	if f.Decimals > 0 && strings.Contains(kind, "Decimal") {
		d, units := new(proto.ColDecimal64), math.Pow10(f.Decimals)
		out.Column, out.take = d, func(_ *series.Run, c *series.Column) {
			for _, v := range c.Floats {
				*d = append(*d, proto.Decimal64(math.Round(v*units)))
			}
		}
		return out
	}
	switch f.Type {
	case series.Int:
		d := new(proto.ColInt64)
		out.Column, out.take = d, func(_ *series.Run, c *series.Column) { *d = append(*d, c.Ints...) }
	case series.Float:
		d := new(proto.ColFloat64)
		out.Column, out.take = d, func(_ *series.Run, c *series.Column) { *d = append(*d, c.Floats...) }
	case series.Float32:
		d := new(proto.ColFloat32)
		out.Column, out.take = d, func(_ *series.Run, c *series.Column) {
			for _, v := range c.Floats {
				*d = append(*d, float32(v))
			}
		}
	case series.Int32:
		d := new(proto.ColInt32)
		out.Column, out.take = d, wholes(d)
	case series.Date:
		d := new(proto.ColDate32)
		out.Column, out.take = d, wholes(d)
	case series.Timestamp:
		d := new(proto.ColDateTime64)
		out.Column, out.take = d, wholes(&d.Data)
	case series.Bool:
		d := new(proto.ColBool)
		out.Column, out.take = d, func(_ *series.Run, c *series.Column) {
			for _, v := range c.Ints {
				*d = append(*d, v != 0)
			}
		}
	default: // texts and blobs
		d := new(proto.ColStr)
		out.Column, out.take = d, func(run *series.Run, c *series.Column) {
			for row := range c.Ints {
				start := len(d.Buf)
				if !run.Lacks(number, row) {
					d.Buf = c.AppendText(d.Buf, row, f.Length)
				}
				d.Pos = append(d.Pos, proto.Position{Start: start, End: len(d.Buf)})
			}
		}
	}
	return out
}

// wholes appends whole numbers.
func wholes[T ~int32 | ~int64, C ~[]T](to *C) func(*series.Run, *series.Column) {
	return func(_ *series.Run, c *series.Column) {
		for _, v := range c.Ints {
			*to = append(*to, T(v))
		}
	}
}

// add appends the values of a run.
func (f *field) add(run *series.Run) {
	c := &run.Columns[f.number]
	f.take(run, c)
	if !f.nullable {
		return
	}
	rows, from := run.Rows(), len(f.nulls)
	f.nulls = slices.Grow(f.nulls, rows)[:from+rows]
	nulls := f.nulls[from:]
	clear(nulls)
	if c.Nulls == nil && run.Table.Widths == nil {
		return
	}
	for row := range nulls {
		if run.Lacks(f.number, row) {
			nulls[row] = 1
		}
	}
}

// tag is a column of a tag in a wide table.
type tag interface {
	sized
	Reset()
	add(numbers []uint32) error // of series
}

// newTag returns a column for a tag of n series.
func newTag(t *series.Tag, n uint32) tag {
	if t.Numeric() {
		d := new(proto.ColFloat64)
		return &numberTag{values: values{Column: d, kind: tagNumber, nullable: true}, data: d, tag: t, known: make([]number, n)}
	}
	return &textTag{tag: t, codes: make([]uint32, n), byText: make(map[string]uint32)}
}

// numberTag is a numeric tag.
type numberTag struct {
	values
	data  *proto.ColFloat64
	tag   *series.Tag
	known []number // by series
	text  []byte
}

type number struct {
	value        float64
	known, there bool
}

func (t *numberTag) add(numbers []uint32) (err error) {
	for _, s := range numbers {
		n := &t.known[s]
		if !n.known {
			if t.text, n.there = t.tag.Values.Append(t.text[:0], s); n.there {
				if n.value, err = strconv.ParseFloat(string(t.text), 64); err != nil {
					return fmt.Errorf("tag %s of series %d: %w", t.tag.Key, s, err)
				}
			}
			n.known = true
		}
		if *t.data = append(*t.data, n.value); n.there {
			t.present()
		} else {
			t.null()
		}
	}
	return nil
}

// textTag is a text tag as LowCardinality: each block has a dictionary of its values. Every known value
// has a code, so that a row costs two array accesses.
type textTag struct {
	tag    *series.Tag
	codes  []uint32          // by series; 0: unknown
	byText map[string]uint32 // code 1 is NULL
	all    []text            // by code

	block uint32   // index of the block
	keys  []uint32 // of the block's rows
	own   proto.ColStr
	bytes int64
	text  []byte
}

type text struct {
	value string
	block uint32 // the latest block that contains it
	key   uint32 // in the dictionary of that block
}

// codeNull is the code of a missing value; codes begin with 1.
const codeNull = 1

// code returns the code of a series' value.
func (t *textTag) code(s uint32) uint32 {
	if code := t.codes[s]; code != 0 {
		return code
	}
	if len(t.all) == 0 {
		t.all = make([]text, 2) // no value, and NULL, whose key is 0 in each dictionary
	}
	var there bool
	code := uint32(codeNull)
	if t.text, there = t.tag.Values.Append(t.text[:0], s); there {
		if code = t.byText[string(t.text)]; code == 0 {
			code = uint32(len(t.all))
			value := string(t.text)
			t.byText[value] = code
			t.all = append(t.all, text{value: value})
		}
	}
	t.codes[s] = code
	return code
}

// Reset empties the column.
func (t *textTag) Reset() {
	t.block++
	t.keys = t.keys[:0]
	t.own.Reset()
	t.own.Append("") // NULL
}

func (t *textTag) add(numbers []uint32) error {
	for _, s := range numbers {
		code := t.code(s)
		of := &t.all[code]
		if of.block != t.block && code != codeNull {
			of.block, of.key = t.block, uint32(t.own.Rows())
			t.own.Append(of.value)
		}
		t.keys = append(t.keys, of.key)
	}
	return nil
}

// Type implements proto.ColInput.
func (t *textTag) Type() proto.ColumnType { return tagText }

// Rows implements proto.ColInput.
func (t *textTag) Rows() int { return len(t.keys) }

// EncodeState implements proto.StateEncoder.
func (t *textTag) EncodeState(b *proto.Buffer) { b.PutInt64(lowVersion) }

// EncodeColumn implements proto.ColInput.
func (t *textTag) EncodeColumn(b *proto.Buffer) {
	begin := len(b.Buf)
	width := int64(0) // logarithm
	for ; t.own.Rows() > 1<<(8<<width); width++ {
	}
	b.PutInt64(lowOwn | lowUpdate | width)
	b.PutInt64(int64(t.own.Rows()))
	t.own.EncodeColumn(b)
	b.PutInt64(int64(len(t.keys)))
	for _, key := range t.keys {
		switch width {
		case 0:
			b.PutUInt8(uint8(key))
		case 1:
			b.PutUInt16(uint16(key))
		default:
			b.PutUInt32(key)
		}
	}
	t.bytes = int64(len(b.Buf) - begin)
}

// WriteColumn implements proto.ColInput.
func (t *textTag) WriteColumn(w *proto.Writer) { w.ChainBuffer(t.EncodeColumn) }

func (t *textTag) size() int64 { return t.bytes }

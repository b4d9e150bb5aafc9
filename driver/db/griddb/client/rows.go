package client

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"
)

// Layout is the layout of rows in messages: rows of equal size one after the other, each with its NULLs
// as bits, followed by a variable part for all values without a fixed size.
type Layout struct {
	Columns []Column
	// Size is how many bytes a row has in the fixed part.
	Size int
	// Variable are the columns with values in the variable part, in their order.
	Variable []int

	offsets []int // of the columns in a row; for columns of the variable part, their index there
	nulls   int   // where the bits are
	offset  int   // where a row says where its variable part begins
	// uncounted means that the count of values in front of a row's variable part is 0, as in the SQL
	// interface.
	uncounted bool
}

// NewLayout returns the layout of rows to write, and of rows read from a TimeSeries.
func NewLayout(columns []Column) *Layout { return newLayout(columns, false) }

// newLayout is NewLayout; rows read from a Collection begin with their number.
func newLayout(columns []Column, numbered bool) *Layout {
	l := &Layout{Columns: columns, offsets: make([]int, len(columns))}
	if numbered {
		l.Size = 8
	}
	for i, c := range columns {
		if c.Type.width() == 0 {
			l.offsets[i] = len(l.Variable)
			l.Variable = append(l.Variable, i)
		}
	}
	l.offset = l.Size
	if len(l.Variable) > 0 {
		l.Size += 8
	}
	l.nulls = l.Size
	l.Size += (len(columns) + 7) / 8
	for i, c := range columns {
		if w := c.Type.width(); w > 0 {
			l.offsets[i] = l.Size
			l.Size += w
		}
	}
	return l
}

// Extend appends the fixed part of the given number of rows, filled with zeros, and returns its offset.
// The fixed part of row i begins at offset + i * Size.
func (l *Layout) Extend(dst []byte, rows int) (extended []byte, at int) {
	at = len(dst)
	n := rows * l.Size
	if free := cap(dst) - at; free < n {
		grown := make([]byte, at, 2*(at+n))
		copy(grown, dst)
		dst = grown
	}
	dst = dst[:at+n]
	clear(dst[at:])
	return dst, at
}

// Offset is the offset in a row of the value of a column in the fixed part.
func (l *Layout) Offset(column int) int { return l.offsets[column] }

// SetNull marks a value as NULL. In the variable part, the caller also appends an empty value.
func (l *Layout) SetNull(row []byte, column int) { row[l.nulls+column/8] |= 1 << (column % 8) }

// BeginVariable records where the variable part of a row begins. The caller then appends the variable
// columns in their order, each after its AppendSize. Extend appended the rows at the offset at.
func (l *Layout) BeginVariable(dst []byte, at, row, rows int) []byte {
	binary.LittleEndian.PutUint64(dst[at+row*l.Size+l.offset:], uint64(len(dst)-at-rows*l.Size))
	return AppendSize(dst, len(l.Variable))
}

// PutNano puts nanoseconds since 1970 as TIMESTAMP(9).
func PutNano(dst []byte, ns int64) {
	binary.LittleEndian.PutUint64(dst, uint64(ns/250))
	dst[8] = byte(ns % 250)
}

// Rows are rows of a result. They refer to the bytes of the message.
type Rows struct {
	*Layout
	left    int
	fixed   []byte // of the rows that are left
	bytes   []byte // the variable part
	base    int64  // where that begins, by what rows say
	row     []byte // the current one; nil: none yet
	texts   [][]byte
	started bool
	err     error
}

// init begins to read rows.
func (r *Rows) init(l *Layout, rows int64, data []byte) error {
	if rows < 0 || rows > int64(len(data)/max(1, l.Size)) {
		return fmt.Errorf("%w: it has not room for %d rows of %d bytes", errShort, rows, l.Size)
	}
	n := int(rows) * l.Size
	*r = Rows{Layout: l, left: int(rows), fixed: data[:n], bytes: data[n:], texts: r.texts[:0]}
	for range l.Variable {
		r.texts = append(r.texts, nil)
	}
	return nil
}

// Remaining returns how many rows Next has not gone to yet.
func (r *Rows) Remaining() int { return r.left }

// Next goes to the next row, if there is one.
func (r *Rows) Next() bool {
	if r.left == 0 || r.err != nil {
		return false
	}
	r.left--
	r.row, r.fixed = r.fixed[:r.Size], r.fixed[r.Size:]
	if len(r.Variable) > 0 {
		r.err = r.variable()
	}
	return r.err == nil
}

// Err returns why Next ended before the last row; nil: it did not.
func (r *Rows) Err() error { return r.err }

// variable reads the variable part of the row.
func (r *Rows) variable() error {
	offset := int64(binary.LittleEndian.Uint64(r.row[r.offset:]))
	if !r.started { // a page of an answer counts from the first page on
		r.base, r.started = offset, true
	}
	if offset -= r.base; offset < 0 || offset > int64(len(r.bytes)) {
		return fmt.Errorf("%w: a row's texts are said to begin %d bytes behind its rows", errShort, offset)
	}
	part := reader{b: r.bytes[offset:]}
	if n := part.size(); part.err == nil && n != len(r.Variable) && !r.uncounted {
		return fmt.Errorf("a row has %d values without a fixed size, and %d columns of such", n, len(r.Variable))
	}
	for i := range r.texts {
		r.texts[i] = part.take(part.size())
	}
	return part.err
}

// Null reports whether a value of the row is NULL.
func (r *Rows) Null(column int) bool { return r.row[r.nulls+column/8]>>(column%8)&1 != 0 }

// Text returns a value of a String or Blob.
func (r *Rows) Text(column int) []byte { return r.texts[r.offsets[column]] }

// Int returns a value of a Bool, of whole numbers, or of a timestamp in its own unit.
func (r *Rows) Int(column int) int64 {
	return r.Columns[column].Type.int(r.row[r.offsets[column]:])
}

// Float returns a value of a Float or Double.
func (r *Rows) Float(column int) float64 {
	return r.Columns[column].Type.float(r.row[r.offsets[column]:])
}

// int reads a whole number; b has room for it.
func (t Type) int(b []byte) int64 {
	switch t {
	case Bool, Byte:
		return int64(int8(b[0]))
	case Short:
		return int64(int16(binary.LittleEndian.Uint16(b)))
	case Integer:
		return int64(int32(binary.LittleEndian.Uint32(b)))
	case NanoTimestamp:
		return int64(binary.LittleEndian.Uint64(b))*250 + int64(b[8])
	}
	return int64(binary.LittleEndian.Uint64(b))
}

// float reads a number; b has room for it.
func (t Type) float(b []byte) float64 {
	if t == Float {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// appendRow stores a row among the rows that were appended at the offset at.
func (l *Layout) appendRow(dst []byte, at, row, rows int, values []any) ([]byte, error) {
	if len(values) != len(l.Columns) {
		return dst, fmt.Errorf("%d values for %d columns", len(values), len(l.Columns))
	}
	fixed := func() []byte { return dst[at+row*l.Size : at+(row+1)*l.Size] }
	if len(l.Variable) > 0 {
		dst = l.BeginVariable(dst, at, row, rows)
	}
	for i, c := range l.Columns {
		v := values[i]
		if v == nil {
			if c.NotNull {
				return dst, fmt.Errorf("column %s cannot be NULL", c.Name)
			}
			l.SetNull(fixed(), i)
		}
		if c.Type.width() == 0 {
			var text []byte
			switch v := v.(type) {
			case nil:
			case string:
				text = []byte(v)
			case []byte:
				text = v
			default:
				return dst, fmt.Errorf("column %s has the type %v, and the value is a %T", c.Name, c.Type, v)
			}
			dst = append(AppendSize(dst, len(text)), text...)
			continue
		}
		if v != nil {
			if err := c.Type.put(fixed()[l.offsets[i]:], v); err != nil {
				return dst, fmt.Errorf("column %s: %w", c.Name, err)
			}
		}
	}
	return dst, nil
}

// put puts a value of a fixed size.
func (t Type) put(dst []byte, v any) error {
	switch v := v.(type) {
	case bool:
		if t == Bool {
			dst[0] = appendBool(nil, v)[0]
			return nil
		}
	case int64:
		switch t {
		case Byte:
			dst[0] = byte(v)
			return nil
		case Short:
			binary.LittleEndian.PutUint16(dst, uint16(v))
			return nil
		case Integer:
			binary.LittleEndian.PutUint32(dst, uint32(v))
			return nil
		case Long:
			binary.LittleEndian.PutUint64(dst, uint64(v))
			return nil
		}
	case float64:
		switch t {
		case Float:
			binary.LittleEndian.PutUint32(dst, math.Float32bits(float32(v)))
			return nil
		case Double:
			binary.LittleEndian.PutUint64(dst, math.Float64bits(v))
			return nil
		}
	case time.Time:
		switch t {
		case Timestamp:
			binary.LittleEndian.PutUint64(dst, uint64(v.UnixMilli()))
			return nil
		case MicroTimestamp:
			binary.LittleEndian.PutUint64(dst, uint64(v.UnixMicro()))
			return nil
		case NanoTimestamp:
			PutNano(dst, v.UnixNano())
			return nil
		}
	}
	return fmt.Errorf("it has the type %v, and the value is a %T", t, v)
}

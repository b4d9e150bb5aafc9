package tdengine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/query"
)

// The types of columns, by TDengine's numbers.
const (
	typeNull = iota
	typeBool
	typeTinyint
	typeSmallint
	typeInt
	typeBigint
	typeFloat
	typeDouble
	typeVarchar
	typeTimestamp
	typeNchar
	typeUTinyint
	typeUSmallint
	typeUInt
	typeUBigint
	typeJSON
	typeVarbinary
	typeGeometry = 20
)

// widths are the sizes in bytes of values of fixed-size types.
var widths = [...]int{
	typeNull: 1, typeBool: 1, typeTinyint: 1, typeSmallint: 2, typeInt: 4, typeBigint: 8, typeFloat: 4, typeDouble: 8, typeTimestamp: 8,
	typeUTinyint: 1, typeUSmallint: 2, typeUInt: 4, typeUBigint: 8, typeGeometry: 0,
}

// block decodes blocks of results: rows in columns. It reuses its memory.
type block struct {
	unit int64 // of times, in nanoseconds

	columns []column
	row     []query.Value
	wide    []byte // texts of NCHAR in the current row, as UTF-8
}

// column is a column of a block.
type column struct {
	kind  byte
	width int    // of a value; 0: variable
	nulls []byte // bit 7-r%8 of byte r/8 means that row r has no value; for values of variable length: the offset of each row's value
	data  []byte
}

// The bytes before a block: the time that the server took, and the number of the result; and the
// block's header before its columns.
const (
	blockAt    = 16
	blockHead  = 28
	columnHead = 5
)

var errShort = errors.New("truncated block in the answer")

// read decodes a message with a block of the given number of columns, and passes its rows to the sink
// unless that is nil.
func (b *block) read(message []byte, columns int, sink query.Sink) (rows int64, err error) {
	if len(message) < blockAt+blockHead {
		return 0, errShort
	}
	head := message[blockAt:]
	n, count := int(int32(binary.LittleEndian.Uint32(head[8:]))), int(int32(binary.LittleEndian.Uint32(head[12:])))
	if count != columns {
		return 0, fmt.Errorf("a block of the answer has %d columns, and not %d", count, columns)
	}
	rest := head[blockHead:]
	if n < 0 || len(rest)/(columnHead+4) < count || n > 8*len(rest) {
		return 0, errShort
	}
	if cap(b.columns) < count {
		b.columns, b.row = make([]column, count), make([]query.Value, count)
	}
	b.columns, b.row = b.columns[:count], b.row[:count]
	lengths := rest[count*columnHead:]
	data := lengths[count*4:]
	for i := range b.columns {
		length := int(int32(binary.LittleEndian.Uint32(lengths[4*i:])))
		if data, err = b.columns[i].begin(rest[i*columnHead], n, length, data); err != nil {
			return 0, err
		}
	}
	for row := range n {
		b.wide = b.wide[:0]
		for i := range b.columns {
			if err := b.value(&b.row[i], &b.columns[i], row); err != nil {
				return rows, err
			}
		}
		if rows++; sink != nil {
			if err := sink.Row(b.row); err != nil {
				return rows, &limit.Refused{Err: err}
			}
		}
	}
	return rows, nil
}

// begin decodes a column from the data, and returns the remaining data.
func (c *column) begin(kind byte, rows, length int, data []byte) ([]byte, error) {
	c.kind, c.width = kind, 0
	if int(kind) < len(widths) {
		c.width = widths[kind]
	}
	marks := 4 * rows
	if c.width > 0 {
		marks = (rows + 7) / 8
		if length < rows*c.width {
			return nil, errShort
		}
	}
	if length < 0 || len(data) < marks || len(data)-marks < length {
		return nil, errShort
	}
	c.nulls, c.data = data[:marks], data[marks:marks+length]
	return data[marks+length:], nil
}

// value decodes the value of a row.
func (b *block) value(out *query.Value, c *column, row int) error {
	if c.width == 0 {
		return b.textual(out, c, row)
	}
	if c.kind == typeNull || c.nulls[row>>3]>>(7-row&7)&1 != 0 {
		*out = query.Value{}
		return nil
	}
	at := c.data[row*c.width:]
	*out = query.Value{Kind: query.Int}
	switch c.kind {
	case typeBool:
		out.Kind, out.Int = query.Bool, int64(at[0])
	case typeTinyint:
		out.Int = int64(int8(at[0]))
	case typeUTinyint:
		out.Int = int64(at[0])
	case typeSmallint:
		out.Int = int64(int16(binary.LittleEndian.Uint16(at)))
	case typeUSmallint:
		out.Int = int64(binary.LittleEndian.Uint16(at))
	case typeInt:
		out.Int = int64(int32(binary.LittleEndian.Uint32(at)))
	case typeUInt:
		out.Int = int64(binary.LittleEndian.Uint32(at))
	case typeBigint, typeUBigint:
		out.Int = int64(binary.LittleEndian.Uint64(at))
	case typeTimestamp:
		out.Kind, out.Int = query.Time, int64(binary.LittleEndian.Uint64(at))*b.unit
	case typeFloat:
		out.Kind, out.Float = query.Float, float64(math.Float32frombits(binary.LittleEndian.Uint32(at)))
	case typeDouble:
		out.Kind, out.Float = query.Float, math.Float64frombits(binary.LittleEndian.Uint64(at))
	}
	return nil
}

// textual decodes a value of variable length, which follows its length in two bytes.
func (b *block) textual(out *query.Value, c *column, row int) error {
	at := int32(binary.LittleEndian.Uint32(c.nulls[4*row:]))
	if at == -1 {
		*out = query.Value{}
		return nil
	}
	if at < 0 || int(at) > len(c.data)-2 {
		return errShort
	}
	text := c.data[at+2:]
	n := int(binary.LittleEndian.Uint16(c.data[at:]))
	if n > len(text) {
		return errShort
	}
	text = text[:n]
	switch c.kind {
	case typeVarchar, typeVarbinary, typeJSON, typeGeometry:
	case typeNchar: // characters of four bytes
		begin := len(b.wide)
		for ; len(text) >= 4; text = text[4:] {
			b.wide = utf8.AppendRune(b.wide, rune(binary.LittleEndian.Uint32(text)))
		}
		text = b.wide[begin:len(b.wide):len(b.wide)]
	default:
		return fmt.Errorf("the answer has a column of type %d, which this adapter cannot read", c.kind)
	}
	*out = query.Value{Kind: query.Text, Text: text}
	return nil
}

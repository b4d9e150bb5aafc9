package clickhouse

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
)

// answer decodes the blocks of a result and passes their rows to a sink. It reuses its memory for the
// next result. It implements proto.Result.
type answer struct {
	sink    query.Sink // nil: rows are counted
	unread  *limit.Unread
	columns []*column
	row     []query.Value
	rows    int64
	text    []byte // name or type of a column
}

// column is a column of a result, with the values of the latest block.
type column struct {
	kind     string
	nullable bool
	nulls    proto.ColUInt8 // 1: NULL
	low      bool           // values is the dictionary of a LowCardinality column, and keys holds an index for each value
	keys     []uint32
	keys8    proto.ColUInt8 // as received
	keys16   proto.ColUInt16
	keys32   proto.ColUInt32
	values   proto.Column
	get      func(i int, v *query.Value)
}

// begin prepares for another result.
func (a *answer) begin(sink query.Sink) { a.sink, a.rows = sink, 0 }

// Servers do not send blocks beyond these limits. The largest block that ClickHouse builds by itself
// from rows of 1,000 columns has 65,409 rows.
const (
	maxBlockRows  = 1 << 21
	maxBlockCells = 1 << 27
)

// DecodeResult implements proto.Result: it decodes the columns of a block and passes its rows on.
func (a *answer) DecodeResult(r *proto.Reader, version int, b proto.Block) error {
	if b.Rows > maxBlockRows || b.Rows*b.Columns > maxBlockCells {
		return &limit.Refused{Err: fmt.Errorf("a block of the answer has %d rows of %d columns, and was read no further", b.Rows, b.Columns)}
	}
	for i := range b.Columns {
		if err := a.column(i, r, b.Rows); err != nil {
			return fmt.Errorf("column %d of the answer: %w", i+1, err)
		}
		if b.Rows > 0 {
			a.unread.Row() // each column may be as large as limit.Unread allows
		}
	}
	a.columns = a.columns[:b.Columns]
	return a.emit(b.Rows)
}

// column decodes column i of a block.
func (a *answer) column(i int, r *proto.Reader, rows int) (err error) {
	for range 2 { // its name, its type
		if a.text, err = appendText(a.text[:0], r); err != nil {
			return err
		}
	}
	if i == len(a.columns) {
		a.columns = append(a.columns, nil)
	}
	c := a.columns[i]
	if c == nil || c.kind != string(a.text) {
		if c, err = newColumn(string(a.text)); err != nil {
			return &limit.Refused{Err: err}
		}
		a.columns[i] = c
	}
	return c.decode(r, rows)
}

// emit passes the rows of the block to the sink.
func (a *answer) emit(rows int) error {
	if a.sink == nil {
		a.rows += int64(rows)
		return nil
	}
	if cap(a.row) < len(a.columns) {
		a.row = make([]query.Value, len(a.columns))
	}
	row := a.row[:len(a.columns)]
	for i := range rows {
		a.rows++
		for n, c := range a.columns {
			c.value(i, &row[n])
		}
		if err := a.sink.Row(row); err != nil {
			return &limit.Refused{Err: err}
		}
	}
	return nil
}

// typeArguments returns the text between the parentheses of a type with the given name.
func typeArguments(kind, name string) (string, bool) {
	if rest, ok := strings.CutPrefix(kind, name+"("); ok && strings.HasSuffix(rest, ")") {
		return rest[:len(rest)-1], true
	}
	return "", false
}

// newColumn returns a column of a type in ClickHouse's notation.
func newColumn(kind string) (*column, error) {
	c := &column{kind: kind}
	of := kind
	if within, ok := typeArguments(kind, "SimpleAggregateFunction"); ok { // aggregates store minima and maxima as this type, with the same values as the inner type
		_, of, _ = strings.Cut(within, ", ")
	}
	if within, ok := typeArguments(of, "LowCardinality"); ok {
		of, c.low = within, true
	}
	if within, ok := typeArguments(of, "Nullable"); ok {
		of, c.nullable = within, true
	}
	if c.leaf(of); c.values == nil {
		return nil, fmt.Errorf("tsmark does not read values of type %s; cast it to Int64, Float64, DateTime64 or String", kind)
	}
	return c, nil
}

// integer is the wire type of whole numbers, times and dates.
type integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// setIntegers makes the column one of integers, in units of the given size.
func setIntegers[T integer, C ~[]T](c *column, kind query.Kind, unit int64, data proto.Column, values *C) {
	c.values = data
	c.get = func(i int, v *query.Value) { v.Kind, v.Int = kind, int64((*values)[i])*unit }
}

// integers makes the column one of integers that ch-go has a column type for.
func integers[T integer, C ~[]T, P interface {
	*C
	proto.Column
}](c *column, kind query.Kind) {
	d := new(C)
	setIntegers(c, kind, 1, P(d), d)
}

// leaf makes the column one of a type without inner types; values stays nil for a type that tsmark does
// not support.
func (c *column) leaf(kind string) {
	const second = 1_000_000_000
	switch kind {
	case "Int8":
		integers[int8, proto.ColInt8](c, query.Int)
	case "Int16":
		integers[int16, proto.ColInt16](c, query.Int)
	case "Int32":
		integers[int32, proto.ColInt32](c, query.Int)
	case "Int64":
		integers[int64, proto.ColInt64](c, query.Int)
	case "UInt8":
		integers[uint8, proto.ColUInt8](c, query.Int)
	case "UInt16":
		integers[uint16, proto.ColUInt16](c, query.Int)
	case "UInt32":
		integers[uint32, proto.ColUInt32](c, query.Int)
	case "UInt64":
		integers[uint64, proto.ColUInt64](c, query.Int) // values from 2^63 occur only in sums, modulo 2^64
	case "Date":
		integers[proto.Date, proto.ColDate](c, query.Date)
	case "Date32":
		integers[proto.Date32, proto.ColDate32](c, query.Date)
	case "Bool":
		d := new(proto.ColBool)
		c.values = d
		c.get = func(i int, v *query.Value) {
			if v.Kind, v.Int = query.Bool, 0; (*d)[i] {
				v.Int = 1
			}
		}
	case "Float32":
		d := new(proto.ColFloat32)
		c.values = d
		c.get = func(i int, v *query.Value) { v.Kind, v.Float = query.Float, float64((*d)[i]) }
	case "Float64":
		d := new(proto.ColFloat64)
		c.values = d
		c.get = func(i int, v *query.Value) { v.Kind, v.Float = query.Float, (*d)[i] }
	case "String":
		d := new(texts)
		c.values = d
		c.get = func(i int, v *query.Value) { v.Kind, v.Text = query.Text, d.RowBytes(i) }
	default:
		if _, ok := typeArguments(kind, "DateTime"); ok || kind == "DateTime" {
			d := new(proto.ColDateTime)
			setIntegers(c, query.Time, second, d, &d.Data)
		}
		if within, ok := typeArguments(kind, "Decimal"); ok {
			c.decimals(within)
		}
		if within, ok := typeArguments(kind, "DateTime64"); ok {
			digits, _, _ := strings.Cut(within, ",")
			n, err := strconv.Atoi(digits)
			if err != nil || n < 0 || n > 9 {
				return
			}
			unit := int64(1)
			for range 9 - n {
				unit *= 10
			}
			d := new(proto.ColDateTime64Raw)
			c.values = d
			c.get = func(i int, v *query.Value) { v.Kind, v.Int = query.Time, int64(d.Data[i])*unit }
		}
	}
}

// decimals decodes decimals; arguments has their precision and scale. Each value becomes the nearest double or a neighbor of it.
func (c *column) decimals(arguments string) {
	var digits, scale int
	if n, err := fmt.Sscanf(arguments, "%d, %d", &digits, &scale); n != 2 || err != nil || digits > 38 || scale < 0 {
		return
	}
	units := math.Pow10(scale)
	set := func(v *query.Value, whole float64) { v.Kind, v.Float = query.Float, whole/units }
	switch {
	case digits <= 9:
		d := new(proto.ColDecimal32)
		c.values, c.get = d, func(i int, v *query.Value) { set(v, float64((*d)[i])) }
	case digits <= 18:
		d := new(proto.ColDecimal64)
		c.values, c.get = d, func(i int, v *query.Value) { set(v, float64((*d)[i])) }
	default:
		d := new(proto.ColDecimal128)
		c.values, c.get = d, func(i int, v *query.Value) {
			set(v, oracle.Whole{High: int64((*d)[i].High), Low: (*d)[i].Low}.Float())
		}
	}
}

// decode decodes the values of a block.
func (c *column) decode(r *proto.Reader, rows int) error {
	c.nulls.Reset()
	c.values.Reset()
	switch {
	case rows == 0:
		return nil
	case c.low:
		return c.decodeLow(r, rows)
	case c.nullable:
		if err := c.nulls.DecodeColumn(r, rows); err != nil {
			return err
		}
	}
	return c.values.DecodeColumn(r, rows)
}

// The header of a LowCardinality column: its version, and flags next to the width of its keys.
const (
	lowVersion  = 1
	lowGlobal   = 1 << 8 // a dictionary shared by several blocks
	lowOwn      = 1 << 9 // a dictionary of this block
	lowUpdate   = 1 << 10
	lowKeyWidth = 1<<8 - 1 // logarithm of the width in bytes
)

// decodeLow decodes LowCardinality values: a dictionary, and keys into it.
func (c *column) decodeLow(r *proto.Reader, rows int) error {
	var head [3]int64 // version, flags, size of the dictionary
	for i := range head {
		n, err := r.Int64()
		if err != nil {
			return err
		}
		head[i] = n
	}
	if head[0] != lowVersion || head[1]&(lowGlobal|lowOwn) != lowOwn || head[2] < 0 || head[2] > maxBlockRows {
		return &limit.Refused{Err: fmt.Errorf("a dictionary that tsmark does not read: version %d, flags %x, %d values", head[0], head[1], head[2])}
	}
	if err := c.values.DecodeColumn(r, int(head[2])); err != nil {
		return err
	}
	keys, err := r.Int64()
	if err == nil && keys != int64(rows) {
		err = &limit.Refused{Err: fmt.Errorf("%d keys of %d values", keys, rows)}
	}
	if err != nil {
		return err
	}
	c.keys = slices.Grow(c.keys[:0], rows)
	switch head[1] & lowKeyWidth {
	case 0:
		return readKeys(c, r, rows, &c.keys8)
	case 1:
		return readKeys(c, r, rows, &c.keys16)
	case 2:
		return readKeys(c, r, rows, &c.keys32)
	}
	return &limit.Refused{Err: errors.New("a dictionary of more than 2^32 values")}
}

// readKeys decodes keys of a width.
func readKeys[T uint8 | uint16 | uint32, C interface {
	~*S
	Reset()
	DecodeColumn(*proto.Reader, int) error
}, S ~[]T](c *column, r *proto.Reader, rows int, from C) error {
	from.Reset()
	if err := from.DecodeColumn(r, rows); err != nil {
		return err
	}
	size := c.values.Rows()
	for _, key := range *from {
		if int(key) >= size {
			return &limit.Refused{Err: fmt.Errorf("key %d of a dictionary of %d values", key, size)}
		}
		c.keys = append(c.keys, uint32(key))
	}
	return nil
}

// value stores a value in v. The first value of a Nullable dictionary is NULL.
func (c *column) value(i int, v *query.Value) {
	missing := false
	if c.low {
		i = int(c.keys[i])
		missing = c.nullable && i == 0
	} else if c.nullable {
		missing = c.nulls[i] != 0
	}
	if missing {
		*v = query.Value{}
		return
	}
	c.get(i, v)
}

// texts is a column of texts that limits their length to the longest row.
type texts struct{ proto.ColStr }

// DecodeColumn implements proto.Column.
func (t *texts) DecodeColumn(r *proto.Reader, rows int) (err error) {
	for range rows {
		start := len(t.Buf)
		if t.Buf, err = appendText(t.Buf, r); err != nil {
			return err
		}
		t.Pos = append(t.Pos, proto.Position{Start: start, End: len(t.Buf)})
	}
	return nil
}

// appendText reads a text.
func appendText(to []byte, r *proto.Reader) ([]byte, error) {
	n, err := r.StrLen()
	if err != nil {
		return to, err
	}
	if n > limit.MaxRow {
		return to, &limit.Refused{Err: fmt.Errorf("a text of %d bytes, which was read no further", n)}
	}
	start := len(to)
	to = slices.Grow(to, n)[:start+n]
	return to, r.ReadFull(to[start:])
}

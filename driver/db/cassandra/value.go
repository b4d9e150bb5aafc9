package cassandra

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// cell is a value to write. It is encoded in place, so that binding it allocates nothing. It implements
// gocql.Marshaler.
type cell struct {
	fixed [8]byte
	text  []byte // a text or blob; nil: see fixed
	size  int    // of fixed
}

// MarshalCQL implements gocql.Marshaler.
func (c *cell) MarshalCQL(gocql.TypeInfo) ([]byte, error) {
	if c.text != nil {
		return c.text, nil
	}
	return c.fixed[:c.size], nil
}

func (c *cell) set32(v uint32) {
	c.text, c.size = nil, 4
	binary.BigEndian.PutUint32(c.fixed[:], v)
}

func (c *cell) set64(v uint64) {
	c.text, c.size = nil, 8
	binary.BigEndian.PutUint64(c.fixed[:], v)
}

// setField sets the value of a field in a row of a run.
func (c *cell) setField(f *series.Field, column *series.Column, row int) {
	switch f.Type {
	case series.Float:
		c.set64(math.Float64bits(column.Floats[row]))
	case series.Float32:
		c.set32(math.Float32bits(float32(column.Floats[row])))
	case series.Int32:
		c.set32(uint32(column.Ints[row]))
	case series.Date: // days since 1970; day 0 is encoded as 2^31
		c.set32(uint32(column.Ints[row]) + 1<<31)
	case series.Bool:
		c.text, c.size = nil, 1
		c.fixed[0] = byte(column.Ints[row])
	case series.Text, series.Blob:
		c.text = column.AppendText(c.text[:0], row, f.Length)
	default:
		c.set64(uint64(column.Ints[row]))
	}
}

// reader decodes the rows of results. It reuses its memory.
type reader struct {
	row   []query.Value
	cells []read
	to    []any
	bytes int64
}

// read is a column of the current row. It implements gocql.Unmarshaler.
type read struct {
	of    *reader
	index int
}

// rows passes the rows of a result to a function, which may be nil, and returns their number.
func (r *reader) rows(iter *gocql.Iter, take func([]query.Value) error) (rows int64, err error) {
	if n := len(iter.Columns()); n != len(r.row) {
		r.row, r.cells, r.to = make([]query.Value, n), make([]read, n), make([]any, n)
		for i := range r.cells {
			r.cells[i] = read{r, i}
			r.to[i] = &r.cells[i]
		}
	}
	for iter.Scan(r.to...) {
		rows++
		if take == nil {
			continue
		}
		if err := take(r.row); err != nil {
			_ = iter.Close()
			return rows, &limit.Refused{Err: err}
		}
	}
	return rows, iter.Close()
}

// UnmarshalCQL implements gocql.Unmarshaler.
func (c *read) UnmarshalCQL(info gocql.TypeInfo, data []byte) error {
	c.of.bytes += int64(4 + len(data))
	v := &c.of.row[c.index]
	if data == nil {
		*v = query.Value{}
		return nil
	}
	size := sizeOf(info.Type())
	if size > 0 && len(data) != size {
		return &limit.Refused{Err: fmt.Errorf("a value of %d bytes has the type %v, whose values have %d", len(data), info.Type(), size)}
	}
	switch info.Type() {
	case gocql.TypeDouble:
		*v = query.Value{Kind: query.Float, Float: math.Float64frombits(binary.BigEndian.Uint64(data))}
	case gocql.TypeFloat:
		*v = query.Value{Kind: query.Float, Float: float64(math.Float32frombits(binary.BigEndian.Uint32(data)))}
	case gocql.TypeInt:
		*v = query.Value{Kind: query.Int, Int: int64(int32(binary.BigEndian.Uint32(data)))}
	case gocql.TypeBigInt, gocql.TypeCounter:
		*v = query.Value{Kind: query.Int, Int: int64(binary.BigEndian.Uint64(data))}
	case gocql.TypeTimestamp:
		ms := int64(binary.BigEndian.Uint64(data))
		if at := ms * int64(time.Millisecond); at/int64(time.Millisecond) == ms {
			*v = query.Value{Kind: query.Time, Int: at}
			break
		}
		return &limit.Refused{Err: fmt.Errorf("the time %d is out of range for 64-bit nanoseconds", ms)}
	case gocql.TypeDate:
		*v = query.Value{Kind: query.Date, Int: int64(binary.BigEndian.Uint32(data)) - 1<<31}
	case gocql.TypeBoolean:
		*v = query.Value{Kind: query.Bool, Int: int64(data[0])}
	case gocql.TypeUUID, gocql.TypeTimeUUID:
		*v = query.Value{Kind: query.Text, Text: []byte(hex.EncodeToString(data))}
	case gocql.TypeVarchar, gocql.TypeText, gocql.TypeAscii, gocql.TypeBlob:
		*v = query.Value{Kind: query.Text, Text: data}
	default:
		return &limit.Refused{Err: fmt.Errorf("a column has the unexpected type %v", info.Type())}
	}
	return nil
}

// sizeOf returns the size in bytes of values of a type; 0: variable.
func sizeOf(t gocql.Type) int {
	switch t {
	case gocql.TypeBoolean:
		return 1
	case gocql.TypeInt, gocql.TypeFloat, gocql.TypeDate:
		return 4
	case gocql.TypeDouble, gocql.TypeBigInt, gocql.TypeCounter, gocql.TypeTimestamp:
		return 8
	}
	return 0
}

// run runs a statement and passes the rows of its result to a function, which may be nil.
func (l *link) run(ctx context.Context, r *reader, take func([]query.Value) error, text string, args ...any) (driver.Cost, error) {
	s, err := l.get(ctx)
	if err != nil {
		return driver.Cost{}, err
	}
	before := r.bytes
	rows, err := r.rows(s.Query(text, args...).IterContext(ctx), take)
	return driver.Cost{Rows: rows, Bytes: r.bytes - before}, l.explain(ctx, s, err)
}

// runOwn runs a statement of tsmark's own with a small result.
func (l *link) runOwn(ctx context.Context, text string, args ...any) ([][]query.Value, error) {
	var answer query.Answer
	err := l.scan(ctx, limit.NewOwnSink(&answer).Row, text, args...)
	return answer.Rows, err
}

// scan runs a statement of tsmark's own whose result may be large.
func (l *link) scan(ctx context.Context, take func([]query.Value) error, text string, args ...any) error {
	err := l.renew(ctx)
	if err == nil {
		_, err = l.run(ctx, &reader{}, take, text, args...)
	}
	return err
}

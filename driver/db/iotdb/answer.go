package iotdb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/apache/iotdb-client-go/v2/rpc"

	"github.com/tsmark/tsmark/query"
)

// answer decodes the blocks of a result, each with some rows in columns. It reuses its memory.
type answer struct {
	unit  time.Duration // of times
	timed bool          // the first column is the block's own time
	names []string
	types []string
	from  []int // the index in a block of each column; -1: the block's own time

	cursors []cursor // of a block: its own time, and the columns after it
	row     []query.Value
}

// begin reads the columns of the result.
func (a *answer) begin(reply *rpc.TSExecuteStatementResp, unit time.Duration) error {
	a.unit, a.timed = unit, reply.IgnoreTimeStamp != nil && !*reply.IgnoreTimeStamp
	a.names, a.types, a.from = a.names[:0], a.types[:0], a.from[:0]
	if a.timed {
		a.names, a.types, a.from = append(a.names, "Time"), append(a.types, typeTimestamp), append(a.from, -1)
	}
	if len(reply.DataTypeList) != len(reply.Columns) {
		return fmt.Errorf("the answer has %d columns and %d types", len(reply.Columns), len(reply.DataTypeList))
	}
	list := reply.ColumnIndex2TsBlockColumnIndexList
	for i, name := range reply.Columns {
		at := i
		if len(list) == len(reply.Columns) {
			at = int(list[i])
		} else if n, ok := reply.ColumnNameIndexMap[name]; ok {
			at = int(n)
		}
		a.names, a.types, a.from = append(a.names, name), append(a.types, reply.DataTypeList[i]), append(a.from, at)
	}
	a.row = append(a.row[:0], make([]query.Value, len(a.names))...)
	return nil
}

// The names and the numbers of types in results.
const (
	typeTimestamp = "TIMESTAMP"
	typeDate      = "DATE"
)

// The encodings of a column in a block.
const (
	encodedBytes = iota // booleans as bits
	encoded32
	encoded64
	encodedTexts
	encodedOnce // one value for all rows
)

var errShort = errors.New("truncated block in the answer")

// block decodes the rows of a block: the number and the types of the columns, the number of rows, the
// encoding of each column, the times, and the columns.
func (a *answer) block(data []byte, each func([]query.Value) (int64, error)) (rows int64, err error) {
	r := source{rest: data}
	columns := int(r.uint32())
	if columns < 0 || columns > len(data) {
		return 0, errShort
	}
	types := r.take(columns)
	positions := int(r.uint32())
	encodings := r.take(columns + 1)
	if r.short || positions < 0 {
		return 0, errShort
	}
	if cap(a.cursors) < columns+1 {
		a.cursors = make([]cursor, columns+1)
	}
	a.cursors = a.cursors[:columns+1]
	for i := range a.cursors {
		kind := byte(dataInt64)
		if i > 0 {
			kind = types[i-1]
		}
		if err := a.cursors[i].begin(&r, kind, encodings[i], positions); err != nil {
			return 0, err
		}
	}
	for i, at := range a.from {
		if at+1 >= len(a.cursors) {
			return 0, fmt.Errorf("column %s of the answer is not in its block", a.names[i])
		}
	}
	for row := range positions {
		for i := range a.cursors {
			if err := a.cursors[i].next(row); err != nil {
				return rows, err
			}
		}
		for i, at := range a.from {
			if err := a.value(&a.row[i], &a.cursors[at+1], a.types[i]); err != nil {
				return rows, fmt.Errorf("column %s of the answer: %w", a.names[i], err)
			}
		}
		n, err := each(a.row)
		rows += n
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// value sets a value of the row.
func (a *answer) value(v *query.Value, c *cursor, kind string) error {
	if c.null {
		*v = query.Value{}
		return nil
	}
	switch c.kind {
	case dataBoolean:
		*v = query.Value{Kind: query.Bool, Int: c.whole}
	case dataInt32, dataInt64, dataTimestamp, dataDate:
		*v = query.Value{Kind: query.Int, Int: c.whole}
	case dataFloat, dataDouble:
		*v = query.Value{Kind: query.Float, Float: c.float}
	default:
		*v = query.Value{Kind: query.Text, Text: c.text}
	}
	switch kind {
	case typeTimestamp:
		at := c.whole * int64(a.unit)
		if at/int64(a.unit) != c.whole {
			return fmt.Errorf("the time %d is out of range for 64-bit nanoseconds", c.whole)
		}
		*v = query.Value{Kind: query.Time, Int: at}
	case typeDate:
		year, month, day := c.whole/10000, c.whole/100%100, c.whole%100
		at := time.Date(int(year), time.Month(month), int(day), 0, 0, 0, 0, time.UTC)
		*v = query.Value{Kind: query.Date, Int: query.BucketOf(at.Unix(), 86400) / 86400}
	}
	return nil
}

// cursor is a column of a block, read row by row.
type cursor struct {
	kind  byte
	nulls []byte // bits from the highest; nil: no value is NULL
	once  bool   // all rows have the first value
	code  byte
	bits  []byte
	rest  source

	null  bool
	whole int64
	float float64
	text  []byte
}

// begin takes the column's bytes from the block.
func (c *cursor) begin(r *source, kind, encoding byte, positions int) error {
	*c = cursor{kind: kind}
	if encoding == encodedOnce {
		c.once, encoding, positions = true, r.byte(), min(positions, 1)
	}
	c.code = encoding
	packed := (positions + 7) / 8
	if c.once {
		packed = 1
	}
	if r.byte() != 0 {
		c.nulls = r.take(packed)
	}
	valued := positions
	if c.once {
		valued = 1
	}
	for row := range valued {
		if c.nulls != nil && encoding != encodedBytes && marked(c.nulls, row) {
			valued--
		}
	}
	switch encoding {
	case encodedBytes:
		c.bits = r.take(packed)
	case encoded32:
		c.rest.rest = r.take(4 * valued)
	case encoded64:
		c.rest.rest = r.take(8 * valued)
	case encodedTexts:
		begin := r.rest
		for range valued {
			r.take(int(int32(r.uint32())))
		}
		c.rest.rest = begin[:len(begin)-len(r.rest)]
	default:
		return fmt.Errorf("a column is encoded by %d", encoding)
	}
	if r.short {
		return errShort
	}
	return nil
}

func marked(bits []byte, row int) bool { return bits[row>>3]>>(7-row&7)&1 != 0 }

// next decodes the value of a row.
func (c *cursor) next(row int) error {
	if c.once && row > 0 {
		return nil
	}
	if c.null = c.nulls != nil && marked(c.nulls, row); c.null {
		return nil
	}
	switch c.code {
	case encodedBytes:
		c.whole = 0
		if marked(c.bits, row) {
			c.whole = 1
		}
	case encoded32:
		bits := c.rest.uint32()
		if c.whole = int64(int32(bits)); c.kind == dataFloat {
			c.float = float64(math.Float32frombits(bits))
		}
	case encoded64:
		bits := c.rest.uint64()
		if c.whole = int64(bits); c.kind == dataDouble {
			c.float = math.Float64frombits(bits)
		}
	case encodedTexts:
		c.text = c.rest.take(int(int32(c.rest.uint32())))
	}
	return nil
}

// source reads from bytes, and records when they are too short.
type source struct {
	rest  []byte
	short bool
}

func (s *source) take(n int) []byte {
	if n < 0 || n > len(s.rest) {
		s.short, s.rest = true, nil
		return nil
	}
	part := s.rest[:n:n]
	s.rest = s.rest[n:]
	return part
}

func (s *source) byte() byte {
	if b := s.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (s *source) uint32() uint32 {
	if b := s.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (s *source) uint64() uint64 {
	if b := s.take(8); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

package query

import (
	"encoding/binary"
	"math"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/series"
)

// Kind is the kind of a value in an answer.
type Kind uint8

// The kinds of values. The zero Kind is Null.
const (
	Null Kind = iota
	Time      // nanoseconds since 1970, in Value.Int
	Int
	Float
	Text // also the bytes of a blob
	Bool // 0 or 1, in Value.Int
	Date // days since 1970-01-01, in Value.Int
)

// KindOf returns the kind in which an answer has the values of a field.
func KindOf(t series.Type) Kind {
	switch t {
	case series.Float, series.Float32:
		return Float
	case series.Text, series.Blob:
		return Text
	case series.Bool:
		return Bool
	case series.Timestamp:
		return Time
	case series.Date:
		return Date
	}
	return Int
}

// Value is one value of an answer.
type Value struct {
	Kind Kind
	// Tolerance is the difference that another order of summation may make to an expected Float. It is 0 unless
	// terms cancel: the relative tolerance of Compare suffices elsewhere. A float32 fits into the padding after Kind.
	Tolerance float32

	Int   int64   // Time, Int, Bool and Date
	Float float64 // Float
	Text  []byte  // Text; may belong to the sender, see Sink
}

// Number returns the value of a number, and false for any other kind of value.
func (v Value) Number() (float64, bool) {
	switch v.Kind {
	case Int:
		return float64(v.Int), true
	case Float:
		return v.Float, true
	}
	return 0, false
}

// AppendKey appends an encoding of the value that is equal only for equal values, also if further
// values follow.
func (v Value) AppendKey(dst []byte) []byte {
	dst = append(dst, byte(v.Kind))
	if v.Kind == Text {
		return append(binary.AppendUvarint(dst, uint64(len(v.Text))), v.Text...)
	}
	return binary.BigEndian.AppendUint64(dst, math.Float64bits(v.Float)^uint64(v.Int))
}

// String shows the value as messages print it.
func (v Value) String() string {
	switch v.Kind {
	case Time:
		return time.Unix(0, v.Int).UTC().Format(time.RFC3339Nano)
	case Int:
		return strconv.FormatInt(v.Int, 10)
	case Float:
		return strconv.FormatFloat(v.Float, 'g', -1, 64)
	case Text:
		return string(v.Text)
	case Bool:
		return strconv.FormatBool(v.Int != 0)
	case Date:
		return time.Unix(0, 0).UTC().AddDate(0, 0, int(v.Int)).Format(time.DateOnly)
	}
	return "NULL"
}

// Sink receives the rows of an answer one by one.
type Sink interface {
	// Row takes one row. The slice and the bytes of its texts belong to the
	// caller and hold until Row returns: a Sink that keeps them copies them.
	// An error ends the query, which returns it.
	Row(row []Value) error
}

// SinkFunc is a sink of one function.
type SinkFunc func([]Value) error

// Row implements Sink.
func (f SinkFunc) Row(row []Value) error { return f(row) }

// Answer is a Sink that keeps all rows.
type Answer struct {
	Rows [][]Value
}

// Row implements Sink.
func (a *Answer) Row(row []Value) error {
	kept := make([]Value, len(row))
	copy(kept, row)
	for i := range kept {
		if kept[i].Kind == Text {
			kept[i].Text = append([]byte(nil), kept[i].Text...)
		}
	}
	a.Rows = append(a.Rows, kept)
	return nil
}

//go:build cgo && !light && (linux || darwin) && (amd64 || arm64)

package duckdb

import (
	"errors"
	"math"
	"unsafe"

	duck "github.com/duckdb/duckdb-go-bindings"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// vector is a column of a chunk of a result, read in DuckDB's memory.
type vector struct {
	kind  duck.Type
	unit  float64 // number of units in 1 if decimals are held as whole numbers of units; 0: not decimals
	data  unsafe.Pointer
	valid series.Bitmap // rows with a value; nil: all rows
}

// hugeInt and stringRef are DuckDB's duckdb_hugeint and duckdb_string_t.
type (
	hugeInt struct {
		lower uint64
		upper int64
	}
	stringRef struct {
		length uint32
		inline [inlineLength]byte // or four bytes of prefix and a pointer
	}
)

// inlineLength is the length of the longest string that lies in the vector
// itself.
const inlineLength = 12

var (
	errRange = errors.New("the number does not fit into 64 bits with a sign")
	errYears = errors.New("the time is not between the years 1678 and 2261")
)

// isKnown reports whether value understands the vector's type.
func (v *vector) isKnown() bool {
	switch v.kind {
	case duck.TypeBigInt, duck.TypeDouble, duck.TypeTimestamp, duck.TypeVarchar, duck.TypeInteger, duck.TypeSmallInt,
		duck.TypeUInteger, duck.TypeHugeInt, duck.TypeBoolean, duck.TypeFloat, duck.TypeDate, duck.TypeBlob:
		return true
	}
	return false
}

// point makes v read a chunk's vector of its type, until the chunk is gone.
func (v *vector) point(from duck.Vector) {
	v.data = duck.VectorGetData(from)
	v.valid = nil
	if mask := duck.VectorGetValidity(from); mask != nil {
		v.valid = unsafe.Slice((*uint64)(mask), vectorSize/64)
	}
}

// value puts the value of row r into dst and returns its size in bytes: 8 for
// numbers and times, 0 for NULL.
func (v *vector) value(r int, dst *query.Value) (int, error) {
	if v.valid != nil && !v.valid.Has(r) {
		*dst = query.Value{}
		return 0, nil
	}
	switch v.kind {
	case duck.TypeBigInt:
		*dst = query.Value{Kind: query.Int, Int: element[int64](v.data, r)}
	case duck.TypeDouble:
		*dst = query.Value{Kind: query.Float, Float: element[float64](v.data, r)}
	case duck.TypeTimestamp:
		micros := element[int64](v.data, r)
		if micros > math.MaxInt64/1000 || micros < math.MinInt64/1000 {
			return 0, errYears
		}
		*dst = query.Value{Kind: query.Time, Int: micros * 1000}
	case duck.TypeVarchar, duck.TypeBlob:
		s := (*stringRef)(unsafe.Add(v.data, r*int(unsafe.Sizeof(stringRef{}))))
		text := &s.inline[0]
		if s.length > inlineLength {
			text = *(**byte)(unsafe.Pointer(&s.inline[4]))
		}
		*dst = query.Value{Kind: query.Text, Text: unsafe.Slice(text, s.length)}
		return int(s.length), nil
	case duck.TypeSmallInt:
		*dst = query.Value{Kind: query.Int, Int: int64(element[int16](v.data, r))}
	case duck.TypeInteger:
		*dst = query.Value{Kind: query.Int, Int: int64(element[int32](v.data, r))}
	case duck.TypeUInteger:
		*dst = query.Value{Kind: query.Int, Int: int64(element[uint32](v.data, r))}
	case duck.TypeHugeInt: // sums of BIGINT
		h := element[hugeInt](v.data, r)
		if int64(h.lower)>>63 != h.upper {
			return 0, errRange
		}
		*dst = query.Value{Kind: query.Int, Int: int64(h.lower)}
	case duck.TypeFloat:
		*dst = query.Value{Kind: query.Float, Float: float64(element[float32](v.data, r))}
	case duck.TypeDate:
		*dst = query.Value{Kind: query.Date, Int: int64(element[int32](v.data, r))}
	case duck.TypeBoolean:
		*dst = query.Value{Kind: query.Int}
		if element[bool](v.data, r) {
			dst.Int = 1
		}
	}
	if v.unit > 0 {
		*dst = query.Value{Kind: query.Float, Float: float64(dst.Int) / v.unit}
	}
	return 8, nil
}

// newVector returns the vector of a column of a result. A decimal is held as a whole number.
func newVector(result *duck.Result, column duck.IdxT) vector {
	v := vector{kind: duck.ColumnType(result, column)}
	if v.kind == duck.TypeDecimal {
		logical := duck.ColumnLogicalType(result, column)
		defer duck.DestroyLogicalType(&logical)
		v.kind, v.unit = duck.DecimalInternalType(logical), math.Pow10(int(duck.DecimalScale(logical)))
	}
	return v
}

// element returns element i of an array of T.
func element[T any](data unsafe.Pointer, i int) T {
	return *(*T)(unsafe.Add(data, i*int(unsafe.Sizeof(*new(T)))))
}

//go:build cgo && (linux || darwin) && (amd64 || arm64)

package duckdb

import (
	duck "github.com/duckdb/duckdb-go-bindings"

	"github.com/tsmark/tsmark/series"
)

// vectorTypes are the vectors of the types.
var vectorTypes = map[series.Type]duck.Type{
	series.Bool: duck.TypeBoolean, series.Int32: duck.TypeInteger, series.Int: duck.TypeBigInt,
	series.Float32: duck.TypeFloat, series.Float: duck.TypeDouble,
	series.Text: duck.TypeVarchar, series.Timestamp: duck.TypeTimestamp, series.Date: duck.TypeDate, series.Blob: duck.TypeBlob,
}

// sizeOf returns the bytes of a field's value in its vector, of a text those of
// the text.
func sizeOf(f *series.Field) int64 {
	switch f.Type {
	case series.Bool:
		return 1
	case series.Int32, series.Float32, series.Date:
		return 4
	case series.Text, series.Blob:
		return int64(f.Length)
	}
	return 8
}

// field fills the next n rows of a column of the chunk with a field's values from
// row lo of the run on.
func (t *tableWriter) field(c int, f *series.Field, from *series.Column, lo, n int) {
	switch f.Type {
	case series.Float:
		copy(column[float64](t.loader, c, n), from.Floats[lo:])
	case series.Float32:
		out := column[float32](t.loader, c, n)
		for i, v := range from.Floats[lo : lo+n] {
			out[i] = float32(v)
		}
	case series.Int32, series.Date:
		out := column[int32](t.loader, c, n)
		for i, v := range from.Ints[lo : lo+n] {
			out[i] = int32(v)
		}
	case series.Bool:
		out := column[bool](t.loader, c, n)
		for i, v := range from.Ints[lo : lo+n] {
			out[i] = v != 0
		}
	case series.Timestamp:
		out := column[int64](t.loader, c, n)
		for i, v := range from.Ints[lo : lo+n] {
			out[i] = v / 1000
		}
	case series.Text, series.Blob:
		for i, v := range from.Ints[lo : lo+n] {
			if from.Nulls.Has(lo + i) {
				continue
			}
			t.text = series.AppendText(t.text[:0], v, f.Length)
			duck.VectorAssignStringElementLen(t.vectors[c], duck.IdxT(t.n+i), t.text)
		}
	default:
		copy(column[int64](t.loader, c, n), from.Ints[lo:])
	}
}

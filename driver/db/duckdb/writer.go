//go:build cgo && !light && (linux || darwin) && (amd64 || arm64)

package duckdb

import (
	"context"
	"time"

	duck "github.com/duckdb/duckdb-go-bindings"

	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/series"
)

// loader implements sqlkit.Loader. Times must be multiples of 1 µs.
type loader struct{ s *session }

// Begin implements sqlkit.Loader.
func (l *loader) Begin(ctx context.Context, _ *series.Batch) error {
	return sqlkit.Exec(ctx, l.s, "BEGIN TRANSACTION")
}

// Commit implements sqlkit.Loader.
func (l *loader) Commit(ctx context.Context) (time.Time, error) {
	sent := time.Now()
	return sent, sqlkit.Commit(ctx, l.s)
}

// Rollback implements sqlkit.Loader.
func (l *loader) Rollback(ctx context.Context, _ error) { sqlkit.Rollback(ctx, l.s) }

// Close implements sqlkit.Loader.
func (l *loader) Close() error { return nil }

// columnTypes are the vectors of the types, and the size of a value in bytes; the size of a text is the
// text's, and that of a free text is counted per run.
var columnTypes = map[series.Type]struct {
	vector duck.Type
	size   int64
}{
	series.Bool: {duck.TypeBoolean, 1}, series.Int32: {duck.TypeInteger, 4}, series.Int: {duck.TypeBigInt, 8},
	series.Float32: {duck.TypeFloat, 4}, series.Float: {duck.TypeDouble, 8}, series.Timestamp: {duck.TypeTimestamp, 8},
	series.Date: {duck.TypeDate, 4}, series.Text: {duck.TypeVarchar, 0}, series.Blob: {duck.TypeBlob, 0},
}

// rowWriter implements sqlkit.RowWriter.
type rowWriter struct {
	*appender
	table *series.Table
	size  int64 // bytes of a row in DuckDB's vectors
	text  []byte
}

// Rows implements sqlkit.Loader.
func (l *loader) Rows(t *series.Table) (sqlkit.RowWriter, error) {
	types, size := []duck.Type{duck.TypeTimestamp, duck.TypeUInteger}, int64(8+4)
	for i := range t.Fields {
		column := columnTypes[t.Fields[i].Type]
		types, size = append(types, column.vector), size+column.size
		size += int64(t.Fields[i].Length)
	}
	a, err := newAppender(l.s, t.Name, types)
	if err != nil {
		return nil, err
	}
	return &rowWriter{appender: a, table: t, size: size}, nil
}

// Append implements sqlkit.RowWriter.
func (t *rowWriter) Append(_ context.Context, runs []*series.Run) (bytes int64, err error) {
	for _, run := range runs {
		for lo := 0; lo < run.Rows(); {
			n := min(t.room(), run.Rows()-lo)
			times := column[int64](t.appender, 0, n)
			for i, ns := range run.Times[lo : lo+n] {
				times[i] = ns / 1000
			}
			copy(column[uint32](t.appender, 1, n), run.Series[lo:])
			for c := range t.table.Fields {
				values := &run.Columns[c]
				t.field(run, c, lo, n)
				if values.Nulls != nil {
					t.setNulls(2+c, values.Nulls, lo, n)
				}
			}
			if t.table.Widths != nil {
				t.setMissing(run.Series[lo : lo+n])
			}
			if err := t.advance(n); err != nil {
				return 0, err
			}
			lo += n
		}
		bytes += int64(run.Rows())*t.size + run.FreeBytes()
	}
	return bytes, t.flush()
}

// setMissing sets columns to NULL that the next rows, of these series, do not have: a row of a DuckDB
// table has all columns.
func (t *rowWriter) setMissing(numbers []uint32) {
	for row, s := range numbers {
		for c := t.table.Width(s); c < len(t.table.Fields); c++ {
			t.setNull(2+c, row)
		}
	}
}

// field fills the next n rows of a column of the chunk with the values of a field, from row lo of the
// run.
func (t *rowWriter) field(run *series.Run, number, lo, n int) {
	c, f, from := 2+number, &t.table.Fields[number], &run.Columns[number]
	switch f.Type {
	case series.Float:
		copy(column[float64](t.appender, c, n), from.Floats[lo:])
	case series.Float32:
		out := column[float32](t.appender, c, n)
		for i, v := range from.Floats[lo : lo+n] {
			out[i] = float32(v)
		}
	case series.Int32, series.Date:
		out := column[int32](t.appender, c, n)
		for i, v := range from.Ints[lo : lo+n] {
			out[i] = int32(v)
		}
	case series.Bool:
		out := column[bool](t.appender, c, n)
		for i, v := range from.Ints[lo : lo+n] {
			out[i] = v != 0
		}
	case series.Timestamp:
		out := column[int64](t.appender, c, n)
		for i, v := range from.Ints[lo : lo+n] {
			out[i] = v / 1000
		}
	case series.Text, series.Blob:
		for i := range n {
			if run.Lacks(number, lo+i) {
				continue
			}
			t.text = from.AppendText(t.text[:0], lo+i, f.Length)
			duck.VectorAssignStringElementLen(t.vectors[c], duck.IdxT(t.n+i), t.text)
		}
	default:
		copy(column[int64](t.appender, c, n), from.Ints[lo:])
	}
}

// seriesWriter implements sqlkit.SeriesWriter, and sqlkit.Row behind the series'
// number.
type seriesWriter struct{ *appender }

// Series implements sqlkit.Loader.
func (l *loader) Series(tags *sqlkit.Tags) (sqlkit.SeriesWriter, error) {
	types := []duck.Type{duck.TypeUInteger}
	for i := range tags.Tags {
		if tags.Tags[i].Numeric() {
			types = append(types, duck.TypeDouble)
		} else {
			types = append(types, duck.TypeVarchar)
		}
	}
	a, err := newAppender(l.s, tags.Name, types)
	return &seriesWriter{a}, err
}

// Add implements sqlkit.SeriesWriter.
func (t *seriesWriter) Add(c *sqlkit.Claims, s uint32) (int64, error) {
	column[uint32](t.appender, 0, 1)[0] = s
	n, err := c.Put(s, t)
	if err != nil {
		return 0, err
	}
	return 4 + n, t.advance(1)
}

// Flush implements sqlkit.SeriesWriter.
func (t *seriesWriter) Flush(context.Context) (int64, error) { return 0, t.flush() }

// SetNull, SetFloat and SetText implement sqlkit.Row.
func (t *seriesWriter) SetNull(c int)             { t.setNull(1+c, 0) }
func (t *seriesWriter) SetFloat(c int, v float64) { column[float64](t.appender, 1+c, 1)[0] = v }
func (t *seriesWriter) SetText(c int, v []byte) {
	duck.VectorAssignStringElementLen(t.vectors[1+c], duck.IdxT(t.n), v)
}

package owndata_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// Decimals of BYTE_STREAM_SPLIT with NULLs on several pages are read as written
// (apache/arrow-go#1255: they were shifted by one).
func TestSplitDecimals(t *testing.T) {
	const rows = 2000
	for name, version := range map[string]parquet.DataPageVersion{"v1": parquet.DataPageV1, "v2": parquet.DataPageV2} {
		t.Run(name, func(t *testing.T) {
			d, h := array.NewDecimal128Builder(memory.DefaultAllocator, &arrow.Decimal128Type{Precision: 20, Scale: 2}), array.NewFloat16Builder(memory.DefaultAllocator)
			path := columnsFile(t, rows, []builtColumn{
				{"d", d, func(i int) { d.Append(decimal128.FromI64(int64(i))) }, 7}, {"h", h, func(i int) { h.Append(float16.New(float32(i % 100))) }, 5},
			}, parquet.WithDictionaryDefault(false), parquet.WithEncoding(parquet.Encodings.ByteStreamSplit), parquet.WithDataPageSize(512), parquet.WithBatchSize(64), parquet.WithDataPageVersion(version))
			lines := read(t, openOwn(t, "files="+path, "tags=none", "time=time", "fields=d:float, h:float32", "table=t"))
			for i, got := range lines {
				want := "t " + time.Unix(int64(i), 0).UTC().Format(time.RFC3339Nano)
				if i%7 != 0 {
					want += fmt.Sprintf(" d=%v", float64(i)/100)
				}
				if i%5 != 0 {
					want += fmt.Sprintf(" h=%d", i%100)
				}
				if got != want {
					t.Fatalf("row %d: got %s, want %s", i, got, want)
				}
			}
		})
	}
}

// builtColumn is a column of a Parquet file. Starting with the first row, every n-th value is NULL.
type builtColumn struct {
	name  string
	b     array.Builder
	value func(row int)
	nulls int
}

// columnsFile writes columns beside a time of one second per row, in INT64 milliseconds.
func columnsFile(t *testing.T, rows int, columns []builtColumn, of ...parquet.WriterProperty) string {
	t.Helper()
	times := array.NewTimestampBuilder(memory.DefaultAllocator, &arrow.TimestampType{Unit: arrow.Millisecond})
	for i := range rows {
		times.Append(arrow.Timestamp(i * 1000))
	}
	fields, arrays := []arrow.Field{{Name: "time", Type: times.Type()}}, []arrow.Array{times.NewArray()}
	for _, c := range columns {
		for i := range rows {
			if i%c.nulls == 0 {
				c.b.AppendNull()
			} else {
				c.value(i)
			}
		}
		fields, arrays = append(fields, arrow.Field{Name: c.name, Type: c.b.Type(), Nullable: true}), append(arrays, c.b.NewArray())
	}
	batch := array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, int64(rows))
	path := filepath.Join(t.TempDir(), "t.parquet")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w, err := pqarrow.NewFileWriter(batch.Schema(), out, parquet.NewWriterProperties(of...), pqarrow.DefaultWriterProps())
	if err == nil {
		err = w.Write(batch)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// INT96 holds all years: times that 64 bits of nanoseconds do not hold are refused with
// their row, at both ends, and do not disturb where their column is left out.
func TestINT96(t *testing.T) {
	const base = 2440588 // Julian day of 1970-01-01
	day := func(n int) (v parquet.Int96) {
		binary.LittleEndian.PutUint32(v[8:], uint32(base+n))
		return v
	}
	for name, c := range map[string]struct {
		day     int
		refused string
	}{
		"first": {-106751, ""}, "last": {106750, ""}, // 1677-09-22 and 2262-04-10
		"before": {-106753, "1677-09-20T00:00:00Z is outside the years"}, "after": {106752, "2262-04-12T00:00:00Z is outside the years"},
		"9999": {2932896, "9999-12-31T00:00:00Z is outside the years"}, "1000": {-354285, "1000-01-01T00:00:00Z is outside the years"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "t.parquet")
			root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, schema.FieldList{
				schema.NewInt96Node("time", parquet.Repetitions.Required, -1), schema.NewInt96Node("until", parquet.Repetitions.Optional, -1), schema.NewFloat64Node("v", parquet.Repetitions.Required, -1),
			}, -1)
			if err != nil {
				t.Fatal(err)
			}
			out, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			w := file.NewParquetWriter(out, root)
			g, err := w.AppendRowGroupChecked()
			if err != nil {
				t.Fatal(err)
			}
			for _, write := range []func(file.ColumnChunkWriter) error{
				func(c file.ColumnChunkWriter) error {
					_, err := c.(*file.Int96ColumnChunkWriter).WriteBatch([]parquet.Int96{day(0), day(1), day(2)}, nil, nil)
					return err
				},
				func(of file.ColumnChunkWriter) error {
					_, err := of.(*file.Int96ColumnChunkWriter).WriteBatch([]parquet.Int96{day(0), day(c.day)}, []int16{1, 0, 1}, nil)
					return err
				},
				func(c file.ColumnChunkWriter) error {
					_, err := c.(*file.Float64ColumnChunkWriter).WriteBatch([]float64{1, 2, 3}, nil, nil)
					return err
				},
			} {
				column, err := g.NextColumn()
				if err == nil {
					err = write(column)
				}
				if err == nil {
					err = column.Close()
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(g.Close(), w.Close()); err != nil {
				t.Fatal(err)
			}
			wantStrings(t, read(t, openOwn(t, "files="+path, "time=time", "fields=v:float"))[2:], "t 1970-01-03T00:00:00Z v=3")
			if c.refused == "" {
				lines := read(t, openOwn(t, "files="+path, "time=time"))
				wantStrings(t, lines[2:], fmt.Sprintf("t 1970-01-03T00:00:00Z until=%d v=3", int64(c.day)*24*60*60*1e9))
				return
			}
			for _, settings := range [][]string{{"time=time"}, {"time=until", "fields=v:float"}} {
				_, err := inspect(t, append(settings, "files="+path)...)
				if want := "t.parquet:row group 0:row 2: column until: " + c.refused; err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%v: got %v, want %q", settings, err, want)
				}
			}
		})
	}
}

package witness_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/tsmark/tsmark/internal/boundtest"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload/file/witness"
	"github.com/tsmark/tsmark/workload/file/witness/duckdb"
)

// readHostile reads a file of any bytes as Check does, in bounded time and memory: it ends in
// values to compare, or in one line.
func readHostile(t *testing.T, format string, content []byte) {
	path := filepath.Join(t.TempDir(), "t."+format)
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	f := &witness.File{Path: path, Format: format, Header: []string{"time", "v", "n", "s", "b", "d"}, HasHeader: true, Delimiter: ',', Time: "time", TimeFormat: "s", Loads: func(string) bool { return true }, Rows: 3}
	boundtest.Hold(t, func() {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		lines, err := witness.Compare(ctx, duckdb.Library(), f, sampleRows())
		if err != nil {
			t.Error(err)
		}
		for _, line := range lines {
			if strings.ContainsAny(line, "\n\r") {
				t.Errorf("not one line: %q", line)
			}
		}
	})
}

// sampleRows is a sample of three rows of all types.
func sampleRows() *witness.Sample {
	var b series.Batch
	run := b.Add(&series.Table{Name: "t", Fields: []series.Field{
		{Name: "v", Type: series.Float}, {Name: "n", Type: series.Int}, {Name: "s", Type: series.Text, Length: 1}, {Name: "b", Type: series.Bool}, {Name: "d", Type: series.Timestamp},
	}})
	run.Grow(3)
	copy(run.Times, []int64{1e9, 2e9, 3e9})
	clear(run.Series)
	s := witness.NewSample(1)
	s.Add(0, 0, &b)
	return s
}

func FuzzPoints(f *testing.F) {
	for _, text := range []string{"t v=1.50 1\nt n=1i,s=\"a\",b=true 2\nt v=3.5e0 3\n", "# DDL\nx\n# DML\n\ufefft,a=b\\ c v=1e-999999,n=0i 1\n", "t v=1"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, content []byte) { readHostile(t, witness.Points, content) })
}

func FuzzCSV(f *testing.F) {
	for _, text := range []string{"time,v,n,s,b,d\n1,1.5,1,a,true,2024-01-01\n2,,1e-999999,\"x\n\"\"\",,\n", "sep=,\ntime,v\n1e999999,1\n", "\x1f\x8b"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, content []byte) { readHostile(t, witness.CSV, content) })
}

func FuzzObjects(f *testing.F) {
	for _, text := range []string{"{\"time\":1,\"v\":1.5,\"n\":1e-999999,\"s\":\"a\\n\",\"b\":true}\n{\"time\":2}\n", "[{\"time\":1}]", "{\"time\":{\"a\":[1]}}\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, content []byte) { readHostile(t, witness.Objects, content) })
}

func FuzzArrow(f *testing.F) {
	fuzzDamaged(f, witness.Arrow, arrowFiles(f)...)
}

func FuzzParquet(f *testing.F) {
	var out bytes.Buffer
	record := records()
	defer record.Release()
	w, err := pqarrow.NewFileWriter(record.Schema(), &out, parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Zstd)), pqarrow.DefaultWriterProps())
	if err != nil {
		f.Fatal(err)
	}
	if err := w.Write(record); err != nil {
		f.Fatal(err)
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	fuzzDamaged(f, witness.Parquet, out.Bytes())
}

// records is a batch of three rows.
func records() arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "time", Type: arrow.PrimitiveTypes.Int64},
		{Name: "v", Type: &arrow.Decimal128Type{Precision: 10, Scale: 2}, Nullable: true},
		{Name: "n", Type: arrow.PrimitiveTypes.Int32},
		{Name: "s", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}},
		{Name: "b", Type: arrow.FixedWidthTypes.Boolean},
		{Name: "d", Type: arrow.FixedWidthTypes.Timestamp_ms},
	}, nil))
	defer b.Release()
	for i := range 3 {
		b.Field(0).(*array.Int64Builder).Append(int64(i + 1))
		b.Field(1).(*array.Decimal128Builder).Append(decimal128.FromI64(int64(i)))
		b.Field(2).(*array.Int32Builder).Append(int32(i))
		_ = b.Field(3).(*array.BinaryDictionaryBuilder).AppendString(string(rune('a' + i)))
		b.Field(4).(*array.BooleanBuilder).Append(i == 1)
		b.Field(5).(*array.TimestampBuilder).Append(arrow.Timestamp(i))
	}
	return b.NewRecordBatch()
}

// arrowFiles is the batch as files and streams, compressed and not.
func arrowFiles(t testing.TB) [][]byte {
	record := records()
	defer record.Release()
	var all [][]byte
	for _, options := range [][]ipc.Option{nil, {ipc.WithZstd()}, {ipc.WithLZ4()}} {
		options = append(options, ipc.WithSchema(record.Schema()))
		var file, stream bytes.Buffer
		w, err := ipc.NewFileWriter(&file, options...)
		if err != nil {
			t.Fatal(err)
		}
		s := ipc.NewWriter(&stream, options...)
		if err := errors.Join(w.Write(record), w.Close(), s.Write(record), s.Close()); err != nil {
			t.Fatal(err)
		}
		all = append(all, file.Bytes(), stream.Bytes())
	}
	return all
}

// fuzzDamaged damages whole files: bytes that a fuzzer makes up are hardly ever read further
// than to the first length.
func fuzzDamaged(f *testing.F, format string, files ...[]byte) {
	for seed := range uint64(20) {
		f.Add(seed, uint8(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, changes uint8) {
		random := rand.New(rand.NewPCG(seed, 5))
		content := bytes.Clone(files[random.IntN(len(files))])
		for range changes % 8 {
			boundtest.Damage(content, random)
		}
		readHostile(t, format, content)
	})
}

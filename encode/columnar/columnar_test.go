package columnar_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	pq "github.com/apache/arrow-go/v18/parquet"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"

	"github.com/tsmark/tsmark/encode/columnar"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// rows is a table's columns by name: per row an int64, a float64, a string or,
// for NULL, nil.
type rows struct {
	names  []string
	types  []string // as the format names them
	values [][]any
	groups int // row groups or record batches
}

// want returns the rows of a table as the batches have them.
func want(t *series.Table, batches []*series.Batch) rows {
	w := rows{names: []string{"time"}, values: make([][]any, 1+len(t.Tags)+len(t.Fields))}
	for i := range t.Tags {
		w.names = append(w.names, t.Tags[i].Key)
	}
	for _, f := range t.Fields {
		w.names = append(w.names, f.Name)
	}
	for _, b := range batches {
		for i := range b.Runs {
			run := &b.Runs[i]
			if run.Table != t {
				continue
			}
			for row, s := range run.Series {
				values := []any{run.Times[row]}
				for i := range t.Tags {
					text, has := t.Tags[i].Values.Append(nil, s)
					switch {
					case !has:
						values = append(values, nil)
					case t.Tags[i].Numeric():
						var x float64
						fmt.Sscan(string(text), &x)
						values = append(values, x)
					default:
						values = append(values, string(text))
					}
				}
				for i, f := range t.Fields {
					switch c := &run.Columns[i]; {
					case i >= t.Width(s) || c.Nulls.Has(row):
						values = append(values, nil)
					default:
						values = append(values, valueOf(f, c, row))
					}
				}
				for i, v := range values {
					w.values[i] = append(w.values[i], v)
				}
			}
		}
	}
	return w
}

// valueOf is a value as the files' readers return it.
func valueOf(f series.Field, c *series.Column, row int) any {
	switch f.Type {
	case series.Float:
		return c.Floats[row]
	case series.Float32:
		return float32(c.Floats[row])
	case series.Bool:
		return c.Ints[row] == 1
	case series.Int32, series.Date:
		return int32(c.Ints[row])
	case series.Text, series.Blob:
		return string(c.AppendText(nil, row, f.Length))
	}
	return c.Ints[row]
}

// checkEqual reports the first difference.
func checkEqual(t *testing.T, table string, got, want rows) {
	t.Helper()
	if strings.Join(got.names, ",") != strings.Join(want.names, ",") {
		t.Fatalf("%s: columns %q, want %q", table, got.names, want.names)
	}
	for i, name := range want.names {
		if len(got.values[i]) != len(want.values[i]) {
			t.Fatalf("%s: column %s has %d rows, want %d", table, name, len(got.values[i]), len(want.values[i]))
		}
		for row, w := range want.values[i] {
			g := got.values[i][row]
			if x, ok := g.(float64); ok && math.IsNaN(x) {
				if y, ok := w.(float64); ok && math.IsNaN(y) {
					continue
				}
			}
			if g != w {
				t.Fatalf("%s: column %s, row %d: %v (%T), want %v (%T)", table, name, row, g, g, w, w)
			}
		}
	}
}

// write returns the files that the batches make.
func write(t *testing.T, f columnar.Format, s *series.Schema, batches []*series.Batch, limit int) map[string][]byte {
	t.Helper()
	files := make(map[string]*bytes.Buffer)
	w, err := f.New(s, func(name string) (io.Writer, error) {
		files[name] = &bytes.Buffer{}
		return files[name], nil
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Limit(limit)
	for _, b := range batches {
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	data := make(map[string][]byte)
	for name, b := range files {
		data[name] = b.Bytes()
	}
	return data
}

func read(t *testing.T, format string, data []byte) rows {
	t.Helper()
	if format == "arrow" {
		return readArrow(t, data)
	}
	return readParquet(t, data)
}

func readParquet(t *testing.T, data []byte) rows {
	t.Helper()
	r, err := pqfile.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	schema := r.MetaData().Schema
	got := rows{groups: r.NumRowGroups(), values: make([][]any, schema.NumColumns())}
	for i := range schema.NumColumns() {
		c := schema.Column(i)
		got.names = append(got.names, c.Name())
		got.types = append(got.types, fmt.Sprint(c.PhysicalType(), " ", c.LogicalType()))
	}
	for g := range r.NumRowGroups() {
		group := r.RowGroup(g)
		for i := range schema.NumColumns() {
			column, err := group.Column(i)
			if err != nil {
				t.Fatal(err)
			}
			n := group.NumRows()
			levels := make([]int16, n)
			read := func(batch func() (int64, int, error), value func(int) any) {
				total, _, err := batch()
				if err != nil || total != n {
					t.Fatalf("column %s: %d of %d rows, %v", got.names[i], total, n, err)
				}
				at := 0
				for _, level := range levels {
					if level == 0 && i > 0 {
						got.values[i] = append(got.values[i], nil)
						continue
					}
					got.values[i] = append(got.values[i], value(at))
					at++
				}
			}
			switch column := column.(type) {
			case *pqfile.Int64ColumnChunkReader:
				values := make([]int64, n)
				read(func() (int64, int, error) { return column.ReadBatch(n, values, levels, nil) }, func(i int) any { return values[i] })
			case *pqfile.Float64ColumnChunkReader:
				values := make([]float64, n)
				read(func() (int64, int, error) { return column.ReadBatch(n, values, levels, nil) }, func(i int) any { return values[i] })
			case *pqfile.Int32ColumnChunkReader:
				values := make([]int32, n)
				read(func() (int64, int, error) { return column.ReadBatch(n, values, levels, nil) }, func(i int) any { return values[i] })
			case *pqfile.Float32ColumnChunkReader:
				values := make([]float32, n)
				read(func() (int64, int, error) { return column.ReadBatch(n, values, levels, nil) }, func(i int) any { return values[i] })
			case *pqfile.BooleanColumnChunkReader:
				values := make([]bool, n)
				read(func() (int64, int, error) { return column.ReadBatch(n, values, levels, nil) }, func(i int) any { return values[i] })
			case *pqfile.ByteArrayColumnChunkReader:
				values := make([]pq.ByteArray, n)
				read(func() (int64, int, error) { return column.ReadBatch(n, values, levels, nil) }, func(i int) any { return string(values[i]) })
			}
		}
	}
	return got
}

func readArrow(t *testing.T, data []byte) rows {
	t.Helper()
	r, err := ipc.NewFileReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got := rows{groups: r.NumRecords(), values: make([][]any, r.Schema().NumFields())}
	for _, f := range r.Schema().Fields() {
		got.names = append(got.names, f.Name)
		got.types = append(got.types, f.Type.String())
	}
	for i := range r.NumRecords() {
		batch, err := r.RecordBatch(i)
		if err != nil {
			t.Fatal(err)
		}
		for i, column := range batch.Columns() {
			for row := range column.Len() {
				var v any
				if column.IsValid(row) {
					switch c := column.(type) {
					case *array.Timestamp:
						v = int64(c.Value(row))
					case *array.Int64:
						v = c.Value(row)
					case *array.Float64:
						v = c.Value(row)
					case *array.Float32:
						v = c.Value(row)
					case *array.Int32:
						v = c.Value(row)
					case *array.Date32:
						v = int32(c.Value(row))
					case *array.Boolean:
						v = c.Value(row)
					case *array.String:
						v = c.Value(row)
					case *array.Binary:
						v = string(c.Value(row))
					case *array.Dictionary:
						v = c.Dictionary().(*array.String).Value(c.GetValueIndex(row))
					}
				}
				got.values[i] = append(got.values[i], v)
			}
		}
	}
	return got
}

// Reading returns the rows that were written, in all use cases.
func TestReadBack(t *testing.T) {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, use := range tsbs.Workloads() {
		dataset, err := use.Dataset(workload.Spec{Name: use.Name(), Seed: 123, Scale: 7, Start: start, End: start.Add(time.Hour), Interval: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		batches := batches(t, dataset, 300)
		for _, format := range columnar.Formats() {
			t.Run(format.Name+"/"+use.Name(), func(t *testing.T) {
				files := write(t, format, dataset.Schema(), batches, 999)
				if len(files) != len(dataset.Schema().Tables) {
					t.Fatalf("%d files, want one a table", len(files))
				}
				nulls := 0
				for _, table := range dataset.Schema().Tables {
					got, want := read(t, format.Name, files[table.Name+"."+format.Name]), want(table, batches)
					checkEqual(t, table.Name, got, want)
					if rows := len(want.values[0]); got.groups != (rows+998)/999 {
						t.Errorf("%s: %d rows in %d groups", table.Name, rows, got.groups)
					}
					for _, column := range want.values {
						for _, v := range column {
							if v == nil {
								nulls++
							}
						}
					}
				}
				if ragged := use.Name() == "iot" || use.Name() == "devops-generic"; ragged != (nulls > 0) {
					t.Errorf("%d NULLs: the use case does not test NULLs", nulls)
				}
				for name, again := range write(t, format, dataset.Schema(), batches, 999) {
					if !bytes.Equal(again, files[name]) {
						t.Errorf("%s differs when it is written again", name)
					}
				}
			})
		}
	}
}

// listed is the values of a tag; an empty one is absent.
type listed []string

func (l listed) Append(dst []byte, s uint32) ([]byte, bool) { return append(dst, l[s]...), l[s] != "" }

// odd returns a dataset with features that the use cases lack.
func odd() (*series.Schema, []*series.Batch) {
	full := &series.Table{
		Name: "full",
		Tags: []series.Tag{
			{Key: "name", Values: listed{"čaj ☕", "", "x"}},
			{Key: "size", Type: series.Float, Values: listed{"", "1.5", "-3e9"}},
			{Key: "none", Values: listed{"", "", ""}},
			{Key: "no number", Type: series.Float, Values: listed{"", "", ""}},
		},
		Fields: []series.Field{{Name: "i", Type: series.Int}, {Name: "f", Type: series.Float}, {Name: "null", Type: series.Float}},
		Widths: []uint32{3, 1, 3},
	}
	empty := &series.Table{Name: "empty", Tags: full.Tags, Fields: full.Fields}
	bare := &series.Table{Name: "bare", Fields: []series.Field{{Name: "i", Type: series.Int}}}
	b := &series.Batch{}
	run := b.Add(full)
	run.Grow(6)
	copy(run.Series, []uint32{0, 1, 2, 1, 2, 0})
	copy(run.Times, []int64{-1, math.MinInt64, math.MaxInt64, 0, 1, 1})
	copy(run.Columns[0].Ints, []int64{math.MinInt64, math.MaxInt64, 0, -1, 1, 7})
	copy(run.Columns[1].Floats, []float64{math.NaN(), 99, math.Inf(1), 99, math.Inf(-1), math.SmallestNonzeroFloat64})
	run.SetNull(0, 4)
	run.SetNull(1, 3) // beyond the width, as a generator may leave it
	for row := range 6 {
		run.SetNull(2, row)
	}
	one := b.Add(bare)
	one.Grow(1)
	one.Series[0], one.Times[0], one.Columns[0].Ints[0] = 2, 5, 5
	return &series.Schema{Tables: []*series.Table{full, empty, bare}, Series: 3}, []*series.Batch{b}
}

func TestReadBackOdd(t *testing.T) {
	schema, batches := odd()
	types := map[string]string{
		"parquet": "INT64 Timestamp(isAdjustedToUTC=true, timeUnit=nanoseconds, is_from_converted_type=false, force_set_converted_type=false) BYTE_ARRAY String DOUBLE None BYTE_ARRAY String DOUBLE None INT64 None DOUBLE None DOUBLE None",
		"arrow": "timestamp[ns, tz=UTC] dictionary<values=utf8, indices=int32, ordered=false> float64 " +
			"dictionary<values=utf8, indices=int32, ordered=false> float64 int64 float64 float64",
	}
	for _, format := range columnar.Formats() {
		for _, limit := range []int{1, 4, 1000} {
			files := write(t, format, schema, batches, limit)
			for _, table := range schema.Tables {
				got := read(t, format.Name, files[table.Name+"."+format.Name])
				checkEqual(t, table.Name, got, want(table, batches))
				if types := types[format.Name]; len(table.Tags) > 0 && strings.Join(got.types, " ") != types {
					t.Errorf("%s: types %q, want %q", table.Name, strings.Join(got.types, " "), types)
				}
			}
		}
	}
}

// A Parquet column of a tag may lack statistics, but not have wrong ones.
func TestParquetCountsNulls(t *testing.T) {
	schema, batches := odd()
	data := write(t, columnar.Formats()[0], schema, batches, 1000)["full.parquet"]
	r, err := pqfile.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	want := want(schema.Tables[0], batches)
	for i, values := range want.values {
		chunk, err := r.MetaData().RowGroup(0).ColumnChunk(i)
		if err != nil {
			t.Fatal(err)
		}
		stats, err := chunk.Statistics()
		if err != nil {
			t.Fatal(err)
		}
		nulls := 0
		for _, v := range values {
			if v == nil {
				nulls++
			}
		}
		if stats != nil && stats.HasNullCount() && stats.NullCount() != int64(nulls) {
			t.Errorf("column %s: %d NULLs, want %d", want.names[i], stats.NullCount(), nulls)
		}
	}
}

type failing struct {
	after int
	err   error
}

func (f *failing) Write(p []byte) (int, error) {
	if f.after -= len(p); f.after < 0 {
		return 0, f.err
	}
	return len(p), nil
}

// An output that fails at any place is noticed.
func TestFailingOutput(t *testing.T) {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	dataset, err := tsbs.CPUOnly().Dataset(workload.Spec{Name: "cpu-only", Seed: 1, Scale: 100, Start: start, End: start.Add(time.Hour), Interval: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	batches := batches(t, dataset, 1024)
	full := errors.New("no space left")
	for _, format := range columnar.Formats() {
		size := 0
		for _, data := range write(t, format, dataset.Schema(), batches, 9999) {
			size += len(data)
		}
		for _, after := range []int{0, size / 3, size - 1, size} {
			w, err := format.New(dataset.Schema(), func(string) (io.Writer, error) { return &failing{after, full}, nil })
			if err != nil {
				t.Fatal(err)
			}
			w.Limit(9999)
			for _, b := range batches {
				if err = w.Write(b); err != nil {
					break
				}
			}
			if err == nil {
				err = w.Close()
			}
			if after == size {
				if err != nil {
					t.Errorf("%s: %v although all of it fits", format.Name, err)
				}
			} else if !errors.Is(err, full) {
				t.Errorf("%s: error %v after %d of %d bytes, want %v", format.Name, err, after, size, full)
			}
		}
	}
}

func TestNewRefuses(t *testing.T) {
	field := series.Field{Name: "f", Type: series.Int}
	for problem, table := range map[string]*series.Table{
		`table t would have two columns "f"`:               {Name: "t", Fields: []series.Field{field, field}},
		`table t would have two columns "time"`:            {Name: "t", Tags: []series.Tag{{Key: "time", Values: listed{"a"}}}},
		`tag n of table t: a numeric tag must be a number`: {Name: "t", Tags: []series.Tag{{Key: "n", Type: series.Float, Values: listed{"a"}}}},
		`no such place`: {Name: "t"},
	} {
		for _, format := range columnar.Formats() {
			_, err := format.New(&series.Schema{Tables: []*series.Table{table}, Series: 1}, func(string) (io.Writer, error) { return nil, errors.New("no such place") })
			if err == nil || !strings.Contains(err.Error(), problem) {
				t.Errorf("%s: error %v, want %q", format.Name, err, problem)
			}
		}
	}
}

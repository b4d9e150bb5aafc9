package ingest_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/ingest"
	"github.com/tsmark/tsmark/workload/owndata"
	"github.com/tsmark/tsmark/workload/tsbs"
)

func formats() []string { return []string{"influx", "timescaledb"} }

// forEachDataset returns the datasets of TSBS's use cases, of hosts that begin late
// and trucks whose rows come late or lack a field or a tag.
func forEachDataset(t testing.TB, each func(name string, d workload.Dataset)) {
	for _, name := range []string{"cpu-only", "devops", "iot", "devops-generic"} {
		start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
		spec := workload.Spec{Name: name, Seed: 7, Scale: 20, InitialScale: 10, Start: start, End: start.Add(20 * time.Minute), Interval: 10 * time.Second, MaxMetrics: 30}
		if name != "devops-generic" {
			spec.MaxMetrics = 0
		}
		if name == "iot" {
			spec.InitialScale = 0
		}
		for _, w := range tsbs.Workloads() {
			if w.Name() != name {
				continue
			}
			d, err := w.Dataset(spec)
			if err != nil {
				t.Fatal(err)
			}
			each(name, d)
		}
	}
}

// text returns the dataset in a format.
func text(t testing.TB, d workload.Dataset, format string) []byte {
	e := encoder(t, format, d.Schema())
	out := e.AppendHeader(nil)
	return append(out, rowsText(t, d.Open(), e, 1000)...)
}

// rowsText reads all rows in batches of at most max rows.
func rowsText(t testing.TB, r workload.Reader, e encode.Encoder, max int) []byte {
	t.Helper()
	var out []byte
	var b series.Batch
	for {
		err := r.Next(&b, max)
		if errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		if n := b.Rows(); n == 0 || n > max {
			t.Fatalf("a batch of %d rows, want at most %d", n, max)
		}
		out = e.Append(out, &b)
	}
}

func file(t testing.TB, name string, content []byte) string {
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t testing.TB, path string, stdin []byte) *ingest.Source {
	t.Helper()
	s, err := ingest.Open(path, bytes.NewReader(stdin))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func dataset(t testing.TB, s *ingest.Source, schema *series.Schema) *ingest.Dataset {
	t.Helper()
	return s.Dataset(schema, 0)
}

// schemaOf is the schema that the workload own finds in a text.
func schemaOf(t testing.TB, content string) *series.Schema {
	t.Helper()
	w := owndata.Workload(nil)
	d, err := w.Dataset(workload.Spec{Name: w.Name(), Settings: workload.Settings{"own.files": file(t, "x", []byte(content))}})
	if err != nil {
		t.Fatal(err)
	}
	return d.Schema()
}

// Reading a file with the schema of the dataset it holds returns that dataset, row by row, for any
// batch size.
func TestKnownDatasetIsReadBack(t *testing.T) {
	forEachDataset(t, func(name string, d workload.Dataset) {
		for _, format := range formats() {
			want := text(t, d, format)
			path := file(t, "x", want)
			for _, max := range []int{1, 7, 1000, 1 << 20} {
				t.Run(fmt.Sprint(name, "/", format, "/", max), func(t *testing.T) {
					got := dataset(t, open(t, path, nil), d.Schema())
					e := encoder(t, format, d.Schema())
					if back := append(e.AppendHeader(nil), rowsText(t, got.Open(), e, max)...); !bytes.Equal(back, want) {
						t.Errorf("differs from %s", difference(back, want))
					}
				})
			}
		}
	})
}

func encoder(t testing.TB, format string, s *series.Schema) encode.Encoder {
	formats := encode.Formats()
	e, err := formats[slices.IndexFunc(formats, func(f encode.Format) bool { return f.Name == format })].New(s)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// difference shows the first lines that differ.
func difference(got, want []byte) string {
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range w {
		if i >= len(g) || g[i] != w[i] {
			return fmt.Sprintf("line %d of %d (got %d):\n%s\nwant\n%s", i+1, len(w), len(g), g[min(i, len(g)-1)], w[i])
		}
	}
	return "something longer"
}

// Files are told by their bytes, not by their names; lines pass as they are.
func TestCompressedLines(t *testing.T) {
	forEachDataset(t, func(name string, d workload.Dataset) {
		for _, format := range formats() {
			plain := text(t, d, format)
			header := encoder(t, format, d.Schema()).AppendHeader(nil)
			var gz, zst bytes.Buffer
			g := gzip.NewWriter(&gz)
			g.Write(plain)
			g.Close()
			z, _ := zstd.NewWriter(&zst)
			z.Write(plain)
			z.Close()
			for how, content := range map[string][]byte{"plain": plain, "gz": gz.Bytes(), "zst": zst.Bytes()} {
				for _, path := range []string{"-", file(t, "x", content)} {
					for _, max := range []int{1, 999, 1 << 20} {
						s := open(t, path, content)
						if string(s.Format()) != format {
							t.Errorf("%s: format %s, want %s", name, s.Format(), format)
						}
						l, err := s.Lines()
						if err != nil {
							t.Fatal(err)
						}
						got := header
						rows := 0
						var c ingest.Chunk
						for {
							err := l.Next(&c, max)
							if errors.Is(err, io.EOF) {
								break
							} else if err != nil {
								t.Fatal(err)
							}
							if c.Rows == 0 || c.Rows > max {
								t.Fatalf("%d rows in a chunk of at most %d", c.Rows, max)
							}
							rows += c.Rows
							for _, part := range c.Text {
								got = append(got, part...)
							}
						}
						lines := bytes.Count(plain[len(header):], []byte("\n"))
						if format == "timescaledb" {
							lines /= 2
						}
						if !bytes.Equal(got, plain) || rows != lines {
							t.Errorf("%s %s %s: %d bytes in %d rows, want %d in %d", name, format, how, len(got), rows, len(plain), lines)
						}
					}
				}
			}
		}
	})
}

// read returns the rows of a text as line protocol, or the error.
func read(t testing.TB, content string, schema *series.Schema, skip int64) (string, *ingest.Tally, error) {
	s, err := ingest.Open("-", strings.NewReader(content))
	if err != nil {
		return "", nil, err
	}
	d := s.Dataset(schema, skip)
	e := encode.NewLineProtocol(d.Schema())
	var out []byte
	var b series.Batch
	r := d.Read()
	defer r.Close()
	for {
		err := r.Next(&b, 3)
		if errors.Is(err, io.EOF) {
			return string(out), r.Tally(), nil
		} else if err != nil {
			return string(out), nil, err
		}
		out = e.Append(out, &b)
	}
}

const influx = "" +
	"cpu,host=a,zone=z user=1i,load=0.5 1451606400000000000\n" +
	"cpu,host=b user=-2i 1451606400000000000\n" +
	"mem free=10i 1451606400000000000\n" +
	"cpu,host=a,zone=z user=3i,load=25,idle=9i 1451606410000000000\n"

const timescaledb = "" +
	"tags,host string,size float32\n" +
	"cpu,user,load\n" +
	"mem,free\n" +
	"\n" +
	"tags,host=a,size=2\ncpu,1451606400000000000,1,0.5\n" +
	"tags,host=b,size=\ncpu,1451606400000000000,-2,\n" +
	"tags,host=a,size=2,disk=x\nmem,1451606400000000000,10\n"

// A malformed line stops the reading with its number, its first bytes and the error; or it is
// skipped and counted.
func TestBadLines(t *testing.T) {
	tests := []struct{ name, from, old, new, want string }{
		{"cut time", influx, "user=-2i 1451606400000000000", "user=-2i 145160", `line 2: the time "145160" has fewer digits than the first row's: the line was cut: "cpu,host=b user=-2i 145160"`},
		{"cut before time", influx, "user=-2i 1451606400000000000", "user=-2i", `line 2: the row has no time: "cpu,host=b user=-2i"; fix the file, or skip such lines with --skip-bad-lines N`},
		{"cut in a value", influx, "user=-2i 1451606400000000000", "user=", `line 2: the row has no time: "cpu,host=b user="`},
		{"cut in a key", influx, "user=-2i 1451606400000000000", "us", `line 2: the line has no fields behind its tags; note`},
		{"cut in the tags", influx, "cpu,host=b user=-2i 1451606400000000000", "cpu,ho", `line 2: the line has no blank behind its measurement and tags, so it is not line protocol: "cpu,ho"`},
		{"empty line", influx, "mem free", "\nmem free", `line 3: the line has no blank behind its measurement and tags, so it is not line protocol: ""`},
		{"two lines in one", influx, "10i 1451606400000000000\n", "10i 14516", `line 3: column time: "14516cpu,host=a,zone=z user=3i,`},
		{"no fields", influx, "user=-2i ", "", `line 2: the line has no fields behind its tags; note`},
		{"boolean", influx, "free=10i", `free=yes`, `line 3: column free: "yes" is not an integer such as 1i`},
		{"string", influx, "free=10i", `free="ten"`, `line 3: column free: "\"ten\"" is not an integer such as 1i`},
		{"hexadecimal", influx, "load=25", `load=0x19`, `line 4: column load: "0x19" is not of type float`},
		{"too large", influx, "free=10i", "free=9223372036854775808i", `line 3: column free: 9223372036854775808i is outside the range of that suffix`},
		{"field twice", influx, "idle=9i", "user=9i", `line 4: the line has field user twice`},
		{"types differ", influx, "load=25", "load=25i", `line 4: column load: "25i" is not a decimal number`},
		{"tag without value", influx, "cpu,host=b", "cpu,host", `line 2: the dataset has no series with these tags; check the flags`},
		{"tag twice", influx, "cpu,host=b", "cpu,host=b,host=c", `line 2: the dataset has no series with these tags; check the flags`},
		{"escape", influx, "cpu,host=b", `cpu,host=b\`, `line 2: the line has no fields behind its tags; note`},
		{"cut off", influx, "9i 1451606410000000000\n", "9i 1451606410000000000", `line 4: the source ends in the middle of a line`},

		{"values twice", timescaledb, "tags,host=b,size=\n", "", `line 7: a row begins with a line of tags, not with "cpu,1451606400000000000,-2,"`},
		{"tags twice", timescaledb, "cpu,1451606400000000000,-2,\n", "", `line 7: a line of tags has no line of values behind it: "tags,host=b,size="`},
		{"cut time", timescaledb, "cpu,1451606400000000000,-2,", "cpu,14516", `line 8: the line has no table, time and values: "cpu,14516"`},
		{"cut time and values", timescaledb, "cpu,1451606400000000000,-2,", "cpu,14516,-2,", `line 8: the time "14516" has fewer digits`},
		{"too many values", timescaledb, "-2,\n", "-2,,4\n", `line 8: 3 values, where other rows of the series have 2`},
		{"no number", timescaledb, ",10\n", ",1x\n", `line 10: column free: "1x" is not of type int`},
		{"other table", timescaledb, "mem,145", "net,145", `line 9: the dataset has no table "net"`},
		{"numeric tag", timescaledb, "b,size=", "b,size=x", `line 7: the dataset has no series with these tags; check the flags`},
		{"cut off", timescaledb, "000,10\n", "000,1", `line 9: a line of tags has no line of values behind it`},
		{"tags at the end", timescaledb, "mem,1451606400000000000,10\n", "", `line 9: a line of tags has no line of values behind it`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if strings.Count(tt.from, tt.old) == 0 {
				t.Fatal("the text is not there")
			}
			i := strings.LastIndex(tt.from, tt.old)
			bad := tt.from[:i] + tt.new + tt.from[i+len(tt.old):]
			schema := schemaOf(t, tt.from)
			_, _, err := read(t, bad, schema, 0)
			var at *ingest.LineError
			if !errors.As(err, &at) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("got %v\nwant %s", err, tt.want)
			}
			_, tally, err := read(t, bad, schema, 2)
			if err != nil {
				t.Fatalf("skipping: %v", err)
			}
			if tally.Skipped < 1 || tally.Rows < 2 {
				t.Errorf("%d skipped, %d rows", tally.Skipped, tally.Rows)
			}
		})
	}
}

// With the schema of a dataset, rows that do not belong to it stop the reading.
func TestRowsOfOtherDatasets(t *testing.T) {
	forEachDataset(t, func(name string, d workload.Dataset) {
		if name != "cpu-only" {
			return
		}
		whole := string(text(t, d, "influx"))
		for old, want := range map[string]string{
			"hostname=host_3,": "the dataset has no series with these tags; check the flags",
			"cpu,hostname":     `the dataset has no table "cpx"`,
			"usage_user=":      `table cpu has no field "xsage_user" in this dataset`,
			"i,usage_system":   `is not an integer such as 1i`,
		} {
			at := strings.LastIndex(whole, old)
			bad := map[string]string{"hostname=host_3,": "hostname=host_99,", "cpu,hostname": "cpx,hostname", "usage_user=": "xsage_user=", "i,usage_system": ",usage_system"}[old]
			line := strings.Count(whole[:at], "\n") + 1
			_, _, err := read(t, whole[:at]+bad+whole[at+len(old):], d.Schema(), 0)
			if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), fmt.Sprintf("line %d:", line)) {
				t.Errorf("got %v\nwant line %d: %s", err, line, want)
			}
		}
	})
}

func TestBadSources(t *testing.T) {
	schema := schemaOf(t, influx)
	for content, want := range map[string]string{
		"":                            "standard input: is empty",
		"hello\n":                     "line 1 is neither influx nor timescaledb format",
		"tags,a=b\ncpu,1,2\n":         "has no header",
		"tags,a string\ncpu,x\n":      "the header of its timescaledb format has no end",
		"\x1f\x8b\x08\x00":            "its compressed data is cut off",
		"tags,a string\ncpu,x\n\ntag": "line 4",
	} {
		if _, _, err := read(t, content, schema, 0); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: got %v, want %s", content, err, want)
		}
	}
	if _, err := ingest.Open(t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "is a folder") {
		t.Error(err)
	}
	if _, err := ingest.Open("/no/such", nil); err == nil || !strings.Contains(err.Error(), "cannot read /no/such: no such file") {
		t.Error(err)
	}
}

// A compressed file that was cut is found out.
func TestCutCompressedFile(t *testing.T) {
	forEachDataset(t, func(name string, d workload.Dataset) {
		plain := text(t, d, "influx")
		var gz bytes.Buffer
		g := gzip.NewWriter(&gz)
		g.Write(plain)
		g.Close()
		_, _, err := read(t, string(gz.Bytes()[:gz.Len()/2]), d.Schema(), 5)
		if err == nil || !strings.Contains(err.Error(), "its compressed data is cut off") {
			t.Errorf("%s: %v", name, err)
		}
	})
}

// Numbers come back as they were, down to the bit.
func TestNumbers(t *testing.T) {
	schema := &series.Schema{Series: 1, Tables: []*series.Table{{Name: "n", Fields: []series.Field{{Name: "i", Type: series.Int}, {Name: "f", Type: series.Float}}}}}
	var b series.Batch
	run := b.Add(schema.Tables[0])
	ints := []int64{0, 1, -1, math.MaxInt64, math.MinInt64, 999999999999999999, 1000000000000000000}
	floats := []float64{0, math.Copysign(0, -1), 0.1, -52.31854, 1e21, math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(1), math.Inf(-1), math.NaN(), 123456789012345, 1234567890123456, 0.000001, 1.0 / 3}
	run.Grow(len(ints) * len(floats))
	for i := range run.Times {
		run.Times[i], run.Series[i] = 1451606400000000000, 0
		run.Columns[0].Ints[i], run.Columns[1].Floats[i] = ints[i%len(ints)], floats[i/len(ints)]
	}
	for _, format := range formats() {
		e := encoder(t, format, schema)
		content := e.Append(e.AppendHeader(nil), &b)
		r := dataset(t, open(t, "-", content), schema).Open()
		var got series.Batch
		if err := r.Next(&got, 1<<20); err != nil {
			t.Fatal(err)
		}
		for i := range run.Times {
			c := got.Runs[0].Columns
			if c[0].Ints[i] != run.Columns[0].Ints[i] || math.Float64bits(c[1].Floats[i]) != math.Float64bits(run.Columns[1].Floats[i]) {
				t.Errorf("%s: got %d, %v; want %d, %v", format, c[0].Ints[i], c[1].Floats[i], run.Columns[0].Ints[i], run.Columns[1].Floats[i])
			}
		}
	}
}

// A byte order mark at the beginning, as some editors write it, does not become part of a table's
// name.
func TestByteOrderMark(t *testing.T) {
	var gz bytes.Buffer
	for name, content := range map[string]string{"influx": "cpu,host=a f=1i 1451606400000000000\ncpu,host=b f=2i 1451606400000000001\n", "timescaledb": "tags,host string\ncpu,f\n\ntags,host=a\ncpu,1451606400000000000,1\ntags,host=b\ncpu,1451606400000000001,2\n"} {
		schema := schemaOf(t, content)
		marked := []byte("\ufeff" + content)
		gz.Reset()
		z := gzip.NewWriter(&gz)
		z.Write(marked)
		z.Close()
		open := map[string]func() (*ingest.Source, error){
			"plain":  func() (*ingest.Source, error) { return ingest.Open(file(t, "x", marked), nil) },
			"gzip":   func() (*ingest.Source, error) { return ingest.Open(file(t, "x.gz", gz.Bytes()), nil) },
			"stream": func() (*ingest.Source, error) { return ingest.Open("-", bytes.NewReader(marked)) },
		}
		for how, open := range open {
			source, err := open()
			if err != nil {
				t.Fatalf("%s, %s: %v", name, how, err)
			}
			r := source.Dataset(schema, 0).Read()
			var b series.Batch
			for r.Next(&b, 10) == nil {
			}
			tally := r.Tally()
			if tally.Rows != 2 {
				t.Errorf("%s, %s: %+v", name, how, tally)
			}
			r.Close()
		}
	}
}

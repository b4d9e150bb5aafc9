package ingest_test

import (
	"bytes"
	"context"
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

// rowsText reads everything in batches of at most so many rows.
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
			t.Fatalf("a batch of %d rows, at most %d were asked for", n, max)
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
	d, err := s.Dataset(context.Background(), ingest.Options{Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// What is read with the schema of the dataset that a file holds is that
// dataset, row by row, whatever the batches are.
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

// So is what is read without knowing the dataset: every row, value and tag.
func TestUnknownDatasetIsReadBack(t *testing.T) {
	forEachDataset(t, func(name string, d workload.Dataset) {
		for _, format := range formats() {
			content := text(t, d, format)
			for _, from := range []string{"file", "-"} {
				t.Run(fmt.Sprint(name, "/", format, "/", from), func(t *testing.T) {
					path := from
					if from == "file" {
						path = file(t, "x", content)
					}
					want := content
					got := dataset(t, open(t, path, want), nil)
					e := encoder(t, format, got.Schema())
					back := append(e.AppendHeader(nil), rowsText(t, got.Open(), e, 1000)...)
					if format == "timescaledb" {
						// Rows of devops-generic end where their series ends; here they have NULLs.
						back, want = withoutTrailingCommas(back), withoutTrailingCommas(want)
					}
					if !bytes.Equal(back, want) {
						t.Errorf("differs from %s", difference(back, want))
					}
					wantSeries(t, d, got)
				})
			}
		}
	})
}

// wantSeries compares the rows counted.
func wantSeries(t *testing.T, d workload.Dataset, got *ingest.Dataset) {
	t.Helper()
	rows := int64(0)
	var b series.Batch
	for r := d.Open(); r.Next(&b, 1000) == nil; {
		rows += int64(b.Rows())
	}
	if got.Rows() != rows {
		t.Errorf("%d rows, want %d", got.Rows(), rows)
	}
}

func withoutTrailingCommas(text []byte) []byte {
	lines := strings.Split(string(text), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, ",")
	}
	return []byte(strings.Join(lines, "\n"))
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
	d, err := s.Dataset(context.Background(), ingest.Options{Schema: schema, SkipBad: skip})
	if err != nil {
		return "", nil, err
	}
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

// A line that is no row stops the reading with its number, its first bytes and
// what is wrong; or it is passed over and counted.
func TestBadLines(t *testing.T) {
	tests := []struct{ name, from, old, new, want string }{
		{"cut time", influx, "user=-2i 1451606400000000000", "user=-2i 145160", `line 2: the time "145160" has fewer digits than the first row's: the line was cut: "cpu,host=b user=-2i 145160"`},
		{"cut before time", influx, "user=-2i 1451606400000000000", "user=-2i", `line 2: no time after the fields: "cpu,host=b user=-2i"`},
		{"cut in a value", influx, "user=-2i 1451606400000000000", "user=", `line 2: no time after the fields`},
		{"cut in a key", influx, "user=-2i 1451606400000000000", "us", `line 2: "us" is no field=value`},
		{"cut in the tags", influx, "cpu,host=b user=-2i 1451606400000000000", "cpu,ho", `line 2: no space between tags and fields: "cpu,ho"`},
		{"empty line", influx, "mem free", "\nmem free", `line 3: no space between tags and fields: ""`},
		{"two lines in one", influx, "10i 1451606400000000000\n", "10i 14516", `line 3: the time "14516cpu,host=a,zone=z user=3i,`},
		{"no fields", influx, "user=-2i ", "", `line 2: "1451606400000000000" is no field=value`},
		{"boolean", influx, "free=10i", `free=yes`, `line 3: field free: "yes" is neither`},
		{"string", influx, "free=10i", `free="ten"`, `line 3: field free: "ten" is a string, which is only read of a dataset that tsmark knows`},
		{"hexadecimal", influx, "load=25", `load=0x19`, `line 4: field load: "0x19" is neither`},
		{"too large", influx, "free=10i", "free=9223372036854775808i", `line 3: field free`},
		{"field twice", influx, "idle=9i", "user=9i", `line 4: field "user" is there twice`},
		{"types differ", influx, "load=25", "load=25i", `line 4: field load is of type int, where earlier rows have float`},
		{"tag without value", influx, "cpu,host=b", "cpu,host", `line 2: the tag "host" is no key=value`},
		{"tag twice", influx, "cpu,host=b", "cpu,host=b,host=c", `line 2: the tag "host" is there twice`},
		{"escape", influx, "cpu,host=b", `cpu,host=b\`, `line 2: the tag "host=b\\" has an escape`},
		{"cut off", influx, "9i 1451606410000000000\n", "9i 1451606410000000000", `line 4: the source ends in the middle of a line`},

		{"values twice", timescaledb, "tags,host=b,size=\n", "", `line 7: a row begins with a line of tags: "cpu,1451606400000000000,-2,"`},
		{"tags twice", timescaledb, "cpu,1451606400000000000,-2,\n", "", `line 7: no line of values after these tags: "tags,host=b,size="`},
		{"cut time", timescaledb, "cpu,1451606400000000000,-2,", "cpu,14516", `line 8: no values after the time: "cpu,14516"`},
		{"cut time and values", timescaledb, "cpu,1451606400000000000,-2,", "cpu,14516,-2,", `line 8: the time "14516" has fewer digits`},
		{"too many values", timescaledb, "-2,\n", "-2,,4\n", `line 7: 3 values, where the header names 2 fields`},
		{"no number", timescaledb, ",10\n", ",1x\n", `line 10: "1x" is no number`},
		{"other table", timescaledb, "mem,145", "net,145", `line 10: the header has no table "net"`},
		{"numeric tag", timescaledb, "b,size=", "b,size=x", `line 7: the tag "size=x" is no number`},
		{"cut off", timescaledb, "000,10\n", "000,1", `line 10: the source ends in the middle of a line; generate or copy it again: "mem,1451606400000000000,1"`},
		{"tags at the end", timescaledb, "mem,1451606400000000000,10\n", "", `line 9: the source ends after a row's tags`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if strings.Count(tt.from, tt.old) == 0 {
				t.Fatal("the text is not there")
			}
			i := strings.LastIndex(tt.from, tt.old)
			bad := tt.from[:i] + tt.new + tt.from[i+len(tt.old):]
			_, _, err := read(t, bad, nil, 0)
			var at *ingest.LineError
			if !errors.As(err, &at) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
				t.Fatalf("got %v\nwant %s", err, tt.want)
			}
			_, tally, err := read(t, bad, nil, 2)
			if err != nil {
				t.Fatalf("skipping: %v", err)
			}
			if tally.Skipped < 1 || tally.Rows < 2 {
				t.Errorf("%d skipped, %d rows", tally.Skipped, tally.Rows)
			}
		})
	}
}

func TestUnknownSchema(t *testing.T) {
	for from, want := range map[string]string{
		influx:      "cpu(host text, zone text; user int, load float, idle int) mem(; free int) 3 series",
		timescaledb: "cpu(host text, size float; user int, load float) mem(host text, size float, disk text; free int) 3 series",
	} {
		d := dataset(t, open(t, "-", []byte(from)), nil)
		var got []string
		for _, table := range d.Schema().Tables {
			var tags, fields []string
			for _, tag := range table.Tags {
				typ := series.Text
				if tag.Numeric() {
					typ = series.Float
				}
				tags = append(tags, tag.Key+" "+typ.String())
			}
			for _, f := range table.Fields {
				fields = append(fields, f.Name+" "+f.Type.String())
			}
			got = append(got, fmt.Sprintf("%s(%s; %s)", table.Name, strings.Join(tags, ", "), strings.Join(fields, ", ")))
		}
		if s := fmt.Sprintf("%s %d series", strings.Join(got, " "), d.Schema().Series); s != want {
			t.Errorf("got  %s\nwant %s", s, want)
		}
	}
}

// Fields find their places whatever rows leave out first.
func TestFieldsKeepTheirOrder(t *testing.T) {
	d := dataset(t, open(t, "-", []byte("r b=1,d=1 5\nr a=1,c=1,d=1 5\nr b=1,c=1 6\n")), nil)
	var names []string
	for _, f := range d.Schema().Tables[0].Fields {
		names = append(names, f.Name)
	}
	if got := strings.Join(names, ""); got != "acbd" && got != "abcd" {
		t.Errorf("fields %s", got)
	}
	got, _, err := read(t, "r b=1,d=1 5\nr a=1,c=1,d=1 5\nr b=1,c=1 6\n", nil, 0)
	if err != nil || strings.Count(got, "=1") != 7 {
		t.Errorf("%v, %q", err, got)
	}
}

// With the schema of a dataset, what is not of it stops the reading.
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
			"i,usage_system":   `is a float, where other rows have an integer`,
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
	for content, want := range map[string]string{
		"":                             "standard input: is empty",
		"hello\n":                      "line 1 is neither influx nor timescaledb format",
		"tags,a=b\ncpu,1,2\n":          "has no header",
		"tags,a string\ncpu,x\n":       "the header of its timescaledb format has no end",
		"\x1f\x8b\x08\x00":             "its compressed data is cut off",
		"tags,a string\ncpu,x\n\ntag":  "line 4",
		"tags,a blob\ncpu,x\n\ntags\n": "the header gives tag \"a\" the type \"blob\"",
	} {
		if _, _, err := read(t, content, nil, 0); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
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

// many returns a file of influx format with as many fields, or tables, and the
// names of its fields in another order in each row.
func many(fields, tables int) []byte {
	var out []byte
	for row := range 4 {
		for table := range tables {
			out = fmt.Appendf(out, "t%d,host=a ", table)
			for i := range fields {
				f := i
				if row%2 == 1 {
					f = fields - 1 - i
				}
				out = fmt.Appendf(out, "f%d=%di,", f, i)
			}
			out = fmt.Appendf(out[:len(out)-1], " %d\n", 1451606400000000000+row)
		}
	}
	return out
}

// What a file with very many fields or tables takes is proportional to its
// size: had each field to be looked for among all others it would be hours.
func TestMany(t *testing.T) {
	const n = 100_000
	for name, content := range map[string][]byte{"fields": many(n, 1), "tables": many(1, n)} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
			defer cancel()
			source, err := ingest.Open(file(t, name, content), nil)
			if err != nil {
				t.Fatal(err)
			}
			d, err := source.Dataset(ctx, ingest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			r := d.Read()
			defer r.Close()
			points := int64(0)
			var b series.Batch
			for r.Next(&b, 1000) == nil && ctx.Err() == nil {
			}
			for _, table := range r.Tally().Tables {
				for _, p := range table.Points {
					points += p
				}
			}
			if points != 4*n || ctx.Err() != nil {
				t.Errorf("%d of %d values were read (%v)", points, 4*n, ctx.Err())
			}
		})
	}
}

// Learning a schema ends with its context.
func TestCancel(t *testing.T) {
	source, err := ingest.Open(file(t, "x", bytes.Repeat(many(50_000, 1), 30)), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	seen := 0
	_, err = source.Dataset(ctx, ingest.Options{Progress: func(rows int) { seen += rows; cancel() }})
	if !errors.Is(err, context.Canceled) || seen >= 60 {
		t.Errorf("went on for %d rows: %v", seen, err)
	}
}

// The byte order mark that some editors put first is no part of a table's name.
func TestByteOrderMark(t *testing.T) {
	var gz bytes.Buffer
	for name, content := range map[string]string{"influx": "cpu,host=a f=1i 1\ncpu,host=b f=2i 2\n", "timescaledb": "tags,host string\ncpu,f\n\ntags,host=a\ncpu,1,1\ntags,host=b\ncpu,2,2\n"} {
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
			d, err := source.Dataset(t.Context(), ingest.Options{})
			if err != nil {
				t.Fatalf("%s, %s: %v", name, how, err)
			}
			r := d.Read()
			var b series.Batch
			for r.Next(&b, 10) == nil {
			}
			tally := r.Tally()
			if len(tally.Tables) != 1 || tally.Tables[0].Table.Name != "cpu" || tally.Rows != 2 {
				t.Errorf("%s, %s: %+v", name, how, tally)
			}
			r.Close()
		}
	}
}

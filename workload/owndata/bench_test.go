package owndata_test

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/generate"
	"github.com/tsmark/tsmark/internal/slowtest"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// benchRows is how many rows the benchmarks' files have, of 10 fields each.
const benchRows = 100_000

// benchFiles writes the same rows in each format.
func benchFiles(b testing.TB) map[string]string {
	dir := b.TempDir()
	start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	spec := workload.Spec{Name: "cpu-only", Seed: 1, Scale: 100, Start: start, End: start.Add(benchRows / 100 * time.Second), Interval: time.Second}
	d, err := tsbs.CPUOnly().Dataset(spec)
	if err != nil {
		b.Fatal(err)
	}
	files := map[string]string{}
	for _, name := range []string{"influx", "parquet", "arrow"} {
		format, err := generate.Find(name)
		if err != nil {
			b.Fatal(err)
		}
		files[name] = filepath.Join(dir, name)
		out, err := format.Create(files[name], d.Schema())
		if err == nil {
			err = out.Write(b.Context(), d.Open(), func(int) {})
		}
		if err == nil {
			err = out.Commit()
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	var csv, json strings.Builder
	csv.WriteString("time,host,region,a,b,c,d,e,f,g,h,i,j\n")
	for row := range benchRows {
		at := start.Add(time.Duration(row/100) * time.Second)
		fmt.Fprintf(&csv, "%s,host_%d,eu-%d", at.Format("2006-01-02 15:04:05"), row%100, row%7)
		fmt.Fprintf(&json, `{"time":"%s","host":"host_%d","region":"eu-%d"`, at.Format(time.RFC3339), row%100, row%7)
		for f := range 10 {
			value := fmt.Sprintf("%d.%02d", row%97+f, (row*f)%100)
			fmt.Fprintf(&csv, ",%s", value)
			fmt.Fprintf(&json, `,"%c":%s`, 'a'+f, value)
		}
		csv.WriteByte('\n')
		json.WriteString("}\n")
	}
	files["csv"], files["ndjson"] = write(b, "a.csv", csv.String()), write(b, "a.ndjson", json.String())
	return files
}

// pass reads all rows, and returns how many there were.
func pass(b testing.TB, d workload.Dataset, batch *series.Batch) int {
	rows := 0
	for r := d.Open(); ; {
		err := r.Next(batch, 10_000)
		if errors.Is(err, io.EOF) {
			return rows
		} else if err != nil {
			b.Fatal(err)
		}
		rows += batch.Rows()
	}
}

// BenchmarkRead reads rows of ten fields on one core: from bytes in the page cache to
// columns.
func BenchmarkRead(b *testing.B) {
	files := benchFiles(b)
	for _, name := range []string{"csv", "influx", "ndjson", "parquet", "arrow"} {
		d := openOwn(b, "files="+files[name], "format="+name)
		b.Run(name, func(b *testing.B) {
			var batch series.Batch
			b.ReportAllocs()
			for range b.N {
				if rows := pass(b, d, &batch); rows != benchRows {
					b.Fatal(rows)
				}
			}
			b.ReportMetric(float64(b.N)*benchRows/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkInspect finds out how rows of ten fields are to be read, and surveys them.
func BenchmarkInspect(b *testing.B) {
	files := benchFiles(b)
	for _, name := range []string{"csv", "influx", "ndjson", "parquet", "arrow"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				if _, err := inspect(b, "files="+files[name], "format="+name); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*benchRows/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// No row is worth an allocation: those of a pass are for buffers, record batches and what
// is remembered of each series.
func TestRowsAllocateNothing(t *testing.T) {
	slowtest.Skip(t)
	files := benchFiles(t)
	for _, name := range []string{"csv", "influx", "ndjson", "parquet", "arrow"} {
		d := openOwn(t, "files="+files[name], "format="+name)
		var batch series.Batch
		if n := testing.AllocsPerRun(1, func() { pass(t, d, &batch) }); n > benchRows/5 {
			t.Errorf("%s: %v allocations for %d rows", name, n, benchRows)
		}
	}
}

// BenchmarkWide surveys files of many columns, or measurements. The time per value does not
// depend on how many there are.
func BenchmarkWide(b *testing.B) {
	const rows = 5
	for _, columns := range []int{1000, 9999} {
		var csv, objects, points, tables strings.Builder
		csv.WriteString("time")
		for c := range columns {
			fmt.Fprintf(&csv, ",c%d", c)
		}
		for row := range rows {
			fmt.Fprintf(&csv, "\n2024-01-01T00:00:0%dZ", row)
			fmt.Fprintf(&objects, `{"time":%d`, 1704067200+row)
			points.WriteString("m ")
			for c := range columns {
				fmt.Fprintf(&csv, ",%d", c*row%97)
				fmt.Fprintf(&objects, `,"c%d":%d`, c, c*row%97)
				fmt.Fprintf(&points, "c%d=%di,", c, c*row%97)
				fmt.Fprintf(&tables, "m%d,h%d=a%d v=%di %d\n", c, c, c, c*row%97, 1704067200+row)
			}
			objects.WriteString("}\n")
			fmt.Fprintf(&points, "z=1i %d\n", 1704067200+row)
		}
		for _, file := range []struct{ name, text string }{{"t.csv", csv.String()}, {"t.ndjson", objects.String()}, {"t.lp", points.String()}, {"tables.lp", tables.String()}} {
			path := write(b, file.name, file.text)
			b.Run(fmt.Sprintf("%s/%d", file.name, columns), func(b *testing.B) {
				for range b.N {
					if _, err := inspect(b, "files="+path); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows*columns), "ns/value")
			})
		}
	}
}

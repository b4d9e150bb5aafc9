package owndata_test

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/generate"
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
		d := opened(b, "files="+files[name], "format="+name)
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
				if _, err := inspected(b, "files="+files[name], "format="+name); err != nil {
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
	files := benchFiles(t)
	for _, name := range []string{"csv", "influx", "ndjson", "parquet", "arrow"} {
		d := opened(t, "files="+files[name], "format="+name)
		var batch series.Batch
		pass(t, d, &batch)
		if n := testing.AllocsPerRun(2, func() { pass(t, d, &batch) }); n > benchRows/5 {
			t.Errorf("%s: %v allocations for %d rows", name, n, benchRows)
		}
	}
}

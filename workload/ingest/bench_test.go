package ingest_test

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/ingest"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// hours makes the dataset of a use case over a time.
func hours(t testing.TB, name string, span time.Duration) workload.Dataset {
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, w := range tsbs.Workloads() {
		if w.Name() == name {
			d, err := w.Dataset(workload.Spec{Name: name, Seed: 7, Scale: 100, Start: start, End: start.Add(span), Interval: 10 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
	}
	t.Fatalf("no use case %s", name)
	return nil
}

func rowsPerSecond(b *testing.B, rows int64) {
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

// BenchmarkLines reads 360,000 rows of cpu-only as unparsed lines. TSBS's loader that discards its
// input reads 0.93 M rows/s.
func BenchmarkLines(b *testing.B) {
	d := hours(b, "cpu-only", 10*time.Hour)
	for _, format := range formats() {
		plain := text(b, d, format)
		var gz, zst bytes.Buffer
		g := gzip.NewWriter(&gz)
		g.Write(plain)
		g.Close()
		z, _ := zstd.NewWriter(&zst)
		z.Write(plain)
		z.Close()
		for _, input := range []struct {
			name    string
			content []byte
		}{{"plain", plain}, {"gz", gz.Bytes()}, {"zst", zst.Bytes()}} {
			path := file(b, "x", input.content)
			b.Run(format+"/"+input.name, func(b *testing.B) {
				b.SetBytes(int64(len(plain)))
				var c ingest.Chunk
				rows := int64(0)
				for b.Loop() {
					l, err := open(b, path, nil).Lines()
					if err != nil {
						b.Fatal(err)
					}
					for err = l.Next(&c, 10_000); err == nil; err = l.Next(&c, 10_000) {
					}
					if !errors.Is(err, io.EOF) {
						b.Fatal(err)
					}
					rows = l.RowCount()
				}
				rowsPerSecond(b, rows)
			})
		}
	}
}

// BenchmarkRows parses rows apart with the schema of their dataset.
func BenchmarkRows(b *testing.B) {
	for _, name := range []string{"cpu-only", "devops", "iot"} {
		d := hours(b, name, time.Hour)
		for _, format := range formats() {
			path := file(b, "x", text(b, d, format))
			b.Run(name+"/"+format, func(b *testing.B) {
				b.ReportAllocs()
				got := dataset(b, open(b, path, nil), d.Schema())
				rows := int64(0)
				var batch series.Batch
				for b.Loop() {
					r := got.Read()
					for r.Next(&batch, 10_000) == nil {
					}
					rows = r.Tally().Rows
				}
				rowsPerSecond(b, rows)
			})
		}
	}
}

// A reader allocates for chunks and batches, never for a row. (Where tables
// change from row to row, as in iot, runs take memory until each of a batch has
// been as long as the longest.)
func TestReadingAllocatesNothingPerRow(t *testing.T) {
	for _, format := range formats() {
		d := hours(t, "cpu-only", time.Hour)
		path := file(t, "x", text(t, d, format))
		var b series.Batch
		var before, after runtime.MemStats
		begun := int64(0)
		r := dataset(t, open(t, path, nil), d.Schema()).Read()
		for n := 0; r.Next(&b, 1000) == nil; n++ {
			if n == 15 {
				runtime.ReadMemStats(&before)
				begun = r.Tally().Rows
			}
		}
		runtime.ReadMemStats(&after)
		rows := r.Tally().Rows - begun
		if allocs := after.Mallocs - before.Mallocs; rows < 20_000 || float64(allocs) > float64(rows)/20 {
			t.Errorf("%s: %d allocations for %d rows", format, allocs, rows)
		}
	}
}

//go:build !light

package external_test

import (
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/null"
	"github.com/tsmark/tsmark/driver/external"
	"github.com/tsmark/tsmark/series"
)

// openNull opens the null driver, in this process or in a program of its own.
func openNull(b *testing.B, d driver.Driver) driver.DB {
	options, err := d.Resolve(nil)
	if err != nil {
		b.Fatal(err)
	}
	db, err := d.Open(b.Context(), driver.Env{Dir: b.TempDir(), Create: true}, options)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conformance.Close(b, db) })
	return db
}

// BenchmarkRows writes batches of 10,000 rows like cpu-only's: ten tags and ten fields of 4,000 hosts.
func BenchmarkRows(b *testing.B) {
	for name, d := range map[string]driver.Driver{"inside": null.Driver(), "outside": serveDriver(b, "null")} {
		b.Run(name, func(b *testing.B) {
			const rows, hosts = 10_000, 4_000
			db, table := openNull(b, d), conformance.Table("f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9")
			for len(table.Tags) < 10 {
				table.Tags = append(table.Tags, series.Tag{Key: "tag" + string(rune('a'+len(table.Tags))), Values: series.Numbered{Prefix: "value_"}})
			}
			conformance.Prepare(b, db, hosts, table)
			w, err := db.NewWriter(b.Context(), 0)
			if err != nil {
				b.Fatal(err)
			}
			defer conformance.Close(b, w)
			var batch series.Batch
			conformance.Fill(batch.Add(table), rows, 0, hosts)
			if _, err := w.Write(b.Context(), &batch); err != nil { // introduces the series
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if r, err := w.Write(b.Context(), &batch); err != nil || r.Rows != rows {
					b.Fatal(r, err)
				}
			}
			b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkQuery runs queries with empty answers: inside this process, in a program by one exchange, and by
// a call for each.
func BenchmarkQuery(b *testing.B) {
	for name, d := range map[string]driver.Driver{
		"inside": null.Driver(), "outside": serveDriver(b, "null"), "outside by calls": programDriver(b, "null", &external.Programs{Calls: true}),
	} {
		b.Run(name, func(b *testing.B) {
			q, err := openNull(b, d).NewQuerier(b.Context(), 0)
			if err != nil {
				b.Fatal(err)
			}
			defer conformance.Close(b, q)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := q.Do(b.Context(), driver.Request{Text: "SELECT 1"}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

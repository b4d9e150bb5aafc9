//go:build cgo && !light && (linux || darwin) && (amd64 || arm64)

package duckdb_test

import (
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// benchmarkTable is like TSBS's cpu: ten int fields.
func benchmarkTable() *series.Table {
	return conformance.Table("f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8", "f9")
}

// BenchmarkWrite commits a batch of 10,000 rows in each round.
func BenchmarkWrite(b *testing.B) {
	const rows, hosts = 10_000, 100
	db := open(b, "")
	table := benchmarkTable()
	conformance.Prepare(b, db, hosts, table)
	w, err := db.NewWriter(b.Context(), 0)
	if err != nil {
		b.Fatal(err)
	}
	defer conformance.Close(b, w)
	var batch series.Batch
	run := batch.Add(table)
	conformance.Fill(run, rows, 0, hosts)
	b.ReportAllocs()
	for b.Loop() {
		for r := range run.Times {
			run.Times[r] += rows * 1000
		}
		if _, err := w.Write(b.Context(), &batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkScan reads 100,000 rows of twelve columns in each round.
func BenchmarkScan(b *testing.B) {
	const rows, hosts = 100_000, 100
	db := open(b, "")
	table := benchmarkTable()
	conformance.Prepare(b, db, hosts, table)
	var batch series.Batch
	conformance.Fill(batch.Add(table), rows, 0, hosts)
	conformance.Write(b, db, &batch)
	if err := db.Settle(b.Context()); err != nil {
		b.Fatal(err)
	}
	q, err := db.NewQuerier(b.Context(), 0)
	if err != nil {
		b.Fatal(err)
	}
	defer conformance.Close(b, q)
	request := driver.Request{Text: "SELECT cpu.* EXCLUDE (tags_id), hostname FROM cpu JOIN tags ON id = tags_id"}
	for name, sink := range map[string]query.Sink{
		"counted": nil,
		"sink":    query.SinkFunc(func([]query.Value) error { return nil }),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				cost, err := q.Do(b.Context(), request, sink)
				if err != nil || cost.Rows != rows {
					b.Fatal(cost, err)
				}
			}
			b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

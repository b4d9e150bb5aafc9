package griddb

import (
	"fmt"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver/db/griddb/client"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// rows returns a batch of cpu-only.
func rows(t testing.TB, scale uint32) (*series.Schema, *series.Batch) {
	t.Helper()
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	d, err := tsbs.CPUOnly().Dataset(workload.Spec{Name: "cpu-only", Seed: 123, Scale: scale, Start: start, End: start.Add(time.Hour), Interval: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	var b series.Batch
	if err := d.Open().Next(&b, 10_000); err != nil {
		t.Fatal(err)
	}
	return d.Schema(), &b
}

// encodingLoop returns a function that repeatedly encodes the statements of a batch, as if its containers
// existed.
func encodingLoop(t testing.TB, layout string, scale uint32) (encode func(), number int) {
	t.Helper()
	o, err := new(Driver()).Resolve(map[string]string{optionLayout: layout})
	if err != nil {
		t.Fatal(err)
	}
	schema, batch := rows(t, scale)
	d := &database{link: newLink(o), layout: newLayout(o)}
	made := d.layout.containers(schema)
	d.keep(schema, made)
	s := client.NewDiscardSession(128)
	w := newWriter(d, d.registries, s, 128)
	for _, r := range d.registries {
		for i := range r.ids {
			r.ids[i].Store(int64(i) + 1)
		}
	}
	return func() {
		if err := w.gather(batch); err != nil {
			t.Fatal(err)
		}
		if err := w.make(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.encode()
	}, batch.Rows()
}

// BenchmarkEncode is the client's work on a batch.
func BenchmarkEncode(b *testing.B) {
	for _, of := range []struct {
		name, layout string
		scale        uint32
	}{{"series-100", layoutSeries, 100}, {"series-4000", layoutSeries, 4000}, {"table-100", layoutTable, 100}} {
		b.Run(of.name, func(b *testing.B) {
			encode, rows := encodingLoop(b, of.layout, of.scale)
			b.ReportAllocs()
			for b.Loop() {
				encode()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*rows), "ns/row")
		})
	}
}

// Nothing is allocated per row.
func TestEncodingAllocatesNothing(t *testing.T) {
	for _, layout := range []string{layoutSeries, layoutTable} {
		encode, rows := encodingLoop(t, layout, 100)
		encode() // memory grows
		if n := testing.AllocsPerRun(5, encode); n > float64(rows)/1000 {
			t.Errorf("%s: %v allocations in %d rows", layout, n, rows)
		}
	}
}

// BenchmarkWrite is a batch to a server.
func BenchmarkWrite(b *testing.B) {
	for _, scale := range []uint32{100, 4000} {
		b.Run(fmt.Sprint(scale), func(b *testing.B) {
			d := conformance.OpenAt(b, Driver(), conformance.TestServer(b, Driver(), FromEnvironment("database", "tsmark_bench")...)).Required.(*database)
			schema, batch := rows(b, scale)
			if err := session.New(d.db()).Prepare(b.Context(), schema, session.Mark{}); err != nil {
				b.Fatal(err)
			}
			w, err := d.NewWriter(b.Context(), 0)
			if err != nil {
				b.Fatal(err)
			}
			defer conformance.Close(b, w)
			if _, err := w.Write(b.Context(), batch); err != nil { // makes the containers
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := w.Write(b.Context(), batch); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch.Rows()), "ns/row")
		})
	}
}

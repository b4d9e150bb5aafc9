package cassandra

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// rows returns a batch of cpu-only.
func rows(t testing.TB) (*series.Schema, *series.Batch) {
	t.Helper()
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	d, err := tsbs.CPUOnly().Dataset(workload.Spec{Name: "cpu-only", Seed: 123, Scale: 100, Start: start, End: start.Add(time.Hour), Interval: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	var b series.Batch
	if err := d.Open().Next(&b, 10_000); err != nil {
		t.Fatal(err)
	}
	return d.Schema(), &b
}

// encodingLoop returns a function that repeatedly encodes the batches of rows.
func encodingLoop(t testing.TB, layout string) (encode func(), number int) {
	t.Helper()
	o, err := new(Driver()).Resolve(map[string]string{optionLayout: layout})
	if err != nil {
		t.Fatal(err)
	}
	schema, batch := rows(t)
	w := newWriter(&database{link: newLink(o), layout: newLayout(o)}, schema)
	return func() {
		if _, err := w.encode(batch); err != nil {
			t.Fatal(err)
		}
	}, batch.Rows()
}

// BenchmarkEncode is the client's work on a batch, but for what gocql makes of it.
func BenchmarkEncode(b *testing.B) {
	for _, layout := range []string{layoutWide, layoutNarrow} {
		b.Run(layout, func(b *testing.B) {
			encode, rows := encodingLoop(b, layout)
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
	for _, layout := range []string{layoutWide, layoutNarrow} {
		encode, rows := encodingLoop(t, layout)
		encode() // memory grows
		if n := testing.AllocsPerRun(5, encode); n > float64(rows)/1000 {
			t.Errorf("%s: %v allocations in %d rows", layout, n, rows)
		}
	}
}

// BenchmarkWrite writes a batch to a server. Its allocations are gocql's.
func BenchmarkWrite(b *testing.B) {
	d := conformance.OpenAt(b, Driver(), conformance.TestServer(b, Driver(), "database", "tsmark_bench")).Required.(*database)
	schema, batch := rows(b)
	if err := session.New(d.db()).Prepare(b.Context(), schema, session.Mark{}); err != nil {
		b.Fatal(err)
	}
	w, err := d.NewWriter(b.Context(), 0)
	if err != nil {
		b.Fatal(err)
	}
	defer conformance.Close(b, w)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.Write(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch.Rows()), "ns/row")
}

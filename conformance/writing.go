package conformance

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// CPURows returns ten thousand rows of cpu-only.
func CPURows(t testing.TB) (*series.Schema, *series.Batch) {
	t.Helper()
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	d, err := tsbs.CPUOnly().Dataset(workload.Spec{Seed: 123, Scale: 100, Start: start, End: start.Add(time.Hour), Interval: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	b := new(series.Batch)
	if err := d.Open().Next(b, 10_000); err != nil {
		t.Fatal(err)
	}
	return d.Schema(), b
}

// Accepting takes batches over HTTP without looking at them.
func Accepting(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.WriteHeader(http.StatusNoContent)
}

// AllocatesNothingPerRow fails unless a writer over HTTP, and the encoder of its rows, allocate
// nothing per row: a request allocates only in net/http, however many rows it has.
func AllocatesNothingPerRow(t *testing.T, w driver.Writer, encoder encode.Encoder, b *series.Batch) {
	t.Helper()
	write := func() {
		if _, err := w.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	write()
	if n := testing.AllocsPerRun(20, write); n > float64(b.Rows())/20 {
		t.Errorf("%v allocations for %d rows", n, b.Rows())
	}
	text := encoder.Append(nil, b)
	if n := testing.AllocsPerRun(20, func() { text = encoder.Append(text[:0], b) }); n > 1 { // memory of a pool may have been collected
		t.Errorf("%v allocations before anything is sent", n)
	}
}

// BenchmarkEncodes encodes the batch over and over again.
func BenchmarkEncodes(b *testing.B, encoder encode.Encoder, batch *series.Batch) {
	var request []byte
	b.ReportAllocs()
	for b.Loop() {
		request = encoder.Append(request[:0], batch)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(batch.Rows()), "ns/row")
}

// BenchmarkWrites measures the time of writing a batch, also per row.
func BenchmarkWrites(b *testing.B, w driver.Writer, batch *series.Batch) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.Write(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(batch.Rows()), "ns/row")
}

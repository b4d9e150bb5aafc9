package prometheus

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/conformance"
	"github.com/tsmark/tsmark/driver/conformance/stub"
	"github.com/tsmark/tsmark/driver/connection"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// served returns settings that lead to a server that answers by the function.
func served(t testing.TB, answer http.HandlerFunc, given ...string) *settings {
	t.Helper()
	host, port := stub.HTTP(t, answer)
	options := map[string]string{connection.Host: host, connection.Port: port}
	for i := 0; i < len(given); i += 2 {
		options[given[i]] = given[i+1]
	}
	kind := Driver()
	resolved, err := kind.Resolve(options)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSettings(resolved)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// cpuWriter is a writer of batches of ten thousand rows of cpu-only.
func cpuWriter(t testing.TB, s *settings) (driver.Writer, *series.Schema, *series.Batch) {
	t.Helper()
	start := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC)
	dataset, err := tsbs.CPUOnly().Dataset(workload.Spec{Seed: 123, Scale: 100, Start: start, End: start.Add(time.Hour), Interval: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	b := new(series.Batch)
	if err := dataset.Open().Next(b, 10_000); err != nil {
		t.Fatal(err)
	}
	d := newDatabase(s)
	if err := d.Create(t.Context(), dataset.Schema()); err != nil {
		t.Fatal(err)
	}
	d.head.placed.Store(true) // the server has none
	return conformance.Writer(t, d), dataset.Schema(), b
}

// accepting takes batches without looking at them.
func accepting(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.WriteHeader(http.StatusNoContent)
}

// Encoding allocates nothing; a request costs what net/http takes, however many rows
// it has.
func TestWriteAllocatesNothingPerRow(t *testing.T) {
	for _, version := range []string{write1, write2} {
		s := served(t, accepting, optionWrite, version)
		w, schema, b := cpuWriter(t, s)
		defer conformance.Close(t, w)
		write := func() {
			if _, err := w.Write(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		write()
		if n := testing.AllocsPerRun(20, write); n > float64(b.Rows())/20 {
			t.Errorf("version %s: %v allocations for %d rows", version, n, b.Rows())
		}
		encoder := s.requests().New(schema)
		request := encoder.Append(nil, b)
		if n := testing.AllocsPerRun(20, func() { request = encoder.Append(request[:0], b) }); n > 1 { // its memory may have been collected
			t.Errorf("version %s: %v allocations before anything is sent", version, n)
		}
	}
}

// BenchmarkEncode encodes batches, and BenchmarkWrite writes them to a stub in this
// process.
func BenchmarkEncode(b *testing.B) {
	for _, version := range []string{write1, write2} {
		b.Run("version="+version, func(b *testing.B) {
			s := served(b, accepting, optionWrite, version)
			_, schema, batch := cpuWriter(b, s)
			encoder := s.requests().New(schema)
			var request []byte
			b.ReportAllocs()
			for b.Loop() {
				request = encoder.Append(request[:0], batch)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(batch.Rows()), "ns/row")
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, version := range []string{write1, write2} {
		b.Run("version="+version, func(b *testing.B) {
			w, _, batch := cpuWriter(b, served(b, accepting, optionWrite, version))
			defer conformance.Close(b, w)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := w.Write(b.Context(), batch); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(batch.Rows()), "ns/row")
		})
	}
}

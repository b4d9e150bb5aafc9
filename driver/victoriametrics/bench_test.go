package victoriametrics

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
	d.Prepare(lines().New(dataset.Schema()), dataset.Schema())
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
	w, schema, b := cpuWriter(t, served(t, accepting))
	defer conformance.Close(t, w)
	write := func() {
		if _, err := w.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	write()
	if n := testing.AllocsPerRun(20, write); n > float64(b.Rows())/20 {
		t.Errorf("%v allocations for %d rows", n, b.Rows())
	}
	encoder := lines().New(schema)
	text := encoder.Append(nil, b)
	if n := testing.AllocsPerRun(20, func() { text = encoder.Append(text[:0], b) }); n > 0 {
		t.Errorf("%v allocations before anything is sent", n)
	}
}

// BenchmarkWrite writes to a stub in this process.
func BenchmarkWrite(b *testing.B) {
	for _, gzip := range []string{"0", "1"} {
		b.Run("gzip="+gzip, func(b *testing.B) {
			w, _, batch := cpuWriter(b, served(b, accepting, optionGzip, gzip))
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

package influxdb

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/conformance"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/tsbs"
)

// cpuBatch is ten thousand rows of cpu-only.
func cpuBatch(t testing.TB) (*series.Schema, *series.Batch) {
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

// cpuWriter is a writer of such batches.
func cpuWriter(t testing.TB, options map[string]string) (driver.Writer, *series.Batch) {
	t.Helper()
	schema, b := cpuBatch(t)
	s := settingsOf(t, options)
	d := newDatabase(s)
	d.Prepare(lines(s.unit).New(schema), schema)
	return conformance.Writer(t, d), b
}

// accepting takes batches without looking at them.
func accepting(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.WriteHeader(http.StatusNoContent)
}

// Checking and encoding allocate nothing; a request costs what net/http takes,
// however many rows it has.
func TestWriteAllocatesNothingPerRow(t *testing.T) {
	w, b := cpuWriter(t, served(t, accepting))
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
	schema, b := cpuBatch(t)
	encoder := lines(time.Nanosecond).New(schema)
	var text []byte
	if n := testing.AllocsPerRun(20, func() {
		text = encoder.Append(text[:0], b)
	}); n > 0 {
		t.Errorf("%v allocations before anything is sent", n)
	}
}

// BenchmarkWrite writes to a stub in this process, or to the server whose
// options TSMARK_BENCH_INFLUXDB has, as in port=8099.
func BenchmarkWrite(b *testing.B) {
	for _, gzip := range []string{"0", "1", "6"} {
		b.Run("gzip="+gzip, func(b *testing.B) {
			options := map[string]string{}
			if pairs := os.Getenv("TSMARK_BENCH_INFLUXDB"); pairs != "" {
				for pair := range strings.SplitSeq(pairs, ",") {
					name, value, _ := strings.Cut(pair, "=")
					options[name] = value
				}
			} else {
				options = served(b, accepting)
			}
			options[optionGzip] = gzip
			w, batch := cpuWriter(b, options)
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

// Reading a row allocates nothing.
func TestReadAllocatesNothingPerRow(t *testing.T) {
	small, large := readAllocations(t, 10), readAllocations(t, 10_000)
	if large > small+20 {
		t.Errorf("%v allocations for 10 rows, %v for 10,000", small, large)
	}
}

// manyRows is an answer of so many rows.
func manyRows(n int) string {
	row := `[1451606400000000000,"host_17",58.5,2,24.25,61,22,63.125,6,44,80,38],`
	return `{"results":[{"statement_id":0,"series":[{"name":"cpu","columns":["time","hostname","a","b","c","d","e","f","g","h","i","j"],"values":[` +
		strings.TrimSuffix(strings.Repeat(row, n), ",") + `]}]}]}`
}

func readAllocations(t *testing.T, rows int) float64 {
	q := newQuerier(settingsOf(t, nil))
	text, sink := manyRows(rows), conformance.SinkFunc(func([]query.Value) error { return nil })
	return testing.AllocsPerRun(5, func() {
		if cost, err := q.Read(strings.NewReader(text), sink, q.Answer); err != nil || cost.Rows != int64(rows) {
			t.Fatal(cost, err)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	q := newQuerier(settingsOf(b, nil))
	text := manyRows(1000)
	for name, sink := range map[string]query.Sink{"rows": conformance.SinkFunc(func([]query.Value) error { return nil }), "drained": nil} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := q.Read(strings.NewReader(text), sink, q.Answer); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

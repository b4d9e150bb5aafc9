package influxdb

import (
	"os"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/influx"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// cpuWriter is a writer of batches of ten thousand rows of cpu-only.
func cpuWriter(t testing.TB, options map[string]string) (driver.Writer, encode.Encoder, *series.Batch) {
	t.Helper()
	schema, b := conformance.CPURows(t)
	s := settingsOf(t, options)
	d := newDatabase(s)
	encoder := s.lines().New(schema)
	d.Prepare(encoder, schema)
	return conformance.Writer(t, d.db()), encoder, b
}

func TestWriteAllocatesNothingPerRow(t *testing.T) {
	w, encoder, b := cpuWriter(t, serve(t, conformance.Accepting))
	defer conformance.Close(t, w)
	conformance.AllocatesNothingPerRow(t, w, encoder, b)
}

// BenchmarkWrite writes to a stub in this process, or to the server whose
// options TSMARK_BENCH_INFLUXDB has, as in port=8099.
func BenchmarkWrite(b *testing.B) {
	for _, gzip := range []string{"off", "on"} {
		b.Run("gzip="+gzip, func(b *testing.B) {
			options := map[string]string{}
			if pairs := os.Getenv("TSMARK_BENCH_INFLUXDB"); pairs != "" {
				for pair := range strings.SplitSeq(pairs, ",") {
					name, value, _ := strings.Cut(pair, "=")
					options[name] = value
				}
			} else {
				options = serve(b, conformance.Accepting)
			}
			options[lineproto.OptionGzip] = gzip
			w, _, batch := cpuWriter(b, options)
			defer conformance.Close(b, w)
			conformance.BenchmarkWrites(b, w, batch)
		})
	}
}

// Reading a row allocates nothing.
func TestReadAllocatesNothingPerRow(t *testing.T) {
	small, large := readAllocations(t, 10), readAllocations(t, 10_000)
	if large > small+100 {
		t.Errorf("%v allocations for 10 rows, %v for 10,000", small, large)
	}
}

// manyRows returns a response with n rows.
func manyRows(n int) string {
	row := `[1451606400000000000,"host_17",58.5,2,24.25,61,22,63.125,6,44,80,38],`
	return `{"results":[{"statement_id":0,"series":[{"name":"cpu","columns":["time","hostname","a","b","c","d","e","f","g","h","i","j"],"values":[` +
		strings.TrimSuffix(strings.Repeat(row, n), ",") + `]}]}]}`
}

func readAllocations(t *testing.T, rows int) float64 {
	q := influx.NewQuerier(settingsOf(t, nil).endpoint())
	text, sink := manyRows(rows), query.SinkFunc(func([]query.Value) error { return nil })
	return testing.AllocsPerRun(5, func() {
		if cost, err := q.Read(strings.NewReader(text), sink, q.Answer); err != nil || cost.Rows != int64(rows) {
			t.Fatal(cost, err)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	q := influx.NewQuerier(settingsOf(b, nil).endpoint())
	text := manyRows(1000)
	for name, sink := range map[string]query.Sink{"rows": query.SinkFunc(func([]query.Value) error { return nil }), "drained": nil} {
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

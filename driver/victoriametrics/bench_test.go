package victoriametrics

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/conformance"
	"github.com/tsmark/tsmark/driver/conformance/stub"
	"github.com/tsmark/tsmark/driver/connection"
	"github.com/tsmark/tsmark/driver/metric"
	"github.com/tsmark/tsmark/query"
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

// manyRows is an answer of ten metrics with so many samples, and its plan.
func manyRows(n int) (string, *metric.Plan) {
	p := &metric.Plan{Timed: true, Tags: []metric.Tag{{Label: "hostname"}}}
	var samples, all []string
	for i := range n {
		samples = append(samples, fmt.Sprintf(`[%d,"%d"]`, 1451606400+10*i, i%100))
	}
	for i := range 10 {
		name := fmt.Sprintf("cpu_%d", i)
		p.Fields = append(p.Fields, metric.Field{Name: name})
		all = append(all, fmt.Sprintf(`{"metric":{"__name__":%q,"hostname":"host_17"},"values":[%s]}`, name, strings.Join(samples, ",")))
	}
	return `{"status":"success","data":{"resultType":"matrix","result":[` + strings.Join(all, ",") + `]}}`, p
}

// read reads an answer to a plan.
func read(t testing.TB, q *querier, text string, p *metric.Plan, sink query.Sink) int64 {
	t.Helper()
	q.joiner.Begin(p)
	if _, err := q.Read(strings.NewReader(text), &q.joiner, q.Answer); err != nil {
		t.Fatal(err)
	}
	rows, err := q.joiner.Rows(sink)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

var discard = conformance.SinkFunc(func([]query.Value) error { return nil })

// Making rows of samples allocates nothing per row.
func TestReadAllocatesNothingPerRow(t *testing.T) {
	allocations := func(rows int) float64 {
		q := newQuerier(served(t, accepting))
		text, p := manyRows(rows)
		return testing.AllocsPerRun(5, func() {
			if n := read(t, q, text, p, discard); n != int64(rows) {
				t.Fatal(n)
			}
		})
	}
	if small, large := allocations(10), allocations(10_000); large > small+20 {
		t.Errorf("%v allocations for 10 rows, %v for 10,000", small, large)
	}
}

func BenchmarkRead(b *testing.B) {
	q := newQuerier(served(b, accepting))
	text, p := manyRows(1000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		read(b, q, text, p, discard)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/row")
}

// What is no VictoriaMetrics, or hides an error, is told apart.
func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"another server": {`{"hello":1}`, "is this VictoriaMetrics?"},
		"an error":       {`{"status":"error","errorType":"422","error":"the number of unique series exceeds -search.maxUniqueTimeseries"}`, "raise -search.maxUniqueTimeseries"},
		"nodes missing":  {`{"status":"success","isPartial":true,"data":{"result":[]}}`, "lacks data of nodes"},
		"cut off":        {`{"status":"success","data":{"result":[{"metric":{"__name__":"a"},"values":[[1,"2"]`, "cut off"},
		"no number":      {`{"status":"success","data":{"result":[{"metric":{"__name__":"a"},"values":[[1,"x"]]}]}}`, "is no number"},
		"no series":      {`{"status":"success","data":{"result":[{"values":[[1,"2"]]}]}}`, "no sample of a series"},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQuerier(served(t, stub.Saying(http.StatusOK, "", c.text)))
			defer conformance.Close(t, q)
			text, err := (&metric.Plan{At: 1, Expression: "a"}).Text()
			if err != nil {
				t.Fatal(err)
			}
			_, err = q.Do(t.Context(), driver.Request{Text: text}, nil)
			stub.Says(t, err, c.says)
		})
	}
}

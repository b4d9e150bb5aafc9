package promql

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/conformance"
	"github.com/tsmark/tsmark/driver/conformance/stub"
	"github.com/tsmark/tsmark/driver/connection"
	"github.com/tsmark/tsmark/driver/httpwire"
	"github.com/tsmark/tsmark/driver/metric"
	"github.com/tsmark/tsmark/query"
)

// querier returns one of a server that says the same to every request.
func querier(t testing.TB, text string) *Querier {
	t.Helper()
	host, port := stub.HTTP(t, stub.Saying(http.StatusOK, "", text))
	wire, err := httpwire.NewConfig(connection.Settings{Host: host, Port: port}, "")
	if err != nil {
		t.Fatal(err)
	}
	return NewQuerier(&API{
		System: "X", Wire: &wire, Seconds: func(ms int64) string { return fmt.Sprint(ms) },
		Explain: func(_ int, body []byte) error { return errors.New(string(body)) },
		Form:    func(p *metric.Plan) (url.Values, error) { return url.Values{"query": {p.Expression}}, nil },
	})
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
func read(t testing.TB, q *Querier, text string, p *metric.Plan, sink query.Sink) int64 {
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
		q := querier(t, "")
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
	q := querier(b, "")
	text, p := manyRows(1000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		read(b, q, text, p, discard)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/row")
}

// What is no such API, or hides an error, is told apart.
func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"another server": {`{"hello":1}`, "is this X?"},
		"an error":       {`{"status":"error","errorType":"422","error":"the number of unique series exceeds -search.maxUniqueTimeseries"}`, "the number of unique series"},
		"nodes missing":  {`{"status":"success","isPartial":true,"data":{"result":[]}}`, "lacks data of nodes"},
		"cut off":        {`{"status":"success","data":{"result":[{"metric":{"__name__":"a"},"values":[[1,"2"]`, "cut off"},
		"no number":      {`{"status":"success","data":{"result":[{"metric":{"__name__":"a"},"values":[[1,"x"]]}]}}`, "is no number"},
		"no series":      {`{"status":"success","data":{"result":[{"values":[[1,"2"]]}]}}`, "no sample of a series"},
	} {
		t.Run(name, func(t *testing.T) {
			q := querier(t, c.text)
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

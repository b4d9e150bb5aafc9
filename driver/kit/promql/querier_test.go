package promql

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/conformance/stub"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/query"
)

// querier returns one of a server that says the same to every request.
func querier(t testing.TB, text string) *Querier {
	t.Helper()
	return querierOf(t, stub.Saying(http.StatusOK, "", text))
}

// querierOf returns one of a server that answers by a function.
func querierOf(t testing.TB, answer http.HandlerFunc) *Querier {
	t.Helper()
	host, port := stub.HTTP(t, answer)
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

// manyRows returns a response of ten metrics with the given number of samples, and its plan.
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
	q.Joiner.Begin(p)
	if _, err := q.Read(strings.NewReader(text), &q.Joiner, q.Answer); err != nil {
		t.Fatal(err)
	}
	rows, err := q.Joiner.Rows(sink)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

var discard = query.SinkFunc(func([]query.Value) error { return nil })

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
	if small, large := allocations(10), allocations(10_000); large > small+100 {
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

// TestAnswers checks that a response from another API, or one that hides an error, is recognised.
func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"another server": {`{"hello":1}`, "is this X?"},
		"an error":       {`{"status":"error","errorType":"422","error":"the number of unique series exceeds -search.maxUniqueTimeseries"}`, "the number of unique series"},
		"nodes missing":  {`{"status":"success","isPartial":true,"data":{"result":[]}}`, "lacks data of nodes"},
		"cut off":        {`{"status":"success","data":{"result":[{"metric":{"__name__":"a"},"values":[[1,"2"]`, "cut off"},
		"no number":      {`{"status":"success","data":{"result":[{"metric":{"__name__":"a"},"values":[[1,"x"]]}]}}`, "is not a number"},
		"no series":      {`{"status":"success","data":{"result":[{"values":[[1,"2"]]}]}}`, "not a sample of a series"},
	} {
		t.Run(name, func(t *testing.T) {
			q := querier(t, c.text)
			defer conformance.Close(t, q)
			_, err := q.Do(t.Context(), driver.Request{Plan: &metric.Plan{At: 1, Expression: "a"}}, nil)
			stub.Says(t, err, c.says)
		})
	}
}

// The newest buckets are looked at first, and those before them, to the beginning, while
// there are too few.
func TestNewest(t *testing.T) {
	const step, end = 60_000, 60_000 * 30_000
	for name, c := range map[string]struct {
		rows   []int64 // the buckets of the expected rows, counted from 1
		looked []string
		want   int64
	}{
		"enough":        {[]int64{100, 29_997, 29_998, 29_999, 30_000}, []string{"29998-30000"}, 3},
		"a gap":         {[]int64{15_000, 20_000, 30_000}, []string{"29998-30000", "19998-29997", "9998-19997"}, 3},
		"too few":       {[]int64{1, 30_000}, []string{"29998-30000", "19998-29997", "9998-19997", "1-9997"}, 2},
		"none":          {nil, []string{"29998-30000", "19998-29997", "9998-19997", "1-9997"}, 0},
		"the first one": {[]int64{1, 2, 30_000}, []string{"29998-30000", "19998-29997", "9998-19997", "1-9997"}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			var looked []string
			q := querierOf(t, func(w http.ResponseWriter, r *http.Request) {
				from, _ := strconv.ParseInt(r.FormValue("start"), 10, 64)
				to, _ := strconv.ParseInt(r.FormValue("end"), 10, 64)
				looked = append(looked, fmt.Sprintf("%d-%d", from/step, to/step))
				var values []string
				for _, bucket := range c.rows {
					if at := bucket * step; at >= from && at <= to {
						values = append(values, fmt.Sprintf(`[%d,"1"]`, at/1000))
					}
				}
				series := ""
				if values != nil {
					series = fmt.Sprintf(`{"metric":{"__name__":"a"},"values":[%s]}`, strings.Join(values, ","))
				}
				fmt.Fprintf(w, `{"status":"success","data":{"result":[%s]}}`, series)
			})
			defer conformance.Close(t, q)
			p := &metric.Plan{Expression: "a", Start: step, End: end, Step: step, Newest: true, Timed: true, Limit: 3, Order: query.Descending, Fields: []metric.Field{{Name: "a"}}}
			var answer query.Answer
			cost, err := q.Do(t.Context(), driver.Request{Plan: p}, &answer)
			if err != nil || cost.Rows != c.want || int64(len(answer.Rows)) != c.want || !slices.Equal(looked, c.looked) {
				t.Errorf("%d rows, %v; looked at %v, want %v", cost.Rows, err, looked, c.looked)
			}
			for i, row := range answer.Rows {
				if want := c.rows[len(c.rows)-1-i] * step * 1_000_000; row[0].Int != want {
					t.Errorf("row %d is of %d, want %d", i, row[0].Int, want)
				}
			}
		})
	}
}

package promql

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// A server of 1.150 or later, whose version TSMARK_VERSION_VICTORIAMETRICS tells, answers random expressions as its
// documented semantics are computed here. The nightly part newer has one.
func TestServer(t *testing.T) {
	address, version := os.Getenv("TSMARK_TEST_VICTORIAMETRICS"), os.Getenv("TSMARK_VERSION_VICTORIAMETRICS")
	if address == "" || version == "" {
		return // CI's has older rules
	}
	s := server{t, "http://" + address}
	compared := 0
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 5))
		runs := randomRuns(r)[:3] // no native histograms
		for _, run := range runs {
			run.Table.Name = fmt.Sprintf("t%d_%d_%s", time.Now().UnixNano(), seed, run.Table.Name)
			s.write(run)
		}
		s.read(http.Get(s.base + "/internal/force_flush"))
		var queries []*query.Query
		for _, of := range runs[:2] {
			for function := range rollups {
				if function == "default_rollup" || function == "timestamp" {
					continue
				}
				call := fmt.Sprintf("%s(%s[%s])", function, of.Table.Name, pick(r, "10s", "30s", "2m", "5m", "20m"))
				for _, expr := range []string{of.Table.Name, "timestamp(" + of.Table.Name + ")", call, "sum by (job) (" + call + ")", "max_over_time(" + call + "[10m:30s])", strings.ReplaceAll(call, "])", "] offset 1m)")} {
					queries = append(queries, randomQuery(r, query.PromQL{Expr: expr}))
				}
			}
		}
		counter, gauge, length := runs[0].Table.Name, runs[1].Table.Name, pick(r, "30s", "2m", "5m", "20m")
		for _, expr := range []string{
			fmt.Sprintf("histogram_quantile(%s, sum by (le) (rate(%s[5m])))", pick(r, "-1", "0.1", "0.9", "1", "2"), runs[2].Table.Name),
			fmt.Sprintf("quantile_over_time(%s, %s[%s])", pick(r, "-1", "0", "0.3", "0.9", "1", "2"), gauge, length),
			fmt.Sprintf("predict_linear(%[1]s[%[2]s], 60) and on (instance, job) (count_over_time(%[1]s[%[2]s]) > 1)", counter, length), // of one sample: not documented
			fmt.Sprintf("timestamp(%s * 2)", gauge), fmt.Sprintf("timestamp(timestamp(%s))", counter),
		} {
			queries = append(queries, randomQuery(r, query.PromQL{Expr: expr}))
		}
		for _, q := range queries {
			q.End = time.Unix(begin+r.Int64N(3000), 0)
			if !q.Start.IsZero() {
				q.Start = q.End.Add(-time.Duration(r.IntN(600)) * time.Second)
			}
		}
		set := setOf(t, runs, queries...)
		for i := range queries {
			p := &set.queries[i]
			ours, err := set.victoriaMetrics(t.Context(), p)
			if errors.Is(err, errNoAlternative) {
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			theirs, err := set.rows(p, s.evaluate(p))
			if err != nil {
				t.Fatal(err)
			}
			if d := set.differs(p, ours, theirs); d != nil {
				t.Errorf("seed %d: %s from %d to %d by %d: %s", seed, p.text, p.first, p.last, p.step, d)
			}
			compared++
		}
	}
	if compared < 3000 {
		t.Errorf("only %d answers were compared", compared)
	}
}

// begin is when the samples begin on the server, in seconds.
const begin = 1_700_000_000

type server struct {
	t    *testing.T
	base string
}

// read returns the body of a response.
func (s server) read(r *http.Response, err error) []byte {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode/100 != 2 {
		s.t.Fatalf("%s: %s, %v", r.Status, body, err)
	}
	return body
}

// write moves the samples to begin, gives them fractions, and writes them. Markers become samples, since
// the format has none.
func (s server) write(run *series.Run) {
	type imported struct {
		Metric     map[string]string `json:"metric"`
		Values     []float64         `json:"values"`
		Timestamps []int64           `json:"timestamps"`
	}
	all := map[uint32]*imported{}
	run.Columns[0].Nulls = nil
	for row := range run.Times {
		run.Times[row] += begin * int64(time.Second)
		v := &run.Columns[0].Floats[row]
		if *v == stale {
			*v = 5
		}
		*v *= 1.37
		of := all[run.Series[row]]
		if of == nil {
			of = &imported{Metric: map[string]string{metricName: run.Table.Name}}
			all[run.Series[row]] = of
			for _, tag := range run.Table.Tags {
				if text, ok := tag.Values.Append(nil, run.Series[row]); ok && len(text) > 0 {
					of.Metric[tag.Key] = string(text)
				}
			}
		}
		of.Values, of.Timestamps = append(of.Values, *v), append(of.Timestamps, run.Times[row]/int64(time.Millisecond))
	}
	var body bytes.Buffer
	for _, of := range all {
		if err := json.NewEncoder(&body).Encode(of); err != nil {
			s.t.Fatal(err)
		}
	}
	s.read(http.Post(s.base+"/api/v1/import", "application/json", &body))
}

// evaluate returns the server's answer.
func (s server) evaluate(p *prepared) (matrix promql.Matrix) {
	seconds := func(ms int64) string { return strconv.FormatFloat(float64(ms)/1000, 'f', 3, 64) }
	form, path := url.Values{"query": {p.text}, "nocache": {"1"}}, "/api/v1/query"
	if p.first == p.last {
		form.Set("time", seconds(p.last))
	} else {
		path += "_range"
		form.Set("start", seconds(p.first))
		form.Set("end", seconds(p.last))
		form.Set("step", seconds(p.step))
	}
	var document struct {
		Data struct {
			Result []struct {
				Metric map[string]string
				Value  []any
				Values [][]any
			}
		}
	}
	if err := json.Unmarshal(s.read(http.PostForm(s.base+path, form)), &document); err != nil {
		s.t.Fatal(err)
	}
	for _, of := range document.Data.Result {
		one := promql.Series{Metric: labels.FromMap(of.Metric)}
		if of.Value != nil {
			of.Values = append(of.Values, of.Value)
		}
		for _, v := range of.Values {
			text, _ := v[1].(string)
			number, err := strconv.ParseFloat(text, 64)
			at, ok := v[0].(float64)
			if err != nil || !ok {
				s.t.Fatal(v)
			}
			one.Floats = append(one.Floats, promql.FPoint{T: int64(math.Round(at * 1000)), F: number})
		}
		matrix = append(matrix, one)
	}
	return matrix
}

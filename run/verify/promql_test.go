package verify_test

import (
	"context"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/conformance/lie"
	"github.com/tsmark/tsmark/conformance/memory"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// pods are the values of the label pod: web-1 takes the place of web-0 after five minutes.
type pods struct{}

func (pods) Append(dst []byte, series uint32) ([]byte, bool) {
	return append(dst, []string{"web-0", "web-1"}[series%2]...), true
}

// bounds are the values of the label le.
type bounds struct{}

func (bounds) Append(dst []byte, series uint32) ([]byte, bool) {
	return append(dst, []string{"0.1", "1", "+Inf"}[series/2]...), true
}

// metrics is ten minutes of a counter that starts again every two minutes, and of a histogram.
type metrics struct{ schema *series.Schema }

func newMetrics() metrics {
	table := func(name string, kind series.MetricKind, tags ...series.Tag) *series.Table {
		return &series.Table{Name: name, Tags: tags, Metric: &series.Metric{Kind: kind, Family: name},
			Fields: []series.Field{{Name: series.MetricValue, Type: series.Float}}}
	}
	pod := series.Tag{Key: "pod", Values: pods{}}
	return metrics{&series.Schema{Series: 6, Tables: []*series.Table{
		table("requests_total", series.Counter, pod), table("wait_bucket", series.Histogram, pod, series.Tag{Key: "le", Values: bounds{}}),
	}}}
}

func (m metrics) Schema() *series.Schema { return m.schema }

func (m metrics) Open() workload.Reader { return &metricsReader{m, 0} }

type metricsReader struct {
	metrics
	step int
}

func (r *metricsReader) Next(b *series.Batch, _ int) error {
	b.Reset()
	if r.step > 40 {
		return io.EOF
	}
	pod := uint32(r.step / 20 % 2)
	add := func(table, series uint32, value float64) {
		run := b.Add(r.schema.Tables[table])
		run.Grow(1)
		run.Series[0], run.Times[0], run.Columns[0].Floats[0] = series, int64(r.step)*int64(15*time.Second), value
		if r.step == 40 || math.IsNaN(value) {
			run.SetNull(0, 0)
		}
	}
	if r.step == 20 {
		add(0, 0, math.NaN()) // web-0 ends
	}
	add(0, pod, float64(r.step%8)*7)
	wait := b.Add(r.schema.Tables[1])
	wait.Grow(3)
	for le := range uint32(3) {
		wait.Series[le], wait.Times[le] = 2*le, int64(r.step)*int64(15*time.Second)
		wait.Columns[0].Floats[le] = float64(r.step) * []float64{1, 5, 6}[le]
	}
	r.step++
	return nil
}

func promqlQueries() []query.Query {
	var list []query.Query
	at := func(minutes float64) time.Time { return time.UnixMilli(int64(minutes * 60_000)) }
	over := &query.Over{Metric: "requests_total", Func: "increase", Range: 3 * time.Minute, Aggregate: "sum", By: []string{"pod"}}
	for i, q := range []query.Query{
		{Type: "increase", Table: over.Metric, End: at(4.5), Shape: query.PromQL{Expr: over.PromQL(), Over: over}},
		{Type: "quantile", End: at(9), Shape: query.PromQL{Expr: "histogram_quantile(0.5, sum by (le) (rate(wait_bucket[2m])))"}},
		{Type: "range", Start: at(1), End: at(9), Shape: query.PromQL{Expr: "count(requests_total)", Step: time.Minute}},
		{Type: "instant", End: at(5.1), Shape: query.PromQL{Expr: "requests_total"}},
	} {
		q.ID = i
		list = append(list, q)
	}
	return list
}

// answer returns the verdict on the answers of a database with lies about the metrics.
func answer(t *testing.T, semantics string, lies ...lie.Lie) map[string]string {
	t.Helper()
	d, verdicts := newMetrics(), map[string]string{}
	m := lie.Apply(memory.Driver("memory"), lies...)
	db, err := m.Open(t.Context(), driver.Env{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err = db.Create(t.Context(), d.Schema()); err != nil {
		t.Fatal(err)
	}
	w, err := db.NewWriter(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	for b, r := new(series.Batch), d.Open(); r.Next(b, 1) == nil; {
		if _, err := w.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	queries := promqlQueries()
	expected, err := oracle.Pass(t.Context(), d, queries, slices.Values(queries), func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	for i := range queries {
		v, err := verify.Answers(t.Context(), verify.Config{Workers: 1, Semantics: semantics}, db, m.Renderer(nil), d, expected.Full[i:i+1])
		if err != nil {
			t.Fatal(err)
		}
		if verdicts[queries[i].Type] = v.String(); v.OK() && v.Rows == 0 {
			t.Errorf("the answer to %s is empty", queries[i].Type)
		}
	}
	return verdicts
}

// A true database is verified, and each lie shows in an answer, whatever the system documents.
func TestLiesAboutMetrics(t *testing.T) {
	for kind, v := range answer(t, "") {
		if v != "verified" {
			t.Errorf("%s: %s", kind, v)
		}
	}
	found := map[string][]string{"drops-resets": {"increase"}, "shifts-buckets": {"quantile"}, "loses-churned-series": {"range", "instant"}, "ignores-markers": {"range", "instant"}}
	for _, l := range lie.Metrics() {
		for _, semantics := range []string{"", "victoriametrics"} {
			verdicts := answer(t, semantics, l)
			for _, kind := range found[l.Name] {
				if verdicts[kind] != "wrong" {
					t.Errorf("%s: the answer to %s is %s", l.Name, kind, verdicts[kind])
				}
			}
		}
		if len(found[l.Name]) == 0 {
			t.Errorf("no query finds %s", l.Name)
		}
	}
}

// An answer by a system's documented semantics is not wrong for this system, and wrong for others.
func TestDocumented(t *testing.T) {
	d, queries := newMetrics(), promqlQueries()[:1]
	expected, err := oracle.Pass(t.Context(), d, queries, nil, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	x := &expected.Full[0]
	if len(x.Also) != 1 {
		t.Fatalf("%+v", x)
	}
	alone, err := oracle.PassSampling(t.Context(), d, oracle.Drawing{}, []string{""}, queries, nil, oracle.Progress{})
	if err != nil || len(alone.Full[0].Also) != 0 {
		t.Errorf("answers of systems that are not needed: %+v, %v", alone, err)
	}
	m := memory.Driver("memory")
	for semantics, want := range map[string]string{"": "wrong", "victoriametrics": "differs as documented"} {
		target := driver.DB{Required: talkative{rows: x.Also[0].Answer.Rows}}
		v, err := verify.Answers(t.Context(), verify.Config{Workers: 1, Semantics: semantics}, target, m.Renderer(nil), d, expected.Full)
		if err != nil || v.String() != want {
			t.Errorf("%q: %s, %+v, %v", semantics, v, v, err)
		}
		if want != "wrong" && (v.Documented != 1 || !strings.Contains(v.Reason, "extrapolation")) {
			t.Errorf("%+v", v)
		}
	}
}

// talkative is a target with given rows for an answer.
type talkative struct {
	driver.Required
	rows [][]query.Value
}

func (t talkative) NewQuerier(context.Context, int) (driver.Querier, error) { return t, nil }

func (t talkative) Do(_ context.Context, _ driver.Request, sink query.Sink) (driver.Cost, error) {
	for _, row := range t.rows {
		if err := sink.Row(row); err != nil {
			return driver.Cost{}, err
		}
	}
	return driver.Cost{Rows: int64(len(t.rows))}, nil
}

func (talkative) Close() error { return nil }

package oracle_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/metrics"
)

// promqlQueries returns queries of a dashboard, instant ones and ranges of an hour.
func promqlQueries(end time.Time, n int) []query.Query {
	var list []query.Query
	for i := range n {
		for _, expr := range []string{
			`sum by (instance) (rate(node_cpu_seconds_total{mode!="idle"}[5m]))`,
			`topk(5, sum by (namespace, pod) (rate(container_cpu_usage_seconds_total[5m])))`,
			`histogram_quantile(0.9, sum by (le) (rate(http_request_duration_seconds_bucket[5m])))`,
			`histogram_quantile(0.9, sum by (job) (rate(http_server_request_duration_seconds[5m])))`,
			`count by (job) (up == 1)`,
		} {
			q := query.Query{Type: fmt.Sprint(len(list)), End: end.Add(-time.Duration(i) * time.Minute), Shape: query.PromQL{Expr: expr}}
			if i%2 == 1 {
				q.Start, q.Shape = q.End.Add(-time.Hour), query.PromQL{Expr: expr, Step: time.Minute}
			}
			list = append(list, q)
		}
	}
	return list
}

func metricsSpec() workload.Spec {
	start := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	return workload.Spec{Start: start, End: start.Add(2 * time.Hour), Interval: 15 * time.Second, Scale: 10, Seed: 1}
}

// Each query type has an answer that is not empty. The oracle's own implementation checks it. The
// evaluation, which takes longer than reading the rows, reports its progress.
func TestPromQLOfMetrics(t *testing.T) {
	spec := metricsSpec()
	spec.End = spec.Start.Add(time.Hour)
	d, err := metrics.Workload().Dataset(spec)
	if err != nil {
		t.Fatal(err)
	}
	queries := promqlQueries(spec.End, 2)
	next := 0
	x, err := oracle.PassSampling(t.Context(), d, oracle.Drawing{}, nil, queries, nil, oracle.Progress{Evaluated: func(done, all int) {
		if done != next || all != len(queries) {
			t.Errorf("%d of %d expressions are evaluated, want %d of %d", done, all, next, len(queries))
		}
		next++
	}})
	if err != nil {
		t.Fatal(err)
	}
	if next != len(queries)+1 {
		t.Errorf("progress was reported %d times, want %d", next, len(queries)+1)
	}
	for i := range x.Full {
		if x.Full[i].Rows == 0 {
			t.Errorf("%s has no answer", queries[i].Shape.(query.PromQL).Expr)
		}
	}
}

// A semantics that documents another number of rows leaves the counts of other targets known: VictoriaMetrics computes
// a rate from the sample before the window, and Prometheus has none from a single sample.
func TestCountedBy(t *testing.T) {
	spec := metricsSpec()
	spec.End = spec.Start.Add(10 * time.Minute)
	d, err := metrics.Workload().Dataset(spec)
	if err != nil {
		t.Fatal(err)
	}
	var queries []query.Query
	for _, expr := range []string{`count(up)`, `count(rate(node_cpu_seconds_total[15s]))`} {
		queries = append(queries, query.Query{Type: "q", End: spec.End, Shape: query.PromQL{Expr: expr}})
	}
	x, err := oracle.Pass(t.Context(), d, nil, slices.Values(queries), ignore)
	if err != nil {
		t.Fatal(err)
	}
	for semantics, want := range map[string][]int64{"": {1, 0}, "victoriametrics": {1, oracle.AnyNumber}} {
		if got := x.CountedBy(semantics); !slices.Equal(got, want) {
			t.Errorf("%q: %d rows are counted, want %d", semantics, got, want)
		}
	}
}

func BenchmarkPromQL(b *testing.B) {
	spec := metricsSpec()
	d, err := metrics.Workload().Dataset(spec)
	if err != nil {
		b.Fatal(err)
	}
	for name, semantics := range map[string][]string{"Prometheus's answers": {}, "answers of all systems": nil} {
		b.Run(name, func(b *testing.B) {
			rows := 0
			for b.Loop() {
				if _, err := oracle.PassSampling(b.Context(), d, oracle.Drawing{}, semantics, promqlQueries(spec.End, 20), nil, oracle.Progress{Rows: func(n int) { rows += n }}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}

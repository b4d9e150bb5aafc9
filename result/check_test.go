package result_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/result"
)

func checkedRun(t *testing.T) *result.Run {
	t.Helper()
	l := measure.NewLatency()
	l.Record(time.Second)
	service, err := result.LatencyOf(l)
	if err != nil {
		t.Fatal(err)
	}
	queries := func(first int) []result.Queries {
		return []result.Queries{{Type: "lastpoint", First: first, Each: []float64{1}, Service: service}}
	}
	return &result.Run{
		Started: time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC), Agents: []result.Agent{{Name: "a"}},
		Targets:   []result.Target{{Name: "x", Repeats: []result.Repeat{{Number: 1, Queries: queries(0)}, {Number: 2, Queries: queries(1)}}}},
		Resources: []result.Resources{{Source: "host", At: []float64{1, 2}, Metrics: map[result.Metric][]result.Value{result.CPU: {result.Absent(), 1}}}},
	}
}

func TestCheck(t *testing.T) {
	if err := result.Check(checkedRun(t)); err != nil {
		t.Fatal(err)
	}
	for _, seed := range []int64{math.MinInt64, -5, math.MaxInt64} {
		r := checkedRun(t)
		if r.QuerySeed = seed; result.Check(r) != nil {
			t.Errorf("seed %d: %v", seed, result.Check(r))
		}
	}
	type queries = result.Queries
	for want, change := range map[string]func(r *result.Run, q *queries){
		"targets[1]: the name \"x\" is empty or not unique":                                        func(r *result.Run, _ *queries) { r.Targets = append(r.Targets, r.Targets[0]) },
		"targets[0].repeats[0].queries[0].service: the figures of a histogram have 1e+308 seconds": func(_ *result.Run, q *queries) { q.Service.Mean = 1e308 },
		"service: the figures of a histogram have -1 seconds":                                      func(_ *result.Run, q *queries) { q.Service.StdDev = -1 },
		"service.median: 1e+300 is out of range":                                                   func(_ *result.Run, q *queries) { q.Service.Median = 1e300 },
		"its histogram has 1 operations, and its figures are of 2":                                 func(_ *result.Run, q *queries) { q.Service.Count = 2 },
		"decoding a histogram":                                                 func(_ *result.Run, q *queries) { q.Service.Histogram = "AAAA" },
		"each[0]: -1e+200 is out of range":                                     func(_ *result.Run, q *queries) { q.Each[0] = -1e200 },
		"wall: +Inf is out of range":                                           func(_ *result.Run, q *queries) { q.Wall = math.Inf(1) },
		"executed: -2 is out of range":                                         func(_ *result.Run, q *queries) { q.Executed = -2 },
		"1152921504606846976 is out of range for the place of its first query": func(_ *result.Run, q *queries) { q.First = 1 << 60 },
		"-5 is out of range for the place of its first query":                  func(_ *result.Run, q *queries) { q.First = -5 },
		"its single query times lie too far apart":                             func(_ *result.Run, q *queries) { q.First = 1 << 26 },
		"parts[0]: agent \"b\" is not one of the run's":                        func(_ *result.Run, q *queries) { q.Parts = []result.Part{{Agent: "b"}} },
		"parts[0]: share 7 of 1 agents":                                        func(_ *result.Run, q *queries) { q.Parts = []result.Part{{Agent: "a", Share: 7}} },
		"targets[0]: it refers to target \"y\"":                                func(r *result.Run, _ *queries) { r.Targets[0].Twin = "y" },
		"targets[0]: the number 1 of a repeat is out of range or not unique":   func(r *result.Run, _ *queries) { r.Targets[0].Repeats[1].Number = 1 },
		"targets[0].repeats[0]: the query type \"lastpoint\" is empty or not unique": func(r *result.Run, q *queries) {
			r.Targets[0].Repeats[0].Queries = append(r.Targets[0].Repeats[0].Queries, *q)
		},
		"resources[0]: metric \"cpu\" of source \"host\" has 2 values for 1 readings": func(r *result.Run, _ *queries) { r.Resources[0].At = r.Resources[0].At[:1] },
		"resources[0]: reading 1 of source \"host\" is earlier":                       func(r *result.Run, _ *queries) { r.Resources[0].At[1] = 0 },
		"resources[0].metrics[\"cpu\"][1]: 1e+300 is out of range":                    func(r *result.Run, _ *queries) { r.Resources[0].Metrics[result.CPU][1] = 1e300 },
		"started: the year 12026 is out of range":                                     func(r *result.Run, _ *queries) { r.Started = r.Started.AddDate(10000, 0, 0) },
	} {
		r := checkedRun(t)
		change(r, &r.Targets[0].Repeats[0].Queries[0])
		if err := result.Check(r); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

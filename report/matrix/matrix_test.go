package matrix_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/report/matrix"
	"github.com/tsmark/tsmark/result"
)

func latency(t *testing.T, ms ...int) result.Latency {
	t.Helper()
	l := measure.NewLatency()
	for _, v := range ms {
		l.Record(time.Duration(v) * time.Millisecond)
	}
	encoded, err := l.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return result.Latency{Summary: l.Summary(), Histogram: encoded}
}

// twenty is the times of two clients: 10 to 28 ms and one of 1 s the first, 1 ms
// and 11 to 27 ms the second.
func twenty(t *testing.T) (of result.Latency, accumulated []float64) {
	return latency(t, 10, 12, 14, 16, 18, 20, 22, 24, 26, 1000, 1, 11, 13, 15, 17, 19, 21, 23, 25, 27), []float64{1.162, 0.172}
}

func run(t *testing.T) *result.Run {
	batches, accumulated := twenty(t)
	timeRange := result.Queries{Type: "time-range", Verdict: result.Verdict{Checked: 10}, Executed: 4, AtLeast: 1, Wall: 2, Rows: 30, Values: 60,
		Accumulated: []float64{0.03, 0.03}, Service: latency(t, 10, 20, 30, 500)}
	old := result.Queries{Type: "lastpoint", Verdict: result.Verdict{}, Executed: 1, Wall: 0.5, Rows: 7, Service: latency(t, 10)}
	return &result.Run{Targets: []result.Target{
		{
			Name: "duck", Load: &result.Load{Prepare: 0.25, Rows: 200, Metrics: 2000, Sent: 1.9, Acked: 2, Batches: batches, Accumulated: accumulated,
				Retries: &result.Retries{Tries: 3, Values: 300}},
			Queries: []result.Queries{
				timeRange, old,
				{Type: "set-operation", Unsupported: "not supported: it has no sets"},
				{Type: "limit", Withheld: "query 3: syntax error"},
				{Type: "agg-time"},
			},
		},
		{Name: "quest", Failure: "cannot be reached"},
		{Name: "lines", Load: &result.Load{Rows: 200, Sent: 4, Batches: batches, Retries: &result.Retries{Tries: 1}}},
	}}
}

type values map[string]result.Value

// check compares figures to the last digit that means something.
func check(t *testing.T, what string, want, got values) {
	t.Helper()
	for name, v := range want {
		if g := got[name]; v.IsKnown() != g.IsKnown() || v.IsKnown() && math.Abs(float64(g-v)) > 1e-3*math.Abs(float64(v)) {
			t.Errorf("%s: %s is %v, want %v", what, name, g, v)
		}
	}
}

func figures(o *matrix.Operation) values {
	all := values{
		"okOperation": o.OK, "okPoint": o.OKPoints, "failOperation": o.Failed, "failPoint": o.FailedPoints,
		"elapsed": o.Elapsed, "throughput": o.Throughput, "cost throughput": o.CostThroughput,
	}
	for _, m := range matrix.Metrics() {
		all[m.Name] = m.Of(&o.Latency)
	}
	return all
}

// A run made by hand has the matrices made by hand.
func TestOf(t *testing.T) {
	list := matrix.List(run(t))
	if len(list) != 2 || list[0].Target != "duck" || list[1].Target != "lines" || list[0].Mixed {
		t.Fatalf("%+v", list)
	}
	duck, none := list[0].Operations, result.Absent()
	if len(duck) != 6 || list[0].SchemaCost != 0.25 || list[0].Elapsed != 4.5 {
		t.Fatalf("%+v", list[0])
	}
	check(t, "writes", values{
		"okOperation": 20, "okPoint": 2000, "failOperation": 3, "failPoint": 300,
		"elapsed": 2, "throughput": 1000, "cost throughput": 2000 / 1.162,
		"AVG": 0.0667, "MIN": 0.001, "P10": 0.010, "P25": 0.013, "MEDIAN": 0.0185, "P75": 0.023, "P90": 0.026, "P95": 0.027,
		"P99": none, "P999": none, "MAX": 1, "SLOWEST_THREAD": 1.162, "MID_AVG": 0.0185, "P1": none, "P5": 0.001,
	}, figures(&duck[0]))
	check(t, "one of four cut off", values{
		"okOperation": 3, "okPoint": 60, "failOperation": 1, "failPoint": 0, "elapsed": 2, "throughput": 30, "cost throughput": 2000,
		"AVG": 0.02, "MIN": 0.01, "MEDIAN": 0.02, "MAX": 0.03, "P75": none, "P999": none, "SLOWEST_THREAD": 0.03, "MID_AVG": 0.02,
	}, figures(&duck[1]))
	check(t, "of an older version", values{
		"okOperation": 1, "okPoint": none, "failOperation": 0, "elapsed": 0.5, "throughput": none, "cost throughput": none,
		"AVG": 0.01, "P10": 0.01, "MEDIAN": 0.01, "P75": none, "SLOWEST_THREAD": none,
	}, figures(&duck[2]))
	for i, want := range []struct{ name, reason, unverified string }{
		{"INGESTION", "", ""}, {"TIME_RANGE", "", ""}, {"lastpoint", "", "not verified"},
		{"SET_OPERATION", "n/a: not supported: it has no sets", ""}, {"LIMIT", "withheld: query 3: syntax error", ""}, {"AGG_RANGE", "not run", ""},
	} {
		o := &duck[i]
		if o.Name != want.name || o.Reason() != want.reason || o.Unverified != want.unverified {
			t.Errorf("%s: %q, unverified %q; want %+v", o.Name, o.Reason(), o.Unverified, want)
		}
		for name, v := range figures(o) {
			if want.reason != "" && v.IsKnown() {
				t.Errorf("%s: %s is %v though it is %s", o.Name, name, v, want.reason)
			}
		}
	}
	check(t, "lines", values{
		"okOperation": 20, "okPoint": none, "failOperation": 1, "failPoint": none, "elapsed": 4, "throughput": none, "SLOWEST_THREAD": none,
	}, figures(&list[1].Operations[0]))
	text, err := json.Marshal(list)
	if err != nil || !strings.Contains(string(text), `"ok_point":null`) {
		t.Errorf("as JSON: %v, %s", err, text)
	}
}

// In a mixed phase all have its wall clock.
func TestOfMixed(t *testing.T) {
	r := run(t)
	duck := &r.Targets[0]
	batches, accumulated := twenty(t)
	duck.Queries = nil
	duck.Load.Mixed = &result.Mixed{Wall: 4, Writes: result.Load{Rows: 100, Metrics: 1000, Acked: 3, Batches: batches, Accumulated: accumulated}, Types: []result.MixedType{
		{Type: "precise-point", Executed: 10, AtLeast: 3, Values: 70, Verdict: result.Verdict{Checked: 3},
			Accumulated: []float64{0.05, 0.14}, Service: latency(t, 10, 20, 25, 25, 25, 30, 40, 900, 950, 960)},
		{Type: "latest-point", Unsupported: "not supported: no joins"},
		{Type: "agg-value"},
		{Type: "value-range", Executed: 10, AtLeast: 3, Service: latency(t, 10, 20, 30, 40, 900, 950)},
	}}
	list := matrix.List(r)
	if len(list) != 3 || list[0].Mixed || len(list[0].Operations) != 1 || !list[1].Mixed || list[1].Elapsed != 4 || list[1].SchemaCost != 0.25 {
		t.Fatalf("%+v", list)
	}
	of := list[1].Operations
	check(t, "writes", values{"okOperation": 20, "okPoint": 1000, "elapsed": 4, "throughput": 250, "cost throughput": 1000 / 1.162}, figures(&of[0]))
	check(t, "queries", values{
		"okOperation": 7, "okPoint": 70, "failOperation": 3, "throughput": 17.5, "cost throughput": 500,
		"AVG": 0.025, "MAX": 0.04, "P75": 0.03, "P999": result.Absent(), "SLOWEST_THREAD": 0.14,
	}, figures(&of[1]))
	if of[2].Reason() != "n/a: not supported: no joins" || of[3].Reason() != "not run" {
		t.Errorf("%q, %q", of[2].Reason(), of[3].Reason())
	}
	check(t, "of an older version", values{"okOperation": 7, "AVG": result.Absent(), "MAX": result.Absent(), "okPoint": result.Absent()}, figures(&of[4]))

	duck.Load.Mixed.Writes.Rows, duck.Load.Rows = 300, 0
	if list := matrix.List(r); len(list) != 2 || !list[0].Mixed {
		t.Errorf("a phase before which nothing was loaded has %d matrices", len(list)-1)
	}
	duck.Load.Withheld = "the census differs"
	for _, o := range matrix.List(r)[0].Operations {
		if o.Reason() == "" || o.OK.IsKnown() {
			t.Errorf("%s: a withheld load has figures", o.Name)
		}
	}
}

// However clients share the work, as long as none does two things at once:
// the slowest client has at least its share of all, and no more than the wall
// clock; so the paper's throughput lies between that by wall clock and that of
// clients that never wait. Quantiles rise, and no mean
// is outside.
func TestOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 100 {
		clients := 1 + r.IntN(8)
		accumulated := make([]float64, clients)
		all, wall, sum := measure.NewLatency(), 0.0, 0.0
		for c := range clients {
			clock := 0.0
			for range r.IntN(60) {
				took := time.Duration(1 + r.ExpFloat64()*1e7)
				clock += took.Seconds() + r.Float64()*0.002 // and waits
				accumulated[c] += took.Seconds()
				sum += took.Seconds()
				all.Record(took)
			}
			wall = max(wall, clock)
		}
		if all.Count() == 0 {
			continue
		}
		encoded, err := all.Encode()
		if err != nil {
			t.Fatal(err)
		}
		points := float64(all.Count() * 10)
		o := &matrix.List(&result.Run{Targets: []result.Target{{Load: &result.Load{
			Rows: 1, Metrics: int64(points), Acked: wall, Accumulated: accumulated, Batches: result.Latency{Summary: all.Summary(), Histogram: encoded},
		}}}})[0].Operations[0]
		l := &o.Latency
		const rounding = 1 + 1e-9
		if o.CostThroughput*rounding < o.Throughput || float64(o.CostThroughput) > points/sum*float64(clients)*rounding {
			t.Fatalf("throughput %v by the slowest of %d clients, %v by wall clock, %v if none waited", o.CostThroughput, clients, o.Throughput, points/sum*float64(clients))
		}
		if math.Abs(float64(l.Average)*float64(o.OK)-sum) > 1e-9*sum {
			t.Fatalf("mean %v of %v does not make %v", l.Average, o.OK, sum)
		}
		before := l.Min
		for _, next := range []result.Value{l.P1, l.P5, l.P10, l.P25, l.Median, l.P75, l.P90, l.P95, l.P99, l.P999, l.Max} {
			if !next.IsKnown() {
				continue // too few operations
			}
			if next < before {
				t.Fatalf("quantiles fall: %+v", l)
			}
			before = next
		}
		if l.MiddleAverage < l.Min || l.MiddleAverage > l.Max {
			t.Fatalf("the middle-average is outside: %+v", l)
		}
	}
}

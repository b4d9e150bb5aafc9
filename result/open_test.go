package result

import (
	"testing"
	"time"

	"github.com/tsmark/tsmark/measure"
)

func latencyOf(t *testing.T, durations ...time.Duration) Latency {
	t.Helper()
	l := measure.NewLatency()
	for _, d := range durations {
		l.Record(d)
	}
	encoded, err := l.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return Latency{Summary: l.Summary(), Histogram: encoded}
}

func pooledType(t *testing.T, repeats ...Queries) Queries {
	t.Helper()
	target := &Target{}
	for i, q := range repeats {
		q.Type = "lastpoint"
		target.RepeatOf(i + 1).Queries = []Queries{q}
	}
	pooled, err := target.Pool()
	if err != nil {
		t.Fatal(err)
	}
	return pooled.Queries[0]
}

func TestPoolOpenLoops(t *testing.T) {
	const ms = time.Millisecond
	calm := Queries{Executed: 2, Service: latencyOf(t, ms, ms), Open: &OpenLoop{Schedule: "100/s", Queue: 5, Arrivals: 2, Offered: 90,
		Response: latencyOf(t, ms, 2*ms), Lag: latencyOf(t, 0, 0)}}
	stalled := Queries{Executed: 1, Service: latencyOf(t, 3*ms), Open: &OpenLoop{Schedule: "100/s", Queue: 5, Arrivals: 3, Offered: 110, Dropped: 2, Waiting: 1,
		Response: latencyOf(t, 9*ms), Lag: latencyOf(t, ms), Saturated: "saturated: 2 arrivals dropped"}}
	got := pooledType(t, calm, stalled)
	o := got.Open
	if o == nil || o.Arrivals != 5 || o.Offered != 100 || o.Dropped != 2 || o.Waiting != 1 || o.Saturated != stalled.Open.Saturated {
		t.Fatalf("pooled %+v", o)
	}
	if o.Response.Count != 3 || o.Response.Max != (9*ms).Seconds() || o.Lag.Count != 3 || got.Service.Count != 3 {
		t.Errorf("response %+v, lag %+v, service %+v", o.Response.Summary, o.Lag.Summary, got.Service.Summary)
	}
	if calm.Open.Arrivals != 2 {
		t.Error("a repeat changed")
	}
	if got := pooledType(t, calm, Queries{Executed: 1, Service: latencyOf(t, ms)}); got.Open != nil {
		t.Errorf("an open and a closed loop make %+v", got.Open)
	}
}

func TestPoolSearches(t *testing.T) {
	found := func(kept float64, withheld string) Queries {
		return Queries{Executed: int64(kept), Withheld: withheld, Open: &OpenLoop{Search: &RateSearch{Kept: kept}}}
	}
	if got := pooledType(t, found(300, ""), found(100, "wrong"), found(200, ""), found(400, "")); got.Open.Search.Kept != 200 || got.Executed != 200 || got.Withheld != "wrong" {
		t.Errorf("pooled %+v, search %+v", got, got.Open.Search)
	}
}

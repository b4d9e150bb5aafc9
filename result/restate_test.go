package result

import (
	"reflect"
	"testing"
	"time"

	"github.com/tsmark/tsmark/measure"
)

// What an early version recorded gets the percentiles of its histogram, and
// none that so few operations do not tell; what is recorded today stays as it
// is, to the last bit.
func TestRestate(t *testing.T) {
	record := func(n int) Latency {
		l := measure.NewLatency()
		for i := range n {
			l.Record(time.Duration(i+1)*time.Millisecond + 17)
		}
		encoded, err := l.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return Latency{Summary: l.Summary(), Histogram: encoded}
	}
	target := func(l Latency) *Target {
		again := l
		return &Target{Repeats: []Repeat{{
			Number: 1,
			Load: &Load{Batches: l, Mixed: &Mixed{Writes: Load{Batches: l}, Response: &again, Lag: &again,
				Types: []MixedType{{Service: l, Response: &again, Freshness: l}}}},
			Queries: []Queries{{Service: l, Open: &OpenLoop{Response: l, Lag: l}}, {Type: "nothing recorded"}},
		}, {Number: 2}}}
	}
	for _, n := range []int{1, 2, 9, 10, 57, 101, 1300} {
		want, early := record(n), record(n)
		early.Median, early.P90, early.P95, early.P99, early.P999 = want.Median*0.9, want.P90*0.9, want.Max, want.Max, want.Max
		for name, l := range map[string]Latency{"today's": want, "early": early} {
			got := target(l)
			got.restate()
			if !reflect.DeepEqual(got, target(want)) {
				t.Errorf("%s of %d: %+v, want %+v", name, n, got.Repeats[0].Queries[0].Service.Summary, want.Summary)
			}
		}
	}
	damaged := Latency{Summary: measure.Summary{Count: 7, Median: 1}, Histogram: "damaged"}
	kept := target(damaged)
	kept.restate()
	if !reflect.DeepEqual(kept, target(damaged)) {
		t.Error("without a readable histogram something changed")
	}
}

func BenchmarkRestate(b *testing.B) {
	l := measure.NewLatency()
	for i := range 1000 {
		l.Record(time.Duration(i+1) * time.Millisecond)
	}
	encoded, err := l.Encode()
	if err != nil {
		b.Fatal(err)
	}
	t := &Target{Repeats: []Repeat{{Queries: []Queries{{Service: Latency{Summary: l.Summary(), Histogram: encoded}}}}}}
	for b.Loop() {
		t.restate()
	}
}

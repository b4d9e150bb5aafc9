package compare

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/result"
)

// queries is a verified type with the service times.
func queries(name string, each ...float64) result.Queries {
	n := int64(len(each))
	return result.Queries{Type: name, Verdict: result.Verdict{Checked: 10, Rows: 10}, Executed: n, Each: each,
		Service: result.Latency{Summary: measure.Summary{Count: n}}}
}

// run is a complete run about the same dataset as all others.
func run(id string, targets ...result.Target) *result.Run {
	return &result.Run{ID: id, Status: result.Complete, Started: time.Unix(0, 0), Dataset: result.Dataset{Fingerprint: "f"}, Targets: targets}
}

// newTarget returns a target with recorded queries; a repeated type belongs to the
// next repeat.
func newTarget(name, kind string, types ...result.Queries) result.Target {
	t := result.Target{Name: name, Driver: kind, Repeats: []result.Repeat{{Number: 1}}}
	for _, q := range types {
		number := 1
		for t.RepeatOf(number).Type(q.Type) != nil {
			number++
		}
		r := t.RepeatOf(number)
		r.Queries = append(r.Queries, q)
	}
	return t
}

// times draws service times of a repeat around a median.
func times(r *rand.Rand, n int, median float64) []float64 {
	repeat := r.NormFloat64() * 0.01
	each := make([]float64, n)
	for i := range each {
		each[i] = median * math.Exp(0.1*math.Sin(float64(i))+0.02*r.NormFloat64()+repeat)
	}
	return each
}

// system draws runs of a target with three types and a load, slower by a factor
// and with a disk that much fuller.
func system(seed uint64, repeats int, slower float64) Side {
	r := rand.New(rand.NewPCG(seed, 1))
	var s Side
	for range repeats {
		t := newTarget("duck", "duckdb", queries("first", times(r, 200, 0.001*slower)...),
			queries("second", times(r, 150, 0.02*slower)...), queries("third", times(r, 100, 0.3)...))
		t.Repeats[0].Load = &result.Load{Rows: 1e6, Sent: 1 * slower * (1 + 0.005*r.NormFloat64()), Settled: 2 * slower * (1 + 0.005*r.NormFloat64()), DiskBytes: int64(1e6 * slower)}
		s.Runs = append(s.Runs, run(string(rune('a'+len(s.Runs)))+"-"+string(rune('0'+seed)), t))
	}
	return s
}

func mustCompare(t *testing.T, a, b Side) *Comparison {
	t.Helper()
	c, err := Runs(a, b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (t *Target) figure(subject string, m Metric) *Figure {
	for i := range t.Figures {
		if f := &t.Figures[i]; f.Subject == subject && f.Metric == m {
			return f
		}
	}
	return &Figure{}
}

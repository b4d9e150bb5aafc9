package report

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/tsmark/tsmark/compare"
	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/result"
)

// repeated returns runs of a target with every kind of outcome: types that
// are slower by a factor, alike, cut off, withheld, and not supported.
func repeated(seed uint64, n int, slower float64) compare.Side {
	r := rand.New(rand.NewPCG(seed, 3))
	asked := func(name string, count int, median float64) result.Queries {
		q := result.Queries{Type: name, Verdict: result.Verdict{Checked: 10, Rows: 10}, Each: make([]float64, count),
			Service: result.Latency{Summary: measure.Summary{Count: int64(count)}}}
		repeat := 0.01 * r.NormFloat64()
		for i := range q.Each {
			q.Each[i] = median * math.Exp(0.2*math.Sin(float64(i))+0.02*r.NormFloat64()+repeat)
		}
		return q
	}
	var s compare.Side
	for i := range n {
		t := result.Target{Name: "duck", Kind: "duckdb", Queries: []result.Queries{
			asked("single-groupby-1-1-1", 300, 0.001*slower), asked("cpu-max-all-1", 200, 0.003), asked("double-groupby-all", 80, 0.4),
			asked("high-cpu-1", 100, 0.002), asked("lastpoint", 100, 0.004),
		}}
		if slower > 1 {
			for j := range t.Queries[2].Each {
				t.Queries[2].Each[j] = -1 // cut off after a second
			}
			t.Queries[3].Withheld = "query 4: 17 rows in the answer, 18 expected"
		}
		t.Queries[4] = result.Queries{Type: "lastpoint", Unsupported: "the dialect has no such query"}
		t.Load = &result.Load{Rows: 1e6, Sent: slower * (1 + 0.01*r.NormFloat64()), Settled: 2 * slower * (1 + 0.01*r.NormFloat64()), DiskBytes: int64(4e7 * slower)}
		if i == 2 {
			t.Load.Settled *= 2
		}
		t.Repeats = []result.Repeat{{Number: 1, Load: t.Load, Queries: t.Queries}}
		s.Runs = append(s.Runs, &result.Run{ID: fmt.Sprintf("20260131-15450%d-%04d", i, seed), Status: result.Complete, Started: started.Add(time.Duration(i)),
			Dataset: result.Dataset{Fingerprint: "f"}, Targets: []result.Target{t}})
	}
	return s
}

func TestComparisonGolden(t *testing.T) {
	for file, sides := range map[string][2]compare.Side{
		"compare-six.txt": {repeated(1, 6, 1), repeated(2, 6, 1.08)},
		"compare-one.txt": {repeated(1, 1, 1), repeated(2, 1, 1.08)},
	} {
		t.Run(file, func(t *testing.T) {
			c, err := compare.Runs(sides[0], sides[1], compare.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := WriteComparison(&out, c, Options{}); err != nil {
				t.Fatal(err)
			}
			golden(t, file, out.String())
			if strings.Contains(out.String(), "\x1b") {
				t.Error("colours without a terminal")
			}
			var coloured bytes.Buffer
			if err := WriteComparison(&coloured, c, Options{Color: true}); err != nil || !strings.Contains(coloured.String(), "\x1b[") {
				t.Errorf("no colours: %v", err)
			}
			if err := WriteComparison(full{}, c, Options{}); err == nil || !strings.HasPrefix(err.Error(), "writing the comparison: ") {
				t.Errorf("a full disk: %v", err)
			}
		})
	}
}

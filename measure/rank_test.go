package measure

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// exactRank is the nearest rank in rational numbers.
func exactRank(n int64, q *big.Rat) int64 {
	r := new(big.Rat).Mul(q, new(big.Rat).SetInt64(n))
	rank, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		rank.Add(rank, big.NewInt(1))
	}
	return max(rank.Int64(), 1)
}

func TestRank(t *testing.T) {
	for _, text := range []string{"0", "0.001", "0.1", "0.29", "0.5", "0.57", "0.58", "0.9", "0.95", "0.99", "0.999", "0.9999", "1"} {
		q, _ := new(big.Rat).SetString(text)
		f, _ := q.Float64()
		for _, n := range slices.Concat(numbers(1, 3000), []int64{1e6, 1e6 + 1, 1e9 + 7, 1e12 + 39, 1<<53 + 1, 1<<63 - 1}) {
			if got, want := Rank(n, f), exactRank(n, q); got != want {
				t.Fatalf("%s of %d: rank %d, want %d", text, n, got, want)
			}
		}
	}
	if Rank(0, 0.5) != 0 {
		t.Error("nothing has a rank")
	}
	// In floating point 0.29·100 is 28.999…, 0.57·100 is 56.999…, and 0.07·100 is
	// 7.000…1.
	for q, want := range map[float64]int64{0.29: 29, 0.57: 57, 0.07: 7, 0.99: 99} {
		if got := Rank(100, q); got != want {
			t.Errorf("%v of 100: rank %d, want %d", q, got, want)
		}
	}
}

func numbers(from, to int64) []int64 {
	list := make([]int64, 0, to-from+1)
	for n := from; n <= to; n++ {
		list = append(list, n)
	}
	return list
}

func TestHolds(t *testing.T) {
	for q, least := range map[float64]int64{0: 1, 0.1: 1, 0.5: 1, 0.75: 4, 0.9: 10, 0.95: 20, 0.99: 100, 0.999: 1000, 0.9999: 10_000, 1: 1} {
		if got := MinimumSamples(q); got != least || Holds(least-1, q) || !Holds(least, q) {
			t.Errorf("%v wants %d figures, not %d", q, got, least)
		}
	}
}

// A printed percentile is a time that at least that part of the durations did
// not exceed, and the one of the nearest rank but for what the histogram rounds
// up; the median is that of the sorted sample. What so few do not tell has no
// figure. Also of histograms that were merged, encoded and restored.
func TestPercentilesAgreeWithSortedSamples(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	checked, exact := 0, map[string]int64{"p90": 10, "p95": 20, "p99": 100, "p999": 1000}
	for _, n := range slices.Concat(numbers(1, 300), []int64{999, 1000, 1001, 1999, 2001}) {
		values := samples(r, int(n))
		all, first, second := NewLatency(), NewLatency(), NewLatency()
		for i, v := range values {
			all.Record(v)
			[]*Latency{first, second}[i%2].Record(v)
		}
		first.Merge(second)
		encoded, err := all.Encode()
		if err != nil {
			t.Fatal(err)
		}
		restored, err := Restore(encoded, all.Summary())
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(values)
		for name, l := range map[string]*Latency{"recorded": all, "merged": first, "restored": restored} {
			s := l.Summary()
			middle := (values[(n-1)/2].Seconds() + values[n/2].Seconds()) / 2
			if s.Median < middle*(1-1e-12) || s.Median > middle*1.001+1e-9 || s.Median > s.Max {
				t.Fatalf("%s, n = %d: median %v, want %v", name, n, s.Median, middle)
			}
			for _, p := range Percentiles() {
				got := p.Of(&s)
				if n < exact[p.Name] {
					if got != 0 || s.Holds(p.Quantile) {
						t.Fatalf("%s, n = %d: %s is %v, though %d durations do not tell it", name, n, p.Name, got, n)
					}
					continue
				}
				want := values[Rank(n, p.Quantile)-1].Seconds()
				if got < want || got > want*1.001+1e-9 || got > s.Max {
					t.Fatalf("%s, n = %d: %s is %v, want %v", name, n, p.Name, got, want)
				}
				within := 0
				for _, v := range values {
					if v <= time.Duration(got*1e9+0.5) {
						within++
					}
				}
				if float64(within) < p.Quantile*float64(n)-1e-6 {
					t.Fatalf("%s, n = %d: only %d durations are within %s", name, n, within, p.Name)
				}
				checked++
			}
		}
	}
	t.Logf("%d percentiles", checked)
}

package engine_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/tsmark/tsmark/engine"
)

// Within each stretch every position is as likely as any other: chi-square over
// many seeds, with the bound that one in a thousand fair samples exceeds.
func TestSampleIsUniform(t *testing.T) {
	const seeds, wanted = 20_000, 10
	for _, test := range []struct {
		first, end int
		bound      float64 // of chi-square with one degree of freedom less than positions
	}{
		{0, 3, 13.82}, {3, 6, 13.82}, {27, 30, 13.82}, {30, 33, 13.82},
	} {
		found := make([]float64, test.end-test.first)
		for seed := range seeds {
			s := engine.NewSample(fmt.Sprint(seed), "lastpoint", wanted, engine.OneOf, engine.Endless)
			for i := range found {
				if s.Has(int64(test.first + i)) {
					found[i]++
				}
			}
		}
		expected, sum := float64(seeds)/float64(len(found)), 0.0
		for _, n := range found {
			sum += (n - expected) * (n - expected) / expected
		}
		if sum > test.bound {
			t.Errorf("positions %d to %d were chosen %v times, chi-square %.1f", test.first, test.end, found, sum)
		}
	}
}

// At any moment the sample is as dense, everywhere, as one of so many answers as
// wanted that is spread evenly, and not much larger.
func TestSampleIsDense(t *testing.T) {
	for _, wanted := range []int{1, 3, 10, 100} {
		const seeds, operations = 400, 20_000
		s := make([]engine.Sample, seeds)
		for i := range s {
			s[i] = engine.NewSample(fmt.Sprint(i), "x", wanted, engine.OneOf, engine.Endless)
		}
		for _, n := range []int64{50, 1000, operations} {
			most := float64(wanted) * (2 + 1.5*math.Log(max(float64(n)/float64(wanted), 1)))
			tail := 0
			for i := range s {
				if got := s[i].Until(n); float64(got) > most+1 {
					t.Errorf("%d wanted of %d: %d taken, at most %.0f expected", wanted, n, got, most)
				}
				tail += s[i].Until(n) - s[i].Until(n/2)
			}
			// The later half has at least its share, or one in OneOf.
			least := min(float64(wanted)/2, float64(n)/2/engine.OneOf)
			if got := float64(tail) / seeds; got < 0.9*least {
				t.Errorf("%d wanted of %d: %.1f in the later half, at least %.1f expected", wanted, n, got, least)
			}
		}
	}
}

// However few operations there are, one of them is chosen; other seeds and texts
// choose others.
func TestSampleOfFew(t *testing.T) {
	for n := range int64(12) {
		for seed := range 50 {
			if got := engine.NewSample(fmt.Sprint(seed), "x", 10, engine.OneOf, n+1).Until(n + 1); got == 0 {
				t.Fatalf("none of %d operations", n+1)
			}
		}
	}
	same := 0
	a := engine.NewSample("seed", "a", 100, engine.OneOf, 400)
	for i := range int64(400) {
		for _, other := range []engine.Sample{engine.NewSample("seed", "b", 100, engine.OneOf, 400), engine.NewSample("other", "a", 100, engine.OneOf, 400)} {
			if a.Has(i) && other.Has(i) {
				same++
			}
		}
	}
	if same > 100 { // 50 by chance
		t.Errorf("%d positions in common", same)
	}
}

// BenchmarkSample is what a query costs that is not taken.
func BenchmarkSample(b *testing.B) {
	s := engine.NewSample("seed", "x", 10, engine.OneOf, engine.Endless)
	b.ReportAllocs()
	for i := range b.N {
		if s.Has(int64(i)) && i < 0 {
			b.Fatal()
		}
	}
}

package iotdb

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// The known answers that the authors of Random123 publish for philox2x64-10.
func TestRandomKnownAnswers(t *testing.T) {
	for _, test := range [][5]uint64{ // counter, stream, key, and the two results
		{0, 0, 0, 0xca00a0459843d731, 0x66c24222c9a845b5},
		{math.MaxUint64, math.MaxUint64, math.MaxUint64, 0x65b021d60cd8310f, 0x4d02f3222f86df20},
		{0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x0a5e742c2997341c, 0xb0f883d38000de5d},
	} {
		if a, b := random(test[2], test[0], test[1]); a != test[3] || b != test[4] {
			t.Errorf("key %x, counter %x %x: %x %x, want %x %x", test[2], test[0], test[1], a, b, test[3], test[4])
		}
	}
}

// The inverse of the normal distribution agrees with gonum's to 15 digits or so,
// in its tails too.
func TestNormal(t *testing.T) {
	for _, u := range []float64{1e-300, 1e-30, 1e-16, 1e-6, 0.01, 0.0749, 0.0751, 0.3, 0.5, 0.7, 0.93, 0.99, 1 - 1e-6, 1 - 1e-15} {
		want := distuv.UnitNormal.Quantile(u)
		if got := normal(u); math.Abs(got-want) > 1e-12*math.Max(1, math.Abs(want)) {
			t.Errorf("of %g: %.17g, want %.17g", u, got, want)
		}
	}
	x := make([]float64, 200_000)
	for i := range x {
		_, b := random(42, uint64(i), 0)
		x[i] = normal(unitFloat(b))
	}
	mean, variance := stat.MeanVariance(x, nil)
	if math.Abs(mean) > 0.01 || math.Abs(variance-1) > 0.01 || math.Abs(stat.Skew(x, nil)) > 0.02 || math.Abs(stat.ExKurtosis(x, nil)) > 0.05 {
		t.Errorf("mean %g, variance %g, skew %g, excess kurtosis %g", mean, variance, stat.Skew(x, nil), stat.ExKurtosis(x, nil))
	}
}

// Draws follow the Poisson distribution by Pearson's test, for small and large
// means.
func TestPoisson(t *testing.T) {
	for _, mean := range []float64{0, 0.3, 10, 2200} {
		const n = 100_000
		p, counts := newPoisson(mean), map[int64]float64{}
		for i := range uint64(n) {
			x, _ := random(7, i, 1)
			counts[p.quantile(unit(x))]++
		}
		if mean == 0 {
			if counts[0] != n {
				t.Errorf("mean 0: %v", counts)
			}
			continue
		}
		known := distuv.Poisson{Lambda: mean}
		var observed, expected []float64
		rest := float64(n)
		seen := 0.0
		for k := p.first; k <= p.largest(); k++ {
			if e := n * known.Prob(float64(k)); e >= 10 {
				observed, expected = append(observed, counts[k]), append(expected, e)
				rest, seen = rest-e, seen+counts[k]
			}
		}
		observed, expected = append(observed, n-seen), append(expected, rest)
		limit := distuv.ChiSquared{K: float64(len(observed) - 1)}.Quantile(0.9999)
		if x := stat.ChiSquare(observed, expected); x > limit {
			t.Errorf("mean %g: chi square %g of %d classes is beyond %g", mean, x, len(observed), limit)
		}
	}
}

package stats

import (
	"math"
	"slices"
	"testing"

	gonum "gonum.org/v1/gonum/stat"
)

// isNear reports whether two figures agree to nine digits.
func isNear(got, want float64) bool { return math.Abs(got-want) <= 1e-9*max(1, math.Abs(want)) }

// The expected figures are R 4.2's: wilcox.test on logarithms with conf.int
// and exact, whose interval has the same ends. The ratio is that of the medians.
func TestCompareAsR(t *testing.T) {
	for _, c := range []struct {
		a, b             []float64
		p, ratio, lo, hi float64
	}{
		{[]float64{10.1, 10.3, 9.9, 10.0, 10.2, 10.4}, []float64{10.6, 10.25, 10.7, 10.5, 10.9, 10.35},
			0.0151515151515, 10.55 / 10.15, 1.00961538462, 1.07},
		{[]float64{1, 2, 3, 4, 5.5, 7, 8, 9.25}, []float64{2.5, 3.5, 6, 10, 11},
			0.43512043512, 6 / 4.75, 0.5, 3.5},
	} {
		got := Compare(c.a, c.b)
		if !isNear(got.P, c.p) || !isNear(got.Ratio.Figure, c.ratio) || !isNear(got.Interval.Lo.Figure, c.lo) || !isNear(got.Interval.Hi.Figure, c.hi) {
			t.Errorf("p %.12g, ratio %.12g in %+v; want p %v, %v in %v to %v", got.P, got.Ratio.Figure, *got.Interval, c.p, c.ratio, c.lo, c.hi)
		}
		if got.Interval.Level < Confidence || got.Interval.Level > 0.99 {
			t.Errorf("level %v", got.Interval.Level)
		}
	}
}

// R: p.adjust(…, "holm").
func TestHolmAsR(t *testing.T) {
	got := Holm([]float64{0.01, 0.04, 0.03, 0.005, 0.2})
	if want := []float64{0.04, 0.09, 0.09, 0.025, 0.2}; !slices.EqualFunc(got, want, isNear) {
		t.Errorf("%v, want %v", got, want)
	}
}

// R: cor.test(…, method = "kendall"), exact, and with 60 figures by the normal
// approximation with continuity correction.
func TestTrendAsR(t *testing.T) {
	sixty := []float64{-0.937, -0.243, 0.334, -1.052, 0.321, 0.180, 0.260, 1.317, -0.994, 1.517,
		-0.470, -0.831, -0.391, 0.603, 0.527, 0.092, -0.528, -0.198, 1.699, 0.700,
		-0.053, -0.392, 0.371, -1.066, 0.141, -0.091, 1.836, 1.712, 0.653, -0.387,
		1.676, 1.652, 1.553, 1.587, 0.523, 1.606, 2.225, 0.988, -0.004, 1.794,
		1.812, 0.740, 2.774, 0.305, 1.473, -1.115, 1.013, 2.331, 0.769, 0.351,
		2.002, 0.491, 1.592, -0.387, -0.036, 0.946, 0.390, 2.812, 2.392, 0.715}
	for _, c := range []struct {
		x      []float64
		tau, p float64
		within float64
	}{
		{[]float64{3, 1, 4, 1.5, 5, 9, 2, 6}, 0.428571428571, 0.178869048, 1e-8},
		{[]float64{1, 2, 3, 4, 6, 5}, 13. / 15, 0.0166666666667, 1e-8},
		{[]float64{5, 5, 5, 5, 5, 5}, 0, 1, 0},
		{sixty, 0.3125, 0.00043, 0.00002}, // one tie, which R treats in its own way
	} {
		tau, p := trend(c.x)
		if math.Abs(tau-c.tau) > 1e-3 || math.Abs(p-c.p) > c.within {
			t.Errorf("tau %v, p %v; want %v, %v", tau, p, c.tau, c.p)
		}
	}
}

// The expected figures are those of the Python package diptest 0.10.
func TestDipAsReference(t *testing.T) {
	for _, c := range []struct {
		x    []float64
		want float64
	}{
		{[]float64{1, 1.01, 1.02, 2, 2.01, 2.02}, 0.245},
		{[]float64{1, 2, 3, 4, 10}, 0.1},
		{[]float64{1, 1, 1, 2, 2, 3, 3, 3, 3, 4, 7, 7, 7, 8}, 0.10714285714285714},
		{[]float64{-2.441, -1.729, -1.638, -1.505, -1.011, -0.892, -0.792, -0.607, -0.554, -0.523, -0.413, -0.329, -0.325, -0.311, -0.099,
			0.127, 0.188, 0.189, 0.281, 0.331, 0.411, 0.455, 0.545, 0.774, 0.783, 0.841, 0.978, 1.144, 1.8, 2.057}, 0.06008566978193146},
		{[]float64{-1.873, -1.13, -1.079, -0.764, -0.563, -0.422, -0.235, -0.17, 0.129, 0.211, 0.243, 0.284, 0.722, 0.841, 0.868, 0.969,
			1.078, 1.129, 1.324, 1.566, 1.801, 2.47, 2.581, 2.934, 3.229, 3.72, 3.803, 3.821, 3.895, 4.074, 4.088, 4.154, 4.274, 4.648,
			4.65, 5.0, 5.035, 5.199, 5.216, 6.375}, 0.07320618556701033},
		{[]float64{2, 2, 2, 2}, 0.125},
	} {
		if got := dip(c.x); !isNear(got, c.want) {
			t.Errorf("dip of %v is %v, want %v", c.x, got, c.want)
		}
	}
}

// Order statistics of a binomial: 1 less 2/2^n.
func TestLevels(t *testing.T) {
	x := []float64{7, 3, 5, 4, 6, 8, 1, 2}
	for n, want := range map[int][3]float64{2: {3, 7, 0.5}, 3: {3, 7, 0.75}, 5: {3, 7, 0.9375}, 6: {3, 8, 0.96875}, 8: {1, 7, 0.9609375}} {
		i := Summarize(x[:n]).Interval
		if i == nil || i.Lo.Figure != want[0] || i.Hi.Figure != want[1] || !isNear(i.Level, want[2]) {
			t.Errorf("%d figures: %+v, want %v", n, i, want)
		}
	}
	if e := Summarize(x[:1]); e.Interval != nil || e.Median.Figure != 7 || e.CV != -1 {
		t.Errorf("one figure: %+v", e)
	}
	for n, want := range map[int]float64{1: 1, 3: 0.1, 6: 2. / 924} {
		if got := SmallestP(n, n); !isNear(got, want) {
			t.Errorf("smallest p of %d figures a side is %v, want %v", n, got, want)
		}
	}
	if got := Compare(x[:1], x[1:2]); got.Interval != nil || got.P != 1 {
		t.Errorf("two figures: %+v", got)
	}
}

// The autocorrelation time is the sum of Pearson's correlations of a series with itself some
// figures later, whether it is short, constant, dependent or drifts.
func TestAutocorrelationIsPearsons(t *testing.T) {
	byDefinition := func(series []float64) float64 {
		tau := 1.0
		for lag := 1; lag < len(series)/2 && float64(lag) < 5*tau; lag++ {
			r := gonum.Correlation(series[:len(series)-lag], series[lag:], nil)
			if math.IsNaN(r) {
				break
			}
			tau += 2 * r
		}
		return max(tau, 1)
	}
	for seed, n := range []int{0, 1, 2, 3, 4, 7, 64, 1000, 3001} {
		for _, rho := range []float64{0, 0.5, 0.99} {
			for _, drift := range []float64{0, 0.1, 10} {
				x := process(uint64(seed), n, rho, 1)
				for i := range x {
					x[i] += drift * (float64(i)/float64(n) - 0.5)
				}
				for _, threshold := range []float64{0, 2, -1000, 1000} {
					series := exceeds(x, threshold)
					if got, want := autocorrelation(series), byDefinition(series); !isNear(got, want) {
						t.Errorf("%d figures, rho %v, drift %v, above %v: %v, want %v", n, rho, drift, threshold, got, want)
					}
				}
			}
		}
	}
}

// The autocorrelation time of whether a Gaussian AR(1) series exceeds its
// median is the sum of 2/pi asin(rho^k) over all lags.
func TestAutocorrelationOfAR1(t *testing.T) {
	const rho = 0.8
	want := 1.0
	for k := 1; k < 200; k++ {
		want += 2 * 2 / math.Pi * math.Asin(math.Pow(rho, float64(k)))
	}
	x := process(1, 100_000, rho, 1)
	if got := autocorrelation(exceeds(x, 0)); math.Abs(got-want) > 0.1*want {
		t.Errorf("%v, want %v", got, want)
	}
	if got := autocorrelation(exceeds(process(2, 100_000, 0, 1), 0)); got > 1.05 {
		t.Errorf("%v where nothing is correlated", got)
	}
}

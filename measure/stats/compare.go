package stats

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/aclements/go-moremath/stats"
	"github.com/tsmark/tsmark/measure"
	"golang.org/x/perf/benchmath"
	gonum "gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"
)

// Alpha is the level below which a p-value, corrected for the number of
// comparisons, shows a difference.
const Alpha = 1 - Confidence

// Comparison describes how much larger the figures of B are than those of A.
type Comparison struct {
	A Estimate `json:"a"`
	B Estimate `json:"b"`
	// Ratio is the median of B divided by the median of A. For repeats it is Unknown, and Interval
	// nil, if it lies outside the interval: the medians and the pairs of repeats then disagree.
	Ratio    Value     `json:"ratio"`
	Interval *Interval `json:"interval,omitempty"` // of the ratio; nil: too few figures
	// P is the probability of a difference at least as large as this one if the samples did not
	// differ.
	P float64 `json:"p"`
	// SmallestP is the smallest possible P for samples of this size. If it is not below Alpha no
	// difference can be shown.
	SmallestP float64 `json:"smallest_p"`
}

// Compare compares two samples of repeats. The p-value is that of the two-sided Mann-Whitney U
// test, exact up to 50 figures per side (25 if some are equal). If figures were cut off, all are
// treated as cut off at the shortest limit, so that no order is invented. The ratio is that of the
// medians; its interval is RatioInterval's at the level Confidence.
func Compare(a, b []float64) Comparison {
	c := Comparison{A: Summarize(a), B: Summarize(b), P: 1, SmallestP: SmallestP(len(a), len(b))}
	if len(a) == 0 || len(b) == 0 {
		c.Ratio = Value{0, Unknown}
		return c
	}
	limit := math.Inf(1)
	for _, x := range slices.Concat(a, b) {
		if x < 0 {
			limit = min(limit, -x)
		}
	}
	sample := func(figures []float64) *benchmath.Sample {
		known := magnitudes(figures)
		for i := range known {
			known[i] = min(known[i], limit)
		}
		return benchmath.NewSample(known, &benchmath.DefaultThresholds)
	}
	c.P = min(1, benchmath.AssumeNothing.Compare(sample(a), sample(b)).P)

	// The ratio always is the quotient of the reported medians.
	c.Ratio, c.Interval = c.B.Median.Ratio(c.A.Median), RatioInterval(a, b, Alpha)
	if c.Ratio.Bound != Unknown && c.Interval != nil && !c.Interval.Holds(c.Ratio) {
		c.Ratio, c.Interval = Value{0, Unknown}, nil
	}
	return c
}

// RatioInterval returns the interval that contains the ratio of two samples except with probability
// alpha; nil: too few figures. It is that of the Hodges-Lehmann estimate on logarithms, the median
// of the ratios of all pairs: between the order statistics of these ratios that the U test's
// distribution gives (Hollander, Wolfe and Chicken 2014, Nonparametric Statistical Methods, section
// 4.3). It therefore contains 1 if the U test's p is above alpha.
func RatioInterval(a, b []float64, alpha float64) *Interval {
	lo, level := hodgesLehmann(len(a), len(b), alpha)
	if level <= 0 {
		return nil
	}
	ratios := pairs(a, b)
	return ratios.interval(lo, len(ratios.lo)-1-lo, level)
}

// Holds reports whether the interval has a value, or may have it where bounds leave that
// open.
func (i *Interval) Holds(v Value) bool {
	const rounding = 1e-9
	below := v.Bound != AtLeast && i.Lo.Bound != AtMost && i.Lo.Bound != Unknown && v.Figure < i.Lo.Figure*(1-rounding)
	above := v.Bound != AtMost && i.Hi.Bound != AtLeast && i.Hi.Bound != Unknown && v.Figure > i.Hi.Figure*(1+rounding)
	return !below && !above
}

// pairs are the logarithms of the ratios of all figures of b to all of a,
// sorted.
func pairs(a, b []float64) spans {
	var s spans
	for _, x := range a {
		for _, y := range b {
			lo, hi := logRatio(x, y)
			s.lo, s.hi = append(s.lo, lo), append(s.hi, hi)
		}
	}
	return s.sortBounds()
}

// logRatio bounds the logarithm of y/x, where x and y may be cut off.
func logRatio(x, y float64) (lo, hi float64) {
	lo = math.Log(math.Abs(y)) - math.Log(math.Abs(x))
	hi = lo
	if y < 0 {
		hi = math.Inf(1)
	}
	if x < 0 {
		lo = math.Inf(-1)
	}
	return lo, hi
}

// interval is between two order statistics of logarithms.
func (s spans) interval(lo, hi int, level float64) *Interval {
	return &Interval{exp(s.bounds(lo)), exp(s.bounds(hi)), level}
}

// hodgesLehmann returns the index of the pair that is the lower end of the interval, and the
// interval's level: at least 1-alpha unless there are too few figures, and 0 if they allow no
// interval.
func hodgesLehmann(n, m int, alpha float64) (place int, level float64) {
	if n == 0 || m == 0 {
		return 0, 0
	}
	const exact = 50 // as the U test has it
	if n > exact || m > exact {
		mean, deviation := float64(n*m)/2, math.Sqrt(float64(n*m*(n+m+1))/12)
		place = int(math.Floor(mean - distuv.UnitNormal.Quantile(1-alpha/2)*deviation))
		return max(place-1, 0), 1 - alpha
	}
	u := stats.UDist{N1: n, N2: m}
	// The first place at which the tail is too large; the place before it is
	// the last one that leaves out no more than alpha at both ends.
	place = sort.Search(n*m/2, func(k int) bool { return 2*u.CDF(float64(k)) > alpha })
	place = max(place-1, 0)
	return place, max(0, 1-2*u.CDF(float64(place)))
}

// SmallestP is the p-value of the Mann-Whitney test for n and m figures of
// which all on one side exceed all on the other: no smaller one is possible.
func SmallestP(n, m int) float64 {
	if n == 0 || m == 0 {
		return 1
	}
	return min(1, 2*math.Exp(-combin.LogGeneralizedBinomial(float64(n+m), float64(n))))
}

// ComparePaired compares the latencies of the same queries in one repeat of each side, in the order
// of the queries. Both samples have the same length. The ratio is that of the medians.
//
// The interval is that of the median of the queries' ratios, so that differences in difficulty
// between queries cancel. It is nil if it does not contain the ratio, or if there are too few
// independent queries. The interval and the p-value of the sign test are based on the number of
// independent queries that the series is worth (see EstimateRepeat).
//
// The result describes these two repeats only and contains no variation between repeats, so even a
// small p-value does not show that the systems differ.
func ComparePaired(a, b []float64) Comparison {
	c := Comparison{A: EstimateRepeat(a), B: EstimateRepeat(b), P: 1, SmallestP: 1}
	if len(a) == 0 {
		c.Ratio = Value{0, Unknown}
		return c
	}
	var s spans
	var signs []float64 // 1: B took longer, 0: A took longer; undecided pairs are omitted
	for i := range a {
		lo, hi := logRatio(a[i], b[i])
		s.lo, s.hi = append(s.lo, lo), append(s.hi, hi)
		switch {
		case lo > 0:
			signs = append(signs, 1)
		case hi < 0:
			signs = append(signs, 0)
		}
	}
	sorted := s.sortBounds()
	worth := independent(s.lo, middle(sorted.lo))
	if lo, hi, level, ok := dependent(len(a), worth); ok {
		c.Interval = sorted.interval(lo, hi, level)
	}
	c.P, c.SmallestP = signTest(signs, worth/float64(len(a)))
	c.Ratio = c.B.Median.Ratio(c.A.Median)
	if c.Interval != nil && !c.Interval.Holds(c.Ratio) {
		c.Interval = nil
	}
	return c
}

// signTest returns the p-value of the two-sided sign test of a series of 0 and 1, and the smallest
// possible p-value for as many signs. It counts the independent signs: at most a share of the
// series, which the series itself may reduce.
func signTest(signs []float64, share float64) (p, smallest float64) {
	if len(signs) == 0 {
		return 1, 1
	}
	worth := math.Max(1, math.Floor(float64(len(signs))*min(share, 1/autocorrelation(signs))))
	longer := gonum.Mean(signs, nil)
	rarer := math.Round(min(longer, 1-longer) * worth)
	coin := distuv.Binomial{N: worth, P: 0.5}
	return min(1, 2*coin.CDF(rarer)), min(1, 2*coin.CDF(0))
}

// Holm corrects p-values for multiple comparisons (Holm 1979, Scandinavian Journal of Statistics
// 6): the probability that any value below Alpha is a false alarm is below Alpha. It keeps the
// order.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	adjusted, largest := make([]float64, len(p)), 0.0
	for rank, i := range order {
		largest = max(largest, min(1, p[i]*float64(len(p)-rank)))
		adjusted[i] = largest
	}
	return adjusted
}

// GeometricMean returns the geometric mean of figures. Figures less than 0 were cut off, and make
// the mean less than 0 too. It returns 0 for no figures.
func GeometricMean(figures []float64) float64 {
	if len(figures) == 0 {
		return 0
	}
	mean := gonum.GeometricMean(magnitudes(figures), nil)
	if countCensored(figures) > 0 {
		return -mean
	}
	return mean
}

// Quantile is the figure that at least the fraction q (0 to 1) of a sample does
// not exceed, by the nearest rank (see measure.Rank); less than 0 where those
// that were cut off leave open by how much it is larger. Whether so few figures
// tell it is for measure.Holds to say.
func Quantile(sample []float64, q float64) float64 {
	if len(sample) == 0 {
		return 0
	}
	lo, hi := spansOf(sample).sortBounds().bounds(int(measure.Rank(int64(len(sample)), q)) - 1)
	if hi != lo {
		return -lo
	}
	return lo
}

// Median returns the median of a sample, for an even number the mean of the middle two. It is less
// than 0 if figures that were cut off leave open how much larger it is, and 0 if the sample is
// empty.
func Median(sample []float64) float64 {
	if len(sample) == 0 {
		return 0
	}
	lo, hi := spansOf(sample).sortBounds().median()
	if lo != hi {
		return -lo
	}
	return lo
}

// Mean is the mean of a sample; less than 0 where some were cut off, 0 where
// it is empty.
func Mean(sample []float64) float64 {
	if len(sample) == 0 {
		return 0
	}
	mean := gonum.Mean(magnitudes(sample), nil)
	if countCensored(sample) > 0 {
		return -mean
	}
	return mean
}

package stats

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/aclements/go-moremath/stats"
	"golang.org/x/perf/benchmath"
	"gonum.org/v1/gonum/dsp/fourier"
	"gonum.org/v1/gonum/floats"
	gonum "gonum.org/v1/gonum/stat"
)

// Confidence is the level of all intervals, unless too few figures allow only
// a lower one: then theirs.
const Confidence = 0.95

// Interval is where a figure lies with a given probability.
type Interval struct {
	Lo    Value   `json:"lo"`
	Hi    Value   `json:"hi"`
	Level float64 `json:"level"` // reached: what order statistics allow
}

// Estimate is the median of a sample with its uncertainty.
type Estimate struct {
	N        int       `json:"n"`
	Censored int       `json:"censored,omitempty"` // of these, cut off
	Median   Value     `json:"median"`
	Interval *Interval `json:"interval,omitempty"` // of the median; nil: too few figures, or too few independent ones
	// CV is the coefficient of variation: standard deviation (with n-1) by
	// mean; -1: not known, of fewer than two figures or where some were cut off.
	CV float64 `json:"cv"`
	// Effective is the number of independent figures that the sample is worth.
	Effective float64   `json:"effective"`
	Outliers  []Outlier `json:"outliers,omitempty"` // which took part
	Warnings  []Warning `json:"warnings,omitempty"`
}

// Summarize estimates the median of repeats in the order in which they were made. The interval is
// that of order statistics; with fewer than six repeats, which cannot reach 95 %, it is their range
// with a lower level.
func Summarize(repeats []float64) Estimate {
	e := Estimate{N: len(repeats), Censored: countCensored(repeats), CV: variation(repeats), Effective: float64(len(repeats))}
	if e.N == 0 {
		e.Median = Value{0, Unknown}
		return e
	}
	s := spansOf(repeats).sortBounds()
	e.Median = valueOf(s.median())
	if e.N > 1 {
		// One ulp less, since adding up the probabilities may fall short by it.
		level := min(Confidence, math.Nextafter(1-math.Ldexp(2, -e.N), 0))
		lo, hi := orderStatistics(s.lo, level), orderStatistics(s.hi, level)
		e.Interval = &Interval{valueOf(lo.Lo, hi.Lo), valueOf(lo.Hi, hi.Hi), lo.Confidence}
	}
	e.warn(repeats, repeats)
	return e
}

// orderStatistics is benchmath's interval of the median of a sorted sample.
func orderStatistics(sorted []float64, level float64) benchmath.Summary {
	return benchmath.AssumeNothing.Summary(benchmath.NewSample(slices.Clone(sorted), &benchmath.DefaultThresholds), level)
}

// EstimateRepeat estimates the median of the latencies of one repeat, in order of time. Neighbors
// are correlated, so the latencies are worth fewer independent ones: Effective (see independent).
// The interval consists of order statistics of Effective figures, read off the sample at the same
// fractions (Bahadur's representation of quantiles, which holds for dependent figures: Sen 1968,
// Annals of Mathematical Statistics 39; Heidelberger and Lewis 1984, Operations Research 32). Fewer
// than leastIndependent figures have no interval.
func EstimateRepeat(latencies []float64) Estimate {
	e := Estimate{N: len(latencies), Censored: countCensored(latencies), CV: variation(latencies)}
	if e.N == 0 {
		e.Median = Value{0, Unknown}
		return e
	}
	s := spansOf(latencies)
	e.Median, e.Interval, e.Effective = s.estimateMedian()
	// A drift makes a series depend on itself for ever: without it, it shows how
	// far apart stretches must be.
	flat := level(s.lo)
	e.warn(latencies, batches(s.lo, autocorrelation(exceeds(flat, middle(slices.Sorted(slices.Values(flat)))))))
	return e
}

// estimateMedian returns the median of a series, its interval, and the number of independent
// figures that the series is worth.
func (s spans) estimateMedian() (median Value, interval *Interval, effective float64) {
	sorted := s.sortBounds()
	effective = independent(s.lo, middle(sorted.lo))
	if lo, hi, level, ok := dependent(len(s.lo), effective); ok {
		interval = &Interval{valueOf(sorted.bounds(lo)), valueOf(sorted.bounds(hi)), level}
	}
	return valueOf(sorted.median()), interval, effective
}

// leastIndependent is the number of independent figures that an interval needs to reach its level.
const leastIndependent = 6

// dependent returns the indexes of the order statistics among n that bound the median if the
// figures are worth fewer independent ones.
func dependent(n int, effective float64) (lo, hi int, level float64, ok bool) {
	worth := int(effective)
	if worth < leastIndependent {
		return 0, 0, 0, false
	}
	ci := stats.QuantileCI(worth, 0.5, Confidence)
	place := func(order int) float64 { return (float64(order) - 0.5) / float64(worth) * float64(n) }
	lo = int(place(ci.LoOrder))
	hi = min(int(math.Ceil(place(ci.HiOrder))), n) - 1
	return lo, hi, ci.Confidence, true
}

// independent returns the number of independent figures that a series with this median is worth:
// the smaller of two estimates. The first divides the length by the observed autocorrelation time,
// which a short series underestimates: with it alone, 46 % of the intervals of 20 figures contain
// the median if neighbors correlate by 0.9 (TestCoverageOfDependentFigures). The second divides by
// the autocorrelation time of an autoregressive series with the largest credible correlation of
// neighbors: the observed rank correlation plus two standard errors.
func independent(series []float64, median float64) float64 {
	const standardErrors = 2
	n := float64(len(series))
	tau := autocorrelation(exceeds(series, median))
	if len(series) >= leastIndependent {
		ranks := ranks(series)
		r := gonum.Correlation(ranks[:len(ranks)-1], ranks[1:], nil)
		if math.IsNaN(r) { // all figures are equal
			r = 0
		}
		r = min(r+standardErrors*math.Sqrt(max(1-r*r, 0)/n), 1)
		tau = max(tau, autoregressive(r, len(series)))
	}
	return max(1, n/tau)
}

// autoregressive returns the autocorrelation time of the indicator that a figure exceeds the
// median, for n figures of a Gaussian AR(1) series whose neighbors correlate by r: the sum of 2/pi
// asin(r^k) over all lags.
func autoregressive(r float64, n int) float64 {
	const negligible = 1e-4
	tau := 1.0
	for lag, correlation := 1, r; lag < n && correlation > negligible; lag++ {
		tau += 2 * 2 / math.Pi * math.Asin(correlation)
		correlation *= r
	}
	return tau
}

// ranks returns for each figure the number of smaller ones, plus half the number of equal ones.
func ranks(series []float64) []float64 {
	order := make([]int, len(series))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(series[i], series[j]) })
	list := make([]float64, len(series))
	for begin, end := 0, 0; begin < len(order); begin = end {
		for end = begin + 1; end < len(order) && series[order[end]] == series[order[begin]]; {
			end++
		}
		for _, i := range order[begin:end] {
			list[i] = float64(begin+end-1) / 2
		}
	}
	return list
}

// exceeds is the series of 1 where x is above the threshold and 0 elsewhere.
func exceeds(x []float64, threshold float64) []float64 {
	series := make([]float64, len(x))
	for i := range x {
		if x[i] > threshold {
			series[i] = 1
		}
	}
	return series
}

// autocorrelation is the integrated autocorrelation time of a series of 0 and 1:
// how many figures in a row are worth one, at least 1. It adds up
// autocorrelations to the first lag that is five times as long as the sum says
// (Sokal 1997, Monte Carlo methods in statistical mechanics, section 3).
func autocorrelation(series []float64) float64 {
	const window = 5
	tau, n, both := 1.0, len(series), jointShares(series)
	head := floats.Sum(series) // of all but the last lag figures
	tail := head               // of all but the first lag figures
	for lag := 1; lag < n/2 && float64(lag) < window*tau; lag++ {
		head -= series[n-lag]
		tail -= series[lag-1]
		pairs := float64(n - lag)
		variances := head * (pairs - head) * tail * (pairs - tail)
		if variances == 0 { // a constant series
			break
		}
		tau += 2 * (pairs*both[lag] - head*tail) / math.Sqrt(variances)
	}
	return max(tau, 1)
}

// jointShares returns for each lag how often a series of 0 and 1 is 1 at both of two places at that
// lag. It multiplies spectra, since a series that drifts is correlated over half its length: adding
// up products for each lag takes minutes for a million figures.
func jointShares(series []float64) []float64 {
	n := len(series)
	if n == 0 {
		return nil
	}
	padded := make([]float64, 1<<bits.Len(uint(2*n-1))) // the end does not reach round to the beginning
	copy(padded, series)
	transform := fourier.NewFFT(len(padded))
	spectrum := transform.Coefficients(nil, padded)
	for i, c := range spectrum {
		spectrum[i] = complex(real(c)*real(c)+imag(c)*imag(c), 0)
	}
	counts := transform.Sequence(padded, spectrum)[:n]
	for i, c := range counts {
		counts[i] = math.Round(c / float64(len(padded))) // they are whole: nothing is lost by the transforms
	}
	return counts
}

// level is the logarithms of a series less their straight line over time.
func level(series []float64) []float64 {
	logs, order := logarithms(series), make([]float64, len(series))
	for i := range order {
		order[i] = float64(i)
	}
	start, slope := gonum.LinearRegression(order, logs, nil, false)
	for i := range logs {
		logs[i] -= start + slope*order[i]
	}
	return logs
}

// variation is the coefficient of variation; -1: not known.
func variation(sample []float64) float64 {
	if len(sample) < 2 || countCensored(sample) > 0 {
		return -1
	}
	mean, deviation := gonum.MeanStdDev(sample, nil)
	return deviation / mean
}

package measure

import (
	"math"
	"math/bits"
)

// nano is the unit in which a fraction is taken, so that 0.99 of 100 is 99 and
// not, as in floating point, a little more or less.
const nano = 1_000_000_000

// parts is a fraction (0 to 1) in billionths.
func parts(q float64) uint64 { return uint64(math.Round(min(max(q, 0), 1) * nano)) }

// Rank returns the nearest rank of a quantile (0 to 1, rounded to nine decimals) among n sorted
// figures, from 1: the smallest rank such that at least the fraction q of all figures do not exceed
// the figure there, which is q·n rounded up (Hyndman and Fan 1996, The American Statistician 50,
// definition 1). All percentiles that tsmark prints use this rule. Rank returns 0 if n is 0.
func Rank(n int64, q float64) int64 {
	if n <= 0 {
		return 0
	}
	high, low := bits.Mul64(uint64(n), parts(q))
	rank, rest := bits.Div64(high, low, nano)
	if rest > 0 {
		rank++
	}
	return max(int64(rank), 1)
}

// Holds reports whether n figures tell the quantile q: above the median, at
// least one of them must be expected beyond it, so n ≥ 1/(1-q). A p99 of fewer
// than 100 figures would only be their maximum by another name. Up to the
// median, and for the maximum itself (q = 1), one figure is enough.
func Holds(n int64, q float64) bool { return n >= MinimumSamples(q) }

// MinimumSamples returns the number of figures that Holds requires: 100 for p99.
func MinimumSamples(q float64) int64 {
	beyond := nano - parts(q)
	if q <= 0.5 || beyond == 0 {
		return 1
	}
	return int64((nano + beyond - 1) / beyond)
}

package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"
)

// RuleOfThree returns the largest probability, at the level Confidence, of an event that occurred in none of n
// trials (Hanley and Lippman-Hand 1983, JAMA 249); 1: up to three trials.
func RuleOfThree(n int) float64 { return 3 / math.Max(3, float64(n)) }

// CompareShares compares how often an event occurred: in a of n trials of A, and in b of m trials of B. The
// medians are these shares with their Clopper-Pearson intervals; P is that of Fisher's exact test, two-sided.
// The ratio is a bound by RuleOfThree if the event occurred on one side only.
func CompareShares(a, n, b, m int) Comparison {
	c := Comparison{A: share(a, n), B: share(b, m), Ratio: Value{0, Unknown}, P: 1, SmallestP: 1}
	if n == 0 || m == 0 {
		return c
	}
	c.P, c.SmallestP = fisher(a, n, b, m), fisher(0, n, m, m)
	switch of, by := c.B.Median.Figure, c.A.Median.Figure; {
	case a > 0 && b > 0:
		c.Ratio = Value{of / by, Exact}
	case b > 0:
		c.Ratio = Value{of / RuleOfThree(n), AtLeast}
	case a > 0:
		c.Ratio = Value{RuleOfThree(m) / by, AtMost}
	}
	return c
}

// share is the estimate of a share from k of n trials.
func share(k, n int) Estimate {
	if n == 0 {
		return Summarize(nil)
	}
	e := Estimate{N: n, Median: Value{Figure: float64(k) / float64(n)}, CV: -1, Effective: float64(n)}
	i := Interval{Hi: Value{Figure: 1}, Level: Confidence}
	if k > 0 {
		i.Lo.Figure = distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(Alpha / 2)
	}
	if k < n {
		i.Hi.Figure = distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(1 - Alpha/2)
	}
	e.Interval = &i
	return e
}

// fisher returns the p-value of Fisher's exact test for a of n and b of m events: the probability of all tables
// with the same sums that are at most as likely as this one.
func fisher(a, n, b, m int) float64 {
	events := a + b
	chance := func(k int) float64 {
		of := func(n, k int) float64 { return combin.LogGeneralizedBinomial(float64(n), float64(k)) }
		return math.Exp(of(n, k) + of(m, events-k) - of(n+m, events))
	}
	const rounding = 1e-7
	p, observed := 0.0, chance(a)
	for k := max(0, events-m); k <= min(n, events); k++ {
		if each := chance(k); each <= observed*(1+rounding) {
			p += each
		}
	}
	return min(1, p)
}

package stats

import (
	"fmt"
	"math"
	"slices"
	"strings"

	gonum "gonum.org/v1/gonum/stat"
)

// Kind is the subject of a Warning.
type Kind string

// The kinds of warnings.
const (
	TooFew   Kind = "too few"       // for an interval of 95 %
	Drift    Kind = "drift"         // later figures are higher or lower than earlier ones
	Modes    Kind = "several modes" // figures gather around more than one place
	Outlying Kind = "outliers"      // see Estimate.Outliers
)

// Warning is a reason to look at a sample before believing its median.
type Warning struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text"` // one line
}

// Outlier is a figure that lies far from the others. It is not excluded.
type Outlier struct {
	Index int     `json:"index"` // in the order given, from 0
	Value float64 `json:"value"`
}

const (
	driftAlpha = 0.05
	// fences is the distance of an outlier from the quartiles in interquartile ranges: Tukey's "far
	// out" (1977, Exploratory Data Analysis).
	fences = 3
	named  = 3 // outliers in a text
)

// warn looks for reasons to doubt a sample. Stretches are its figures, or the
// medians of long enough stretches of it, in order of time.
func (e *Estimate) warn(sample, stretches []float64) {
	warn := func(k Kind, format string, args ...any) {
		e.Warnings = append(e.Warnings, Warning{k, fmt.Sprintf(format, args...)})
	}
	worth := int(e.Effective)
	switch {
	case e.Interval == nil && e.N < leastIndependent:
		warn(TooFew, "%s: no interval", worthOf(e.N, e.N))
	case e.Interval == nil:
		warn(TooFew, "%s: too few for an interval", worthOf(e.N, worth))
	case e.Interval.Level < Confidence:
		warn(TooFew, "%s: the interval is their range, at a level of %.3g %%, not 95 %%", worthOf(e.N, worth), 100*e.Interval.Level)
	}
	if tau, p := trend(magnitudes(stretches)); p < driftAlpha {
		direction := "rise"
		if tau < 0 {
			direction = "fall"
		}
		warn(Drift, "figures %s over time (Mann-Kendall, tau = %+.2f, p = %.3g)", direction, tau, p)
	}
	if d := dip(logarithms(spread(sample))); d > dipLimit(e.Effective) {
		warn(Modes, "figures gather around more than one place (dip %.3f, by chance below %.3f)", d, dipLimit(e.Effective))
	}
	e.Outliers = outliers(sample)
	if n := len(e.Outliers); n > 0 {
		var list []string
		for _, o := range e.Outliers[:min(n, named)] {
			list = append(list, fmt.Sprintf("no. %d (%.3g)", o.Index+1, o.Value))
		}
		if n > named {
			list = append(list, "…")
		}
		warn(Outlying, "%d kept: %s", n, strings.Join(list, ", "))
	}
}

// worthOf describes the number of figures and how many independent ones they are worth.
func worthOf(n, worth int) string {
	switch {
	case n == 1:
		return "1 figure"
	case worth == n:
		return fmt.Sprintf("%d figures", n)
	}
	return fmt.Sprintf("%d figures worth %d independent ones", n, worth)
}

// logarithms of the magnitudes: latencies are skewed, their logarithms less.
func logarithms(sample []float64) []float64 {
	logs := magnitudes(sample)
	for i, x := range logs {
		logs[i] = math.Log(x)
	}
	return logs
}

// outliers are the figures whose logarithms are far out.
func outliers(sample []float64) []Outlier {
	const least = 5 // the smallest number of figures with meaningful quartiles
	if len(sample) < least {
		return nil
	}
	logs := logarithms(sample)
	sorted := slices.Sorted(slices.Values(logs))
	q1 := gonum.Quantile(0.25, gonum.Empirical, sorted, nil)
	q3 := gonum.Quantile(0.75, gonum.Empirical, sorted, nil)
	var list []Outlier
	for i, x := range logs {
		if x < q1-fences*(q3-q1) || x > q3+fences*(q3-q1) {
			list = append(list, Outlier{i, sample[i]})
		}
	}
	return list
}

// trend is the Mann-Kendall test: Kendall's tau-a between order and figures,
// and the probability that figures in random order have one as far from 0. It
// is exact up to 50 figures without ties, and conservative with them; beyond,
// by the normal approximation (Kendall 1970, Rank Correlation Methods).
func trend(x []float64) (tau, p float64) {
	const exact = 50
	n := len(x)
	if n < 3 {
		return 0, 1
	}
	order, negative := make([]float64, n), make([]float64, n)
	for i := range x {
		order[i], negative[i] = float64(i), -x[i]
	}
	// gonum counts ties as rising, in x as in -x: half the difference counts
	// them as nothing.
	tau = (gonum.Kendall(order, x, nil) - gonum.Kendall(order, negative, nil)) / 2
	pairs := float64(n*(n-1)) / 2
	score := math.Round(math.Abs(tau) * pairs) // concordant pairs less discordant ones
	if score == 0 {
		return tau, 1
	}
	if n > exact {
		deviation := math.Sqrt(float64(n*(n-1)*(2*n+5)) / 18)
		return tau, math.Erfc((score - 1) / deviation / math.Sqrt2)
	}
	few := int(math.Floor((pairs - score) / 2)) // discordant pairs, at most
	return tau, min(1, 2*inversions(n, few))
}

// inversions returns the probability that a random permutation of n has at most the given number of
// inversions.
func inversions(n, most int) float64 {
	p := make([]float64, most+1) // of exactly this many inversions, for permutations of length 1
	p[0] = 1
	for length := 2; length <= n; length++ {
		next := make([]float64, most+1)
		for k := range next {
			for moved := 0; moved < length && moved <= k; moved++ {
				next[k] += p[k-moved] / float64(length)
			}
		}
		p = next
	}
	sum := 0.0
	for _, q := range p {
		sum += q
	}
	return sum
}

// batches returns the medians of 20 consecutive parts of a series, or of fewer parts if neighboring
// parts would depend on each other: a part has at least five autocorrelation times. The last part
// includes the remainder.
func batches(series []float64, tau float64) []float64 {
	const most, apart = 20, 5
	count := min(most, int(float64(len(series))/(apart*tau)))
	if count < 1 {
		return nil
	}
	length := len(series) / count
	medians := make([]float64, count)
	for i := range medians {
		end := (i + 1) * length
		if i == count-1 {
			end = len(series)
		}
		medians[i] = middle(slices.Sorted(slices.Values(series[i*length : end])))
	}
	return medians
}

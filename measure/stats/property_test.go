package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tsmark/tsmark/internal/slowtest"
)

// A system that is compared with itself raises a false alarm in 5 % of the
// comparisons at most: of one query type, and of any of 16 after Holm.
func TestFalseAlarms(t *testing.T) {
	slowtest.Skip(t)
	for types, comparisons := range map[int]int{1: 1000, 16: 200} {
		system := newBench(1, 0.01)
		alarms := 0
		for range comparisons {
			p := make([]float64, types)
			for i := range p {
				p[i] = Compare(system.repeats(1), system.repeats(1)).P
			}
			if slices.Min(Holm(p)) < Alpha {
				alarms++
			}
		}
		t.Logf("%d types: %d false alarms in %d comparisons", types, alarms, comparisons)
		if alarms > comparisons*5/100 {
			t.Errorf("%d types: %d false alarms in %d comparisons", types, alarms, comparisons)
		}
	}
}

// A system made 5 % slower is found in at least 95 % of the comparisons if repeats vary by 1 %. The
// package documentation has the power for other variations.
func TestPower(t *testing.T) {
	slowtest.Skip(t)
	if own := variation(newBench(9, 0).medians(1000, 1)); math.Abs(own-ownNoise) > ownNoise/10 {
		t.Errorf("a repeat's median varies by %v without its level", own)
	}
	const comparisons, types = 1000, 16
	documented, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, cv := range []float64{0.005, 0.01, 0.02, 0.03} {
		system := newBench(10, cv)
		alone, among := 0, 0
		for range comparisons {
			p := Compare(system.repeats(1), system.repeats(1.05)).P
			if p < Alpha {
				alone++
			}
			if p*types < Alpha { // as Holm has it for the smallest
				among++
			}
		}
		row := regexp.MustCompile(fmt.Sprintf(`//\t%v %% +(\S+) +(\S+)`, 100*cv)).FindSubmatch(documented)
		if row == nil {
			t.Fatalf("the documentation has no row for a variation of %v", cv)
		}
		for i, found := range []int{alone, among} {
			stated, err := strconv.ParseFloat(string(row[i+1]), 64)
			// Processors that fuse operations round a few trials otherwise.
			if measured := float64(found) / comparisons; err != nil || math.Abs(stated-measured) > 0.01 {
				t.Errorf("variation %v: found in %.3f, documented %s", cv, measured, row[i+1])
			}
		}
		if cv <= 0.01 && (alone < comparisons*95/100 || among < comparisons*95/100) {
			t.Errorf("variation %v: found in %d and %d of %d", cv, alone, among, comparisons)
		}
	}
}

// Intervals hold the true figure as often as they say: the median of repeats,
// the ratio of two systems, and the median of latencies that depend on each
// other, which an interval for independent ones misses far more often.
func TestCoverage(t *testing.T) {
	slowtest.Skip(t)
	const trials = 1000
	system := newBench(20, 0.01)
	middle := Median(system.medians(4000, 1))
	var medians, ratios, within, naive, paired int
	holds := func(i *Interval, truth float64) int {
		if i.Lo.Figure <= truth && truth <= i.Hi.Figure {
			return 1
		}
		return 0
	}
	for i := range trials {
		medians += holds(Summarize(system.repeats(1)).Interval, middle)
		c := Compare(system.repeats(1), system.repeats(1.03))
		ratios += holds(c.Interval, 1.03)
		if holds(c.Interval, 1) == 1 == (c.P < Alpha) {
			t.Errorf("p = %v, and the ratio is in %+v", c.P, *c.Interval)
		}
		seed := 3 * uint64(i)
		a, b := process(seed, 500, 0.7, 0.2), process(seed+1, 500, 0.7, 0.2)
		for j := range a {
			a[j], b[j] = math.Exp(a[j]), 1.1*math.Exp(b[j])
		}
		within += holds(EstimateRepeat(a).Interval, 1)
		naive += holds(Summarize(a).Interval, 1)
		paired += holds(ComparePaired(a, b).Interval, 1.1)
	}
	t.Logf("of %d: medians %d, ratios %d, within %d (as if independent %d), paired %d", trials, medians, ratios, within, naive, paired)
	if min(medians, ratios) < trials*94/100 || min(within, paired) < trials*92/100 {
		t.Errorf("of %d: medians %d, ratios %d, within %d, paired %d", trials, medians, ratios, within, paired)
	}
	if naive > trials*85/100 {
		t.Errorf("as if independent: %d of %d; the trials prove nothing", naive, trials)
	}
}

// Two repeats of the same queries by equal systems: the sign test does not
// take the likeness of neighbours for evidence.
func TestPairedFalseAlarms(t *testing.T) {
	slowtest.Skip(t)
	const trials = 400
	alarms, found := 0, 0
	for i := range trials {
		seed := 2 * uint64(i)
		a, b := process(seed, 300, 0.7, 0.2), process(seed+1, 300, 0.7, 0.2)
		slower := make([]float64, len(b))
		for j := range a {
			a[j], b[j] = math.Exp(a[j]), math.Exp(b[j])
			slower[j] = 1.2 * b[j]
		}
		if ComparePaired(a, b).P < Alpha {
			alarms++
		}
		if ComparePaired(a, slower).P < Alpha {
			found++
		}
	}
	t.Logf("%d false alarms, %d found, of %d", alarms, found, trials)
	if alarms > trials*8/100 || found < trials*90/100 {
		t.Errorf("%d false alarms, %d found, of %d", alarms, found, trials)
	}
}

// Warnings are rare where there is no reason, and come where there is one.
func TestWarnings(t *testing.T) {
	const trials = 1000
	count := map[Kind]int{}
	system := newBench(30, 0.01)
	for range trials {
		for _, w := range Summarize(system.repeats(1)).Warnings {
			count[w.Kind]++
		}
		for _, w := range EstimateRepeat(system.latencies(1)).Warnings {
			count["within: "+w.Kind]++
		}
	}
	t.Log(count)
	if count[TooFew] != 0 || count[Drift] > trials*5/100 || count[Modes] > trials/100 || count[Outlying] > trials*5/100 ||
		count["within: "+Modes] > trials/100 || count["within: "+Outlying] > trials/100 {
		t.Errorf("of %d: %v", trials, count)
	}

	has := func(e Estimate, k Kind) bool {
		return slices.ContainsFunc(e.Warnings, func(w Warning) bool { return w.Kind == k })
	}
	rising := process(1, 1000, 0.5, 0.1)
	twoModes := process(2, 1000, 0.5, 0.1)
	for i := range rising {
		rising[i] = math.Exp(rising[i] + float64(i)/2000)
		twoModes[i] = math.Exp(twoModes[i] + float64(i%2))
	}
	coarse := process(3, 1000, 0.5, 0.1)
	for i, x := range coarse {
		coarse[i] = 50e-6 * math.Round(20*math.Exp(x)) // a clock of 50 µs
	}
	if e := EstimateRepeat(coarse); has(e, Modes) {
		t.Errorf("a coarse clock: %v", e.Warnings)
	}
	for i := range coarse {
		coarse[i] += 10e-3 * float64(i%2)
	}
	if e := EstimateRepeat(coarse); !has(e, Modes) {
		t.Errorf("two modes by a coarse clock: %v", e.Warnings)
	}
	if !has(EstimateRepeat(rising), Drift) || has(EstimateRepeat(rising), Modes) {
		t.Errorf("a rising series: %v", EstimateRepeat(rising).Warnings)
	}
	if !has(EstimateRepeat(twoModes), Modes) || has(EstimateRepeat(twoModes), Drift) {
		t.Errorf("two modes: %v", EstimateRepeat(twoModes).Warnings)
	}
	if e := Summarize([]float64{1, 1.1, 1.2, 1.3, 1.4, 1.5}); !has(e, Drift) || e.Warnings[0].Text != "figures rise over time (Mann-Kendall, tau = +1.00, p = 0.00278)" {
		t.Errorf("rising repeats: %v", e.Warnings)
	}
	if e := Summarize([]float64{1, 1.01, 2, 1.02, 2.01, 2.02}); !has(e, Modes) {
		t.Errorf("repeats in two modes: %v", e.Warnings)
	}
	e := Summarize([]float64{1, 1.01, 9, 1.02, 1.03, 0.99})
	if !slices.Equal(e.Outliers, []Outlier{{2, 9}}) || e.N != 6 || e.Interval.Hi.Figure != 9 {
		t.Errorf("an outlier is kept and named: %+v", e)
	}
	if e := Summarize([]float64{1, 1.01, 0.4, 1.02, 1.03, 0.99}); !slices.Equal(e.Outliers, []Outlier{{2, 0.4}}) || !strings.Contains(fmt.Sprint(e.Warnings), "1 kept: no. 3 (0.4)") {
		t.Errorf("an outlier below: %+v", e)
	}
	if e := Summarize([]float64{1, 2, 3}); len(e.Warnings) != 1 || e.Warnings[0].Text != "3 figures: the interval is their range, at a level of 75 %, not 95 %" {
		t.Errorf("three repeats: %v", e.Warnings)
	}
	if e := Summarize([]float64{1, 1, 1, 1, 1, 1}); len(e.Warnings) != 0 || e.CV != 0 {
		t.Errorf("equal repeats: %+v", e)
	}
}

// A figure that was cut off counts as at least its limit, and the resulting uncertainty is
// reported.
func TestCensored(t *testing.T) {
	const cut = -30
	for _, c := range []struct {
		sample []float64
		want   string
	}{
		{[]float64{1, 2, 3}, "2"},
		{[]float64{1, 2, cut}, "2"},
		{[]float64{1, cut, cut}, "≥30"},
		{[]float64{1, 2, cut, cut}, "≥16"},
		{[]float64{40, 50, cut}, "≥40"}, // the cut one may be the longest
		{nil, "?"},
	} {
		e := Summarize(c.sample)
		if got := e.Median.String(); got != c.want || e.Censored != countCensored(c.sample) {
			t.Errorf("median of %v is %s with %d cut off, want %s", c.sample, got, e.Censored, c.want)
		}
		if got := EstimateRepeat(c.sample).Median.String(); got != c.want {
			t.Errorf("within: median of %v is %s, want %s", c.sample, got, c.want)
		}
	}
	a, slow := []float64{10, 11, 12, 13, 14, 15}, []float64{20, cut, cut, cut, cut, cut}
	c := Compare(a, slow)
	if c.Ratio.Bound != AtLeast || c.Ratio.Figure < 2 || c.Interval.Hi.Bound != AtLeast || c.Interval.Lo.Bound != Exact && c.Interval.Lo.Bound != AtLeast || c.P >= Alpha {
		t.Errorf("%v in %+v, p %v", c.Ratio, *c.Interval, c.P)
	}
	if c := Compare(slow, a); c.Ratio.Bound != AtMost || c.Ratio.Figure > 0.5 {
		t.Errorf("the other way round: %v", c.Ratio)
	}
	both := []float64{cut, cut, cut, cut, cut, cut}
	if c := Compare(both, both); c.Ratio.Bound != Unknown || c.P != 1 {
		t.Errorf("both cut off: %v, p %v", c.Ratio, c.P)
	}
	// Beyond the shortest limit nobody knows the order.
	if c := Compare(both, []float64{31, 32, 33, 34, 35, 36}); c.P != 1 || c.Ratio.Bound != AtMost {
		t.Errorf("beyond the limit: %v, p %v", c.Ratio, c.P)
	}
	if c := ComparePaired([]float64{1, cut, 2, 3}, []float64{2, 40, cut, cut}); c.Ratio.Bound != AtLeast {
		t.Errorf("paired: %v", c.Ratio)
	}
	if got := Quantile([]float64{1, 2, 3, 4, cut}, 0.8); got != 4 {
		t.Errorf("quantile %v", got)
	}
	if got := Quantile([]float64{1, 2, 3, 4, cut}, 0.9); got != cut {
		t.Errorf("quantile %v", got)
	}
	if got := GeometricMean([]float64{2, -8}); !isNear(got, -4) {
		t.Errorf("geometric mean %v", got)
	}
	if got := GeometricMean([]float64{1.1, 0.9, 2}); !isNear(got, 1.2557072356438912) { // SciPy's gmean
		t.Errorf("geometric mean %v", got)
	}
}

// Quantiles are those of sorted samples, of every size.
func TestQuantileIsNearestRank(t *testing.T) {
	for n := 1; n <= 300; n++ {
		sample := make([]float64, n)
		for i := range sample {
			sample[(i*7919+3)%n] = float64(i + 1) // 7919 is prime and above n: each place once
		}
		for _, permille := range []int{500, 900, 950, 990, 999, 1000} {
			want := float64((n*permille + 999) / 1000)
			if got := Quantile(sample, float64(permille)/1000); got != want {
				t.Fatalf("n = %d, %d ‰: %v, want %v", n, permille, got, want)
			}
		}
		if got := Median(sample); got != float64(n+1)/2 {
			t.Fatalf("n = %d: median %v", n, got)
		}
	}
}

// For any figures, a ratio is the quotient of the two medians and lies in its interval; otherwise
// both are missing. In samples of two clusters the pairs and the medians can disagree.
func TestRatioIsOfTheMedians(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	sample := func(n int) []float64 {
		s := make([]float64, n)
		for i := range s {
			s[i] = math.Exp(0.3*r.NormFloat64() + 4*float64(r.IntN(2)))
			if r.IntN(20) == 0 {
				s[i] = -s[i]
			}
		}
		return s
	}
	none := 0
	for range 3000 {
		n := 1 + r.IntN(12)
		a, b := sample(n), sample(n)
		for method, c := range map[string]Comparison{"repeats": Compare(a, b), "paired": ComparePaired(a, b)} {
			if c.Ratio.Bound == Unknown {
				if none++; method == "repeats" && c.Interval != nil && c.A.Median.Bound == Exact && c.B.Median.Bound == Exact {
					t.Fatalf("%s of %v and %v: an interval without a ratio: %+v", method, a, b, c)
				}
				continue
			}
			if got, want := c.Ratio.Figure, c.B.Median.Figure/c.A.Median.Figure; got != want || c.Interval != nil && !c.Interval.Holds(c.Ratio) {
				t.Fatalf("%s of %v and %v: ratio %v in %+v, of medians %v and %v", method, a, b, c.Ratio, c.Interval, c.A.Median, c.B.Median)
			}
		}
	}
	if none == 0 {
		t.Error("no sample contradicts itself: the trials prove nothing")
	}
}

// However alike neighbours are, an interval that does not hold the median is rare: there is
// none rather than a narrow one where few independent figures remain. The same holds for
// the ratio of pairs, and for the sign test.
func TestCoverageOfDependentFigures(t *testing.T) {
	slowtest.Skip(t)
	trials := map[int]int{20: 600, 100: 300, 1000: 100}
	for n, trials := range trials {
		for _, rho := range []float64{0, 0.5, 0.9} {
			judged, missed, pairMissed, alarms := 0, 0, 0, 0
			misses := func(i *Interval, v float64) int {
				if i == nil || i.Holds(Value{Figure: v}) {
					return 0
				}
				return 1
			}
			for trial := range trials {
				a := logarithmic(process(uint64(3*trial), n, rho, 0.3))
				_, i, _ := spansOf(a).estimateMedian()
				if i != nil {
					judged++
				}
				missed += misses(i, 1)
				if trial%2 == 0 { // comparing takes longer
					b := logarithmic(process(uint64(3*trial+1), n, rho, 0.3))
					c := ComparePaired(a, b)
					pairMissed += misses(c.Interval, 1)
					if c.P < Alpha {
						alarms++
					}
				}
			}
			part := func(count, of int) float64 { return float64(count) / float64(of) }
			t.Logf("%d figures, correlation %v: %.1f %% have an interval, %.1f %% a wrong one, %.1f %% of pairs; %.1f %% false alarms", n, rho,
				100*part(judged, trials), 100*part(missed, trials), 100*part(pairMissed, trials/2), 100*part(alarms, trials/2))
			if part(missed, trials) > 0.1 || part(pairMissed, trials/2) > 0.1 || part(alarms, trials/2) > 0.1 {
				t.Errorf("%d figures, correlation %v: %d of %d intervals do not hold the median, %d of %d that of the ratios, %d false alarms",
					n, rho, missed, trials, pairMissed, trials/2, alarms)
			}
			if least := map[float64]float64{0: 0.7, 0.5: 0.1}[rho]; part(judged, trials) < least || n >= 100 && rho < 0.9 && judged < trials*99/100 {
				t.Errorf("%d figures, correlation %v: only %d of %d have an interval", n, rho, judged, trials)
			}
			if judged > 0 && rho < 0.9 && part(missed, judged) > 0.1 {
				t.Errorf("%d figures, correlation %v: %d of %d intervals do not hold the median", n, rho, missed, judged)
			}
		}
	}
	if w := EstimateRepeat(logarithmic(process(1, 20, 0.9, 0.3))).Warnings; len(w) == 0 || !strings.HasSuffix(w[0].Text, " independent ones: too few for an interval") {
		t.Errorf("warnings %v", w)
	}
}

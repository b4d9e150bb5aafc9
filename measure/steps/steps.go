// Package steps finds where the level of figures changed: over the runs of every night, or over the
// points of any series. It also decides, round by round, whether one version differs from another.
// Its functions are pure and deterministic.
//
// # Method
//
// Find is E-divisive (Matteson and James 2014, Journal of the American Statistical Association 109)
// with the exponent 2, which compares means, as MongoDB and Apache Otava use it for performance
// tests (arXiv 2003.00584, 2301.03034): of all splits of a series it takes the one that explains the
// most variance, and tests it by permutations. It differs from them in what nightly reports need:
//
//   - Figures are logarithms, so that steps are ratios, and those further than four robust standard
//     deviations from the median count as four: one bad night does not make a step.
//   - A point whose interval is wider than usual weighs less.
//   - All series are permuted together and share one threshold, that of the largest statistic of any
//     series (Westfall and Young 1993): the level holds for the whole report, and figures that a
//     noisy night moves together do not count as many.
//   - A series that grows is looked at after each point, as if it ended there. A step that was found
//     stays, and later points are compared with those since the step. Each look has its share of
//     the level, so that the level holds for all looks of a year.
//
// Permutations assume that points without a step are exchangeable: independent of each other, with
// one distribution. A machine that drifts violates that. The statistic is divided by the variance
// that the correlation of neighbors adds, which corrects a part of it (see TestCoverage).
//
// # Power
//
// Measured by TestCoverage, for a report of 20 figures whose noise is half in common, with one look a
// night: the share of 200 years without a change in which any figure had a step,
//
//	independent nights              0.5 %
//	one of ten nights is bad        1.5 %
//	nights correlate by 0.2         8.5 %
//	nights correlate by 0.4        23   %
//
// and the share of 60 steps of 5 % in one figure that were found within some nights, after 90 nights
// with the given noise:
//
//	noise     5 nights   10 nights   20 nights
//	1 %       1.00       1.00        1.00
//	1.5 %     0.77       0.98        1.00
//	2 %       0.30       0.88        1.00
//	2.66 %    0.08       0.40        0.85
//
// 2.66 % is what runs on GitHub's hosted runners vary by (see TestCoverage). There, a step of 5 % is not
// found within five nights at this rate of false alarms, by any test: it is then less than two
// deviations of a night. Ratios to a reference in the same run lose what both have in common in a night,
// not what differs between rounds: the report shows the noise of either.
//
// Do not use Find for a chain of ratios, each between neighbors that were measured in turns: the
// errors of the ratios add up along the chain, like a random walk. There each ratio is tested by
// itself, corrected for their number.
package steps

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tsmark/tsmark/measure/stats"
	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"
)

// Nightly is the number of looks in a year of nightly runs.
const Nightly = 365

// Point is a figure of one run or version.
type Point struct {
	Value     float64 // above 0; otherwise it is missing, because it was withheld or not measured
	Low, High float64 // interval of the value; 0: unknown
}

// Options of Find. The zero value looks once, at the level stats.Alpha.
type Options struct {
	// Looks is the number of points after which a growing series is looked at, and for which the level
	// holds together: Nightly for runs of every night. 0 and 1: the series is complete and looked
	// at once.
	Looks int
	Alpha float64 // probability of any step in any series without a change; 0: stats.Alpha
	Seed  uint64  // of the permutations
}

// Step is a change of the level of a series.
type Step struct {
	Series int // index in the list of series
	Index  int // the first point after the step
	Seen   int // the point after which it was found
	// Ratio is the level after the step divided by the level before it: the median of the ratios of all
	// pairs of points between this step and its neighbors. Low and High are its interval, which
	// contains the ratio with the probability Level.
	Ratio, Low, High, Level float64
	// P is the probability of such a step in any series and look, if nothing changed.
	P float64
}

// Least is the number of points on each side of a step.
const Least = 3

// Window is the number of points to which a look at a growing series goes back.
const Window = 90

// Find returns the steps of series of equal length, whose points of one index belong to one run. They are
// sorted by series and index.
func Find(series [][]Point, o Options) []Step {
	f := &finder{series: series, alpha: cmp.Or(o.Alpha, stats.Alpha), looks: max(o.Looks, 1), seed: o.Seed}
	for _, s := range series {
		f.length = max(f.length, len(s))
	}
	f.logs = make([][]float64, len(series))
	for i, s := range series {
		f.logs[i] = make([]float64, len(s))
		for j, p := range s {
			f.logs[i][j] = math.NaN()
			if p.Value > 0 {
				f.logs[i][j] = math.Log(p.Value)
			}
		}
	}
	if o.Looks > 1 {
		f.watch()
	} else {
		f.divide()
	}
	return f.steps()
}

type finder struct {
	series [][]Point
	logs   [][]float64 // of the values; NaN: missing
	length int         // of the longest series
	alpha  float64
	looks  int
	seed   uint64
	found  []Step
}

// watch looks at the series after each of their points.
func (f *finder) watch() {
	begins := make([]int, len(f.series))
	for end := 2 * Least; end <= f.length; end++ {
		var segments []*segment
		for i, logs := range f.logs {
			if end > len(logs) || math.IsNaN(logs[end-1]) { // nothing new
				continue
			}
			if s := f.segment(i, max(begins[i], end-Window), end); s != nil {
				segments = append(segments, s)
			}
		}
		for _, step := range f.look(segments) {
			begins[step.Series] = step.Index
		}
	}
}

// divide splits complete series, and again the parts of each split.
func (f *finder) divide() {
	var queue []*segment
	add := func(series, begin, end int) {
		if s := f.segment(series, begin, end); s != nil {
			queue = append(queue, s)
		}
	}
	for i := range f.series {
		add(i, 0, len(f.series[i]))
	}
	for len(queue) > 0 {
		segments := queue
		queue = nil
		for _, step := range f.look(segments) {
			of := segments[slices.IndexFunc(segments, func(s *segment) bool {
				return s.series == step.Series && s.begin < step.Index && step.Index < s.end
			})]
			add(of.series, of.begin, step.Index)
			add(of.series, step.Index, of.end)
		}
	}
}

// segment is the points of a series between two steps.
type segment struct {
	series, begin, end int
	logs, weights      []float64 // of each point: distance from the mean, and weight; weight 0: missing
	points             int
	weight, squares    float64 // sums of the weights, and of the weighted squares
	statistic          float64 // of the best split
	split              int     // index of the first point after it
}

const (
	// outlier is the number of robust standard deviations at which a figure is cut.
	outlier = 4
	// resolution is the standard deviation of a series whose points hardly differ, such as sizes on
	// disk: without it, one different point would be a large step of such a series.
	resolution = 0.001
)

// segment returns some points of a series; nil: there are too few.
func (f *finder) segment(series, begin, end int) *segment {
	s := &segment{series: series, begin: begin, end: end, logs: make([]float64, end-begin), weights: make([]float64, end-begin)}
	var known, widths []float64
	for i := begin; i < end; i++ {
		if x := f.logs[series][i]; !math.IsNaN(x) {
			known = append(known, x)
			if w := f.series[series][i].width(); w > 0 {
				widths = append(widths, w)
			}
		}
	}
	if s.points = len(known); s.points < 2*Least {
		return nil
	}
	middle, deviation := spread(known)
	deviation = max(deviation, resolution)
	usual, mean := median(widths), 0.0
	for i := range s.logs {
		x := f.logs[series][begin+i]
		if math.IsNaN(x) {
			continue
		}
		// The figures of one night differ from those of another by about as much as by the interval
		// of one, so that a wide interval halves a weight and a narrow one at most doubles it.
		s.weights[i] = 1
		if w := f.series[series][begin+i].width(); w > 0 && usual > 0 {
			s.weights[i] = 2 / (1 + w*w/(usual*usual))
		}
		s.logs[i] = min(max(x-middle, -outlier*deviation), outlier*deviation)
		s.weight += s.weights[i]
		mean += s.weights[i] * s.logs[i]
	}
	mean /= s.weight
	for i, w := range s.weights {
		if w > 0 {
			s.logs[i] -= mean
			s.squares += w * (s.logs[i]*s.logs[i] + resolution*resolution)
		}
	}
	order := make([]int, end-begin)
	for i := range order {
		order[i] = begin + i
	}
	s.statistic, s.split = s.best(order)
	s.statistic /= s.inflation()
	return s
}

// inflation is the factor by which the variance of means exceeds that of independent points, from the
// correlation of neighbors beside the best split: at least 1.
func (s *segment) inflation() float64 {
	var weight, sum [2]float64
	side := func(i int) int {
		if s.begin+i < s.split {
			return 0
		}
		return 1
	}
	for i, w := range s.weights {
		weight[side(i)] += w
		sum[side(i)] += w * s.logs[i]
	}
	squares, products, last := 0.0, 0.0, math.NaN()
	for i, w := range s.weights {
		if w == 0 {
			continue
		}
		x := s.logs[i] - sum[side(i)]/weight[side(i)]
		squares += x*x + resolution*resolution
		if !math.IsNaN(last) {
			products += x * last
		}
		last = x
	}
	if s.split == 0 {
		return 1
	}
	// Taking off two means lowers the correlation by about this much (Kendall 1954, Biometrika 41).
	const most = 0.9
	r := min(products/squares+2/float64(s.points), most)
	return max(1, (1+r)/(1-r))
}

// width is the width of a point's interval as a logarithm; 0: unknown.
func (p Point) width() float64 {
	if p.Low <= 0 || p.High <= p.Low || math.IsInf(p.High, 1) {
		return 0
	}
	return math.Log(p.High / p.Low)
}

// median returns the median and sorts the figures; 0 without figures.
func median(figures []float64) float64 {
	if len(figures) == 0 {
		return 0
	}
	slices.Sort(figures)
	n := len(figures)
	return (figures[(n-1)/2] + figures[n/2]) / 2
}

// best returns the largest F statistic of all splits of the points in an order of their indexes, which
// may contain others, and the index of the first point after the split.
func (s *segment) best(order []int) (statistic float64, split int) {
	most, seen, weight, sum := 0.0, 0, 0.0, 0.0
	for _, at := range order {
		i := at - s.begin
		if i < 0 || i >= len(s.weights) || s.weights[i] == 0 {
			continue
		}
		if seen >= Least && s.points-seen >= Least {
			if q := sum * sum / (weight * (s.weight - weight)); q > most {
				most, split = q, at
			}
		}
		seen++
		weight += s.weights[i]
		sum += s.weights[i] * s.logs[i]
	}
	explained := most * s.weight / s.squares // share of the variance, below 1 because of the resolution
	return explained / (1 - explained) * float64(s.points-2), split
}

// rounding is the share by which equal statistics may differ.
const rounding = 1e-9

// look tests the best split of each segment against permutations of all, and returns the steps.
func (f *finder) look(segments []*segment) []Step {
	level := f.alpha / float64(f.looks)
	// Permutations cannot show a step if Student's test of this single split is far from it.
	const far = 10
	var candidates []*segment
	for _, s := range segments {
		t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(s.points - 2)}
		if 2*t.Survival(math.Sqrt(s.statistic)) < far*level {
			candidates = append(candidates, s)
		}
	}
	if len(candidates) == 0 {
		return nil
	}
	begin, end := f.length, 0
	for _, s := range segments {
		begin, end = min(begin, s.begin), max(end, s.end)
	}
	order := make([]int, end-begin)
	for i := range order {
		order[i] = begin + i
	}
	// The same permutations at each look: its result does not depend on the number of looks before it.
	random := rand.New(rand.NewPCG(f.seed, 0))
	permutations := int(max(999, math.Ceil(5/level)))
	most := int(level*float64(permutations+1)) - 1 // permutations that may reach the statistic of a step
	exceeded := make([]int, len(candidates))
	for range permutations {
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		largest := 0.0
		for _, s := range segments {
			statistic, _ := s.best(order)
			largest = max(largest, statistic)
		}
		open := false
		for i, s := range candidates {
			if largest >= s.statistic*(1-rounding) {
				exceeded[i]++
			}
			open = open || exceeded[i] <= most
		}
		if !open {
			return nil
		}
	}
	var steps []Step
	for i, s := range candidates {
		if exceeded[i] <= most {
			p := float64(exceeded[i]+1) / float64(permutations+1)
			steps = append(steps, Step{Series: s.series, Index: s.split, Seen: s.end - 1, P: min(1, p*float64(f.looks))})
		}
	}
	f.found = append(f.found, steps...)
	return steps
}

// steps returns the steps with their sizes. Each is placed once more, with the points that came after it was
// found.
func (f *finder) steps() []Step {
	slices.SortFunc(f.found, func(a, b Step) int {
		return cmp.Or(cmp.Compare(a.Series, b.Series), cmp.Compare(a.Index, b.Index))
	})
	neighbors := func(i int) (begin, end int) {
		s := f.found[i]
		begin, end = max(0, s.Index-Window), min(len(f.series[s.Series]), s.Index+Window)
		if i > 0 && f.found[i-1].Series == s.Series {
			begin = max(begin, f.found[i-1].Index)
		}
		if i+1 < len(f.found) && f.found[i+1].Series == s.Series {
			end = min(end, f.found[i+1].Index)
		}
		return begin, end
	}
	for i := range f.found {
		begin, end := neighbors(i)
		if s := f.segment(f.found[i].Series, begin, end); s != nil && s.split > 0 {
			f.found[i].Index = s.split
		}
	}
	for i := range f.found {
		begin, end := neighbors(i)
		f.found[i].measure(f.series[f.found[i].Series], begin, end)
	}
	return f.found
}

// measure sets the size of a step from the points around it.
func (s *Step) measure(points []Point, begin, end int) {
	const most = 50 // on each side: those closest to the step
	var before, after []float64
	for i := s.Index - 1; i >= begin && len(before) < most; i-- {
		if v := points[i].Value; v > 0 {
			before = append(before, v)
		}
	}
	for i := s.Index; i < end && len(after) < most; i++ {
		if v := points[i].Value; v > 0 {
			after = append(after, v)
		}
	}
	var ratios []float64
	for _, a := range before {
		for _, b := range after {
			ratios = append(ratios, b/a)
		}
	}
	s.Ratio = median(ratios)
	if in := stats.RatioInterval(before, after, stats.Alpha); in != nil {
		s.Low, s.High, s.Level = in.Lo.Figure, in.Hi.Figure, in.Level
	}
}

// LeastPoints is the number of points that series need before a step can be shown at all.
func (o Options) LeastPoints() int {
	level := cmp.Or(o.Alpha, stats.Alpha) / float64(max(o.Looks, 1))
	// A split in the middle and its mirror image are the rarest of all orders.
	n := 2 * Least
	for 2*math.Exp(-combin.LogGeneralizedBinomial(float64(n), float64(n/2))) > level {
		n++
	}
	return n
}

// Noise returns a robust standard deviation of the logarithms of points without a step: about their
// coefficient of variation. It is 0 without points.
func Noise(points []Point) float64 {
	var logs []float64
	for _, p := range points {
		if p.Value > 0 {
			logs = append(logs, math.Log(p.Value))
		}
	}
	_, deviation := spread(logs)
	return deviation
}

// spread returns the median of figures and their standard deviation by the median absolute deviation.
func spread(figures []float64) (middle, deviation float64) {
	const normal = 1.4826 // standard deviation of a normal distribution by its median absolute deviation
	middle = median(figures)
	distances := make([]float64, len(figures))
	for i, x := range figures {
		distances[i] = math.Abs(x - middle)
	}
	return middle, normal * median(distances)
}

// Resolution returns the size of the step that Find finds within a number of further points in about four
// of five cases, as a share of the level such as 0.05, if one of some series goes on to vary as it did at the
// given points, which have no step. It is 0 if the points are too few.
func (o Options) Resolution(points []Point, series, further int) float64 {
	points = points[max(0, len(points)-Window+further):]
	known := 0
	for _, p := range points {
		if p.Value > 0 {
			known++
		}
	}
	if known+further < o.LeastPoints() {
		return 0
	}
	const (
		power  = 0.8
		splits = 5 // as many tests as the best of all splits is worth
		// loss is what outliers, few points after the step and the correction for the correlation of
		// neighbors cost, as TestCoverage measured it.
		loss = 1.34
	)
	level := cmp.Or(o.Alpha, stats.Alpha) / float64(max(o.Looks, 1)*max(series, 1)*splits)
	z := distuv.UnitNormal.Quantile(1-level/2) + distuv.UnitNormal.Quantile(power)
	return math.Expm1(loss * z * max(Noise(points), resolution) * math.Sqrt(1/float64(further)+1/float64(known)))
}

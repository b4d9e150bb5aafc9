package fit

import (
	"cmp"
	"maps"
	"math"
	"slices"

	gonum "gonum.org/v1/gonum/stat"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload/twin"
)

const counter = twin.Counter

// Limits of classes.
const (
	mostFalls    = 0.02 // of the changes of a counter
	leastRises   = 20   // of a counter
	mostCodes    = 12   // different numbers of codes
	rowsPerCode  = 20   // least rows of a code, on average
	leastShape   = 0.1  // of the variance, that a daily shape explains
	leastWeekly  = 0.05 // that a weekly shape explains beside
	leastWalk    = 0.8  // autocorrelation of a walk
	near         = 0.25 // of the interval, within which rows are regular
	leastRegular = 0.8  // share of times between regular rows that are near the interval, or multiples
	mostLevels   = 50   // fields whose levels are correlated
)

// numbers reports whether values have a level and residuals.
func (x *field) numbers() bool {
	return !slices.Contains([]string{twin.Constant, twin.Codes, twin.Category, twin.Texts}, x.class)
}

// classify finds the classes of fields as far as the first pass shows them.
func (t *table) classify() {
	for f := range t.fields {
		x := &t.fields[f]
		own := int64(0) // values of series with enough
		for _, l := range t.measured {
			c := &l.fields[f]
			x.values, x.nulls = x.values+c.values, x.nulls+c.nulls
			x.rises, x.falls, x.same = x.rises+c.rises, x.falls+c.falls, x.same+c.same
			if c.values == 0 {
				x.absent++
				x.nulls -= c.nulls
			}
			if c.values >= leastRows {
				own += c.values
			}
		}
		x.pooled = 2*own < x.values
		changes := x.rises + x.falls
		switch {
		case x.Type == series.Bool, x.Type.Textual() && !x.many && int64(len(x.counts))*leastRows <= x.values:
			x.class = twin.Category
		case x.Type.Textual():
			x.class = twin.Texts
		case changes == 0 && !x.pooled:
			x.class = twin.Constant
		case x.Type.Numeric() && x.rises >= leastRises && float64(x.falls) <= mostFalls*float64(changes):
			x.class = counter
		case !x.many && len(x.counts) <= mostCodes && int64(len(x.counts))*rowsPerCode <= x.values:
			x.class = twin.Codes
		default:
			x.class = twin.Noise
		}
	}
}

// findIntervals finds the intervals of series, and whether rows are regular.
func (t *table) findIntervals(s *Statistics) {
	regular, all := 0, 0
	for _, l := range t.measured {
		if len(l.times.values) < 2 {
			continue
		}
		l.interval = median(l.times.values)
		for _, dt := range l.times.values {
			all++
			if steps := dt / l.interval; steps < 20 && math.Abs(steps-max(math.Round(steps), 1)) < near {
				regular++
			}
		}
	}
	t.regular = all > 0 && float64(regular) >= leastRegular*float64(all)
	span := float64(max(s.last-s.first, 1))
	for _, l := range t.measured {
		switch {
		case !t.regular:
			l.interval = span / float64(l.rows)
		case l.interval == 0:
			l.interval = span
		}
	}
}

// finish derives the figures after the second pass.
func (t *table) finish(s *Statistics) {
	span := float64(max(s.last-s.first, 1))
	phases := map[int64]int{}
	for _, id := range slices.Sorted(maps.Keys(t.measured)) {
		l := t.measured[id]
		if l.steps > 0 {
			l.interval = l.dt / l.steps
		}
		t.intervals = append(t.intervals, l.interval)
		t.begin = append(t.begin, float64(l.first-s.first)/span)
		t.end = append(t.end, float64(l.newest-s.first)/span)
		if l.interval >= 1 {
			phases[int64(math.Round(math.Mod(float64(l.first-s.first), l.interval)/l.interval*20))%20]++
		}
	}
	slices.Sort(t.intervals)
	slices.Sort(t.begin)
	slices.Sort(t.end)
	for _, n := range phases {
		t.aligned = t.aligned || 10*n >= 9*len(t.measured)
	}
	t.missing = max(t.missing-t.late, 0)
	for f := range t.fields {
		t.finishField(f)
	}
	t.correlate()
}

// finishField derives the levels of a field, and its class by the second pass.
func (t *table) finishField(f int) {
	x := &t.fields[f]
	if !x.numbers() && x.class != twin.Constant {
		return
	}
	var pairs [2][]float64
	for _, id := range slices.Sorted(maps.Keys(t.measured)) {
		if of := x.levelIn(&t.measured[id].fields[f]); of.n >= leastRows {
			pairs[0], pairs[1] = append(pairs[0], of.mean), append(pairs[1], of.deviation())
		}
	}
	if x.pooled || len(pairs[0]) == 0 {
		of := x.levelInAll()
		pairs = [2][]float64{{of.mean}, {of.deviation()}}
	}
	x.widthLevel = rankCorrelation(pairs[0], pairs[1])
	x.levels, x.widths = slices.Sorted(slices.Values(pairs[0])), slices.Sorted(slices.Values(pairs[1]))
	if x.class == twin.Constant || x.residuals.seen < leastRows {
		return
	}
	daily, dayShare := shapeOf(x.day[:], 24)
	weekly, weekShare := shapeOf(x.week[:], 168)
	switch {
	case weekShare >= max(leastShape, dayShare+leastWeekly):
		x.shape, x.shapeShare = weekly, weekShare
	case dayShare >= leastShape:
		x.shape, x.shapeShare = daily, dayShare
	}
	switch {
	case x.class == counter:
	case len(x.shape) == 168:
		x.class = twin.Weekly
	case len(x.shape) == 24:
		x.class = twin.Daily
	case x.products.mean >= leastWalk:
		x.class = twin.Walk
	}
}

// memory returns the autocorrelation of residuals without the shape, which changes slowly.
func (x *field) memory() float64 {
	if x.products.n < leastRows || x.shapeShare >= 0.99 {
		return 0
	}
	return min(max((x.products.mean-x.shapeShare)/(1-x.shapeShare), -0.99), 0.9999)
}

// shapeOf returns the means by hour, and the share of the variance that they explain. The share comes
// from products of means of two halves of the data, whose noise differs. There is no shape if a half
// lacks an hour.
func shapeOf(halves []bins, hours int) ([]float64, float64) {
	shape := make([]float64, hours)
	share := 0.0
	for h := range shape {
		a, b := &halves[0][h], &halves[1][h]
		if a.n < leastRows || b.n < leastRows {
			return nil, 0
		}
		shape[h] = (a.sum + b.sum) / float64(a.n+b.n)
		share += a.sum / float64(a.n) * b.sum / float64(b.n) / float64(hours)
	}
	return shape, min(share, 1)
}

// correlation is the correlation between the levels of two fields.
type correlation struct {
	a, b int
	r    float64
}

// correlate finds the correlations of levels.
func (t *table) correlate() {
	var list []int
	for f := range t.fields {
		if x := &t.fields[f]; len(list) < mostLevels && !x.pooled && len(x.levels) > 1 && x.levels[0] < x.levels[len(x.levels)-1] {
			list = append(list, f)
		}
	}
	ids := slices.Sorted(maps.Keys(t.measured))
	for i, b := range list {
		for _, a := range list[:i] {
			var x, y []float64
			for _, id := range ids {
				l := t.measured[id]
				if of, with := t.fields[a].levelIn(&l.fields[a]), t.fields[b].levelIn(&l.fields[b]); of.n >= leastRows && with.n >= leastRows {
					x, y = append(x, of.mean), append(y, with.mean)
				}
			}
			if rho := rankCorrelation(x, y); rho != 0 {
				t.correlations = append(t.correlations, correlation{a, b, 2 * math.Sin(math.Pi/6*rho)})
			}
		}
	}
}

// levelIn returns the figures of a series whose mean is its level: of a counter those of increases.
func (x *field) levelIn(c *cell) *summary {
	if x.class == counter {
		return &c.change
	}
	return &c.value
}

// levelInAll returns the same figures of all series.
func (x *field) levelInAll() *summary {
	if x.class == counter {
		return &x.change
	}
	return &x.value
}

// rankCorrelation is Spearman's, and 0 if chance may explain it.
func rankCorrelation(x, y []float64) float64 {
	n := len(x)
	if n < 10 {
		return 0
	}
	r := gonum.Correlation(ranks(x), ranks(y), nil) // NaN if all ranks are equal
	if !(math.Abs(r) >= max(0.2, 2.6/math.Sqrt(float64(n)))) {
		return 0
	}
	return r
}

// ranks returns the ranks of numbers; equal ones share their mean rank.
func ranks(x []float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	out := make([]float64, len(x))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && x[order[j]] == x[order[i]] {
			j++
		}
		for k := i; k < j; k++ {
			out[order[k]] = float64(i+j-1) / 2
		}
		i = j
	}
	return out
}

// median returns the middle number. It does not change the list.
func median(list []float64) float64 { return quantile(slices.Sorted(slices.Values(list)), 0.5) }

// quantile returns the number at a share of a sorted list; 0 if it is empty.
func quantile(sorted []float64, share float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}

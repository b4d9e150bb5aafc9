package promql

import (
	"math"
	"slices"

	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql/parser"
)

// window is what a function over time sees.
type window struct {
	end    int64
	times  []int64
	values []float64
	// before is the sample before the window, if it lies within the staleness interval; NaN: none.
	before     float64
	beforeTime int64
	// earlier is the sample before the window however old, and next the one after it; NaN: none.
	earlier, next float64
}

// roll returns the values of a function over time at each of the times.
func roll(f func(window) float64, of *samples, at times, length int64, function string) *samples {
	values := of.values
	if function == "rate" || function == "increase" || function == "irate" {
		values = withoutResets(values)
	}
	interval := at.step
	if at.first < at.last {
		interval = staleness(of.times, at.step)
	}
	if length == 0 {
		if length = at.step; function == "default_rollup" || function == "timestamp" {
			length = max(length, interval)
		}
	}
	out := &samples{}
	from, to := 0, 0
	for t := at.from; t <= at.to; t += at.step {
		start := t - length
		for from < len(of.times) && of.times[from] <= start {
			from++
		}
		for to = max(to, from); to < len(of.times) && of.times[to] <= t; to++ {
		}
		w := window{end: t, times: of.times[from:to], values: values[from:to], before: math.NaN(), earlier: math.NaN(), next: math.NaN()}
		if from > 0 {
			w.earlier = values[from-1]
			if from < len(of.times) && of.times[from-1] > start-interval {
				w.before, w.beforeTime = values[from-1], of.times[from-1]
			}
		}
		if to < len(values) {
			w.next = values[to]
		}
		if v := f(w); !math.IsNaN(v) {
			out.times, out.values = append(out.times, t), append(out.values, v)
		}
	}
	return out
}

// staleness returns how long before a window its previous sample may lie in a range query: the
// interval of the last samples, and more for small ones, which vary more.
func staleness(at []int64, otherwise int64) int64 {
	interval := otherwise
	if len(at) >= 2 {
		var gaps []float64
		for i := len(at) - 1; i > 0 && len(gaps) < 20; i-- {
			gaps = append(gaps, float64(at[i]-at[i-1]))
		}
		slices.Sort(gaps)
		rank := 0.6 * float64(len(gaps)-1)
		low := int(rank)
		high, weight := min(low+1, len(gaps)-1), rank-float64(low)
		if gap := int64(gaps[low]*(1-weight) + gaps[high]*weight); gap > 0 {
			interval = gap
		}
	}
	switch {
	case interval <= 2_000:
		return 5 * interval
	case interval <= 4_000:
		return 3 * interval
	case interval <= 8_000:
		return 2 * interval
	case interval <= 16_000:
		return interval + interval/2
	case interval <= 32_000:
		return interval + interval/4
	}
	return interval + interval/8
}

// withoutResets returns the values of a counter as if it had never started again. A decrease by less
// than an eighth is a partial reset, and the counter does not rise.
func withoutResets(values []float64) []float64 {
	out := make([]float64, len(values))
	correction := 0.0
	for i, v := range values {
		if i > 0 && v < values[i-1] {
			if (values[i-1]-v)*8 < values[i-1] {
				correction += values[i-1] - v
			} else {
				correction += values[i-1]
			}
		}
		if out[i] = v + correction; i > 0 {
			out[i] = max(out[i], out[i-1])
		}
	}
	return out
}

// rollups are the functions over time by their names in PromQL. NaN: no value.
var rollups = map[string]func(window) float64{
	"default_rollup":    lastOf,
	"last_over_time":    lastOf,
	"first_over_time":   fold(func(first, _ float64) float64 { return first }),
	"max_over_time":     fold(func(a, b float64) float64 { return max(a, b) }),
	"min_over_time":     fold(func(a, b float64) float64 { return min(a, b) }),
	"sum_over_time":     fold(func(a, b float64) float64 { return a + b }),
	"avg_over_time":     avgOf,
	"count_over_time":   countOf,
	"present_over_time": func(w window) float64 { return countOf(w) / countOf(w) },
	"timestamp":         func(w window) float64 { return timeOf(w) },
	"rate":              rateOf,
	"increase":          increaseOf,
	"delta":             increaseOf,
	"irate":             irateOf,
	"idelta":            ideltaOf,
	"changes":           changesOf,
	"resets":            resetsOf,
}

// rollup returns a function over time, given its arguments but the series. It is not computed if an argument is no
// number.
func rollup(function string, arguments []parser.Expr) (func(window) float64, error) {
	if f := rollups[function]; f != nil && len(arguments) == 0 {
		return f, nil
	}
	if len(arguments) != 1 {
		return nil, errNoAlternative
	}
	switch number, isNumber := unwrap(arguments[0]).(*parser.NumberLiteral); {
	case !isNumber:
	case function == "quantile_over_time":
		return func(w window) float64 { return quantileOf(number.Val, w.values) }, nil
	case function == "predict_linear":
		return func(w window) float64 { return predictionOf(w, number.Val) }, nil
	}
	return nil, errNoAlternative
}

// quantileOf interpolates between the two values next to the quantile.
func quantileOf(q float64, values []float64) float64 {
	switch {
	case len(values) == 0 || math.IsNaN(q):
		return math.NaN()
	case q < 0:
		return math.Inf(-1)
	case q > 1:
		return math.Inf(1)
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := q * float64(len(sorted)-1)
	low := int(rank)
	weight := rank - float64(low)
	return sorted[low]*(1-weight) + sorted[min(low+1, len(sorted)-1)]*weight
}

// predictionOf is the value some seconds after the end of the window, by linear regression. Prometheus has none
// for a single sample; VictoriaMetrics has, which it does not document.
func predictionOf(w window, seconds float64) float64 {
	n := float64(len(w.values))
	switch {
	case n < 2:
		return math.NaN()
	case slices.Min(w.values) == slices.Max(w.values):
		return w.values[0]
	}
	var values, times, products, squares float64
	for i, v := range w.values {
		t := float64(w.times[i]-w.end) / 1000
		values, times, products, squares = values+v, times+t, products+t*v, squares+t*t
	}
	slope := (products - times*values/n) / (squares - times*times/n)
	return (values-slope*times)/n + slope*seconds
}

func lastOf(w window) float64 {
	if len(w.values) == 0 || value.IsStaleNaN(w.values[len(w.values)-1]) {
		return math.NaN()
	}
	return w.values[len(w.values)-1]
}

func fold(f func(a, b float64) float64) func(window) float64 {
	return func(w window) float64 {
		if len(w.values) == 0 {
			return math.NaN()
		}
		all := w.values[0]
		for _, v := range w.values[1:] {
			all = f(all, v)
		}
		return all
	}
}

func avgOf(w window) float64 {
	return fold(func(a, b float64) float64 { return a + b })(w) / float64(len(w.values))
}

func countOf(w window) float64 {
	if len(w.values) == 0 {
		return math.NaN()
	}
	return float64(len(w.values))
}

func timeOf(w window) float64 {
	if len(w.times) == 0 {
		return math.NaN()
	}
	return float64(w.times[len(w.times)-1]) / 1000
}

// rateOf is the slope from the sample before the window, or else the first one in it, to the last one.
func rateOf(w window) float64 {
	from, start := w.before, w.beforeTime
	switch {
	case math.IsNaN(from) && len(w.values) < 2:
		return math.NaN()
	case math.IsNaN(from):
		from, start = w.values[0], w.times[0]
	case len(w.values) == 0:
		return 0
	}
	last := len(w.values) - 1
	return (w.values[last] - from) / (float64(w.times[last]-start) / 1000)
}

// increaseOf is the difference of the last sample from the one before the window. A series that begins
// in the window begins at 0, unless its first value is large compared with its next step.
func increaseOf(w window) float64 {
	from, values := w.before, w.values
	if math.IsNaN(from) {
		if len(values) == 0 {
			return math.NaN()
		}
		if !math.IsNaN(w.earlier) {
			return values[len(values)-1] - w.earlier
		}
		step := 0.0
		if len(values) > 1 {
			step = values[1] - values[0]
		} else if !math.IsNaN(w.next) {
			step = w.next - values[0]
		}
		if math.Abs(values[0]) < 10*(math.Abs(step)+1) {
			from = 0
		} else {
			from, values = values[0], values[1:]
		}
	}
	if len(values) == 0 {
		return 0
	}
	return values[len(values)-1] - from
}

func irateOf(w window) float64 {
	last := len(w.values) - 1
	switch {
	case last < 0, last == 0 && math.IsNaN(w.before):
		return math.NaN()
	case last == 0:
		return (w.values[0] - w.before) / (float64(w.times[0]-w.beforeTime) / 1000)
	}
	return (w.values[last] - w.values[last-1]) / (float64(w.times[last]-w.times[last-1]) / 1000)
}

func ideltaOf(w window) float64 {
	last := len(w.values) - 1
	switch {
	case last < 0 && math.IsNaN(w.before):
		return math.NaN()
	case last < 0:
		return 0
	case last > 0:
		return w.values[last] - w.values[last-1]
	case math.IsNaN(w.before):
		return w.values[0]
	}
	return w.values[0] - w.before
}

// negligible reports whether a difference may come from rounding.
func negligible(a, b float64) bool { return math.Abs(a-b) < 1e-12*math.Abs(a) }

func changesOf(w window) float64 {
	from, values, n := w.before, w.values, 0
	if math.IsNaN(from) {
		if len(values) == 0 {
			return math.NaN()
		}
		if from = w.earlier; math.IsNaN(from) {
			from, values, n = values[0], values[1:], 1
		}
	}
	for _, v := range values {
		if v != from && !negligible(v, from) {
			n, from = n+1, v
		}
	}
	return float64(n)
}

func resetsOf(w window) float64 {
	from, values, n := w.before, w.values, 0
	if math.IsNaN(from) {
		if len(values) == 0 {
			return math.NaN()
		}
		from, values = values[0], values[1:]
	}
	for _, v := range values {
		if v < from {
			if negligible(v, from) {
				continue
			}
			n++
		}
		from = v
	}
	return float64(n)
}

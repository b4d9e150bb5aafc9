package promql

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
)

// computeOwn computes an answer at some times without Prometheus's engine, to check it: functions over time of a metric,
// aggregates by labels, topk, comparisons with a number, and histogram_quantile. It is not ok for other
// expressions, and where a rounding error would change the answer.
func (s *Set) computeOwn(p *prepared, times []int64) (promql.Matrix, bool) {
	expr, err := parse(p.text)
	if err != nil {
		return nil, false
	}
	o := own{s.store, map[*parser.VectorSelector][]*samples{}}
	var matrix promql.Matrix
	places := map[string]int{}
	for _, t := range times {
		elements, ok := o.evaluate(expr, t)
		if !ok {
			return nil, false
		}
		for _, e := range elements {
			if e.histogram != nil {
				return nil, false
			}
			key := e.labels.String()
			at, known := places[key]
			if !known {
				at = len(matrix)
				places[key], matrix = at, append(matrix, promql.Series{Metric: e.labels})
			}
			matrix[at].Floats = append(matrix[at].Floats, promql.FPoint{T: t, F: e.value})
		}
	}
	return matrix, true
}

// own evaluates an expression at one time after the other.
type own struct {
	store    *store
	matching map[*parser.VectorSelector][]*samples
}

// element is a series' value at one time.
type element struct {
	labels    labels.Labels
	value     float64
	histogram *nativeHistogram // nil: value
}

func (o *own) evaluate(e parser.Expr, t int64) ([]element, bool) {
	switch n := e.(type) {
	case *parser.ParenExpr:
		return o.evaluate(n.Expr, t)
	case *parser.BinaryExpr:
		bound, isNumber := unwrap(n.RHS).(*parser.NumberLiteral)
		if n.Op != parser.GTR || n.ReturnBool || !isNumber {
			return nil, false
		}
		list, ok := o.evaluate(n.LHS, t)
		if slices.ContainsFunc(list, func(e element) bool { return math.Abs(e.value-bound.Val) < 1e-9*math.Abs(bound.Val) }) {
			return nil, false
		}
		return slices.DeleteFunc(list, func(e element) bool { return !(e.value > bound.Val) }), ok
	case *parser.AggregateExpr:
		list, ok := o.evaluate(n.Expr, t)
		if !ok {
			return nil, false
		}
		if n.Op == parser.TOPK {
			return topOf(n, list)
		}
		return aggregate(n, list)
	case *parser.Call:
		if n.Func.Name == "histogram_quantile" {
			q, isNumber := unwrap(n.Args[0]).(*parser.NumberLiteral)
			if !isNumber {
				return nil, false
			}
			list, ok := o.evaluate(n.Args[1], t)
			if !ok {
				return nil, false
			}
			return quantiles(q.Val, list)
		}
		if len(n.Args) == 1 {
			if m, ok := n.Args[0].(*parser.MatrixSelector); ok {
				return o.overTime(n.Func.Name, m, t)
			}
		}
	}
	return nil, false
}

// overTime applies a function to the samples of each series in the window.
func (o *own) overTime(function string, m *parser.MatrixSelector, t int64) ([]element, bool) {
	of := m.VectorSelector.(*parser.VectorSelector)
	if of.OriginalOffset != 0 || of.Timestamp != nil || of.StartOrEnd != 0 {
		return nil, false
	}
	length := m.Range.Milliseconds()
	var list []element
	if _, known := o.matching[of]; !known {
		o.matching[of] = o.store.match(of.LabelMatchers)
	}
	for _, one := range o.matching[of] {
		w := one.cut(t-length, t)
		e := element{labels: one.labels.DropReserved(isMetricName)}
		if w.histograms != nil {
			histograms, at := nativesOf(&w)
			if function != "rate" && function != "increase" {
				return nil, false
			}
			if len(at) < 2 {
				continue
			}
			rise := nativeRise(histograms)
			rise.multiply(extrapolation(at, t-length, t, histograms[0].count, rise.count, function == "rate"))
			e.histogram = rise
			list = append(list, e)
			continue
		}
		w = w.withoutMarkers()
		n := len(w.values)
		if n == 0 {
			continue
		}
		switch function {
		case "rate", "increase":
			if n < 2 {
				continue
			}
			rises := slices.Clone(w.values[1:])
			for i := range rises {
				if w.values[i+1] >= w.values[i] {
					rises[i] -= w.values[i]
				}
			}
			rise, ok := total(rises)
			if !ok || math.Abs(rise) < leastShare*math.Abs(w.values[n-1]-w.values[0]) { // the engine subtracts these
				return nil, false
			}
			e.value = rise * extrapolation(w.times, t-length, t, w.values[0], rise, function == "rate")
		case "last_over_time":
			e.labels, e.value = one.labels, w.values[n-1]
		case "count_over_time":
			e.value = float64(n)
		case "sum_over_time", "avg_over_time", "max_over_time", "min_over_time":
			var ok bool
			if e.value, ok = aggregateOf(function[:3], w.values); !ok {
				return nil, false
			}
		default:
			return nil, false
		}
		list = append(list, e)
	}
	return list, true
}

// leastShare is the smallest sum, as a share of the sum of absolute values, that is compared. Terms that come of other
// sums differ by some roundings, which grow by its inverse where the terms cancel.
const leastShare = 1e-5

// total returns a sum, and false if it depends on the order and the rounding of its terms. Like the engine's, the sum
// is Neumaier's: see oracle.Content.
func total(values []float64) (float64, bool) {
	sum, rest, size := 0.0, 0.0, 0.0
	for _, v := range values {
		size += math.Abs(v)
		next := sum + v
		if math.Abs(sum) >= math.Abs(v) {
			rest += sum - next + v
		} else {
			rest += v - next + sum
		}
		sum = next
	}
	return sum + rest, !math.IsInf(size, 0) && !(math.Abs(sum+rest) < leastShare*size)
}

// aggregateOf folds values. Extrema ignore NaN unless there is nothing else.
func aggregateOf(name string, values []float64) (float64, bool) {
	lowest, highest := math.NaN(), math.NaN()
	for _, v := range values {
		if v < lowest || math.IsNaN(lowest) {
			lowest = v
		}
		if v > highest || math.IsNaN(highest) {
			highest = v
		}
	}
	switch name {
	case "max":
		return highest, true
	case "min":
		return lowest, true
	}
	sum, ok := total(values)
	if name == "avg" {
		sum /= float64(len(values))
	}
	return sum, ok
}

// extrapolation returns the factor that turns the rise between the first and the last sample into the
// rise in the window from start to end, or its rate per second. The samples are at least two. Rises
// are continued to the ends of the window if samples are close to them, that is within 1.1 times their
// mean distance, and otherwise for half that distance. No counter is continued below zero.
func extrapolation(at []int64, start, end int64, first, rise float64, rate bool) float64 {
	last := len(at) - 1
	covered := float64(at[last]-at[0]) / 1000
	gap := covered / float64(last)
	before, after := float64(at[0]-start)/1000, float64(end-at[last])/1000
	if before >= gap*1.1 {
		before = gap / 2
	}
	if rise > 0 && first >= 0 {
		before = min(before, covered*(first/rise))
	}
	if after >= gap*1.1 {
		after = gap / 2
	}
	factor := (covered + before + after) / covered
	if rate {
		factor /= float64(end-start) / 1000
	}
	return factor
}

// group returns the labels by which an aggregation groups an element.
func group(n *parser.AggregateExpr, of labels.Labels) labels.Labels {
	b := labels.NewBuilder(of)
	if n.Without {
		return b.Del(append([]string{metricName}, n.Grouping...)...).Labels()
	}
	return b.Keep(n.Grouping...).Labels()
}

// groups divides elements by labels, in order of appearance.
func groups(list []element, by func(labels.Labels) labels.Labels) (keys []labels.Labels, members [][]element) {
	places := map[string]int{}
	for _, e := range list {
		key := by(e.labels)
		at, known := places[key.String()]
		if !known {
			at = len(keys)
			places[key.String()] = at
			keys, members = append(keys, key), append(members, nil)
		}
		members[at] = append(members[at], e)
	}
	return keys, members
}

func aggregate(n *parser.AggregateExpr, list []element) ([]element, bool) {
	var out []element
	keys, members := groups(list, func(of labels.Labels) labels.Labels { return group(n, of) })
	for i, key := range keys {
		one := element{labels: key}
		var values []float64
		for _, e := range members[i] {
			if e.histogram == nil {
				values = append(values, e.value)
			} else if one.histogram == nil {
				one.histogram = e.histogram.clone()
			} else if !one.histogram.add(e.histogram) {
				return nil, false
			}
		}
		switch {
		case one.histogram != nil && (n.Op != parser.SUM || values != nil):
			return nil, false
		case one.histogram != nil:
		case n.Op == parser.COUNT:
			one.value = float64(len(values))
		case n.Op == parser.SUM, n.Op == parser.AVG, n.Op == parser.MAX, n.Op == parser.MIN:
			var ok bool
			if one.value, ok = aggregateOf(n.Op.String(), values); !ok {
				return nil, false
			}
		default:
			return nil, false
		}
		out = append(out, one)
	}
	return out, true
}

// topOf returns the elements with the largest values. It is not ok where equal values compete.
func topOf(n *parser.AggregateExpr, list []element) ([]element, bool) {
	number, isNumber := unwrap(n.Param).(*parser.NumberLiteral)
	if !isNumber || len(n.Grouping) > 0 || n.Without || slices.ContainsFunc(list, func(e element) bool { return math.IsNaN(e.value) || e.histogram != nil }) {
		return nil, false
	}
	slices.SortStableFunc(list, func(a, b element) int { return cmp.Compare(b.value, a.value) })
	switch k := int(number.Val); {
	case k < 1:
		return nil, true
	case k < len(list):
		if list[k-1].value-list[k].value <= 1e-9*math.Abs(list[k].value) {
			return nil, false
		}
		list = list[:k]
	}
	return list, true
}

// quantiles returns the quantile of each histogram, classic or native.
func quantiles(q float64, list []element) ([]element, bool) {
	var out, buckets []element
	for _, e := range list {
		if e.histogram == nil {
			buckets = append(buckets, e)
			continue
		}
		v, ok := stable(q, e.histogram.quantile)
		if !ok {
			return nil, false
		}
		out = append(out, element{labels: e.labels.DropReserved(isMetricName), value: v})
	}
	keys, members := groups(buckets, func(of labels.Labels) labels.Labels {
		return labels.NewBuilder(of).Del(metricName, labels.BucketLabel).Labels()
	})
	for i, key := range keys {
		var list []bucket
		for _, e := range members[i] {
			if le, err := strconv.ParseFloat(e.labels.Get(labels.BucketLabel), 64); err == nil {
				list = append(list, bucket{le, e.value})
			}
		}
		if len(list) == 0 {
			continue
		}
		v, ok := stable(q, func(q float64) float64 { return classicQuantile(q, list) })
		if !ok {
			return nil, false
		}
		out = append(out, element{labels: key, value: v})
	}
	return out, true
}

// stable returns a quantile, not ok if it depends on rounding: next to empty buckets it jumps.
func stable(q float64, of func(float64) float64) (float64, bool) {
	v := of(q)
	if !(q >= 0 && q <= 1) || math.IsNaN(v) {
		return v, true
	}
	low, high := of(max(0, q*(1-1e-11))), of(min(1, q*(1+1e-11)))
	return v, math.Abs(high-low) <= 1e-8*max(math.Abs(v), 1e-300)
}

// bucket is a bucket of a classic histogram, whose count includes those of all lower ones.
type bucket struct{ upper, count float64 }

// classicQuantile interpolates linearly within the bucket that holds the quantile.
func classicQuantile(q float64, of []bucket) float64 {
	switch {
	case math.IsNaN(q):
		return q
	case q < 0:
		return math.Inf(-1)
	case q > 1:
		return math.Inf(1)
	}
	slices.SortFunc(of, func(a, b bucket) int { return cmp.Compare(a.upper, b.upper) })
	var list []bucket
	for _, b := range of {
		if last := len(list) - 1; last >= 0 && list[last].upper == b.upper {
			list[last].count += b.count
		} else {
			list = append(list, b)
		}
	}
	for i := 1; i < len(list); i++ {
		list[i].count = max(list[i].count, list[i-1].count)
	}
	last := len(list) - 1
	if last < 1 || !math.IsInf(list[last].upper, 1) || !(list[last].count > 0) {
		return math.NaN()
	}
	rank := q * list[last].count
	for i, b := range list[:last] {
		if b.count < rank {
			continue
		}
		lower, below := 0.0, 0.0
		switch {
		case i > 0:
			lower, below = list[i-1].upper, list[i-1].count
		case b.upper <= 0:
			return b.upper
		}
		return lower + (b.upper-lower)*(rank-below)/(b.count-below)
	}
	return list[last-1].upper
}

// nativeHistogram is a native histogram with observations that are not negative.
type nativeHistogram struct {
	schema      int32
	threshold   float64 // of the zero bucket
	first       int     // index of the first bucket
	count, zero float64
	buckets     []float64
}

// nativesOf returns the histograms of samples without staleness markers, and their times.
func nativesOf(of *samples) (list []*nativeHistogram, at []int64) {
	for i, h := range of.histograms {
		if value.IsStaleNaN(h.Sum) {
			continue
		}
		list = append(list, &nativeHistogram{h.Schema, h.ZeroThreshold, int(h.PositiveSpans[0].Offset), h.Count, h.ZeroCount, h.PositiveBuckets})
		at = append(at, of.times[i])
	}
	return list, at
}

func (h *nativeHistogram) clone() *nativeHistogram {
	c := *h
	c.buckets = slices.Clone(h.buckets)
	return &c
}

// add adds a histogram with the same layout of buckets; false: the layouts differ.
func (h *nativeHistogram) add(of *nativeHistogram) bool {
	if h.schema != of.schema || h.threshold != of.threshold || h.first != of.first || len(h.buckets) != len(of.buckets) {
		return false
	}
	h.count, h.zero = h.count+of.count, h.zero+of.zero
	for i, v := range of.buckets {
		h.buckets[i] += v
	}
	return true
}

func (h *nativeHistogram) multiply(by float64) {
	h.count, h.zero = h.count*by, h.zero*by
	for i := range h.buckets {
		h.buckets[i] *= by
	}
}

// nativeRise returns the rise from the first to the last histogram. If any count falls, the histogram
// has started again from zero.
func nativeRise(list []*nativeHistogram) *nativeHistogram {
	rise := list[len(list)-1].clone()
	minus := list[0].clone()
	minus.multiply(-1)
	rise.add(minus)
	for i := 1; i < len(list); i++ {
		before, now := list[i-1], list[i]
		fell := now.count < before.count || now.zero < before.zero
		for b := range now.buckets {
			fell = fell || now.buckets[b] < before.buckets[b]
		}
		if fell {
			rise.add(before)
		}
	}
	return rise
}

// quantile interpolates exponentially within the bucket that holds the quantile, and linearly in the
// zero bucket.
func (h *nativeHistogram) quantile(q float64) float64 {
	switch {
	case q < 0:
		return math.Inf(-1)
	case q > 1:
		return math.Inf(1)
	case !(h.count > 0) || math.IsNaN(q):
		return math.NaN()
	}
	rank, below := q*h.count, h.zero
	if h.zero > 0 && rank <= h.zero {
		lower := 0.0
		if !slices.ContainsFunc(h.buckets, func(v float64) bool { return v != 0 }) {
			lower = -h.threshold
		}
		return lower + (h.threshold-lower)*rank/h.zero
	}
	highest := math.NaN()
	for i, n := range h.buckets {
		if n == 0 {
			continue
		}
		width := math.Exp2(-float64(h.schema))
		lower, upper := float64(h.first+i-1)*width, float64(h.first+i)*width
		if highest = math.Exp2(upper); below+n >= rank {
			return math.Exp2(lower + (upper-lower)*(rank-below)/n)
		}
		below += n
	}
	return highest
}

package promql

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"

	"github.com/tsmark/tsmark/query"
)

// VictoriaMetrics names the semantics that https://docs.victoriametrics.com/victoriametrics/metricsql/
// documents as different from PromQL's:
//
//   - rate, increase and their kind do not extrapolate to the ends of the window, and start from the
//     sample before the window if there is one within the staleness interval;
//   - that interval is 5 minutes for instant queries, and otherwise follows the interval of samples;
//   - functions that do not change the meaning of values, such as max_over_time, keep metric names; the list is at
//     v1.44.0 in https://docs.victoriametrics.com/victoriametrics/changelog/changelog_2020/, and has
//     quantile_over_time and predict_linear too;
//   - a function over time, also timestamp, of an expression is one of a subquery with the step for its window
//     ("Implicit query conversions");
//   - NaN is not returned, so neither are quantiles of histograms without observations.
//
// Other differences are not documented, and so are wrong: see docs/metrics.md.
//
// An expression is evaluated by Prometheus's engine in which each function over time, and each instant
// selector, is replaced by a selector of series that VictoriaMetrics's rules yield at the same times.
const VictoriaMetrics = "victoriametrics"

const victoriaMetricsReason = "MetricsQL, as documented: no extrapolation, the sample before the window counts, another staleness interval, names kept, no NaN"

// errNoAlternative is the error for expressions whose meaning in VictoriaMetrics is not computed.
var errNoAlternative = errors.New("not computed")

// partLabel is the label by which selectors in a rewritten expression name their series.
const partLabel = "__part__"

// rewriter replaces selectors, and implements storage.Queryable with the replacements.
type rewriter struct {
	ctx   context.Context
	set   *Set
	parts [][]*samples
}

// times are those of a query or subquery, in milliseconds. They decide which samples are read.
type times struct {
	first, last, step int64
	from, to          int64 // those at which it is evaluated: all, or a part
}

func (t times) shift(offset int64) times {
	t.first, t.last, t.from, t.to = t.first-offset, t.last-offset, t.from-offset, t.to-offset
	return t
}

// victoriaMetrics returns the answer by VictoriaMetrics's documented semantics, or errNoAlternative.
func (s *Set) victoriaMetrics(ctx context.Context, p *prepared) (*query.Answer, error) {
	expr, err := parse(p.text)
	if err != nil {
		return nil, err
	}
	r := &rewriter{ctx: ctx, set: s}
	at := times{p.first, p.last, p.evaluationStep(), p.from, p.to}
	if expr, err = r.rewrite(expr, at); err != nil {
		return nil, err
	}
	matrix, err := s.evaluate(ctx, r, expr.String(), at.from, at.to, at.step, time.Millisecond)
	switch {
	case ctx.Err() != nil:
		return nil, err
	case err != nil: // such as several series with equal labels
		return nil, errNoAlternative
	}
	for i := range matrix {
		of := &matrix[i]
		of.Metric = labels.NewBuilder(of.Metric).Del(partLabel).Labels() // absent makes labels of conditions
		kept := of.Floats[:0]
		for _, f := range of.Floats {
			if !math.IsNaN(f.F) {
				kept = append(kept, f)
			}
		}
		of.Floats = kept
	}
	return s.rows(p, matrix)
}

// Querier implements storage.Queryable.
func (r *rewriter) Querier(int64, int64) (storage.Querier, error) {
	return querier{func(matchers []*labels.Matcher) []*samples {
		for _, m := range matchers {
			var part int
			if m.Name != partLabel {
				continue
			}
			if _, err := fmt.Sscan(m.Value, &part); err == nil && part < len(r.parts) {
				return r.parts[part]
			}
		}
		return nil
	}}, nil
}

// rewrite returns the expression with selectors replaced.
func (r *rewriter) rewrite(e parser.Expr, at times) (parser.Expr, error) {
	var err error
	// each rewrites expressions in place.
	each := func(list ...*parser.Expr) {
		for _, of := range list {
			if *of != nil && err == nil {
				*of, err = r.rewrite(*of, at)
			}
		}
	}
	switch n := e.(type) {
	case *parser.NumberLiteral, *parser.StringLiteral:
	case *parser.ParenExpr:
		each(&n.Expr)
	case *parser.UnaryExpr:
		each(&n.Expr)
	case *parser.BinaryExpr:
		each(&n.LHS, &n.RHS)
	case *parser.AggregateExpr:
		each(&n.Expr, &n.Param)
	case *parser.VectorSelector:
		return r.replace("default_rollup", nil, n, at)
	case *parser.Call:
		return r.call(n, at)
	default:
		err = errNoAlternative
	}
	return e, err
}

// call rewrites the call of a function.
func (r *rewriter) call(n *parser.Call, at times) (parser.Expr, error) {
	for i, arg := range n.Args {
		of := unwrap(arg)
		switch of.(type) {
		case *parser.MatrixSelector, *parser.SubqueryExpr:
			if n.Func.Name == "absent_over_time" {
				present, err := r.replace("present_over_time", nil, of, at)
				if err != nil {
					return nil, err
				}
				absent := *n
				absent.Func, absent.Args = parser.Functions["absent"], parser.Expressions{present}
				return &absent, nil
			}
			return r.replace(n.Func.Name, slices.Delete(slices.Clone(n.Args), i, i+1), of, at)
		}
		if n.Func.Name == "timestamp" {
			if _, ok := of.(*parser.VectorSelector); !ok {
				of = &parser.SubqueryExpr{Expr: of}
			}
			return r.replace("timestamp", nil, of, at)
		}
		rewritten, err := r.rewrite(arg, at)
		if err != nil {
			return nil, err
		}
		n.Args[i] = rewritten
	}
	switch {
	case changesValuesAlone(n.Func.Name):
		return keepNames(n)
	case n.Func.Name == "histogram_quantile":
		if q, isNumber := unwrap(n.Args[0]).(*parser.NumberLiteral); isNumber && q.Val >= 0 && q.Val <= 1 {
			break
		}
		// Of histograms without observations, Prometheus returns NaN, but infinities for quantiles below 0 and above 1;
		// VictoriaMetrics, which documents that these "must be in the range [0...1]", has NaN.
		return parse(fmt.Sprintf("%s unless (histogram_quantile(0.5, %[2]s) != histogram_quantile(0.5, %[2]s))", n, n.Args[1]))
	}
	return n, nil
}

// changesValuesAlone reports whether VictoriaMetrics keeps metric names in the result of a function of series,
// which Prometheus's engine drops.
func changesValuesAlone(function string) bool {
	return slices.Contains([]string{"ceil", "clamp", "clamp_max", "clamp_min", "floor", "round"}, function)
}

// keepNames returns a call whose result has the metric names of its first argument: they are in another label meanwhile.
func keepNames(n *parser.Call) (parser.Expr, error) {
	inner, err := parse(fmt.Sprintf(`label_replace(%s, "__kept__", "$1", "__name__", "(.*)")`, n.Args[0]))
	if err != nil {
		return nil, err
	}
	n.Args[0] = inner
	return parse(fmt.Sprintf(`label_replace(label_replace(%s, "__name__", "$1", "__kept__", "(.+)"), "__kept__", "", "__kept__", ".*")`, n))
}

func unwrap(e parser.Expr) parser.Expr {
	for {
		paren, ok := e.(*parser.ParenExpr)
		if !ok {
			return e
		}
		e = paren.Expr
	}
}

// keepsName reports whether VictoriaMetrics keeps metric names in the result of a function over time.
func keepsName(function string) bool {
	return slices.Contains([]string{"default_rollup", "avg_over_time", "first_over_time", "last_over_time", "max_over_time", "min_over_time", "predict_linear", "quantile_over_time"}, function)
}

// silence is how far before the window VictoriaMetrics reads samples.
const silence = int64(5 * time.Minute / time.Millisecond)

// replace returns a selector for the values of a function over time of a selector or subquery, with the
// function's further arguments.
func (r *rewriter) replace(function string, arguments []parser.Expr, of parser.Expr, at times) (parser.Expr, error) {
	f, err := rollup(function, arguments)
	if err != nil {
		return nil, err
	}
	var sources []*samples
	var window, offset int64
	selector := &parser.VectorSelector{}
	read := at
	// shift moves the times by modifiers.
	shift := func(by time.Duration, timestamp *int64) {
		if timestamp != nil {
			read = times{*timestamp, *timestamp, at.step, *timestamp, *timestamp}
		}
		offset = by.Milliseconds()
		read = read.shift(offset)
	}
	switch n := of.(type) {
	case *parser.VectorSelector:
		selector = n
		shift(n.OriginalOffset, n.Timestamp)
		sources = r.read(n.LabelMatchers, read, function, 0)
	case *parser.MatrixSelector:
		selector, window = n.VectorSelector.(*parser.VectorSelector), n.Range.Milliseconds()
		shift(selector.OriginalOffset, selector.Timestamp)
		sources = r.read(selector.LabelMatchers, read, function, window)
	case *parser.SubqueryExpr:
		window = n.Range.Milliseconds()
		shift(n.OriginalOffset, n.Timestamp)
		if sources, err = r.subquery(n, read); err != nil {
			return nil, err
		}
	}
	var part []*samples
	for _, source := range sources {
		if source.histograms != nil {
			return nil, errNoAlternative // VictoriaMetrics stores them as other series
		}
		made := roll(f, source, read, window, function)
		if read.first == read.last { // @ has one value for all times
			made = repeat(made, at)
		} else {
			for i := range made.times {
				made.times[i] += offset
			}
		}
		if made.labels = source.labels; !keepsName(function) {
			made.labels = made.labels.DropReserved(isMetricName)
		}
		part = append(part, made)
	}
	r.parts = append(r.parts, part)
	mark, err := labels.NewMatcher(labels.MatchEqual, partLabel, fmt.Sprint(len(r.parts)-1))
	if err != nil {
		return nil, err
	}
	return &parser.VectorSelector{Name: selector.Name, LabelMatchers: append(slices.Clone(selector.LabelMatchers), mark)}, nil
}

// repeat returns a series with the value of another one, if that has one, at all times.
func repeat(of *samples, at times) *samples {
	if len(of.values) == 0 {
		return of
	}
	v := of.values[0]
	all := &samples{}
	for t := at.from; t <= at.to; t += at.step {
		all.times, all.values = append(all.times, t), append(all.values, v)
	}
	return all
}

// read returns the samples of matching series that VictoriaMetrics reads for a window; 0: its own.
func (r *rewriter) read(matchers []*labels.Matcher, at times, function string, window int64) []*samples {
	from := at.first - max(window, at.step)
	if slices.Contains([]string{"changes", "default_rollup", "delta", "idelta", "increase", "irate", "rate", "resets"}, function) {
		from -= silence
	}
	var list []*samples
	for _, of := range r.set.store.match(matchers) {
		part := of.cut(from-1, at.last)
		if function != "default_rollup" {
			part = part.withoutMarkers()
		}
		values := make([]float64, len(part.values))
		for i, v := range part.values {
			values[i] = asStored(v)
		}
		if part.histograms == nil {
			part.values = values
		}
		if len(part.times) > 0 {
			list = append(list, &part)
		}
	}
	return list
}

// asStored returns a value as VictoriaMetrics stores it: a fraction as a decimal of some 12 digits, or 15
// above a million, whose further digits are cut off. Differences of large values show this.
func asStored(v float64) float64 {
	switch {
	case v == math.Trunc(v) || math.IsNaN(v) || math.IsInf(v, 0):
		return v
	case v < 0:
		return -asStored(-v)
	}
	precision, scale := 1e12, 0
	if v > 1e6 {
		precision = 1e15
	}
	if v > 1e6 || v < 1e-6 {
		_, exponent := math.Frexp(v)
		scale = int(float64(exponent) * (math.Ln2 / math.Ln10))
		v *= math.Pow10(-scale)
	}
	for v < precision {
		whole, rest := math.Modf(v)
		if rest*precision < whole {
			break
		}
		if (1-rest)*precision < whole {
			v = whole + 1
			break
		}
		v, scale = v*100, scale-2
	}
	if scale < 0 {
		return math.Trunc(v) / math.Pow10(-scale)
	}
	return math.Trunc(v) * math.Pow10(scale)
}

// withoutMarkers returns the samples without staleness markers.
func (s samples) withoutMarkers() samples {
	if !slices.ContainsFunc(s.values, value.IsStaleNaN) {
		return s
	}
	out := samples{labels: s.labels}
	for i, v := range s.values {
		if !value.IsStaleNaN(v) {
			out.times, out.values = append(out.times, s.times[i]), append(out.values, v)
		}
	}
	return out
}

// subquery returns the values of a subquery at multiples of its step.
func (r *rewriter) subquery(n *parser.SubqueryExpr, at times) ([]*samples, error) {
	step := n.Step.Milliseconds()
	if step == 0 {
		step = at.step
	}
	inner := times{first: at.first - n.Range.Milliseconds() - step - silence, last: at.last + step, step: step}
	inner.first -= inner.first % step
	inner.last += (step - inner.last%step) % step
	inner.from, inner.to = inner.first, inner.last
	expr, err := r.rewrite(n.Expr, inner)
	if err != nil {
		return nil, err
	}
	matrix, err := r.set.evaluate(r.ctx, r, expr.String(), inner.first, inner.last, inner.step, time.Millisecond)
	if err != nil {
		return nil, errNoAlternative
	}
	var list []*samples
	for _, of := range matrix {
		one := &samples{labels: labels.NewBuilder(of.Metric).Del(partLabel).Labels()}
		for _, f := range of.Floats {
			if !math.IsNaN(f.F) {
				one.times, one.values = append(one.times, f.T), append(one.values, f.F)
			}
		}
		list = append(list, one)
	}
	return list, nil
}

package promql

import (
	"context"
	"math"
	"slices"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"

	"github.com/tsmark/tsmark/query"
)

// Thanos names the semantics that the source of Thanos documents (ApplyCounterResetsSeriesIterator in
// https://github.com/thanos-io/thanos/blob/v0.42.5/pkg/compact/downsample/downsample.go, and
// https://github.com/thanos-io/thanos/issues/3644): rate, increase, irate and resets see a counter as if
// it had never started again, and without NaN. So resets is 0, and a window whose first sample follows a
// restart is extrapolated further than by Prometheus, which knows that the counter was at 0.
//
// Thanos counts restarts from the start of the first chunk that it reads. A chunk usually begins more than
// silence before the window; restarts as far back count here. Earlier ones change an answer only if the
// counter hardly rose since.
const Thanos = "thanos"

const thanosReason = "Thanos, as its source documents: rate, increase, irate and resets do not see where a counter started again"

// thanos returns the answer by the semantics of Thanos, or errNoAlternative if they are Prometheus's for these
// samples.
func (s *Set) thanos(ctx context.Context, p *prepared) (*query.Answer, error) {
	expr, err := parse(p.text)
	if err != nil {
		return nil, err
	}
	differs := false
	parser.Inspect(expr, func(n parser.Node, path []parser.Node) error {
		if of, ok := n.(*parser.VectorSelector); ok && !differs && slices.ContainsFunc(path, readsCounter) {
			differs = slices.ContainsFunc(s.store.match(of.LabelMatchers), (*samples).startsAgain)
		}
		return nil
	})
	if !differs {
		return nil, errNoAlternative
	}
	matrix, err := s.evaluate(ctx, counters{s.store, p.from - p.first}, p.text, p.from, p.to, p.step, query.Lookback)
	if err != nil {
		return nil, err
	}
	return s.rows(p, matrix)
}

// readsCounter reports whether a node is a call of a function for which Thanos reads counters.
func readsCounter(n parser.Node) bool {
	call, ok := n.(*parser.Call)
	return ok && isOfCounters(call.Func.Name)
}

func isOfCounters(function string) bool {
	return slices.Contains([]string{"increase", "irate", "rate", "resets"}, function)
}

// startsAgain reports whether a value is below the previous one, or not a number.
func (s *samples) startsAgain() bool {
	for i, v := range s.values {
		if math.IsNaN(v) || i > 0 && v < s.values[i-1] {
			return true
		}
	}
	return false
}

// counters is a storage.Queryable with the series that Thanos's querier reads from its stores.
type counters struct {
	store   *store
	earlier int64 // how long before the evaluated times those of the query begin, in milliseconds
}

// Querier implements storage.Queryable.
func (c counters) Querier(int64, int64) (storage.Querier, error) {
	return counterQuerier{querier{c.store.match}, c.earlier}, nil
}

type counterQuerier struct {
	querier
	earlier int64
}

// Select implements storage.Querier. The engine names the function that the samples are for.
func (q counterQuerier) Select(ctx context.Context, sorted bool, hints *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	if hints == nil || !isOfCounters(hints.Func) {
		return q.querier.Select(ctx, sorted, hints, matchers...)
	}
	var list []*samples
	for _, of := range q.match(matchers) {
		if of.histograms == nil {
			part := of.cut(hints.Start-q.earlier-silence, hints.End)
			of = part.withoutRestarts()
		}
		list = append(list, of)
	}
	return &seriesSet{storage.EmptySeriesSet(), list}
}

// withoutRestarts returns the samples of a counter as if it had never started again, without NaN.
func (s *samples) withoutRestarts() *samples {
	out := &samples{labels: s.labels, times: make([]int64, 0, len(s.times)), values: make([]float64, 0, len(s.values))}
	total, before := 0.0, 0.0
	for i, v := range s.values {
		switch {
		case math.IsNaN(v):
			continue
		case len(out.values) > 0 && v >= before:
			total += v - before
		default:
			total += v
		}
		before = v
		out.times, out.values = append(out.times, s.times[i]), append(out.values, total)
	}
	return out
}

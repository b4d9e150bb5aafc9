package result

import (
	"cmp"
	"slices"

	"github.com/tsmark/tsmark/measure"
)

// poolOpen merges the open loops of repeats with one schedule; nil: a repeat was a closed loop.
func poolOpen(repeats []*Queries) (*OpenLoop, error) {
	if slices.ContainsFunc(repeats, func(q *Queries) bool { return q.Open == nil }) {
		return nil, nil
	}
	pooled := *repeats[0].Open
	pooled.Arrivals, pooled.Dropped, pooled.Waiting, pooled.Offered, pooled.Saturated = 0, 0, 0, 0, ""
	response, lag := make([]Latency, len(repeats)), make([]Latency, len(repeats))
	rates := 0
	for i, q := range repeats {
		o := q.Open
		pooled.Arrivals += o.Arrivals
		pooled.Dropped += o.Dropped
		pooled.Waiting = max(pooled.Waiting, o.Waiting)
		if o.Offered > 0 {
			pooled.Offered += o.Offered
			rates++
		}
		pooled.Saturated = cmp.Or(pooled.Saturated, o.Saturated)
		response[i], lag[i] = o.Response, o.Lag
	}
	pooled.Offered /= float64(max(1, rates))
	var err error
	if pooled.Response, err = poolLatencies(response); err != nil {
		return nil, err
	}
	pooled.Lag, err = poolLatencies(lag)
	return &pooled, err
}

// typicalSearch returns the repeat whose search for the highest rate found the median rate (the
// lower of the middle two); nil: not all repeats searched. Latencies at different rates cannot be
// pooled.
func typicalSearch(repeats []*Queries) *Queries {
	if slices.ContainsFunc(repeats, func(q *Queries) bool { return q.Open == nil || q.Open.Search == nil }) {
		return nil
	}
	ordered := slices.Clone(repeats)
	slices.SortStableFunc(ordered, func(a, b *Queries) int { return cmp.Compare(a.Open.Search.Kept, b.Open.Search.Kept) })
	return ordered[(len(ordered)-1)/2]
}

// poolLatencies merges histograms, each with its exact figures.
func poolLatencies(all []Latency) (Latency, error) {
	merged := measure.NewLatency()
	for _, l := range all {
		if l.Count == 0 {
			continue
		}
		restored, err := measure.Restore(l.Histogram, l.Summary)
		if err != nil {
			return Latency{}, err
		}
		merged.Merge(restored)
	}
	encoded, err := merged.Encode()
	return Latency{Summary: merged.Summary(), Histogram: encoded}, err
}

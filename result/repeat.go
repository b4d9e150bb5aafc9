package result

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/measure"
)

// Repeat is one execution of what is measured of a target: a load, the asking
// of query types, or both.
type Repeat struct {
	Number  int       `json:"number"` // from 1
	Load    *Load     `json:"load,omitempty"`
	Queries []Queries `json:"queries,omitempty"` // one per type, in the order asked
}

// RepeatOf returns the target's repeat of the number, which it adds where
// there is none yet.
func (t *Target) RepeatOf(number int) *Repeat {
	for i := range t.Repeats {
		if t.Repeats[i].Number == number {
			return &t.Repeats[i]
		}
	}
	t.Repeats = append(t.Repeats, Repeat{Number: number})
	slices.SortFunc(t.Repeats, func(a, b Repeat) int { return cmp.Compare(a.Number, b.Number) })
	return t.RepeatOf(number)
}

// Type returns what the repeat has of a query type; nil: nothing yet.
func (r *Repeat) Type(name string) *Queries {
	for i := range r.Queries {
		if r.Queries[i].Type == name {
			return &r.Queries[i]
		}
	}
	return nil
}

// Pool derives Load and Queries from the repeats. The load is the one of median
// settled rate, of two in the middle the slower. Of a query type all that was
// asked counts together, and each question's time is the median of its
// repeats. Open loops count together too, unless they searched for the highest
// rate: then the repeat that found the median one stands for all. Where a
// measurement stands on the time line is known of the repeats alone: Cell is
// that of the first. What is withheld in one repeat is withheld in all.
func (t *Target) Pool() error {
	var loads []*Load
	var names []string
	types := make(map[string][]*Queries)
	for i := range t.Repeats {
		r := &t.Repeats[i]
		if r.Load != nil {
			loads = append(loads, r.Load)
		}
		for j := range r.Queries {
			q := &r.Queries[j]
			if types[q.Type] == nil {
				names = append(names, q.Type)
			}
			types[q.Type] = append(types[q.Type], q)
		}
	}
	t.Load, t.Queries = poolLoads(loads), nil
	for _, name := range names {
		q, err := poolQueries(types[name])
		if err != nil {
			return fmt.Errorf("putting the repeats of %s together: %w", name, err)
		}
		t.Queries = append(t.Queries, q)
	}
	return nil
}

func poolLoads(loads []*Load) *Load {
	for _, l := range loads {
		if l.Withheld != "" || l.Mixed.Problem() != "" {
			return l
		}
	}
	if len(loads) == 0 {
		return nil
	}
	ordered := slices.Clone(loads)
	slices.SortStableFunc(ordered, func(a, b *Load) int { return cmp.Compare(b.Settled, a.Settled) })
	return ordered[(len(ordered)-1)/2]
}

func poolQueries(repeats []*Queries) (Queries, error) {
	pooled := *repeats[0]
	if len(repeats) == 1 {
		return pooled, nil
	}
	if found := typicalSearch(repeats); found != nil {
		pooled = *found
		for _, q := range repeats {
			pooled.Withheld = cmp.Or(pooled.Withheld, q.Withheld)
		}
		return pooled, nil
	}
	service, accumulated := make([]Latency, len(repeats)), make([][]float64, len(repeats))
	pooled.Asked, pooled.BurnIn, pooled.AtLeast, pooled.Wall, pooled.Rows, pooled.Bytes, pooled.TimeBox, pooled.Values = 0, 0, 0, 0, 0, 0, 0, 0
	each := make([][]float64, 0, len(pooled.Each))
	for i, q := range repeats {
		service[i], accumulated[i] = q.Service, q.Accumulated
		pooled.Withheld = cmp.Or(pooled.Withheld, q.Withheld)
		if pooled.Verdict.Checked == 0 {
			pooled.Verdict = q.Verdict
		}
		pooled.ClientBound = cmp.Or(pooled.ClientBound, q.ClientBound)
		pooled.Cold = pooled.Cold && q.Cold
		pooled.Distinct = max(pooled.Distinct, q.Distinct)
		pooled.Asked += q.Asked
		pooled.BurnIn += q.BurnIn
		pooled.AtLeast += q.AtLeast
		pooled.Wall += q.Wall
		pooled.Rows += q.Rows
		pooled.Bytes += q.Bytes
		pooled.TimeBox += q.TimeBox
		pooled.Values += q.Values
		for i, seconds := range q.Each {
			if i == len(each) {
				each = append(each, nil)
			}
			if seconds != 0 {
				each[i] = append(each[i], seconds)
			}
		}
	}
	pooled.PerSecond = 0
	if pooled.Wall > 0 {
		pooled.PerSecond = float64(pooled.Asked) / pooled.Wall
	}
	pooled.Each = make([]float64, len(each))
	for i, times := range each {
		pooled.Each[i] = typical(times)
	}
	pooled.Accumulated = poolAccumulated(accumulated)
	var err error
	if pooled.Service, err = poolLatencies(service); err != nil {
		return pooled, err
	}
	pooled.Open, err = poolOpen(repeats)
	return pooled, err
}

// poolAccumulated adds up what each worker has of all repeats; nil where one
// has recorded none.
func poolAccumulated(repeats [][]float64) []float64 {
	var pooled []float64
	for _, one := range repeats {
		if len(one) == 0 {
			return nil
		}
		for len(pooled) < len(one) {
			pooled = append(pooled, 0)
		}
		for worker, seconds := range one {
			pooled[worker] += seconds
		}
	}
	return pooled
}

// typical is the median of a question's times, of two in the middle the longer;
// less than 0, a lower bound, where that one was cut off.
func typical(times []float64) float64 {
	if len(times) == 0 {
		return 0
	}
	// One that was cut off is longer than it shows.
	length := func(t float64) float64 {
		if t < 0 {
			return measure.Longest.Seconds() - t
		}
		return t
	}
	slices.SortFunc(times, func(a, b float64) int { return cmp.Compare(length(a), length(b)) })
	return times[len(times)/2]
}

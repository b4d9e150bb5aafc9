package estimate

import (
	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/result"
)

// OwnSample returns all queries of a type that have a time on a target, whatever other
// targets have.
func OwnSample(t *result.Target, queryType string) Sample {
	var s Sample
	for _, r := range t.MeasuredRepeats() {
		q := r.Type(queryType)
		if q == nil {
			continue
		}
		var own Round
		for i, seconds := range q.Each {
			if seconds != 0 {
				own.Places, own.Times = append(own.Places, q.First+i), append(own.Times, seconds)
			}
		}
		if len(own.Places) > 0 {
			s = append(s, own)
		}
	}
	return s
}

// FromRows returns the time of a query type from rows as a multiple of that from an
// aggregate, over the queries that have a time of both: A is from the aggregate, B from
// rows. Both must be types of one comparable target, verified in every round; otherwise there is no ratio.
func FromRows(t *result.Target, rows, aggregate string) stats.Comparison {
	if !Verified(t, rows) || !Verified(t, aggregate) || t.Uncomparable() != "" {
		return stats.Compare(nil, nil)
	}
	both := Align(OwnSample(t, aggregate), OwnSample(t, rows))
	if len(both[0]) == 1 && len(both[1]) == 1 && len(both[0][0].Times) == len(both[1][0].Times) {
		return stats.ComparePaired(both[0][0].Times, both[1][0].Times)
	}
	return stats.Compare(both[0].Medians(), both[1].Medians())
}

// Aggregates returns a figure of the aggregate of each load of a target. It is nil if one
// load is not valid or lacks the figure.
func Aggregates(t *result.Target, of func(*result.Aggregate) float64) []float64 {
	return Loads(t, func(l *result.Load) float64 {
		if l.Aggregate == nil || l.Aggregate.Unsupported != "" {
			return 0
		}
		return of(l.Aggregate)
	})
}

// Building returns the seconds for making an aggregate; 0: not measured.
func Building(a *result.Aggregate) float64 { return a.Seconds }

// KeptRate returns the rows a second, until all had settled, of a load while the aggregate was
// maintained; 0: not measured.
func KeptRate(a *result.Aggregate) float64 {
	if k := a.Kept; k != nil && k.Unsupported == "" && k.Withheld == "" && k.Settled > 0 {
		return float64(k.Rows) / k.Settled
	}
	return 0
}

// Fresh is the seconds after the last acknowledgement until the aggregate had every row;
// 0: not measured, or it never had.
func Fresh(a *result.Aggregate) float64 {
	if KeptRate(a) == 0 {
		return 0
	}
	return max(a.Kept.Fresh, 0)
}

// BytesRead returns the bytes that a target read for each of a few queries of a type; empty: unknown.
func BytesRead(t *result.Target, queryType string) []float64 {
	for _, r := range t.MeasuredRepeats() {
		if q := r.Type(queryType); q != nil && q.Read != nil {
			return q.Read.EachBytes
		}
	}
	return nil
}

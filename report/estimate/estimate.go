package estimate

import (
	"maps"
	"slices"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/result"
)

// Sample is the times of a query type on a target (see result.Queries.Each), round by round in
// the order run. Rounds without any common query are left out.
type Sample []Round

// Round is the common queries of a round.
type Round struct {
	Places []int     // in the type's drawn sequence, rising
	Times  []float64 // of each in seconds; less than 0: cut off after so long
}

// CommonSample returns the common queries of a type on a target of a run.
func CommonSample(r *result.Run, t *result.Target, queryType string) Sample {
	return commonSample(r, t, queryType, Verified)
}

// Reach returns how far the interval of the median of a type reaches from it, as stats.Estimate.Reach,
// before the answers are verified. Targets that were not measured yet do not restrict the queries.
func Reach(r *result.Run, t *result.Target, queryType string) float64 {
	e := commonSample(r, t, queryType, func(t *result.Target, queryType string) bool {
		measured := false
		for _, q := range rounds(t, queryType) {
			if q.WithoutFigure() {
				return false
			}
			measured = measured || len(q.Each) > 0
		}
		return measured
	}).Median()
	return e.Reach()
}

// commonSample is CommonSample among the targets whose figures of the type are valid.
func commonSample(r *result.Run, t *result.Target, queryType string, valid func(*result.Target, string) bool) Sample {
	own := rounds(t, queryType)
	var beside []map[int]*result.Queries
	if valid(t, queryType) {
		for i := range r.Targets {
			if o := &r.Targets[i]; o.Name != t.Name && o.Failure == "" && o.Uncomparable() == "" && valid(o, queryType) {
				beside = append(beside, rounds(o, queryType))
			}
		}
	}
	var s Sample
	for _, repeat := range t.MeasuredRepeats() {
		q := own[repeat.Number]
		if q == nil {
			continue
		}
		others := make([]*result.Queries, len(beside))
		for i, o := range beside {
			others[i] = o[repeat.Number]
		}
		inCommon := func(place int) bool {
			return got(q, place) && !slices.ContainsFunc(others, func(o *result.Queries) bool { return !got(o, place) })
		}
		n := 0
		for i := range q.Each {
			n += btoi(inCommon(q.First + i))
		}
		common := newRound(n)
		for i, seconds := range q.Each {
			if place := q.First + i; inCommon(place) {
				common.Places, common.Times = append(common.Places, place), append(common.Times, seconds)
			}
		}
		if n > 0 {
			s = append(s, common)
		}
	}
	return s
}

// rounds returns the recorded queries of a target and type, by round number.
func rounds(t *result.Target, queryType string) map[int]*result.Queries {
	list := make(map[int]*result.Queries)
	for _, r := range t.MeasuredRepeats() {
		if q := r.Type(queryType); q != nil {
			list[r.Number] = q
		}
	}
	return list
}

// got reports whether a place was reached in a round.
func got(q *result.Queries, place int) bool {
	return q != nil && place >= q.First && place-q.First < len(q.Each) && q.Each[place-q.First] != 0
}

// Verified reports whether a target's figures of a type are valid: it was run,
// and is verified in every round.
func Verified(t *result.Target, queryType string) bool {
	list := slices.Collect(maps.Values(rounds(t, queryType)))
	return len(list) > 0 && !slices.ContainsFunc(result.Outcomes(list), func(s result.Outcome) bool { return s != result.Verified })
}

// Align returns samples of one type over the queries that each of them has in
// some round. Rounds without such queries are left out. Samples of the same run
// remain unchanged.
func Align(samples ...Sample) []Sample {
	var everywhere []int
	for i, s := range samples {
		if places := s.places(); i == 0 {
			everywhere = places
		} else {
			everywhere = slices.DeleteFunc(everywhere, func(place int) bool { return !has(places, place) })
		}
	}
	aligned := make([]Sample, len(samples))
	for i, s := range samples {
		for _, r := range s {
			n := 0
			for _, place := range r.Places {
				n += btoi(has(everywhere, place))
			}
			common := r
			if n < len(r.Places) {
				common = newRound(n)
				for j, place := range r.Places {
					if has(everywhere, place) {
						common.Places, common.Times = append(common.Places, place), append(common.Times, r.Times[j])
					}
				}
			}
			if n > 0 {
				aligned[i] = append(aligned[i], common)
			}
		}
	}
	return aligned
}

// newRound returns a round with room for n queries.
func newRound(n int) Round { return Round{Places: make([]int, 0, n), Times: make([]float64, 0, n)} }

// has reports whether places, in rising order, contains place.
func has(places []int, place int) bool {
	_, found := slices.BinarySearch(places, place)
	return found
}

// places returns the places of all rounds, each once, in rising order.
func (s Sample) places() []int {
	n := 0
	for _, r := range s {
		n += len(r.Places)
	}
	all := make([]int, 0, n)
	for _, r := range s {
		all = append(all, r.Places...)
	}
	slices.Sort(all) // in most runs they rise already
	return slices.Compact(all)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// PerRound returns a figure of each round's times.
func (s Sample) PerRound(of func(times []float64) float64) []float64 {
	values := make([]float64, len(s))
	for i, r := range s {
		values[i] = of(r.Times)
	}
	return values
}

// Medians returns the median time of each round in seconds; less than
// 0: at least so much.
func (s Sample) Medians() []float64 { return s.PerRound(stats.Median) }

// Median is the estimate: see the package's comment.
func (s Sample) Median() stats.Estimate {
	if len(s) == 1 {
		return stats.EstimateRepeat(s[0].Times)
	}
	return stats.Summarize(s.Medians())
}

// Queries returns the number of different queries in the sample.
func (s Sample) Queries() int { return len(s.places()) }

// Shortest returns the number of queries in the round with the fewest, or 0 without
// rounds.
func (s Sample) Shortest() int {
	if len(s) == 0 {
		return 0
	}
	return len(slices.MinFunc(s, func(a, b Round) int { return len(a.Places) - len(b.Places) }).Places)
}

// Median is the estimate of a type on a target of a run. Of a run that did not
// record single queries, as early versions did not, it is the histogram's
// median, without an interval.
func Median(r *result.Run, t *result.Target, q *result.Queries) stats.Estimate {
	if s := CommonSample(r, t, q.Type); len(s) > 0 || len(q.Each) > 0 || q.Time().Median <= 0 {
		return s.Median()
	}
	if q.AtLeast > 0 {
		return stats.Summarize([]float64{-q.Time().Median})
	}
	return stats.Summarize([]float64{q.Time().Median})
}

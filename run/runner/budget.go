package runner

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
)

// furtherRounds returns the rounds of queries to run before the next job, if that is the first
// comparison of a group: the rounds that a budget has beyond the first ones. All targets take part
// in each of them with the same query types, so that the targets can be compared. Therefore the
// first group decides, within its share of the budget, and the other groups run the same rounds.
func (x *execution) furtherRounds(ctx context.Context, order []plan.Job, next int) ([]plan.Job, error) {
	b := x.record.Doc.Budget
	if b == nil || order[next].Kind != plan.Compare || order[next-1].Kind == plan.Compare {
		return nil, nil
	}
	groups := x.plan.Groups()
	number := slices.IndexFunc(groups, func(group []int) bool { return slices.Contains(group, order[next].Target) })
	for {
		first := 1 + max(b.Fixed, x.placed[number])
		if first > b.Fixed+len(b.Further) && number == 0 && !b.Ended {
			if err := x.deal(ctx, groups[number]); err != nil {
				return nil, err
			}
		}
		last := b.Fixed + len(b.Further)
		if first > last {
			return nil, nil
		}
		x.placed[number] = last
		jobs := slices.DeleteFunc(x.plan.FurtherRounds(x.record.Doc.OrderSeed, groups[number], first, last), x.skips)
		if len(jobs) > 0 {
			return jobs, nil
		}
	}
}

// deal adds up to DefaultRepeats rounds to the budget, for the query types whose medians are not yet
// known well enough, or ends the budget. The decision is made between such rounds only: the oftener
// one looks, the more often intervals are narrow by chance.
func (x *execution) deal(ctx context.Context, group []int) error {
	b := x.record.Doc.Budget
	types, rounds := x.imprecise(group)
	for range rounds {
		b.Further = append(b.Further, types)
	}
	if b.Ended = rounds == 0; !b.Ended {
		last := b.Fixed + len(b.Further)
		which := fmt.Sprintf("round %d", last)
		if rounds > 1 {
			which = fmt.Sprintf("rounds %d to %d", last-rounds+1, last)
		}
		x.record.Display.Start(which, "", 0).Finish(fmt.Sprintf("only types whose median is not known within ±%.0f %%: %s", 100*result.Precision, strings.Join(types, ", ")))
	}
	return x.record.Save(ctx)
}

// imprecise returns the query types that need further rounds, and how many rounds fit into the rest
// of the group's share of the budget; 0: none. If one round of all types does not fit, the slowest
// types are left out.
func (x *execution) imprecise(group []int) (types []string, rounds int) {
	b := x.record.Doc.Budget
	done := b.Fixed + len(b.Further)
	share := b.Seconds * float64(len(group)) / float64(len(x.plan.Targets))
	type wide struct {
		name    string
		seconds float64 // of a round
	}
	var list []wide
	total := 0.0
	for i := range x.subject.Queries {
		name := x.subject.Queries[i].Type.Name
		seconds, measured := x.secondsOf(group, name)
		total += seconds
		if measured > 0 && x.isWide(group, name) {
			list = append(list, wide{name, seconds / float64(measured)})
		}
	}
	spent := max(b.Spent, total) // a killed run stored an earlier value
	left := share - min(b.Loads, share/2) - spent
	if left <= 0 {
		return nil, 0
	}
	slices.SortStableFunc(list, func(a, b wide) int { return cmp.Compare(a.seconds, b.seconds) })
	cost := (spent - total) / float64(done) // of a round, and not for measuring
	for _, t := range list {
		if cost+t.seconds > left {
			break
		}
		cost += t.seconds
		types = append(types, t.name)
	}
	if len(types) == 0 {
		return nil, 0
	}
	return types, min(experiment.DefaultRepeats, experiment.MostRounds-done, int(min(left/cost, experiment.MostRounds)))
}

// secondsOf returns the total time that a query type was measured on the targets of a group, and in
// how many rounds.
func (x *execution) secondsOf(group []int, queryType string) (seconds float64, rounds int) {
	for _, i := range group {
		n := 0
		for _, r := range x.record.Doc.Targets[i].Repeats {
			if q := r.Type(queryType); q != nil && q.Executed > 0 {
				seconds += q.To - q.From
				n++
			}
		}
		rounds = max(rounds, n)
	}
	return seconds, rounds
}

// isWide reports whether the median of a query type is not yet known well enough on some target of a
// group. More rounds do not help a type whose queries are cut off.
func (x *execution) isWide(group []int, queryType string) bool {
	widest := 0.0
	for _, i := range group {
		t := &x.record.Doc.Targets[i]
		if slices.ContainsFunc(t.Repeats, func(r result.Repeat) bool { q := r.Type(queryType); return q != nil && q.WithoutFigure() }) || t.Failure != "" {
			continue
		}
		if x.runner.Reach == nil {
			return false
		}
		widest = max(widest, x.runner.Reach(&x.record.Doc, t, queryType))
	}
	return widest > result.Precision && !math.IsInf(widest, 1)
}

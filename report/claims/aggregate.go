package claims

import (
	"cmp"
	"fmt"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/reproduce/document"
)

// aggregate compares query types that systems answered from rows with the same from their
// aggregate.
func (r rule) aggregate() []Part {
	runs, why := r.points(r.Where)
	claimed := "faster from the aggregate than from rows"
	switch {
	case r.Aggregate.Equal:
		claimed = "right from rows and from the aggregate"
	case r.Figure == document.ReadBytes:
		claimed = "fewer from the aggregate than from rows," + factor(r.By)
	}
	return r.ofSystems(r.Aggregate.Systems, runs, why, r.fromAggregate, func(subject, system string) string {
		return fmt.Sprintf("%s of %s %s", r.describe(subject), system, claimed)
	})
}

// fromAggregate compares a query type from rows with the same from the aggregate in a run.
func (r rule) fromAggregate(what, queryType string, run *result.Run, system string) Part {
	s := sideOf(run, system)
	if why := r.untestable(s); why != (reason{}) {
		return why.untestedPart(what)
	}
	t := s.target
	name := aggregateType(t, queryType)
	if name == "" {
		return untestedPart(what, noAggregate)
	}
	if r.Aggregate.Equal {
		return bothRight(what, t, queryType, name)
	}
	if !estimate.Verified(t, queryType) || !estimate.Verified(t, name) {
		return untestedPart(what, "not verified in every round")
	}
	if r.Figure == document.ReadBytes {
		fromRows, better, missing := r.values(s, queryType)
		fromAggregate, _, missingToo := r.values(s, name)
		if missing = cmp.Or(missing, missingToo); missing != "" {
			return untestedPart(what, missing)
		}
		return comparePart(what, fromAggregate, fromRows, better).decide(r.By)
	}
	c := estimate.FromRows(t, queryType, name)
	if rounds := min(len(estimate.OwnSample(t, queryType)), len(estimate.OwnSample(t, name))); rounds < 2 || c.Interval == nil || c.Interval.Level < stats.Confidence {
		return untestedPart(what, "too few repeats for an interval")
	}
	return Part{What: what, Advantage: c.Ratio, Interval: c.Interval}.decide(r.By)
}

// noAggregate is the reason for missing answers from an aggregate.
const noAggregate = "the query type was not run on an aggregate"

// aggregateType returns the name of a query type as a target ran it on an aggregate; empty: it did not.
func aggregateType(t *result.Target, queryType string) string {
	for _, repeat := range t.MeasuredRepeats() {
		for i := range repeat.Queries {
			if raw, aggregate := result.RawType(repeat.Queries[i].Type); aggregate && raw == queryType {
				return repeat.Queries[i].Type
			}
		}
	}
	return ""
}

// bothRight says whether two types of a target were verified, which makes their answers
// to the same queries the same.
func bothRight(what string, t *result.Target, types ...string) Part {
	p := Part{What: what, Verdict: Holds, Advantage: stats.Value{Bound: stats.Unknown}}
	for _, name := range types {
		for _, repeat := range t.MeasuredRepeats() {
			q := repeat.Type(name)
			if q == nil {
				continue
			}
			switch q.Outcome() {
			case result.Withheld:
				p.Verdict, p.Why = DoesNotHold, name+": "+q.Reason()
				return p
			case result.Unsupported, result.Failed:
				_, why := q.MissingFigure()
				return untestedPart(what, name+": "+why)
			}
		}
		if !estimate.Verified(t, name) {
			return untestedPart(what, name+" was not verified in every round")
		}
	}
	return p
}

package report

import (
	"slices"
	"strings"

	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
)

// repeats says which conclusions the number of runs allows. The report has at least one run.
func (p *Report) repeats() string {
	runs := p.runs
	switch {
	case len(runs) > 1:
		return format.Plural(len(runs), "run") + ", each shown by itself, and side by side over the queries that all have in common; tsmark compare says which differences are more than chance. " +
			"Intervals cover what differed between the rounds and loads of these runs: not another day, another machine or other data."
	}
	rounds, most, loads := p.own[0].Repeats()
	measured := slices.ContainsFunc(runs[0].Targets, func(t result.Target) bool {
		return t.Load != nil || slices.ContainsFunc(t.Queries, func(q result.Queries) bool { return q.Executed > 0 })
	})
	var parts []string
	if most > 0 {
		parts = append(parts, rounds+" of the queries")
	}
	if loads > 0 {
		parts = append(parts, format.Plural(loads, "load"))
	}
	text := strings.Join(parts, ", ")
	switch {
	case !measured:
		return "nothing was measured"
	case most < 2 && loads < 2:
		return format.Join(": ", text, "intervals, where there are any, cover what differed between the queries of one round; no verdict rests on them")
	}
	return text + ". " + rank.CoversNote
}

package report

import (
	"strings"

	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
)

// repeats says which conclusions the number of runs allows. The report has at least one run.
func (p *Report) repeats() string {
	runs := p.runs
	switch {
	case len(runs) > 1:
		return format.Plural(len(runs), "run") + ", each shown by itself, and side by side over the queries that all have in common; tsmark compare says which differences are more than chance. " +
			"Intervals cover what differed between the rounds and loads of these runs: not another day, another machine or other data."
	}
	loads, rounds, measured := 0, 0, false
	for i := range runs[0].Targets {
		t := &runs[0].Targets[i]
		loads = max(loads, len(estimate.Loads(t, estimate.SettledRate)))
		measured = measured || t.Load != nil
		for _, q := range t.Queries {
			measured = measured || q.Executed > 0
			rounds = max(rounds, len(p.own[0].Samples(q.Type)[i]))
		}
	}
	var parts []string
	if rounds > 0 {
		parts = append(parts, format.Plural(rounds, "round")+" of the queries")
	}
	if loads > 0 {
		parts = append(parts, format.Plural(loads, "load"))
	}
	text := strings.Join(parts, ", ")
	switch {
	case !measured:
		return "nothing was measured"
	case rounds < 2 && loads < 2:
		return format.Join(": ", text, "intervals, where there are any, cover what differed between the queries of one round; no verdict rests on them")
	}
	return text + ". " + rank.CoversNote
}

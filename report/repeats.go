package report

import (
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/estimate"
)

// coversNote says what intervals and verdicts know of.
const coversNote = "Intervals and verdicts cover what differed between the rounds and loads of this run: not another day, another machine or other data."

// repeats says how much one can conclude from so many runs.
func (p *Report) repeats() string {
	runs := p.runs
	switch {
	case len(runs) == 0:
		return ""
	case len(runs) > 1:
		return plural(len(runs), "run") + ", each shown by itself, and side by side over the queries that all have in common; tsmark compare says which differences are more than chance. " +
			"Intervals cover what differed between the rounds and loads of these runs: not another day, another machine or other data."
	}
	loads, rounds, measured := 0, 0, false
	for i := range runs[0].Targets {
		t := &runs[0].Targets[i]
		loads = max(loads, len(estimate.Loads(t, estimate.Settled)))
		measured = measured || t.Load != nil
		for _, q := range t.Queries {
			measured = measured || q.Executed > 0
			rounds = max(rounds, len(p.own[0].samples(q.Type)[i]))
		}
	}
	var parts []string
	if rounds > 0 {
		parts = append(parts, plural(rounds, "round")+" of the queries")
	}
	if loads > 0 {
		parts = append(parts, plural(loads, "load"))
	}
	text := strings.Join(parts, ", ")
	switch {
	case !measured:
		return "nothing was measured"
	case rounds < 2 && loads < 2:
		return joined(": ", text, "intervals, where there are any, cover what differed between the queries of one round; no verdict rests on them")
	}
	return text + ". " + coversNote
}

// interval renders where an estimate lies.
func interval(e stats.Estimate, render func(float64) string) span {
	return intervalOf(e.Interval, render)
}

// intervalOf renders an interval, if there is one.
func intervalOf(in *stats.Interval, render func(float64) string) span {
	if in == nil {
		return spanNone()
	}
	end := func(v stats.Value) string {
		if v.Bound == stats.Unknown {
			return v.Mark()
		}
		return v.Mark() + render(v.Figure)
	}
	return spanPlain(end(in.Lo) + "–" + end(in.Hi))
}

// intervalHelp says what the intervals of so many rounds or loads are.
func intervalHelp(of string, n int) string {
	if n < 2 {
		return "where the median " + of + " lies, by the queries of one round, with 95 %, or less where there are too few"
	}
	return fmt.Sprintf("where the median %s over %d lies, with %s %%", of, n, digits(100*level(n)))
}

// level is the confidence that order statistics of so many repeats allow.
func level(repeats int) float64 {
	e := stats.Summarize(make([]float64, repeats))
	if e.Interval == nil {
		return 0
	}
	return e.Interval.Level
}

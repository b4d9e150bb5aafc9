// Package tables has the tables of a run.
package tables

import (
	"slices"

	"github.com/tsmark/tsmark/report/agents"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
)

// boundedLatency returns a function that renders a quantile of latencies: as a lower bound if
// queries were cut off, as a dash if there are too few durations for it.
func boundedLatency(cutOff int64) func(l *result.Latency, quantile, seconds float64) doc.Span {
	return func(l *result.Latency, quantile, seconds float64) doc.Span {
		switch {
		case !l.Holds(quantile):
			return doc.None()
		case cutOff > 0:
			return doc.Plain("≥" + format.Duration(seconds))
		}
		return doc.Plain(format.Duration(seconds))
	}
}

// All returns the tables of a run, in the order of display. The medians
// of several targets are side by side in a table of their own; their further
// percentiles are then details.
func All(g *rank.Group, r *result.Run) []*doc.Table {
	list := []*doc.Table{selfTestTable(r), loadTable(g, r), stepsTable(r), Growth(r), Aggregates(r), AgainstRows(r)}
	for i := range r.Targets {
		t := &r.Targets[i]
		queries := queryTable(g, i)
		// Texts have no medians side by side.
		if queries != nil && len(r.Targets) > 1 && r.Texts() == "" && len(r.OwnTexts()) == 0 {
			queries.Terminal = doc.Doubtful
		}
		mixed := mixedTable(t)
		if mixed != nil && len(r.Targets) > 1 {
			mixed.Terminal = doc.Doubtful // see MixedSideBySide
		}
		crashes := crashTable(t)
		if crashes != nil && len(r.Targets) > 1 {
			crashes.Terminal = doc.OnRequest // see Crashes
		}
		list = append(list, mixed, lifeTable(t, len(r.Targets) == 1), crashes, queries, openTable(t), searchTable(t))
	}
	for _, t := range []*doc.Table{usageTable(r), Host(r)} {
		if t != nil {
			t.Terminal = doc.OnRequest
			list = append(list, t)
		}
	}
	list = append(list, Client(r), agents.Table(r), agents.PartsTable(r), Census(r))
	return slices.DeleteFunc(list, func(t *doc.Table) bool { return t == nil })
}

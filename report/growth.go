package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/result"
)

// growthTable shows loads in steps whose rows brought columns: who takes them, and what
// each step costs beside the first; nil where none was wanted.
func growthTable(r *result.Run) *table {
	view := &table{Title: "Columns that appear", Columns: []column{
		{Head: "target"},
		{Head: "rows bring", Help: "tags and fields that the tables did not have before this step", Words: true},
		{Head: "rows", Help: "rows accepted in the step"},
		{Head: "acked/s", Help: "rows a second until the last one of the step was acknowledged"},
		{Head: "settled/s", Help: "rows a second until all of the step were visible and background work idle"},
		{Head: "interval", Help: "where settled/s lies", Rank: 2},
		{Head: "cost", Help: "how many times as long a row takes as in the first step, until settled"},
		{Head: "interval", Help: "where that lies", Rank: 1},
		{Head: "slowest", Help: "the batch that took longest", Rank: 3},
	}}
	took := false
	for i := range r.Targets {
		t := &r.Targets[i]
		switch l := t.Load; {
		case l == nil || l.Growth == nil:
		case !l.Stands():
			view.Rows = append(view.Rows, row{Cells: []span{spanPlain(t.Label())}, Remark: spanToned(l.Word()+": "+l.Reason(), standingTone(l))})
		default:
			took = true
			view.Rows = append(view.Rows, growthRows(t)...)
		}
	}
	if len(view.Rows) == 0 {
		return nil
	}
	if took {
		view.Notes = append(view.Notes, spanDim("The system made the columns when rows brought them; the census has found that older rows have no values there. Each step began when the one before had settled, with new connections."))
	}
	view.Notes = append(view.Notes, markNotes(view.Rows)...)
	return view
}

func growthRows(t *result.Target) []row {
	var rows []row
	first := estimate.Growth(t, 0, estimate.StepSettled)
	for i := range t.Load.Growth.Steps {
		s := &t.Load.Growth.Steps[i]
		cells := []span{spanPlain(t.Label()), spanPlain(bringsText(i, s)), spanPlain(count(s.Rows)), spanDim("n/a"), spanNone(), spanNone(), spanNone(), spanNone(), spanNone()}
		if e := stats.Summarize(estimate.Growth(t, i, estimate.StepAcked)); e.N > 0 {
			cells[3] = measured(e, digits)
		}
		settled := estimate.Growth(t, i, estimate.StepSettled)
		if e := stats.Summarize(settled); e.N > 0 {
			cells[4], cells[5] = measured(e, digits), intervalOf(e.Interval, digits)
		}
		if cost := stats.Compare(settled, first); i > 0 && cost.Ratio.Bound != stats.Unknown && t.Uncomparable() == "" {
			cells[6], cells[7] = spanPlain(cost.Ratio.Mark()+ratio(cost.Ratio.Figure)), intervalOf(cost.Interval, ratio)
		}
		if e := stats.Summarize(estimate.Growth(t, i, func(s *result.GrowthStep) float64 { return s.Slowest })); e.N > 0 {
			cells[8] = measured(e, duration)
		}
		if why := noisyIn(t)["load"]; why != "" {
			cells[4].Text += noisyMark
		}
		rows = append(rows, row{Cells: cells})
	}
	return rows
}

// bringsText says what a step brings.
func bringsText(step int, s *result.GrowthStep) string {
	if step == 0 {
		return "what the tables have"
	}
	var parts []string
	for what, list := range map[string][]string{"tag": s.Tags, "field": s.Fields} {
		if len(list) == 0 {
			continue
		}
		text := fmt.Sprintf("new %s %s", what, list[0])
		if len(list) > 1 {
			text = plural(len(list), "new "+what)
		}
		parts = append(parts, text)
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

package tables

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/cell"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
)

// Growth shows loads in steps whose rows bring new columns: which systems take them, and the
// cost of each step relative to the first. It returns nil if no steps were requested.
func Growth(r *result.Run) *doc.Table {
	view := &doc.Table{Title: "Columns that appear", Columns: []doc.Column{
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
		case !l.HasFigures():
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{doc.Plain(t.Label())}, Remark: doc.WithTone(l.Word()+": "+l.Reason(), rank.WithheldTone(l))})
		default:
			took = true
			view.Rows = append(view.Rows, growthRows(t)...)
		}
	}
	if len(view.Rows) == 0 {
		return nil
	}
	if took {
		view.Notes = append(view.Notes, doc.Dim("The system made the columns when rows brought them; the census has found that older rows have no values there. Each step began when the one before had settled, with new connections."))
	}
	view.Notes = append(view.Notes, rank.MarkNotes(view.Rows)...)
	return view
}

func growthRows(t *result.Target) []doc.Row {
	var rows []doc.Row
	first := estimate.Growth(t, 0, estimate.StepSettled)
	noisy := rank.NoiseReasons(t)[compare.LoadSubject] != ""
	for i := range t.Load.Growth.Steps {
		s := &t.Load.Growth.Steps[i]
		cells := []doc.Span{doc.Plain(t.Label()), doc.Plain(bringsText(i, s)), doc.Plain(format.Count(s.Rows)), doc.Dim("n/a"), doc.None(), doc.None(), doc.None(), doc.None(), doc.None()}
		if e := stats.Summarize(estimate.Growth(t, i, estimate.StepAcked)); e.N > 0 {
			cells[3] = cell.Median(e, format.Digits)
		}
		settled := estimate.Growth(t, i, estimate.StepSettled)
		e := stats.Summarize(settled)
		cells[4], cells[5] = cell.Median(e, format.Digits), cell.Interval(e, format.Digits)
		if cost := stats.Compare(settled, first); i > 0 && cost.Ratio.Bound != stats.Unknown && t.Uncomparable() == "" {
			cells[6], cells[7] = doc.Plain(cost.Ratio.Mark()+format.Ratio(cost.Ratio.Figure)), cell.IntervalOf(cost.Interval, format.Ratio)
		}
		cells[8] = cell.Median(stats.Summarize(estimate.Growth(t, i, func(s *result.GrowthStep) float64 { return s.Slowest })), format.Duration)
		if noisy {
			cells[4].Text += rank.NoisyMark
		}
		rows = append(rows, doc.Row{Cells: cells})
	}
	return rows
}

// bringsText describes the new columns of a step.
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
			text = format.Plural(len(list), "new "+what)
		}
		parts = append(parts, text)
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/result"
)

// partOf renders a part in per cent.
func partOf(v float64) string { return digits(100*v) + unitSpace + "%" }

// selfTestNotes say what a run that compared its targets with themselves cannot
// resolve; none where it is no self-test.
func selfTestNotes(r *result.Run) []note {
	tests := compare.SelfTests(r)
	if len(tests) == 0 {
		return nil
	}
	var notes []note
	var differ []string
	for i := range tests {
		for _, f := range tests[i].Differs() {
			differ = append(differ, fmt.Sprintf("%s %s %s× (%s)", tests[i].Target, f.Subject, times(f.Ratio), intervalText(f.Interval)))
		}
	}
	if len(differ) > 0 {
		notes = append(notes, note{"A TARGET DIFFERS FROM ITSELF: " + strings.Join(differ, ", ") +
			". With these settings neither this machine nor its figures can be trusted, unless it was chance: about one self-test in ten. Repeat it.", bad})
	}
	var told []string
	for _, m := range []struct {
		metric compare.Metric
		what   string
	}{{compare.Median, "query medians"}, {compare.Load, "load rates"}} {
		middle, worst, of, ok := compare.Resolutions(tests, m.metric)
		if !ok {
			continue
		}
		text := partOf(middle) + " of " + m.what
		if worst > middle {
			text += fmt.Sprintf(" (%s at worst, of %s)", partOf(worst), of)
		}
		told = append(told, text)
	}
	if len(told) == 0 {
		return append(notes, note{"Self-test: no result, since no figure was measured often enough; see the table.", bad})
	}
	return append(notes, note{"On this machine and with these settings differences below " + strings.Join(told, " and ") + " cannot be resolved.", plain})
}

// selfTestTable shows each figure of a self-test; nil where the run is none.
func selfTestTable(r *result.Run) *table {
	tests := compare.SelfTests(r)
	if len(tests) == 0 {
		return nil
	}
	view := &table{Title: "Self-test: each target and the same once more", Columns: []column{
		{Head: "target"}, {Head: "measurement", Words: true}, {Head: "first", Rank: 2}, {Head: "again", Rank: 3}, {Head: "again/first"},
		{Head: "interval", Help: "where the ratio of two equal targets was found to lie"},
		{Head: "cannot resolve", Help: "smaller differences cannot be distinguished from none"},
		{Head: "n", Help: "repeats of each", Rank: 1}, {Head: "finding", Words: true},
	}}
	for _, t := range tests {
		name := cell{Text: t.Target}
		if t.Missing != "" {
			view.Rows = append(view.Rows, row{Cells: []cell{name}, Span: cell{"cannot be compared: " + t.Missing, bad}})
		}
		for i := range t.Figures {
			view.Rows = append(view.Rows, selfTestRow(name, &t.Figures[i]))
		}
	}
	view.Notes = append(view.Notes, note{fmt.Sprintf("interval: with %s %%, from the repeats of this run; another day may be worse. first, again: medians.", digits(100*stats.Confidence)), dim})
	if slices.ContainsFunc(tests, func(t compare.SelfTest) bool { return len(t.Differs()) > 0 }) {
		view.Notes = append(view.Notes, note{"A target that differs from itself: look at the noise of the host, give each query type a longer time box, or load more rows.", bad})
	}
	return view
}

func selfTestRow(name cell, f *compare.Figure) row {
	what := cell{Text: label(f)}
	if f.Verdict == compare.NotCompared {
		return row{Cells: []cell{name, what, {none, dim}, {none, dim}, {none, dim}, {none, dim}, {none, dim}, {none, dim}, {string(f.Verdict) + ": " + f.Why, dim}}}
	}
	resolves, finding := cell{none, dim}, cell{Text: "no difference shown"}
	if part, ok := f.Resolution(); ok {
		resolves = cell{Text: "below " + partOf(part)}
	}
	switch {
	case f.Significant():
		finding = cell{"DIFFERS FROM ITSELF", bad}
	case f.Verdict == compare.CannotTell:
		finding = cell{"no verdict: " + shortWhy(f), dim}
	}
	return row{Cells: []cell{name, what, {Text: valueText(f.Unit, f.A.Median)}, {Text: valueText(f.Unit, f.B.Median)}, {Text: times(f.Ratio)},
		{Text: intervalText(f.Interval)}, resolves, {Text: count(int64(repeatsOf(f, f.A.N)))}, finding}}
}

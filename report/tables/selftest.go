package tables

import (
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
)

// selfTestTable shows each figure of a self-test. It returns nil for other runs.
func selfTestTable(r *result.Run) *doc.Table {
	tests := compare.SelfTests(r)
	if len(tests) == 0 {
		return nil
	}
	view := &doc.Table{Title: "Self-test: each target and the same once more", Columns: []doc.Column{
		{Head: "target"}, {Head: "measurement", Words: true}, {Head: "first", Rank: 2}, {Head: "again", Rank: 3}, {Head: "again/first"},
		{Head: "interval", Help: "where the ratio of two equal targets was found to lie"},
		{Head: "cannot resolve", Help: "smaller differences cannot be distinguished from none"},
		{Head: "n", Help: "repeats of each", Rank: 1}, {Head: "finding", Words: true},
	}}
	for _, t := range tests {
		name := doc.Plain(t.Target)
		if t.Missing != "" {
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{name}, Remark: doc.Bad("cannot be compared: " + t.Missing)})
		}
		for i := range t.Figures {
			view.Rows = append(view.Rows, selfTestRow(name, &t.Figures[i]))
		}
	}
	view.Notes = append(view.Notes, doc.Dim(fmt.Sprintf("interval: with %s %%, from the repeats of this run; another day may be worse. first, again: medians.", format.Digits(100*stats.Confidence))))
	if slices.ContainsFunc(tests, func(t compare.SelfTest) bool { return len(t.Differs()) > 0 }) {
		view.Notes = append(view.Notes, doc.Bad("A target that differs from itself: look at the noise of the host, give each query type a longer time box, or load more rows."))
	}
	return view
}

func selfTestRow(name doc.Span, f *compare.Figure) doc.Row {
	what := doc.Plain(rank.Label(f))
	if f.Verdict == compare.NotCompared {
		return doc.Row{Cells: []doc.Span{name, what, doc.None(), doc.None(), doc.None(), doc.None(), doc.None(), doc.None(), doc.Dim(string(f.Verdict) + ": " + f.Why)}}
	}
	resolves, finding := doc.None(), doc.Plain("no difference shown")
	if part, ok := f.Resolution(); ok {
		resolves = doc.Plain("below " + format.Percent(part))
	}
	switch {
	case f.Significant():
		finding = doc.Bad("DIFFERS FROM ITSELF")
	case f.Verdict == compare.NoVerdict:
		finding = doc.Dim("no verdict: " + rank.ShortCause(f))
	}
	return doc.Row{Cells: []doc.Span{name, what, doc.Plain(format.ValueText(f.Unit, f.A.Median)), doc.Plain(format.ValueText(f.Unit, f.B.Median)), doc.Plain(format.Times(f.Ratio)),
		doc.Plain(format.IntervalText(f.Interval)), resolves, doc.Plain(format.Count(int64(rank.RepeatCount(f, f.A.N)))), finding}}
}

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
func selfTestNotes(r *result.Run) []span {
	tests := compare.SelfTests(r)
	if len(tests) == 0 {
		return nil
	}
	var notes []span
	var differ []string
	for i := range tests {
		for _, f := range tests[i].Differs() {
			differ = append(differ, fmt.Sprintf("%s %s %s× (%s)", tests[i].Target, f.Subject, times(f.Ratio), intervalText(f.Interval)))
		}
	}
	if len(differ) > 0 {
		notes = append(notes, spanBad("A TARGET DIFFERS FROM ITSELF: "+strings.Join(differ, ", ")+
			". With these settings neither this machine nor its figures can be trusted, unless it was chance: about one self-test in ten. Repeat it."))
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
		return append(notes, spanBad("Self-test: no result, since no figure was measured often enough; see the table."))
	}
	return append(notes, spanPlain("On this machine and with these settings differences below "+strings.Join(told, " and ")+" cannot be resolved."))
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
		name := spanPlain(t.Target)
		if t.Missing != "" {
			view.Rows = append(view.Rows, row{Cells: []span{name}, Remark: spanBad("cannot be compared: " + t.Missing)})
		}
		for i := range t.Figures {
			view.Rows = append(view.Rows, selfTestRow(name, &t.Figures[i]))
		}
	}
	view.Notes = append(view.Notes, spanDim(fmt.Sprintf("interval: with %s %%, from the repeats of this run; another day may be worse. first, again: medians.", digits(100*stats.Confidence))))
	if slices.ContainsFunc(tests, func(t compare.SelfTest) bool { return len(t.Differs()) > 0 }) {
		view.Notes = append(view.Notes, spanBad("A target that differs from itself: look at the noise of the host, give each query type a longer time box, or load more rows."))
	}
	return view
}

func selfTestRow(name span, f *compare.Figure) row {
	what := spanPlain(label(f))
	if f.Verdict == compare.NotCompared {
		return row{Cells: []span{name, what, spanNone(), spanNone(), spanNone(), spanNone(), spanNone(), spanNone(), spanDim(string(f.Verdict) + ": " + f.Why)}}
	}
	resolves, finding := spanNone(), spanPlain("no difference shown")
	if part, ok := f.Resolution(); ok {
		resolves = spanPlain("below " + partOf(part))
	}
	switch {
	case f.Significant():
		finding = spanBad("DIFFERS FROM ITSELF")
	case f.Verdict == compare.CannotTell:
		finding = spanDim("no verdict: " + shortWhy(f))
	}
	return row{Cells: []span{name, what, spanPlain(valueText(f.Unit, f.A.Median)), spanPlain(valueText(f.Unit, f.B.Median)), spanPlain(times(f.Ratio)),
		spanPlain(intervalText(f.Interval)), resolves, spanPlain(count(int64(repeatsOf(f, f.A.N)))), finding}}
}

// Package comparison reports how runs compare with other runs.
package comparison

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
)

// Tables are the tables of two targets, each with its ratios as a drawing: times of queries at
// the median and at the 99th percentile, and loads, followed by the same figures of mixed
// phases.
func Tables(target *compare.Target) []*doc.Table {
	var views []*doc.Table
	for _, part := range parts(target) {
		if view := part.table(target); view != nil {
			views = append(views, view)
		}
	}
	return views
}

// Marks are the marks of pages. Noise that all figures of the targets have on both sides is said once.
func Marks(targets ...*compare.Target) []doc.Mark {
	marks := rank.PageMarks()
	figures, noisy := 0, 0
	for _, target := range targets {
		for i := range target.Figures {
			if f := &target.Figures[i]; f.Metric != compare.Disk && f.Verdict != compare.NotCompared {
				if figures++; f.NoisyA != "" && f.NoisyB != "" {
					noisy++
				}
			}
		}
	}
	for i := range marks {
		marks[i].All = marks[i].Sign == rank.NoisyMark && figures > 0 && noisy == figures
	}
	return marks
}

// part is figures of a target that have a table.
type part struct {
	title   string
	metrics []compare.Metric
	warn    bool // about samples, and about figures without a verdict
}

// parts returns the tables of a target, in their order.
func parts(target *compare.Target) []part {
	who := target.B.Name
	if target.A.Name != target.B.Name {
		who = target.A.Name + " (A) and " + target.B.Name + " (B)"
	}
	time := rank.ServiceTime
	if target.ByResponse() {
		time = rank.ResponseTime
	}
	mixedTime := rank.ServiceTime
	if target.MixedByResponse() {
		mixedTime = rank.ResponseTime
	}
	return []part{
		{"Median " + time + ": " + who, []compare.Metric{compare.Median, compare.GeoMean}, true},
		{"99th percentile of " + time + ": " + who, []compare.Metric{compare.P99}, false},
		{"Load: " + who, []compare.Metric{compare.Load, compare.Acked, compare.Sent, compare.Disk}, true},
		{"Median " + mixedTime + " while rows were written: " + who, []compare.Metric{compare.MixedMedian}, true},
		{"99th percentile of " + mixedTime + " while rows were written: " + who, []compare.Metric{compare.MixedP99}, false},
		{"Rows written while queries ran: " + who, []compare.Metric{compare.MixedLoad}, true},
		{"Median response time during events: " + who, []compare.Metric{compare.EventMedian}, true},
		{"Time of events: " + who, []compare.Metric{compare.EventTook}, false},
		{"Crashes that lost acknowledged rows: " + who, []compare.Metric{compare.CrashLosses}, true},
		{"Time until the target answered after a crash: " + who, []compare.Metric{compare.CrashAnswers}, true},
		{"Time until every acknowledged row was there: " + who, []compare.Metric{compare.CrashComplete}, true},
	}
}

// figures returns the figures of a part.
func (p *part) figures(target *compare.Target) (figures []*compare.Figure) {
	for i := range target.Figures {
		if f := &target.Figures[i]; slices.Contains(p.metrics, f.Metric) {
			figures = append(figures, f)
		}
	}
	return figures
}

// table returns the table of a part; nil: it has no figures.
func (p *part) table(target *compare.Target) *doc.Table {
	figures := p.figures(target)
	if len(figures) == 0 {
		return nil
	}
	view := newTable(p.title)
	for _, f := range figures {
		view.Rows = append(view.Rows, NewRow(f))
		if p.warn {
			view.Notes = append(view.Notes, doubts(f)...)
		}
	}
	if p.warn {
		view.Notes = append(view.Notes, suggestRemedies(target, p.metrics)...)
	}
	view.Notes = append(append(view.Notes, noises(figures)...), rank.MarkNotes(view.Rows)...)
	if rows := NewRatios(figures); rows != nil {
		view.Figure = &chart.Figure{Legend: verdictLegend(), Rows: rows}
	}
	return view
}

// newTable returns a table of figures without rows.
func newTable(title string) *doc.Table {
	return &doc.Table{Title: title, Columns: []doc.Column{
		{Head: "type"},
		{Head: "A"}, {Head: "cv of A", Help: "coefficient of variation of A's repeats", Rank: 3},
		{Head: "B"}, {Head: "cv of B", Help: "coefficient of variation of B's repeats", Rank: 2},
		{Head: "B/A"}, {Head: "interval"}, {Head: "p", Help: "corrected"},
		{Head: "queries", Help: "different queries that both sides answered", Rank: 1},
		{Head: "n", Help: "repeats of A and of B"},
		{Head: "verdict", Help: "of B against A", Words: true},
	}}
}

// NewRow returns the row of a figure.
func NewRow(f *compare.Figure) doc.Row {
	name := doc.Plain(rank.Label(f))
	verdict := doc.Plain(string(f.Verdict))
	switch f.Verdict {
	case compare.NotCompared:
		text := string(f.Verdict) + ": " + f.Why
		for _, side := range []struct {
			name     string
			estimate *stats.Estimate
		}{{"A", &f.A}, {"B", &f.B}} {
			if side.estimate.N > 0 {
				text += "; " + side.name + ": " + format.ValueText(f.Unit, side.estimate.Median)
			}
		}
		return doc.Row{Cells: []doc.Span{name}, Remark: doc.Dim(text)}
	case compare.NoVerdict:
		verdict = doc.Dim(string(f.Verdict) + ": " + rank.ShortCause(f))
	case compare.Faster, compare.Smaller, compare.Fewer:
		verdict.Tone = format.ToneBest
	case compare.Slower, compare.Larger, compare.More:
		verdict.Tone = format.ToneBad
	case compare.NoDifference:
		verdict.Tone = format.ToneDim
	}
	p := doc.None()
	if f.Decidable() {
		p = doc.Plain(format.Probability(f.Adjusted))
	}
	queries := doc.None()
	if f.Queries > 0 {
		queries = doc.Plain(format.Count(int64(f.Queries)))
	}
	mark := func(noisy string) string {
		if noisy != "" && f.Metric != compare.Disk {
			return rank.NoisyMark
		}
		return ""
	}
	return doc.Row{Cells: []doc.Span{name,
		doc.Plain(format.ValueText(f.Unit, f.A.Median) + mark(f.NoisyA)), doc.Plain(format.VariationText(f.A.CV, rank.RepeatCount(f, f.A.N))),
		doc.Plain(format.ValueText(f.Unit, f.B.Median) + mark(f.NoisyB)), doc.Plain(format.VariationText(f.B.CV, rank.RepeatCount(f, f.B.N))),
		doc.Plain(format.Times(f.Ratio)), doc.Plain(format.IntervalText(f.Interval)), p, queries,
		doc.Plain(fmt.Sprintf("%d+%d", rank.RepeatCount(f, f.A.N), rank.RepeatCount(f, f.B.N))), verdict}}
}

// suggestRemedies suggests remedies for missing verdicts.
func suggestRemedies(target *compare.Target, metrics []compare.Metric) []doc.Span {
	var list []doc.Span
	for i := range target.Figures {
		f := &target.Figures[i]
		if n := (doc.Dim("No verdict: " + f.Why + ".")); f.Verdict == compare.NoVerdict && slices.Contains(metrics, f.Metric) && !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}

// doubts returns the warnings about the samples of a figure. Those about the
// queries of a single repeat are in the report of that run.
func doubts(f *compare.Figure) []doc.Span {
	if f.Method == compare.WithinRepeat {
		return nil
	}
	var list []doc.Span
	for _, side := range []struct {
		name     string
		estimate *stats.Estimate
	}{{"A", &f.A}, {"B", &f.B}} {
		for _, w := range side.estimate.Warnings {
			text := w.Text
			switch w.Kind {
			case stats.TooFew:
				continue
			case stats.Outlying:
				text = outliers(f.Unit, side.estimate.Outliers)
			}
			list = append(list, doc.Dim(fmt.Sprintf("%s, %s: %s: %s", rank.Label(f), side.name, w.Kind, text)))
		}
	}
	return list
}

// noises returns for each side how many of the figures were disturbed by other processes, and
// the reason for one of them. Sizes cannot be disturbed.
func noises(figures []*compare.Figure) []doc.Span {
	var list []doc.Span
	for _, side := range []struct {
		name  string
		noisy func(*compare.Figure) string
	}{{"A", func(f *compare.Figure) string { return f.NoisyA }}, {"B", func(f *compare.Figure) string { return f.NoisyB }}} {
		all, disturbed, example := 0, 0, ""
		for _, f := range figures {
			if f.Metric == compare.Disk || f.Verdict == compare.NotCompared {
				continue
			}
			all++
			if why := side.noisy(f); why != "" {
				if disturbed++; example == "" {
					example = rank.Label(f) + ": " + why
				}
			}
		}
		if disturbed > 0 {
			list = append(list, doc.Bad(fmt.Sprintf("%s: noisy host in %d of %d figures, such as %s", side.name, disturbed, all, example)))
		}
	}
	return list
}

// outliers names repeats that lie far from the others.
func outliers(u compare.Unit, list []stats.Outlier) string {
	var named []string
	for _, o := range list {
		v := stats.Value{Figure: math.Abs(o.Value)}
		if o.Value < 0 {
			v.Bound = stats.AtLeast
		}
		named = append(named, fmt.Sprintf("repeat %d with %s", o.Index+1, format.ValueText(u, v)))
	}
	return strings.Join(named, ", ") + "; took part"
}

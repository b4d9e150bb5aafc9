package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
)

// comparisonPart is a table of two targets, and the figures in its rows.
type comparisonPart struct {
	table   *table
	figures []*compare.Figure
}

// comparisonTables are the tables of two targets.
func comparisonTables(target *compare.Target) []*table {
	var views []*table
	for _, part := range comparisonParts(target) {
		views = append(views, part.table)
	}
	return views
}

// comparisonParts are service times at the median and at the 99th percentile,
// and loads; then the same of mixed phases.
func comparisonParts(target *compare.Target) []comparisonPart {
	who := target.B.Name
	if target.A.Name != target.B.Name {
		who = target.A.Name + " (A) and " + target.B.Name + " (B)"
	}
	var parts []comparisonPart
	for _, part := range []struct {
		title   string
		metrics []compare.Metric
		warn    bool
	}{
		{"Median service time: " + who, []compare.Metric{compare.Median, compare.GeoMean}, true},
		{"99th percentile of service time: " + who, []compare.Metric{compare.P99}, false},
		{"Load: " + who, []compare.Metric{compare.Load, compare.Acked, compare.Sent, compare.Disk}, true},
		{"Median service time while rows were written: " + who, []compare.Metric{compare.MixedMedian}, true},
		{"99th percentile of service time while rows were written: " + who, []compare.Metric{compare.MixedP99}, false},
		{"Rows written while queries ran: " + who, []compare.Metric{compare.MixedLoad}, true},
	} {
		view := &table{Title: part.title, Columns: []column{
			{Head: "type"},
			{Head: "A"}, {Head: "cv of A", Help: "coefficient of variation of A's repeats", Rank: 3},
			{Head: "B"}, {Head: "cv of B", Help: "coefficient of variation of B's repeats", Rank: 2},
			{Head: "B/A"}, {Head: "interval"}, {Head: "p", Help: "corrected"},
			{Head: "queries", Help: "different queries that both sides answered", Rank: 1},
			{Head: "n", Help: "repeats of A and of B"},
			{Head: "verdict", Help: "of B against A", Words: true},
		}}
		var figures []*compare.Figure
		for i := range target.Figures {
			f := &target.Figures[i]
			if !slices.Contains(part.metrics, f.Metric) {
				continue
			}
			figures = append(figures, f)
			view.Rows = append(view.Rows, comparisonRow(f))
			if part.warn {
				view.Notes = append(view.Notes, doubts(f)...)
			}
		}
		if part.warn {
			view.Notes = append(view.Notes, undecided(target, part.metrics)...)
		}
		view.Notes = append(append(view.Notes, noises(figures)...), markNotes(view.Rows)...)
		if len(view.Rows) > 0 {
			parts = append(parts, comparisonPart{view, figures})
		}
	}
	return parts
}

func comparisonRow(f *compare.Figure) row {
	name := spanPlain(label(f))
	verdict := spanPlain(string(f.Verdict))
	switch f.Verdict {
	case compare.NotCompared:
		text := string(f.Verdict) + ": " + f.Why
		for _, side := range []struct {
			name     string
			estimate *stats.Estimate
		}{{"A", &f.A}, {"B", &f.B}} {
			if side.estimate.N > 0 {
				text += "; " + side.name + ": " + valueText(f.Unit, side.estimate.Median)
			}
		}
		return row{Cells: []span{name}, Remark: spanDim(text)}
	case compare.CannotTell:
		verdict = spanDim(string(f.Verdict) + ": " + shortWhy(f))
	case compare.Faster, compare.Smaller:
		verdict.Tone = toneBest
	case compare.Slower, compare.Larger:
		verdict.Tone = toneBad
	case compare.NoDifference:
		verdict.Tone = toneDim
	}
	p := spanNone()
	if f.Decidable() {
		p = spanPlain(probability(f.Adjusted))
	}
	queries := spanNone()
	if f.Queries > 0 {
		queries = spanPlain(count(int64(f.Queries)))
	}
	mark := func(noisy string) string {
		if noisy != "" && f.Metric != compare.Disk {
			return noisyMark
		}
		return ""
	}
	return row{Cells: []span{name,
		spanPlain(valueText(f.Unit, f.A.Median) + mark(f.NoisyA)), spanPlain(variationText(f.A.CV, repeatsOf(f, f.A.N))),
		spanPlain(valueText(f.Unit, f.B.Median) + mark(f.NoisyB)), spanPlain(variationText(f.B.CV, repeatsOf(f, f.B.N))),
		spanPlain(times(f.Ratio)), spanPlain(intervalText(f.Interval)), p, queries,
		spanPlain(fmt.Sprintf("%d+%d", repeatsOf(f, f.A.N), repeatsOf(f, f.B.N))), verdict}}
}

// repeatsOf is how many repeats a sample is of: one, where it is a repeat's
// queries.
func repeatsOf(f *compare.Figure, n int) int {
	if f.Method == compare.WithinRepeat {
		return 1
	}
	return n
}

// label names a figure's row.
func label(f *compare.Figure) string {
	switch f.Metric {
	case compare.GeoMean:
		return geometricMean + strconv.Itoa(f.Types)
	case compare.Load:
		return "settled rows/s"
	case compare.Acked:
		return "acknowledged rows/s"
	case compare.Sent:
		return "sent rows/s"
	case compare.Disk:
		return "disk"
	case compare.MixedLoad:
		return "rows/s"
	}
	return f.Subject
}

// shortWhy is why there is no verdict, in a cell's width.
func shortWhy(f *compare.Figure) string { return string(f.Cause) }

// undecided says what would help where there is no verdict.
func undecided(target *compare.Target, metrics []compare.Metric) []span {
	var list []span
	for i := range target.Figures {
		f := &target.Figures[i]
		if n := (spanDim("No verdict: " + f.Why + ".")); f.Verdict == compare.CannotTell && slices.Contains(metrics, f.Metric) && !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}

// doubts are the warnings about the samples of a figure. Those about the
// queries of a single repeat are the reports' of that run.
func doubts(f *compare.Figure) []span {
	if f.Method == compare.WithinRepeat {
		return nil
	}
	var list []span
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
			list = append(list, spanDim(fmt.Sprintf("%s, %s: %s: %s", label(f), side.name, w.Kind, text)))
		}
	}
	return list
}

// noises says of each side how many of the figures others disturbed, and of one
// why. Sizes they do not.
func noises(figures []*compare.Figure) []span {
	var list []span
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
					example = label(f) + ": " + why
				}
			}
		}
		if disturbed > 0 {
			list = append(list, spanBad(fmt.Sprintf("%s: noisy host in %d of %d figures, such as %s", side.name, disturbed, all, example)))
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
		named = append(named, fmt.Sprintf("repeat %d with %s", o.Index+1, valueText(u, v)))
	}
	return strings.Join(named, ", ") + "; took part"
}

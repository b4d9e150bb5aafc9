package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/result"
)

// stat is a figure of a query type's service time.
type stat struct {
	column
	of      func(*measure.Summary) float64
	isBound bool // a lower bound when some queries were cut off
}

func serviceStats() []stat {
	return []stat{
		{column{Head: "mean", Rank: 1}, func(s *measure.Summary) float64 { return s.Mean }, true},
		{column{Head: "stddev", Help: "standard deviation", Rank: 6}, func(s *measure.Summary) float64 { return s.StdDev }, false},
		{column{Head: "min", Rank: 9}, func(s *measure.Summary) float64 { return s.Min }, false},
		{column{Head: "median"}, func(s *measure.Summary) float64 { return s.Median }, true},
		{column{Head: "p90", Help: "90 of 100 queries took no longer", Rank: 8}, func(s *measure.Summary) float64 { return s.P90 }, true},
		{column{Head: "p95", Help: "95 of 100 queries took no longer"}, func(s *measure.Summary) float64 { return s.P95 }, true},
		{column{Head: "p99", Help: "99 of 100 queries took no longer"}, func(s *measure.Summary) float64 { return s.P99 }, true},
		{column{Head: "p99.9", Help: "999 of 1,000 queries took no longer", Rank: 7}, func(s *measure.Summary) float64 { return s.P999 }, true},
		{column{Head: "max", Rank: 3}, func(s *measure.Summary) float64 { return s.Max }, true},
	}
}

// onlyChecked reports whether answers were compared and measuring was not
// meant: nothing was measured, and nothing withheld for another reason than
// the answers.
func onlyChecked(t *result.Target) bool {
	return !slices.ContainsFunc(t.Queries, func(q result.Queries) bool {
		return q.Asked > 0 || q.Distinct > 0 || q.Withheld != "" && q.Withheld != q.Verdict.Difference
	})
}

// checkTable shows what was compared where nothing was measured.
func checkTable(t *result.Target) *table {
	view := &table{Title: "Answers: " + t.Name, Columns: []column{
		{Head: "type"},
		{Head: "verdict", Help: "whether answers were the expected ones", Words: true},
		{Head: "queries", Help: "queries whose answers were compared"},
		{Head: "empty", Help: "of these, rightly without rows"},
		{Head: "rows", Help: "rows compared"},
	}}
	for i := range t.Queries {
		q := &t.Queries[i]
		name, v := cell{Text: q.Type}, &q.Verdict
		switch {
		case q.Unsupported != "":
			view.Rows = append(view.Rows, row{Cells: []cell{name}, Span: cell{"n/a: " + q.Unsupported, dim}})
		case !v.OK():
			view.Rows = append(view.Rows, row{Cells: []cell{name}, Span: cell{"wrong: " + cmp.Or(v.Difference, q.Withheld), bad}})
		default:
			view.Rows = append(view.Rows, row{Cells: []cell{name, {Text: v.String()}, {Text: count(int64(v.Checked))}, {Text: count(int64(v.Empty))}, {Text: count(v.Rows)}}})
		}
	}
	return view
}

// queryTable shows the query types of a target; nil where it has none.
func queryTable(t *result.Target) *table {
	if len(t.Queries) == 0 {
		return nil
	}
	if onlyChecked(t) {
		return checkTable(t)
	}
	title := "Queries: " + t.Name
	if n := t.Queries[0].Workers; n > 0 && !slices.ContainsFunc(t.Queries, func(q result.Queries) bool {
		return q.Workers != n && q.Unsupported == ""
	}) {
		title += ", " + plural(n, "worker")
	}
	view := &table{Title: title, Columns: []column{
		{Head: "type"},
		{Head: "verdict", Help: "whether answers were compared with the expected ones", Words: true},
		{Head: "n", Help: "queries recorded"},
		{Head: "q/s", Help: "queries a second, all workers together", Rank: 4},
	}}
	repeats := 0
	for i := range t.Queries {
		repeats = max(repeats, len(medians(t, t.Queries[i].Type)))
	}
	for _, s := range serviceStats() {
		view.Columns = append(view.Columns, s.column)
		if s.Head == "median" && repeats > 1 {
			view.Columns = append(view.Columns, column{Head: "interval", Help: intervalHelp("service time", repeats), Rank: 5})
		}
	}
	view.Columns = append(view.Columns,
		column{Head: "rows", Help: "rows in an answer, on average", Rank: 2},
		column{Head: "bytes", Help: "bytes of an answer, on average", Rank: 10})
	bounds := clientBounds(t)
	for i := range t.Queries {
		q := &t.Queries[i]
		name := cell{Text: q.Type}
		state := q.Standing()
		switch state {
		case result.Unsupported:
			view.Rows = append(view.Rows, row{Cells: []cell{name}, Span: cell{"n/a: " + q.Unsupported, dim}})
			continue
		case result.Withheld:
			view.Rows = append(view.Rows, row{Cells: []cell{name}, Span: cell{"withheld: " + q.Reason(), bad}})
			if d := q.Verdict.Difference; d != "" && !strings.Contains(q.Withheld, d) {
				view.Notes = append(view.Notes, note{q.Type + ": first difference: " + d, bad})
			}
			continue
		}
		figures, bound := plain, bounds[q.Type]
		if state != result.Verified {
			figures = dim
		}
		verdict := cell{q.Verdict.String(), figures}
		if state == result.NotAsked && q.Verdict.OK() {
			verdict.Tone = plain
		}
		if bound != "" {
			verdict = cell{verdict.Text + ", client-bound" + boundMark, bad}
			view.Notes = append(view.Notes, note{q.Type + ": client-bound: " + bound, bad})
		}
		cells := []cell{name, verdict, {count(q.Asked), plain}, {none, dim}}
		if q.PerSecond > 0 {
			cells[3] = cell{digits(q.PerSecond), figures}
		}
		for _, s := range serviceStats() {
			text := latency(&q.Service, s.of(&q.Service.Summary))
			switch {
			case q.AtLeast > 0 && q.Service.Count > 0 && s.isBound:
				text = "≥" + text
			case q.AtLeast > 0:
				text = none
			}
			cells = append(cells, cell{text, figures})
			if s.Head == "median" && repeats > 1 {
				cells = append(cells, interval(medians(t, q.Type), duration))
			}
		}
		cells = append(cells, cell{each(q.Rows, q.Asked-q.AtLeast), figures}, cell{none, dim})
		if n := q.Asked - q.AtLeast; n > 0 {
			cells[len(cells)-1] = cell{size(q.Bytes / n), figures}
		}
		view.Rows = append(view.Rows, row{Cells: cells})
		if q.AtLeast > 0 {
			view.Notes = append(view.Notes, note{fmt.Sprintf("%s: ≥ at least; %s of %s cut off%s, so that figures are lower bounds",
				q.Type, count(q.AtLeast), count(q.Asked), limit(q)), dim})
		}
	}
	if len(bounds) > 0 {
		view.Notes = append(view.Notes, note{boundNote, dim})
	}
	view.Notes = append(view.Notes, append(cacheNotes(t), stopNotes(t)...)...)
	return view
}

func limit(q *result.Queries) string {
	if q.Timeout > 0 {
		return " by the limit of " + number(q.Timeout) + unitSpace + "s"
	}
	return ""
}

func each(total, n int64) string {
	if n == 0 {
		return none
	}
	return number(float64(total) / float64(n))
}

package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/result"
)

// sweepTables shows a line for each run and target, and the medians of the
// query types run by run.
func sweepTables(runs []*result.Run) []*table {
	if len(runs) == 0 {
		return nil
	}
	list := []*table{pointsTable(runs)}
	for _, name := range targetsEverywhere(runs) {
		list = append(list, sweptMedians(runs, name))
	}
	return slices.DeleteFunc(list, func(t *table) bool { return t == nil })
}

// pointsTable shows how loads and queries went with the parameters.
func pointsTable(runs []*result.Run) *table {
	types := typesEverywhere(runs)
	view := &table{Title: "Points", Columns: []column{{Head: "point"}}}
	paths := swept(runs)
	for _, path := range paths {
		view.Columns = append(view.Columns, column{Head: path})
	}
	view.Columns = append(view.Columns, column{Head: "target", Words: true},
		column{Head: "settled/s", Help: "rows loaded a second until all were visible and background work idle, median of the loads; " + spreadHelp},
		column{Head: "disk", Help: "bytes on disk after settling", Rank: 1},
		column{Head: "queries", Help: "geometric mean of the medians of the query types that are verified in every line that has one"},
		column{Head: "run", Words: true, Rank: 2})
	for n, r := range runs {
		for i := range r.Targets {
			cells := []span{spanPlain(count(int64(r.Point)))}
			for _, path := range paths {
				cells = append(cells, spanPlain(valueOf(r, path)))
			}
			cells = append(append(cells, sweptCells(r, &r.Targets[i], types)...), spanDim(shortID(runs, n)))
			view.Rows = append(view.Rows, row{Cells: cells})
		}
	}
	if len(types) > 0 {
		view.Notes = append(view.Notes, spanDim(fmt.Sprintf("queries: geometric mean of the medians of the %s verified in every line that has one.", plural(len(types), "query type"))))
	}
	if _, ok := sameDataset(runs); !ok {
		view.Notes = append(view.Notes, spanDim("The points differ in their data: figures say how a target scales, not which point is better."))
	}
	view.Notes = append(view.Notes, markNotes(view.Rows)...)
	return view
}

// sameDataset returns the dataset that all runs have.
func sameDataset(runs []*result.Run) (*result.Dataset, bool) {
	d := &runs[0].Dataset
	return d, !slices.ContainsFunc(runs, func(r *result.Run) bool { return !result.SameDataset(d, &r.Dataset) })
}

// sweptCells are a target's name and what came of it.
func sweptCells(r *result.Run, t *result.Target, types []string) []span {
	name, settled, disk, queries := spanPlain(t.Label()), spanNone(), spanNone(), spanNone()
	if t.Failure != "" {
		name = spanBad(t.Label() + " (failed)")
	}
	l := t.Load
	if l != nil && !l.Stands() {
		settled = spanToned(l.Word(), standingTone(l))
	} else if settledRate(l) > 0 {
		e := estimate.Load(t, estimate.Settled)
		settled = spanPlain(digits(e.Median.Figure) + spread(e))
		settled.Text += marksOf(t, compare.LoadSubject)
		if e := estimate.Load(t, estimate.Disk); e.N > 0 {
			disk = spanPlain(size(int64(e.Median.Figure)))
		} else if l.DiskPending != "" {
			disk = spanDim(incomplete)
		}
	}
	if mean := sweptMean(r, t, types); mean > 0 && t.Uncomparable() == "" {
		queries = spanPlain(duration(mean))
	}
	return []span{name, settled, disk, queries}
}

// sweptMedians shows the medians of a target, a column for each run; nil where
// it ran no query.
func sweptMedians(runs []*result.Run, name string) *table {
	view := &table{Title: "Median service time: " + name, Columns: []column{{Head: "type"}}}
	paths := swept(runs)
	if len(paths) == 1 {
		view.Title += ", by " + paths[0]
	}
	var types []string
	var targets []*result.Target // nil: not in that run
	for _, r := range runs {
		head := fmt.Sprintf("point %d", r.Point)
		if len(paths) == 1 {
			head = valueOf(r, paths[0])
		}
		view.Columns = append(view.Columns, column{Head: head, Help: r.Parameters.String() + "; " + spreadHelp})
		t := targetNamed(r, name)
		targets = append(targets, t)
		for i := 0; t != nil && i < len(t.Queries); i++ {
			if !slices.Contains(types, t.Queries[i].Type) {
				types = append(types, t.Queries[i].Type)
			}
		}
	}
	for _, queryType := range types {
		cells := []span{spanPlain(queryType)}
		for i, t := range targets {
			cells = append(cells, sweptMedian(runs[i], t, queryType))
		}
		view.Rows = append(view.Rows, row{Cells: cells})
	}
	if len(types) == 0 {
		return nil
	}
	view.Notes = append(view.Notes, spanDim(spreadHelp+"."))
	view.Notes = append(view.Notes, markNotes(view.Rows)...)
	return view
}

// spreadHelp says what spread tells.
const spreadHelp = "±: how far the interval of the median reaches, with 95 % from six repeats on; where there is one, within its queries"

// sweptMedian is the median of a type in a run, or the word for why there is none.
func sweptMedian(r *result.Run, t *result.Target, queryType string) span {
	if t == nil {
		return spanNone()
	}
	q := typeOf(t, queryType)
	switch q.Outcome() {
	case result.NotRun:
		return spanNone()
	case result.Unsupported:
		return spanDim("n/a")
	case result.Withheld, result.Failed:
		word, _ := q.MissingFigure()
		return spanBad(word)
	case result.Empty:
		return spanDim("empty")
	}
	e := estimate.Median(r, t, q)
	c := spanPlain(medianText(e) + spread(e))
	if q.Outcome() == result.Unverified {
		c = spanDim(c.Text + " (" + q.VerdictText() + ")")
	}
	c.Text += marksOf(t, queryType)
	return c
}

// spread is the farther end of an estimate's interval; empty: it has none.
func spread(e stats.Estimate) string {
	if e.Interval == nil || e.Median.Bound != stats.Exact {
		return ""
	}
	if e.Interval.Lo.Bound != stats.Exact || e.Interval.Hi.Bound != stats.Exact {
		return ""
	}
	m := e.Median.Figure
	return fmt.Sprintf(" ±%.0f%s%%", math.Ceil(100*max(e.Interval.Hi.Figure-m, m-e.Interval.Lo.Figure)/m), unitSpace)
}

// targetNamed returns the target of the name in a run; nil: there is none.
func targetNamed(r *result.Run, name string) *result.Target {
	for i := range r.Targets {
		if r.Targets[i].Name == name {
			return &r.Targets[i]
		}
	}
	return nil
}

// typeOf returns what a target recorded of a type; nil where it did not.
func typeOf(t *result.Target, queryType string) *result.Queries {
	for i := range t.Queries {
		if t.Queries[i].Type == queryType {
			return &t.Queries[i]
		}
	}
	return nil
}

// targetsEverywhere lists the names of all targets in order of appearance.
func targetsEverywhere(runs []*result.Run) []string {
	var names []string
	for _, r := range runs {
		for _, name := range targetNames(r) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// typesEverywhere lists the query types of which every target of every run that
// ran any query has a verified figure that no limit cut off.
func typesEverywhere(runs []*result.Run) []string {
	var list []string
	first := true
	for _, r := range runs {
		for i := range r.Targets {
			if len(r.Targets[i].Queries) == 0 {
				continue // it failed, or only loaded
			}
			var here []string
			for j := range r.Targets[i].Queries {
				if q := &r.Targets[i].Queries[j]; q.Outcome() == result.Verified && q.AtLeast == 0 {
					here = append(here, q.Type)
				}
			}
			if first {
				list, first = here, false
			}
			list = slices.DeleteFunc(list, func(name string) bool { return !slices.Contains(here, name) })
		}
	}
	return list
}

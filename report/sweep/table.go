package sweep

import (
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/report/cell"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/tables"
	"github.com/tsmark/tsmark/result"
)

// sweepTables shows a line for each run and target, and the medians of the
// query types run by run.
func sweepTables(runs []*result.Run) []*doc.Table {
	if len(runs) == 0 {
		return nil
	}
	list := []*doc.Table{pointsTable(runs)}
	for _, name := range rank.AllTargets(runs) {
		list = append(list, mediansTable(runs, name))
	}
	return slices.DeleteFunc(list, func(t *doc.Table) bool { return t == nil })
}

// pointsTable shows how loads and queries went with the parameters.
func pointsTable(runs []*result.Run) *doc.Table {
	types := rank.CommonTypes(runs)
	view := &doc.Table{Title: "Points", Columns: []doc.Column{{Head: "point"}}}
	paths := parameterPaths(runs)
	for _, path := range paths {
		view.Columns = append(view.Columns, doc.Column{Head: path})
	}
	view.Columns = append(view.Columns, doc.Column{Head: "target", Words: true},
		doc.Column{Head: "settled/s", Help: "rows loaded a second until all were visible and background work idle, median of the loads; " + spreadHelp},
		doc.Column{Head: "disk", Help: "bytes on disk after settling", Rank: 1},
		doc.Column{Head: "queries", Help: "geometric mean of the medians of the query types that are verified in every line that has one"},
		doc.Column{Head: "run", Words: true, Rank: 2})
	figures := slices.DeleteFunc(pointFigures(), func(f pointFigure) bool {
		return !slices.ContainsFunc(runs, func(r *result.Run) bool {
			return slices.ContainsFunc(r.Targets, func(t result.Target) bool { return f.value(r, &t).IsKnown() })
		})
	})
	place := len(view.Columns) - 2
	for i, f := range figures {
		view.Columns = slices.Insert(view.Columns, place+i, doc.Column{Head: f.head, Help: f.help, Rank: f.rank})
	}
	for n, r := range runs {
		for i := range r.Targets {
			cells := []doc.Span{doc.Plain(format.Count(int64(r.Point)))}
			for _, path := range paths {
				cells = append(cells, doc.Plain(r.Parameters.Value(path)))
			}
			cells = append(append(cells, pointCells(r, &r.Targets[i], types)...), doc.Dim(rank.ShortID(runs, n)))
			for k, f := range figures {
				cells = slices.Insert(cells, place+k, cell.Figure(f.value(r, &r.Targets[i]), f.render))
			}
			view.Rows = append(view.Rows, doc.Row{Cells: cells})
		}
	}
	if len(types) > 0 {
		view.Notes = append(view.Notes, doc.Dim(fmt.Sprintf("queries: geometric mean of the medians of the %s verified in every line that has one.", format.Plural(len(types), "query type"))))
	}
	if _, ok := sameDataset(runs); !ok {
		view.Notes = append(view.Notes, doc.Dim("The points differ in their data: figures say how a target scales, not which point is better."))
	}
	view.Notes = append(view.Notes, rank.MarkNotes(view.Rows)...)
	return view
}

// sameDataset returns the dataset that all runs have.
func sameDataset(runs []*result.Run) (*result.Dataset, bool) {
	d := &runs[0].Dataset
	return d, !slices.ContainsFunc(runs, func(r *result.Run) bool { return !result.SameDataset(d, &r.Dataset) })
}

// pointCells returns a target's name and outcome.
func pointCells(r *result.Run, t *result.Target, types []string) []doc.Span {
	name, settled, disk, queries := doc.Plain(t.Label()), doc.None(), doc.None(), doc.None()
	if t.Failure != "" {
		name = doc.Bad(t.Label() + " (failed)")
	}
	l := t.Load
	if l != nil && !l.HasFigures() {
		settled = doc.WithTone(l.Word(), rank.WithheldTone(l))
	} else if rank.SettledRate(l) > 0 {
		e := estimate.Load(t, estimate.SettledRate)
		settled = doc.Plain(format.Digits(e.Median.Figure) + cell.Spread(e))
		settled.Text += rank.Marks(t, compare.LoadSubject)
		if e := estimate.Load(t, estimate.Disk); e.N > 0 {
			disk = doc.Plain(format.Size(int64(e.Median.Figure)))
		} else if l.DiskPending != "" {
			disk = doc.Dim(tables.Incomplete)
		}
	}
	if mean := meanOfTypes(r, t, types); mean > 0 && t.Uncomparable() == "" {
		queries = doc.Plain(format.Duration(mean))
	}
	return []doc.Span{name, settled, disk, queries}
}

// mediansTable shows the medians of a target, a column for each run. It returns nil if
// the target ran no query.
func mediansTable(runs []*result.Run, name string) *doc.Table {
	view := &doc.Table{Title: "Median " + timeName(runs) + ": " + name, Columns: []doc.Column{{Head: "type"}}}
	paths := parameterPaths(runs)
	if len(paths) == 1 {
		view.Title += ", by " + paths[0]
	}
	var types []string
	var targets []*result.Target // nil: not in that run
	for _, r := range runs {
		head := fmt.Sprintf("point %d", r.Point)
		if len(paths) == 1 {
			head = r.Parameters.Value(paths[0])
		}
		view.Columns = append(view.Columns, doc.Column{Head: head, Help: r.Parameters.String() + "; " + spreadHelp})
		t := rank.FindTarget(r, name)
		targets = append(targets, t)
		for i := 0; t != nil && i < len(t.Queries); i++ {
			if !slices.Contains(types, t.Queries[i].Type) {
				types = append(types, t.Queries[i].Type)
			}
		}
	}
	for _, queryType := range types {
		cells := []doc.Span{doc.Plain(queryType)}
		for i, t := range targets {
			cells = append(cells, medianCell(runs[i], t, queryType))
		}
		view.Rows = append(view.Rows, doc.Row{Cells: cells})
	}
	if len(types) == 0 {
		return nil
	}
	view.Notes = append(view.Notes, doc.Dim(spreadHelp+"."))
	view.Notes = append(view.Notes, rank.MarkNotes(view.Rows)...)
	return view
}

// spreadHelp explains the spread.
const spreadHelp = "±: how far the interval of the median reaches, with 95 % from six repeats on; where there is one, within its queries"

// medianCell returns the median of a type in a run, or the word for its absence.
func medianCell(r *result.Run, t *result.Target, queryType string) doc.Span {
	if t == nil {
		return doc.None()
	}
	q := rank.FindQueries(t, queryType)
	switch q.Outcome() {
	case result.NotRun:
		return doc.None()
	case result.Unsupported:
		return doc.Dim("n/a")
	case result.Withheld, result.Failed:
		word, _ := q.MissingFigure()
		return doc.Bad(word)
	case result.Empty:
		return doc.Dim("empty")
	}
	e := estimate.Median(r, t, q)
	c := doc.Plain(format.MedianText(e) + cell.Spread(e))
	if q.Outcome() == result.Unverified {
		c = doc.Dim(c.Text + " (" + q.VerdictText() + ")")
	}
	c.Text += rank.Marks(t, queryType)
	return c
}

// timeName names the times of the queries of a sweep.
func timeName(runs []*result.Run) string {
	var targets []*result.Target
	for _, r := range runs {
		for i := range r.Targets {
			targets = append(targets, &r.Targets[i])
		}
	}
	return rank.TimeName(targets...)
}

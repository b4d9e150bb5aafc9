package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/result"
)

// WriteSweep renders a sweep as text: a line for each run and target. Its
// errors are those of w.
func WriteSweep(w io.Writer, runs []*result.Run, opts Options) error {
	t := &textWriter{bufio.NewWriter(w), opts.Width, opts.Color, "tsmark report has all"}
	if t.width <= 0 {
		t.width = defaultWidth
	}
	for _, view := range sweepTables(runs) {
		t.table(view)
	}
	for _, r := range runs {
		for _, a := range alerts(r) {
			t.wrapped("", "  ", note{"Run " + r.ID + ": " + a.Text, a.Tone})
		}
	}
	return t.Flush()
}

// sweepTables shows each sweep of which there are several runs, in order of
// appearance.
func sweepTables(runs []*result.Run) []*table {
	var ids []string
	for _, r := range runs {
		if r.Sweep != "" && !slices.Contains(ids, r.Sweep) {
			ids = append(ids, r.Sweep)
		}
	}
	var list []*table
	for _, id := range ids {
		points := slices.DeleteFunc(slices.Clone(runs), func(r *result.Run) bool { return r.Sweep != id })
		slices.SortStableFunc(points, func(a, b *result.Run) int { return a.Point - b.Point })
		if len(points) > 1 {
			list = append(list, sweepTable(points))
		}
	}
	return list
}

// sweepTable shows how loads and queries went with the parameters.
func sweepTable(points []*result.Run) *table {
	types := typesEverywhere(points)
	view := &table{Title: fmt.Sprintf("Sweep %s, %d of %d runs", points[0].Sweep, len(points), points[0].Points), Columns: []column{{Head: "run"}}}
	paths := swept(points)
	for _, path := range paths {
		view.Columns = append(view.Columns, column{Head: path})
	}
	view.Columns = append(view.Columns, column{Head: "target", Words: true},
		column{Head: "settled/s", Help: "rows loaded a second until all were visible and background work idle"},
		column{Head: "disk", Help: "bytes on disk after settling", Rank: 1},
		column{Head: "queries", Help: "geometric mean of the medians of the query types that are verified in every line"})
	for _, r := range points {
		for i := range r.Targets {
			t := &r.Targets[i]
			cells := []cell{{Text: shortID(points, slices.Index(points, r))}}
			for _, path := range paths {
				cells = append(cells, parameterCell(r, path))
			}
			view.Rows = append(view.Rows, row{Cells: append(cells, sweptCells(t, types)...)})
		}
	}
	if len(types) > 0 {
		view.Notes = append(view.Notes, note{fmt.Sprintf("queries: geometric mean of the medians of the %s that are verified in every line; figures of different data compare only so far.", plural(len(types), "query type")), dim})
	}
	return view
}

// sweptCells are a target's name and what came of it.
func sweptCells(t *result.Target, types []string) []cell {
	name, settled, disk, queries := cell{Text: t.Name}, cell{none, dim}, cell{none, dim}, cell{none, dim}
	if t.Failure != "" {
		name = cell{t.Name + " (gave up)", bad}
	}
	if l := t.Load; l != nil && l.Withheld != "" {
		settled = cell{"withheld", bad}
	} else if rate := settledRate(l); rate > 0 {
		settled = cell{Text: digits(rate)}
		if l.DiskBytes >= 0 {
			disk = cell{Text: size(l.DiskBytes)}
		}
	}
	var medians []float64
	for _, q := range t.Queries {
		if slices.Contains(types, q.Type) {
			medians = append(medians, q.Service.Median)
		}
	}
	if len(medians) > 0 {
		queries = cell{Text: duration(stats.GeometricMean(medians))}
	}
	return []cell{name, settled, disk, queries}
}

// swept lists the paths of the parameters of all points.
func swept(points []*result.Run) []string {
	var paths []string
	for _, r := range points {
		for _, p := range r.Parameters {
			if !slices.Contains(paths, p.Path) {
				paths = append(paths, p.Path)
			}
		}
	}
	return paths
}

func parameterCell(r *result.Run, path string) cell {
	for _, p := range r.Parameters {
		if p.Path == path {
			return cell{Text: p.Value}
		}
	}
	return cell{none, dim}
}

// typesEverywhere lists the query types of which every target of every run has
// a verified figure that no limit cut off.
func typesEverywhere(runs []*result.Run) []string {
	var list []string
	first := true
	for _, r := range runs {
		for i := range r.Targets {
			var here []string
			for j := range r.Targets[i].Queries {
				if q := &r.Targets[i].Queries[j]; q.Standing() == result.Verified && q.AtLeast == 0 {
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

// sweepFact says where a run stands in a sweep; empty: nowhere.
func sweepFact(p *result.Place) string {
	if p.Sweep == "" {
		return ""
	}
	s := fmt.Sprintf("%s, run %d of %d", p.Sweep, p.Point, p.Points)
	for i, v := range p.Parameters {
		separator := ", "
		if i == 0 {
			separator = ": "
		}
		s += separator + v.Path + "=" + v.Value
	}
	return s
}

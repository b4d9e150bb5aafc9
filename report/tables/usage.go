package tables

import (
	"fmt"
	"math"
	"slices"

	"github.com/tsmark/tsmark/report/cell"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
)

// usageTable shows the resource use of loads and query types. It returns nil if
// nothing was watched for long enough.
func usageTable(r *result.Run) *doc.Table {
	view := &doc.Table{Title: "Resources of the system under test", Columns: []doc.Column{
		{Head: "target"}, {Head: "measurement", Help: "all queries: of each repeat from the first type to the last", Words: true},
		{Head: "CPU s/Mrow", Help: "CPU-seconds for a million rows loaded"},
		{Head: "queries/CPU s", Help: "queries answered by a second of one core"},
		{Head: "CPU s", Help: "CPU-seconds of all repeats", Rank: 4},
		{Head: "RSS max", Help: "most memory, as read every second"},
		{Head: "written/row", Help: "bytes written to disk for each row loaded"},
		{Head: "disk/row", Help: "bytes on disk after settling for each row", Rank: 1},
		{Head: "disk read", Help: "bytes read from disk", Rank: 2},
		{Head: "disk written", Help: "bytes written to disk", Rank: 3},
	}}
	memory := slices.ContainsFunc(r.Targets, func(t result.Target) bool { return t.Load.HasFigures() && estimate.MemoryPerSeries(r, &t).IsKnown() })
	if memory {
		view.Columns = slices.Insert(view.Columns, 6, doc.Column{Head: "RSS/series", Help: "memory gained during the first load of a server that tsmark started, for each series; files that it maps, caches and garbage of its runtime count, and are most of it with few series", Rank: 1})
	}
	anyKnown := false
	for i := range r.Targets {
		t := &r.Targets[i]
		sources, shared := estimate.Sources(r, t)
		list := rank.Measurements(t)
		if len(sources) == 0 || len(list) == 0 {
			continue
		}
		if all := allQueries(t); all != nil {
			list = append(list, *all)
		}
		short := 0
		for _, m := range list {
			u, known := estimate.SumUsage(sources, m.Cells)
			if !known {
				short++
				continue
			}
			anyKnown = true
			perRow := result.Absent()
			if l := t.Load; m.Rows > 0 && l != nil && l.Disk() >= 0 {
				perRow = result.BytesPerRow(result.Value(l.Disk()), l.AllRows())
			}
			queries := result.Absent()
			if m.Queries > 0 {
				queries = u.QueriesPerCPUSecond(m.Queries)
			}
			cells := []doc.Span{doc.Plain(t.Label()), doc.Plain(m.Name),
				cell.Figure(u.CPUPerMillionRows(m.Rows), format.Digits), cell.Figure(queries, format.Digits), cell.Figure(u.CPU, format.Digits),
				cell.Figure(u.RSSMax, format.PartialSize), cell.Figure(u.WrittenPerRow(m.Rows), format.PartialSize), cell.Figure(perRow, format.PartialSize), cell.Figure(u.DiskRead, format.PartialSize), cell.Figure(u.DiskWritten, format.PartialSize)}
			if memory {
				perSeries := result.Absent()
				if m.Rows > 0 {
					perSeries = estimate.MemoryPerSeries(r, t)
				}
				cells = slices.Insert(cells, 6, cell.Figure(perSeries, format.PartialSize))
			}
			view.Rows = append(view.Rows, doc.Row{Cells: cells})
		}
		if short > 0 {
			view.Notes = append(view.Notes, doc.Dim(fmt.Sprintf("%s: %s too short to measure, or not observed from beginning to end.", t.Name, format.Plural(short, "measurement"))))
		}
		if shared {
			view.Notes = append(view.Notes, doc.Dim(t.Name+": tsmark's own work is part of it, since the database shares its process."))
		}
	}
	if !anyKnown {
		return nil
	}
	return view
}

// allQueries combines the query types of each repeat, which were run
// one after the other. It returns nil if there are fewer than two.
func allQueries(t *result.Target) *rank.Measurement {
	all := rank.Measurement{Name: "all queries"}
	for i := range t.Repeats {
		queries := t.Repeats[i].Queries
		if len(queries) < 2 {
			continue
		}
		span := &result.Cell{From: math.Inf(1)}
		for j := range queries {
			if queries[j].Executed > 0 {
				span.From, span.To = min(span.From, queries[j].From), max(span.To, queries[j].To)
				all.Queries += queries[j].Executed
			}
		}
		if span.From < span.To {
			all.Cells = append(all.Cells, span)
		}
	}
	if len(all.Cells) == 0 {
		return nil
	}
	return &all
}

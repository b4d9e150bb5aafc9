package tables

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
)

// stepsTable shows the size of the loaded data before and after each step that
// followed. It returns nil if there were no steps.
func stepsTable(r *result.Run) *doc.Table {
	view := &doc.Table{Title: "Footprint", Columns: []doc.Column{
		{Head: "target"}, {Head: "when", Words: true}, {Head: "took", Help: "settling again included"}, {Head: "disk"},
	}}
	for i := range r.Targets {
		t := &r.Targets[i]
		l := t.Load
		if !l.HasFigures() {
			continue
		}
		add := func(when string, took, disk doc.Span) {
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{doc.Plain(t.Label()), doc.Plain(when), took, disk}})
		}
		at := func(n int64) doc.Span {
			if n < 0 {
				return doc.None()
			}
			return doc.Plain(format.Size(n))
		}
		// Without steps the size is the load table's.
		if len(l.Steps) == 0 {
			continue
		}
		view.Notes = append(view.Notes, diskNotes(t.Name, l)...)
		add("before the load", doc.None(), at(l.DiskBefore))
		add("after settling", doc.None(), at(l.DiskSettled))
		noises := rank.NoiseReasons(t)
		for _, s := range l.Steps {
			took := doc.Plain(format.Duration(s.Seconds))
			if why := noises["step "+s.Name]; why != "" {
				took.Text += rank.NoisyMark
				view.Notes = append(view.Notes, doc.Bad(t.Name+", "+s.Name+": noisy host: "+why))
			}
			add("after "+s.Name, took, at(s.DiskBytes))
		}
	}
	if len(view.Rows) == 0 {
		return nil
	}
	view.Notes = append(view.Notes, rank.MarkNotes(view.Rows)...)
	return view
}

// Incomplete replaces a size with writes still pending.
const Incomplete = "incomplete"

// diskNotes explain which parts a target's size on disk does not count, and why it is incomplete.
func diskNotes(target string, l *result.Load) []doc.Span {
	var list []doc.Span
	if l.DiskBytes >= 0 && l.DiskPending != "" {
		list = append(list, doc.Bad(fmt.Sprintf("%s: disk is incomplete (%s when it was measured), and compared with no other: %s", target, format.Size(l.DiskBytes), l.DiskPending)))
	}
	if l.DiskBytes >= 0 && l.DiskExcluded != "" {
		list = append(list, doc.Dim(target+": disk is without "+l.DiskExcluded))
	}
	if l.DiskBytes >= 0 && len(l.DiskParts) > 0 {
		parts := make([]string, len(l.DiskParts))
		for i, p := range l.DiskParts {
			parts[i] = format.Size(p.Bytes) + " in " + p.Name
		}
		list = append(list, doc.Dim(target+": of its size on disk are "+strings.Join(parts, "; ")))
	}
	// For an empty table that is the minimum size of its files; if a whole server is measured, it
	// is data of others or of earlier loads.
	if l.Disk() >= 0 && l.DiskBefore > l.DiskBytes/20 {
		list = append(list, doc.Bad(fmt.Sprintf("%s: of its size on disk %s were there before the load", target, format.Size(l.DiskBefore))))
	}
	return list
}

// cacheNotes says how caches were made cold, and how soon a server that was started for that answered.
func cacheNotes(t *result.Target) []doc.Span {
	var list []doc.Span
	var starts []float64
	seen := map[string]bool{}
	for i := range t.Queries {
		q := &t.Queries[i]
		starts = append(starts, q.Starts...)
		if q.Cache == "" || seen[q.Cache] {
			continue
		}
		seen[q.Cache] = true
		if q.Cold {
			list = append(list, doc.Dim("cold: "+q.Cache))
		} else {
			list = append(list, doc.Bad("NOT cold: "+q.Cache))
		}
	}
	if len(starts) > 0 {
		list = append(list, doc.Dim(fmt.Sprintf("first answer after the start of the server: %s, median of %s (%s to %s)",
			format.Duration(stats.Median(starts)), format.Plural(len(starts), "start"), format.Duration(slices.Min(starts)), format.Duration(slices.Max(starts)))))
	}
	return list
}

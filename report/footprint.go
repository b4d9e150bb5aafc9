package report

import (
	"fmt"

	"github.com/tsmark/tsmark/result"
)

// stepsTable shows the size of what was loaded before and after each step that
// followed; nil where none did.
func stepsTable(r *result.Run) *table {
	view := &table{Title: "Footprint", Columns: []column{
		{Head: "target"}, {Head: "when", Words: true}, {Head: "took", Help: "settling again included"}, {Head: "disk"},
	}}
	for i := range r.Targets {
		t := &r.Targets[i]
		l := t.Load
		if !l.Stands() {
			continue
		}
		add := func(when string, took, disk span) {
			view.Rows = append(view.Rows, row{Cells: []span{spanPlain(t.Label()), spanPlain(when), took, disk}})
		}
		at := func(n int64) span {
			if n < 0 {
				return spanNone()
			}
			return spanPlain(size(n))
		}
		// Without steps the size is the load table's.
		if len(l.Steps) == 0 {
			continue
		}
		view.Notes = append(view.Notes, diskNotes(t.Name, l)...)
		add("before the load", spanNone(), at(l.DiskBefore))
		add("after settling", spanNone(), at(l.DiskSettled))
		for _, s := range l.Steps {
			took := spanPlain(duration(s.Seconds))
			if why := noisyIn(t)["step "+s.Name]; why != "" {
				took.Text += noisyMark
				view.Notes = append(view.Notes, spanBad(t.Name+", "+s.Name+": noisy host: "+why))
			}
			add("after "+s.Name, took, at(s.DiskBytes))
		}
	}
	if len(view.Rows) == 0 {
		return nil
	}
	view.Notes = append(view.Notes, markNotes(view.Rows)...)
	return view
}

// incomplete stands for a size of which something was still to be written.
const incomplete = "incomplete"

// diskNotes says what a target's size on disk does not count, and why it is incomplete.
func diskNotes(target string, l *result.Load) []span {
	var list []span
	if l.DiskBytes >= 0 && l.DiskPending != "" {
		list = append(list, spanBad(fmt.Sprintf("%s: disk is incomplete (%s when it was measured), and compared with no other: %s", target, size(l.DiskBytes), l.DiskPending)))
	}
	if l.DiskBytes >= 0 && l.DiskLeftOut != "" {
		list = append(list, spanDim(target+": disk is without "+l.DiskLeftOut))
	}
	// Of an empty table that is what its files take at least; where all of a server is measured, it
	// is what others or earlier loads left.
	if l.Disk() >= 0 && l.DiskBefore > l.DiskBytes/20 {
		list = append(list, spanBad(fmt.Sprintf("%s: of its size on disk %s were there before the load", target, size(l.DiskBefore))))
	}
	return list
}

// cacheNotes says how caches were made cold.
func cacheNotes(t *result.Target) []span {
	var list []span
	seen := map[string]bool{}
	for i := range t.Queries {
		q := &t.Queries[i]
		if q.Cache == "" || seen[q.Cache] {
			continue
		}
		seen[q.Cache] = true
		if q.Cold {
			list = append(list, spanDim("cold: "+q.Cache))
		} else {
			list = append(list, spanBad("NOT cold: "+q.Cache))
		}
	}
	return list
}

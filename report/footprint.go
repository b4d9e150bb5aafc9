package report

import "github.com/tsmark/tsmark/result"

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
		add := func(when string, took, disk cell) {
			view.Rows = append(view.Rows, row{Cells: []cell{{Text: t.Label()}, {Text: when}, took, disk}})
		}
		at := func(n int64) cell {
			if n < 0 {
				return cell{none, dim}
			}
			return cell{Text: size(n)}
		}
		// Without steps the size is the load table's.
		if len(l.Steps) == 0 {
			continue
		}
		if l.DiskLeftOut != "" {
			view.Notes = append(view.Notes, note{t.Name + ": disk is without " + l.DiskLeftOut, dim})
		}
		add("before the load", cell{none, dim}, at(l.DiskBefore))
		add("last row acknowledged", cell{none, dim}, at(l.DiskAcked))
		for _, s := range l.Steps {
			took := cell{Text: duration(s.Seconds)}
			if why := noisyIn(t)["step "+s.Name]; why != "" {
				took.Text += noisyMark
				view.Notes = append(view.Notes, note{t.Name + ", " + s.Name + ": noisy host: " + why, bad})
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

// cacheNotes says how caches were made cold.
func cacheNotes(t *result.Target) []note {
	var list []note
	seen := map[string]bool{}
	for i := range t.Queries {
		q := &t.Queries[i]
		if q.Cache == "" || seen[q.Cache] {
			continue
		}
		seen[q.Cache] = true
		if q.Cold {
			list = append(list, note{"cold: " + q.Cache, dim})
		} else {
			list = append(list, note{"NOT cold: " + q.Cache, bad})
		}
	}
	return list
}

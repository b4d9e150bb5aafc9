// Package why reports what may explain a difference between two targets of one system: the plans of a
// query type, how much a query reads, and where the server spends its CPU time. These were recorded
// outside the measured rounds.
package why

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/result"
)

// Difference is a query type in which two targets differ.
type Difference struct {
	Type, Title string
	A, B        Side
}

// Side is a target in its runs, oldest first.
type Side struct {
	Name    string
	Targets []*result.Target
}

// queries returns the newest record of a query type that has a profile or, if none has, a text; nil:
// none has.
func (s *Side) queries(queryType string) (found *result.Queries) {
	for _, t := range slices.Backward(s.Targets) {
		for _, r := range t.MeasuredRepeats() {
			switch q := r.Type(queryType); {
			case q == nil || q.Text == "" && q.Plan == "":
			case q.Profile != nil:
				return q
			case found == nil:
				found = q
			}
		}
	}
	return found
}

// Section returns a section about differences; nil: nothing is known that may explain them.
func Section(id string, list []Difference) *doc.Section {
	s := &doc.Section{ID: id, Title: "Why: plans, reads and profiles", Notes: []doc.Span{}}
	reads := &doc.Table{Title: "What one query reads", Columns: []doc.Column{
		{Head: "query type"}, {Head: "figure", Words: true, Names: true}, {Head: "before", Help: "or A"}, {Head: "after", Help: "or B"}, {Head: "ratio"},
	}}
	var alike, missing []string
	for i := range list {
		d := &list[i]
		a, b := d.A.queries(d.Type), d.B.queries(d.Type)
		if a == nil || b == nil {
			continue
		}
		if a.Plan == "" || b.Plan == "" {
			missing = append(missing, d.Title)
		} else if lines, changed := compareTexts(a.Plan, b.Plan); !changed {
			alike = append(alike, d.Title)
		} else {
			s.Diffs = append(s.Diffs, doc.Diff{Title: "Plan of " + d.Title, A: d.A.Name, B: d.B.Name, Lines: lines})
		}
		reads.Rows = append(reads.Rows, readRows(d.Title, a.Read, b.Read)...)
		if a.Profile != nil && b.Profile != nil {
			s.Tables = append(s.Tables, profiles(d, a.Profile, b.Profile))
		}
	}
	if len(reads.Rows) > 0 {
		s.Tables = append([]*doc.Table{reads}, s.Tables...)
	}
	if len(alike) > 0 {
		s.Notes = append(s.Notes, doc.Plain("Plan unchanged: "+strings.Join(alike, "; ")+"."))
	}
	if len(alike)+len(s.Diffs)+len(s.Tables) == 0 {
		return nil
	}
	if len(missing) > 0 {
		s.Notes = append(s.Notes, doc.Dim("No plan: "+strings.Join(missing, "; ")+"."))
	}
	s.Notes = append(s.Notes, doc.Dim("Recorded outside the measured rounds, of the first query of a type. Costs, times, estimates and ids in plans are not compared."))
	return s
}

// readRows are the figures of reads that both sides report.
func readRows(title string, a, b *result.Read) (rows []doc.Row) {
	if a == nil || b == nil {
		return nil
	}
	count := func(v float64) string { return format.Count(int64(v)) }
	for _, f := range []struct {
		name string
		of   func(*result.Read) float64
		text func(float64) string
	}{
		{"rows", func(r *result.Read) float64 { return r.Rows }, count},
		{"bytes", func(r *result.Read) float64 { return r.Bytes }, func(v float64) string { return format.Size(int64(v)) }},
		{"cache hits", func(r *result.Read) float64 { return r.CacheHits }, count},
		{"cache misses", func(r *result.Read) float64 { return r.CacheMisses }, count},
		{"files", func(r *result.Read) float64 { return r.Files }, count},
	} {
		x, y := f.of(a), f.of(b)
		if x < 0 || y < 0 || x == 0 && y == 0 {
			continue
		}
		ratio := doc.None()
		if x > 0 {
			ratio = doc.Plain(format.Ratio(y / x))
		}
		rows = append(rows, doc.Row{Cells: []doc.Span{doc.Plain(title), doc.Plain(f.name), doc.Plain(f.text(x)), doc.Plain(f.text(y)), ratio}})
	}
	return rows
}

const (
	// mostFunctions is the number of functions that a table of profiles shows.
	mostFunctions = 12
	// leastShare is the least difference of a function's shares that is shown.
	leastShare = 0.01
	// leastDeviations is how many standard deviations of a sampled share such a difference has at
	// least: of some hundred functions, none differs as much by chance.
	leastDeviations = 4
)

// profiles shows the functions whose shares differ by more than chance.
func profiles(d *Difference, a, b *result.Profile) *doc.Table {
	view := &doc.Table{Title: "CPU profile of " + d.Title, Columns: []doc.Column{
		{Head: "function"},
		{Head: "self before", Help: "share of the samples in the function itself, before or of A"}, {Head: "self after", Help: "likewise, after or of B"},
		{Head: "total before", Help: "share of the samples in the function or in functions that it calls, before or of A"}, {Head: "total after", Help: "likewise, after or of B"},
	}}
	shares := make(map[string][2]*result.ProfiledFunction)
	for side, p := range []*result.Profile{a, b} {
		for i := range p.Functions {
			f := &p.Functions[i]
			both := shares[f.Name]
			both[side] = f
			shares[f.Name] = both
		}
	}
	type function struct {
		name       string
		of         [2]*result.ProfiledFunction
		difference float64
	}
	var list []function
	for name, of := range shares {
		var x, y result.ProfiledFunction // a missing share is below those of the listed functions
		if of[0] != nil {
			x = *of[0]
		}
		if of[1] != nil {
			y = *of[1]
		}
		if differ(x.Self, y.Self, a.Samples, b.Samples) || differ(x.Total, y.Total, a.Samples, b.Samples) {
			list = append(list, function{name, of, max(math.Abs(x.Self-y.Self), math.Abs(x.Total-y.Total))})
		}
	}
	slices.SortFunc(list, func(p, q function) int {
		return cmp.Or(cmp.Compare(q.difference, p.difference), strings.Compare(p.name, q.name))
	})
	for _, f := range list[:min(mostFunctions, len(list))] {
		cells := []doc.Span{doc.Plain(f.name)}
		for _, share := range []func(*result.ProfiledFunction) float64{func(f *result.ProfiledFunction) float64 { return f.Self }, func(f *result.ProfiledFunction) float64 { return f.Total }} {
			for _, of := range f.of {
				if of == nil {
					cells = append(cells, doc.None())
				} else {
					cells = append(cells, doc.Plain(fmt.Sprintf("%.1f%s%%", 100*share(of), format.UnitSpace)))
				}
			}
		}
		view.Rows = append(view.Rows, doc.Row{Cells: cells})
	}
	note := fmt.Sprintf("%s and %s of %s s; only functions whose shares differ by more than chance.", format.Count(a.Samples), format.Plural(int(b.Samples), "sample"), format.Digits(b.Seconds))
	if len(list) == 0 {
		note = fmt.Sprintf("No function's share differs by more than chance: %s and %s of %s s.", format.Count(a.Samples), format.Plural(int(b.Samples), "sample"), format.Digits(b.Seconds))
	}
	view.Notes = []doc.Span{doc.Dim(note)}
	return view
}

// differ reports whether two shares of samples differ by more than chance.
func differ(x, y float64, m, n int64) bool {
	if m == 0 || n == 0 || math.Abs(x-y) < leastShare {
		return false
	}
	p := (x*float64(m) + y*float64(n)) / float64(m+n)
	return math.Abs(x-y) > leastDeviations*math.Sqrt(p*(1-p)*(1/float64(m)+1/float64(n)))
}

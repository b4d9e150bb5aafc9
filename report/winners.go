package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/compare"
	"github.com/tsmark/tsmark/result"
)

// winnersTable says who was faster than whom by how much, and where that ratio
// lies; nil where there were too few repeats to say so.
func winnersTable(g *group) *table {
	view := &table{Title: "Who was faster, by how much", Columns: []column{
		{Head: "type"}, {Head: "fastest", Words: true}, {Head: "against", Words: true},
		{Head: "times", Help: "the other's time by the fastest's: median of the ratios of all repeats"},
		{Head: "interval", Help: "where this ratio lies, with 95 % if nothing else is said"},
		{Head: "p", Help: "Mann-Whitney across repeats, corrected by Holm for the number of types"},
		{Head: "verdict", Words: true},
	}}
	add := func(label string, winner, other int, f *compare.Figure) {
		if f == nil || f.Interval == nil || f.Method != compare.AcrossRepeats || f.MissingA != "" || f.MissingB != "" {
			return
		}
		verdict := cell{"a difference", best}
		switch f.Verdict {
		case compare.NoDifference:
			verdict = cell{"may be chance", dim}
		case compare.CannotTell:
			verdict = cell{"cannot be told: " + shortWhy(f), dim}
		}
		p := cell{none, dim}
		if f.Decidable() {
			p = cell{Text: probability(f.Adjusted)}
		}
		mark := func(s *subject) string {
			if bounds := clientBounds(s.target); bounds[f.Subject] != "" || f.Subject == compare.AllTypes && len(bounds) > 0 {
				return s.Label + boundMark
			}
			return s.Label
		}
		view.Rows = append(view.Rows, row{Cells: []cell{{Text: label}, {Text: mark(&g.subjects[winner])}, {Text: mark(&g.subjects[other])},
			{Text: times(f.Ratio)}, {Text: intervalText(f.Interval)}, p, verdict}})
	}
	types := 0
	for _, t := range g.types() {
		at, compared, _ := g.fastest(t.Key)
		if at < 0 || compared < 2 {
			continue
		}
		types++
		for i, s := range g.subjects {
			if i != at && s.queries(t.Key).Standing() == result.Verified {
				add(t.Key, at, i, g.figure(at, i, t.Key, compare.Median))
			}
		}
	}
	if at := g.fastestOnAverage(); at >= 0 && types > 1 {
		for i := range g.subjects {
			if f := g.figure(at, i, compare.AllTypes, compare.GeoMean); i != at && f != nil {
				add(overall+strconv.Itoa(f.Types), at, i, f)
			}
		}
	}
	if len(view.Rows) == 0 {
		return nil
	}
	return view
}

// overallTable is what winnersTable says of all types together, for where
// there is little room; nil where it says nothing.
func overallTable(g *group) *table {
	view := winnersTable(g)
	if view == nil {
		return nil
	}
	view.Rows = slices.DeleteFunc(view.Rows, func(r row) bool { return !strings.HasPrefix(r.Cells[0].Text, overall) })
	if len(view.Rows) == 0 {
		return nil
	}
	return view
}

// overall begins the label of rows about all types together.
const overall = "geometric mean of "

// fastestOnAverage returns the subject whose geometric mean over the types is
// the smallest; -1 where no two have types in common.
func (g *group) fastestOnAverage() int {
	at, found := 0, false
	for i := 1; i < len(g.subjects); i++ {
		if f := g.figure(at, i, compare.AllTypes, compare.GeoMean); f != nil && f.MissingA == "" && f.MissingB == "" {
			found = true
			if f.Ratio.Figure < 1 {
				at = i
			}
		}
	}
	if !found {
		return -1
	}
	return at
}

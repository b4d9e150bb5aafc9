package tables

import (
	"strconv"

	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
)

// Winners shows which target was shown to be faster than which, and the interval of their
// ratio. It returns nil if there were too few rounds.
func Winners(g *rank.Group) *doc.Table {
	view := &doc.Table{Title: "Who was faster, by how much", Columns: []doc.Column{
		{Head: "type"}, {Head: "verdict", Words: true},
		{Head: "ratio of", Words: true},
		{Head: "times", Help: "the quotient of the two medians over the rounds"},
		{Head: "interval", Help: "where this ratio lies, with 95 % if nothing else is said"},
		{Head: "p", Help: "Mann-Whitney over the rounds, corrected by Holm for the number of figures of two targets"},
	}}
	add := func(label string, reference, other int, f *compare.Figure) {
		if f == nil || f.Interval == nil || f.Method != compare.AcrossRepeats || f.MissingA != "" || f.MissingB != "" {
			return
		}
		verdict := doc.Dim(rank.Tie)
		switch {
		case f.Significant():
			verdict = doc.Best(g.Subjects[reference].Label + " faster")
		case f.Verdict == compare.NoVerdict:
			verdict = doc.Dim("no verdict: " + rank.NoVerdict(f))
		}
		p := doc.None()
		if f.Decidable() {
			p = doc.Plain(format.Probability(f.Adjusted))
		}
		mark := func(s *rank.Subject) string { return s.Label + rank.Marks(s.Target, f.Subject) }
		view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{doc.Plain(label), verdict,
			doc.Plain(mark(&g.Subjects[other]) + " ÷ " + mark(&g.Subjects[reference])),
			doc.Plain(format.Times(f.Ratio)), doc.Plain(format.IntervalText(f.Interval)), p}})
	}
	types := 0
	for _, t := range g.Types() {
		ranked := g.RankType(t.Key)
		if ranked.Reference < 0 {
			continue
		}
		types++
		for i := range g.Subjects {
			if f := ranked.Figures[i]; f != nil {
				g.OrientPair(add, t.Key, ranked.Reference, i, f)
			}
		}
	}
	if all := g.RankOverall(); types > 1 {
		for i, f := range all.Figures {
			if f != nil {
				g.OrientPair(add, rank.GeometricMean+strconv.Itoa(f.Types), all.Reference, i, f)
			}
		}
	}
	if len(view.Rows) == 0 {
		return nil
	}
	view.Notes = append(view.Notes, g.OrderNotes()...)
	view.Notes = append(view.Notes, doc.Dim(rank.CoversNote))
	return view
}

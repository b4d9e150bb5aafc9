package tables

import (
	"slices"
	"strings"

	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
)

// SideBySide sets medians side by side, or verdicts if nothing was measured. It returns nil if there is nothing to compare.
func SideBySide(g *rank.Group) *doc.Table {
	if len(g.Subjects) < 2 {
		return nil
	}
	if view := verdictsSideBySide(g); view != nil {
		return view
	}
	view := &doc.Table{Title: "Comparison: median " + g.TimeName() + ", and how many times the best", Columns: []doc.Column{{Head: "type"}}}
	for _, s := range g.Subjects {
		view.Columns = append(view.Columns, doc.Column{Head: s.Label}, doc.Column{Head: "×best", Help: s.Label + " as a multiple of the best", Follows: true})
	}
	view.Columns = append(view.Columns, doc.Column{Head: "common", Help: "queries that all verified targets have a time of", Rank: 1})
	unequal := ""
	if r, ok := rank.LoadRow(g); ok {
		unequal = g.UnequalDurability()
		r.Cells = append(r.Cells, doc.None())
		view.Rows = append(view.Rows, r)
	}
	for _, t := range g.Types() {
		r := rank.TypeRow(g, t.Key)
		r.Cells = append(r.Cells, rank.CommonCell(g, t.Key))
		view.Rows = append(view.Rows, r)
	}
	if len(view.Rows) == 0 {
		return nil
	}
	view.Notes = []doc.Span{
		doc.Dim("Medians over the rounds, of the queries of each round that all verified targets answered (in a time box, the first ones); × is the quotient of the medians."),
		doc.Dim("Only verified figures take part; an empty answer, or one cut off by a limit, does not count as a win."),
	}
	if unequal != "" {
		view.Notes = append(view.Notes, doc.Plain("Load: "+unequal+"."))
	}
	view.Notes = append(view.Notes, verifiedBy(g)...)
	view.Notes = append(view.Notes, g.OrderNotes()...)
	view.Notes = append(view.Notes, rank.MarkNotes(view.Rows)...)
	marked := func(find func(string) bool) bool {
		return slices.ContainsFunc(view.Rows, func(r doc.Row) bool {
			return slices.ContainsFunc(r.Cells, func(c doc.Span) bool { return find(c.Text) })
		})
	}
	if marked(func(text string) bool { return strings.HasPrefix(text, rank.ChanceMark) }) {
		view.Notes = append(view.Notes, doc.Dim(rank.TieNote))
	}
	if marked(func(text string) bool { return text == rank.OneRound || text == rank.OneLoad }) {
		view.Notes = append(view.Notes, doc.Dim("1 round, 1 load: no verdict, since the variation from one to the next is unknown."))
	}
	return view
}

// verifiedBy names the types whose answers were not verified by the oracle.
func verifiedBy(g *rank.Group) (list []doc.Span) {
	for _, by := range []struct{ word, says string }{
		{result.ByReference, "the answers matched those of a reference text in DuckDB"},
		{result.ByAgreement, "different systems gave the same answers; whether they are correct is unknown"},
	} {
		var types []string
		for _, t := range g.Types() {
			if slices.ContainsFunc(g.Subjects, func(s rank.Subject) bool {
				q := s.Queries(t.Key)
				return q != nil && q.VerifiedBy() == by.word
			}) {
				types = append(types, t.Key)
			}
		}
		if len(types) > 0 {
			list = append(list, doc.Dim(strings.Join(types, ", ")+": verified by "+by.word+": "+by.says+"."))
		}
	}
	return list
}

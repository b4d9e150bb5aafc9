package tables

import (
	"cmp"
	"slices"

	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
)

// onlyChecked reports whether answers were compared and measuring was not
// meant: nothing was measured, and nothing withheld for another reason than
// the answers.
func onlyChecked(t *result.Target) bool {
	return !slices.ContainsFunc(t.Queries, func(q result.Queries) bool {
		return q.Executed > 0 || q.Distinct > 0 || q.Failed != nil || q.Withheld != "" && q.Withheld != q.Verdict.Difference
	})
}

// checkTable shows the compared answers of a run without measurements.
func checkTable(t *result.Target) *doc.Table {
	view := &doc.Table{Title: "Answers: " + t.Label(), Columns: []doc.Column{
		{Head: "type"},
		{Head: "verdict", Help: "whether answers were the expected ones", Words: true},
		{Head: "queries", Help: "queries whose answers were compared"},
		{Head: "empty", Help: "of these, compared and rightly empty"},
		{Head: "rows", Help: "rows compared"},
	}}
	for i := range t.Queries {
		q := &t.Queries[i]
		name, v := doc.Plain(q.Type), &q.Verdict
		switch {
		case q.Unsupported != "":
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{name}, Remark: doc.Dim("n/a: " + q.Unsupported)})
		case q.Texts != "" && q.Withheld == "" && *v == (result.Verdict{}): // it was only tried whether the server takes it
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{name}, Remark: doc.Dim(q.VerdictText())})
		case q.Withheld == "" && q.Sample.Early > 0 && *v == (result.Verdict{}): // the target failed before
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{name}, Remark: doc.Dim("not measured")})
		case !v.OK():
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{name}, Remark: doc.Bad("wrong: " + cmp.Or(v.Difference, q.Withheld))})
		default:
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{name, doc.Plain(v.String()), doc.Plain(format.Count(int64(v.Checked))), doc.Plain(format.Count(int64(v.Empty))), doc.Plain(format.Count(v.Rows))}})
		}
	}
	view.Notes = append(view.Notes, DocumentedNotes(t)...)
	return view
}

// verdictsSideBySide says for each query type whether each target's answers are the expected ones. It returns
// nil if queries were measured, or no answer was compared.
func verdictsSideBySide(g *rank.Group) *doc.Table {
	view := &doc.Table{Title: "Comparison: answers", Columns: []doc.Column{{Head: "type"}}}
	compared := false
	for _, s := range g.Subjects {
		for i := range s.Target.Queries {
			q := &s.Target.Queries[i]
			if q.Executed > 0 {
				return nil
			}
			compared = compared || q.Verdict.Checked > 0
		}
		view.Columns = append(view.Columns, doc.Column{Head: s.Label, Words: true})
	}
	if !compared {
		return nil
	}
	for _, t := range g.Types() {
		row := doc.Row{Cells: []doc.Span{doc.Plain(t.Key)}}
		for _, s := range g.Subjects {
			q := s.Queries(t.Key)
			cell := doc.None()
			switch {
			case q == nil:
			case q.Unsupported != "":
				cell = doc.Dim("n/a")
			case q.Withheld != "" && q.Verdict.Difference == "":
				cell = doc.Bad("withheld")
			case !q.Verdict.OK():
				cell = doc.Bad(q.Verdict.String())
			default:
				cell = doc.Plain(q.Verdict.String())
			}
			row.Cells = append(row.Cells, cell)
		}
		view.Rows = append(view.Rows, row)
	}
	return view
}

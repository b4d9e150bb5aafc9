package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/facts"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/tables"
	"github.com/tsmark/tsmark/report/write"
	"github.com/tsmark/tsmark/result"
)

// WriteVerification writes a page about the verification of a run: the
// dataset, the contents found in its tables, the answers that were compared, the reasons for
// withheld or unverified figures, and disturbances of the measurements. The run is
// pooled. Sections of targets have the ids target-0, target-1 and so on. Errors are those
// of w.
func WriteVerification(w io.Writer, r *result.Run, opts write.Options) error {
	c := doc.Chapter{Title: "Run " + r.ID, Name: r.Name, ID: r.ID, Outcome: facts.Outcome(r), Alerts: facts.Alerts(r), Facts: verificationFacts(r)}
	for i := range r.Targets {
		t := &r.Targets[i]
		s := doc.Section{ID: fmt.Sprintf("target-%d", i), Title: format.Join(" ", t.Label(), t.System()), Tables: existing(verifiedLoads(t), tables.TargetCensus(t), verifiedAnswers(t))}
		if t.Failure != "" {
			s.Notes = append(s.Notes, doc.Bad(t.Failure))
		}
		if len(s.Tables) == 0 {
			s.Notes = append(s.Notes, doc.Plain("Nothing was loaded, and no answer compared."))
		}
		c.Sections = append(c.Sections, s)
	}
	if list := existing(tables.Host(r), tables.Client(r)); len(list) > 0 {
		c.Sections = append(c.Sections, doc.Section{ID: "disturbed", Title: "What disturbed the measurements", Tables: list})
	}
	d := &doc.Document{Title: "Verification of run " + r.ID, Chapters: []doc.Chapter{c}, Marks: rank.PageMarks(),
		Closing: []doc.Span{doc.Plain("The expected contents and answers are computed from the dataset itself, not by a database. A figure is withheld if one of its checks failed.")}}
	if err := write.WriteHTML(w, d, opts); err != nil {
		return fmt.Errorf("writing the verification page: %w", err)
	}
	return nil
}

// existing returns the tables that are not nil.
func existing(list ...*doc.Table) []*doc.Table {
	return slices.DeleteFunc(list, func(t *doc.Table) bool { return t == nil })
}

func verificationFacts(r *result.Run) []doc.Fact {
	d := &r.Dataset
	list := []doc.Fact{{Key: "dataset", Value: facts.Dataset(d)}, {Key: "digest", Value: cmp.Or(d.Digest, "not computed in this run; the fingerprint stands for the specification of the rows")}}
	if drawn := facts.Queries(r); drawn != "" {
		list = append(list, doc.Fact{Key: "queries", Value: drawn})
	}
	if r.CheckSeed != "" {
		list = append(list, doc.Fact{Key: "sample", Value: "answers, and rows that were read back, chosen by the seed " + r.CheckSeed + ", drawn for the run, which no target could know"})
	}
	if why := r.UnverifiedParts(); why != "" {
		list = append(list, doc.Fact{Key: "not verified", Value: why})
	}
	return list
}

// verifiedLoads says for each load of a target whether the loaded data was correct. It
// returns nil if there are no loads.
func verifiedLoads(t *result.Target) *doc.Table {
	view := &doc.Table{Title: "Loads", Columns: []doc.Column{{Head: "load"}, {Head: "rows sent"}, {Head: "verdict", Words: true}, {Head: "by what", Words: true}}}
	for _, r := range t.MeasuredRepeats() {
		l := r.Load
		if l == nil {
			continue
		}
		name := doc.Plain(fmt.Sprintf("%d", r.Number))
		switch {
		case !l.HasFigures():
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{name}, Remark: doc.WithTone(l.Word()+": "+l.Reason(), rank.WithheldTone(l))})
			continue
		case l.Unverified != "":
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{name}, Remark: doc.Bad("not verified: " + l.Unverified)})
			continue
		}
		view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{name, doc.Plain(format.Count(l.Rows)), doc.Plain("verified"), doc.Plain(cmp.Or(tables.Contents(l), "rows counted"))}})
		view.Notes = append(view.Notes, tables.FaultNotes("load "+name.Text, l)...)
	}
	if len(view.Rows) == 0 {
		return nil
	}
	return view
}

// verifiedAnswers says for each query type of a target how its answers were compared, and
// why it has no figure if it has none. It returns nil if there are no types.
func verifiedAnswers(t *result.Target) *doc.Table {
	if len(t.Queries) == 0 {
		return nil
	}
	view := &doc.Table{Title: "Answers", Columns: []doc.Column{
		{Head: "type"},
		{Head: "verdict", Help: "whether answers were the expected ones", Words: true},
		{Head: "compared", Help: "answers compared in full: rows, keys, values and order"},
		{Head: "empty", Help: "of these, rightly without rows"},
		{Head: "rows", Help: "rows compared"},
		{Head: "counted", Help: "further answers that had the expected number of rows"},
		{Head: "would find", Help: "the share of wrong answers that the sample would have found with 95 %"},
		{Head: "marks", Words: true},
	}}
	for i := range t.Queries {
		q := &t.Queries[i]
		name, v := doc.Plain(q.Type), &q.Verdict
		switch q.Outcome() {
		case result.Unsupported:
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{name}, Remark: doc.Dim("n/a: " + q.Unsupported)})
			continue
		case result.Failed:
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{name}, Remark: doc.Bad(q.Failed.Error())})
			continue
		case result.Withheld:
			why := q.Reason()
			if v.Difference != "" && why != v.Difference {
				why += "; first difference: " + v.Difference
			}
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{name}, Remark: doc.Bad("withheld: " + why)})
			continue
		}
		verdict := doc.Plain(q.VerdictText())
		if !v.OK() {
			verdict.Tone = format.ToneBad
		}
		found, counted := doc.None(), doc.None()
		if share := q.DetectableShare(); share > 0 && v.OK() {
			found = doc.Plain(format.PercentUp(share))
		}
		if v.OK() && q.Sample.Wanted > 0 {
			counted = doc.Plain(format.Count(q.CountedAnswers()))
		}
		view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{name, verdict, doc.Plain(format.Count(int64(v.Checked))), doc.Plain(format.Count(int64(v.Empty))), doc.Plain(format.Count(v.Rows)),
			counted, found, doc.Plain(cmp.Or(rank.Marks(t, q.Type), format.None))}})
	}
	view.Notes = append(tables.DocumentedNotes(t), rank.MarkNotes(view.Rows)...)
	return view
}

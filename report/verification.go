package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/tsmark/tsmark/result"
)

// verification is what the page about the checks of a run shows.
type verification struct {
	Head      pageHead
	Links     []Link
	Run       *result.Run
	Outcome   span
	Alerts    []span
	Facts     []fact
	Targets   []verifiedTarget
	Disturbed []*table
}

type verifiedTarget struct {
	Name, System, Failure string
	Tables                []*table
}

// WriteVerification writes a page that says what of a run was verified and how: the
// dataset, what its tables were found to hold, the answers that were compared, why
// figures are withheld or not verified, and what disturbed the measurements. The run is
// pooled. Sections of targets have the ids target-0, target-1 and so on. Errors are those
// of w.
func WriteVerification(w io.Writer, r *result.Run, opts Options) error {
	t, err := pageTemplates("verification.html")
	if err != nil {
		return err
	}
	out := verification{
		Head: pageHead{Title: "What was verified of run " + r.ID, URL: opts.URL}, Links: opts.Links,
		Run: r, Outcome: outcome(r), Alerts: alerts(r), Facts: verificationFacts(r),
	}
	census := censusTable(r)
	for i := range r.Targets {
		target := &r.Targets[i]
		v := verifiedTarget{Name: target.Label(), System: target.System(), Failure: target.Failure}
		v.Tables = []*table{verifiedLoads(target), censusOf(census, target.Name), verifiedAnswers(target)}
		v.Tables = slices.DeleteFunc(v.Tables, func(t *table) bool { return t == nil })
		out.Targets = append(out.Targets, v)
	}
	out.Disturbed = slices.DeleteFunc([]*table{hostTable(r), clientTable(r)}, func(t *table) bool { return t == nil })
	if err := t.Execute(w, out); err != nil {
		return fmt.Errorf("writing the page about what was verified: %w", err)
	}
	return nil
}

func verificationFacts(r *result.Run) []fact {
	d := &r.Dataset
	list := []fact{{"dataset", datasetFact(d)}, {"digest", cmp.Or(d.Digest, "not computed in this run; the fingerprint stands for the specification of the rows")}}
	if drawn := queriesFact(r); drawn != "" {
		list = append(list, fact{"queries", drawn})
	}
	if r.CheckSeed != "" {
		list = append(list, fact{"sample", "answers, and rows that were read back, chosen by the seed " + r.CheckSeed + ", drawn for the run, which no target could know"})
	}
	if why := r.Unverified(); why != "" {
		list = append(list, fact{"not verified", why})
	}
	return list
}

// verifiedLoads says of each load of a target whether what was loaded was right; nil
// where there are none.
func verifiedLoads(t *result.Target) *table {
	view := &table{Title: "Loads", Columns: []column{{Head: "load"}, {Head: "rows sent"}, {Head: "verdict", Words: true}, {Head: "by what", Words: true}}}
	for _, r := range t.Measured() {
		l := r.Load
		if l == nil {
			continue
		}
		name := spanPlain(fmt.Sprintf("%d", r.Number))
		switch {
		case !l.Stands():
			view.Rows = append(view.Rows, row{Cells: []span{name}, Remark: spanToned(l.Word()+": "+l.Reason(), standingTone(l))})
			continue
		case l.Unverified != "":
			view.Rows = append(view.Rows, row{Cells: []span{name}, Remark: spanBad("not verified: " + l.Unverified)})
			continue
		}
		view.Rows = append(view.Rows, row{Cells: []span{name, spanPlain(count(l.Rows)), spanPlain("verified"), spanPlain(cmp.Or(contents(l.Census), "rows counted"))}})
		view.Notes = append(view.Notes, faultNotes("load "+name.Text, l)...)
	}
	if len(view.Rows) == 0 {
		return nil
	}
	return view
}

// censusOf is the part of a census table that is about a target; nil where there is
// none.
func censusOf(all *table, target string) *table {
	if all == nil {
		return nil
	}
	own := *all
	own.Columns, own.Rows = all.Columns[1:], nil
	for _, r := range all.Rows {
		if r.Cells[0].Text == target {
			own.Rows = append(own.Rows, row{Cells: r.Cells[1:], Remark: r.Remark})
		}
	}
	if len(own.Rows) == 0 {
		return nil
	}
	return &own
}

// verifiedAnswers says of each query type of a target what was compared, and why it
// has no figure where it has none; nil where there are no types.
func verifiedAnswers(t *result.Target) *table {
	if len(t.Queries) == 0 {
		return nil
	}
	view := &table{Title: "Answers", Columns: []column{
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
		name, v := spanPlain(q.Type), &q.Verdict
		switch q.Outcome() {
		case result.Unsupported:
			view.Rows = append(view.Rows, row{Cells: []span{name}, Remark: spanDim("n/a: " + q.Unsupported)})
			continue
		case result.Failed:
			view.Rows = append(view.Rows, row{Cells: []span{name}, Remark: spanBad(q.Failed.Error())})
			continue
		case result.Withheld:
			why := q.Reason()
			if v.Difference != "" && why != v.Difference {
				why += "; first difference: " + v.Difference
			}
			view.Rows = append(view.Rows, row{Cells: []span{name}, Remark: spanBad("withheld: " + why)})
			continue
		}
		verdict := spanPlain(q.VerdictText())
		if !v.OK() {
			verdict.Tone = toneBad
		}
		found, counted := spanNone(), spanNone()
		if share := q.Found(); share > 0 && v.OK() {
			found = spanPlain(shareText(share))
		}
		if v.OK() && q.Sample.Wanted > 0 {
			counted = spanPlain(count(q.Counted()))
		}
		view.Rows = append(view.Rows, row{Cells: []span{name, verdict, spanPlain(count(int64(v.Checked))), spanPlain(count(int64(v.Empty))), spanPlain(count(v.Rows)),
			counted, found, spanPlain(cmp.Or(marksOf(t, q.Type), none))}})
	}
	view.Notes = markNotes(view.Rows)
	return view
}

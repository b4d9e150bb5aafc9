package runner

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
)

// agrees reports whether answers of a type can be compared between systems alone: nobody
// knows the right ones, and targets of several systems have a text for it.
func (s *subject) agrees(q *typeQueries) bool {
	if q.written == nil || s.plan.experiment.Queries.Verbatim() || s.byReferenceText(q) {
		return false
	}
	first := ""
	for i := range s.plan.targets {
		t := &s.plan.targets[i]
		if l := t.driver.LiteralsOf(t.options); l != nil && q.written.IsFor(t.driver.Name, l) {
			if first != "" && first != t.driver.Name {
				return true
			}
			first = t.driver.Name
		}
	}
	return false
}

// spread has a type whose answers differ in one repeat be verified in none.
func spread(found []decided) {
	for _, d := range found {
		for i := range found {
			if of := &found[i]; d.disagrees != "" && of.queryType == d.queryType {
				of.verdict, of.disagrees = result.Verdict{}, cmp.Or(of.disagrees, d.disagrees)
			}
		}
	}
}

// agree compares answers of a phase with those of targets of other systems to the same
// queries. Of two that differ nobody knows which one is right: then there is no verdict,
// and the first difference is returned.
func (x *compareStage) agree(q *typeQueries, p phase, answers []engine.Answered, progress func()) (v result.Verdict, differs string) {
	kind := x.run.Targets[slices.IndexFunc(x.run.Targets, func(t result.Target) bool { return t.Name == p.target })].Kind
	asked := &query.Query{Shape: query.Written{Ordered: q.written.Ordered}}
	for i := range answers {
		progress()
		a := &answers[i]
		key := x.keyOf(p, a)
		compared := false
		for j := range x.run.Targets {
			other := x.run.Targets[j].Name
			right := x.texts[key][other]
			if right == nil || x.run.Targets[j].Kind == kind { // which would agree with itself
				continue
			}
			compared = true
			expected, found := query.Answer{Rows: slices.Clone(right.Rows)}, query.Answer{Rows: slices.Clone(a.Answer.Rows)}
			answered := asked.Answered(&expected)
			if d := query.Compare(answered, answered.Columns(nil), &expected, &found); d != nil {
				return result.Verdict{}, fmt.Sprintf("query %d of %s and %s: %s", key.id, other, p.target, d)
			}
		}
		if !compared {
			continue
		}
		v.Checked++
		v.Rows += a.Rows
		if a.Rows == 0 {
			v.Empty++
		}
	}
	return v, ""
}

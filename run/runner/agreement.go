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

// rowCounts is how many rows the answers to queries had, and 1, by their ids; 0: it is
// not known.
type rowCounts []int64

// with returns the counts with one more.
func (c rowCounts) with(id int, rows int64) rowCounts {
	if id >= len(c) {
		c = append(c, make(rowCounts, id+1-len(c))...)
	}
	c[id] = rows + 1
	return c
}

// of returns how many rows the answer to a query had, if that is known.
func (c rowCounts) of(id int) (rows int64, known bool) {
	if id >= len(c) || c[id] == 0 {
		return 0, false
	}
	return c[id] - 1, true
}

// spread has a type whose answers differ in one repeat be verified in none.
func spread(found []decided) {
	for _, d := range found {
		for i := range found {
			if of := &found[i]; d.disagrees != "" && of.phase.queryType == d.phase.queryType {
				of.verdict, of.agreed, of.disagrees = result.Verdict{}, 0, cmp.Or(of.disagrees, d.disagrees)
			}
		}
	}
}

// agree compares answers of a phase with those of targets of other systems to the same
// queries: the sample row by row, all others by their number of rows. Of two that differ
// nobody knows which one is right: then there is no verdict, and the first difference
// stands in its place.
func (x *compareStage) agree(q *typeQueries, p phase, answers []engine.Answered, progress func()) decided {
	found := decided{phase: p}
	for i := range answers {
		a := &answers[i]
		if a.Answer != nil {
			progress()
		}
		compared, differs := x.agreeOn(q, p, a)
		switch {
		case differs != "":
			return decided{phase: p, disagrees: differs}
		case !compared:
		case a.Answer == nil:
			found.agreed++
		default:
			found.verdict.Checked++
			found.verdict.Rows += a.Rows
			if a.Rows == 0 {
				found.verdict.Empty++
			}
		}
	}
	if found.verdict.Checked == 0 { // numbers of rows alone verify nothing
		found.agreed = 0
	}
	return found
}

// agreeOn compares an answer with those of other systems to the same query. It reports
// whether there was any that it could be compared with, in full where it was taken.
func (x *compareStage) agreeOn(q *typeQueries, p phase, a *engine.Answered) (compared bool, differs string) {
	kind := x.kindOf(p.target)
	key := x.keyOf(p, a)
	asked := &query.Query{Shape: query.Written{Ordered: q.written.Ordered}}
	for j := range x.record.doc.Targets {
		other := x.record.doc.Targets[j].Name
		if x.kindOf(other) == kind { // which would agree with itself
			continue
		}
		if right := x.texts[key][other]; right != nil && a.Answer != nil {
			compared = true
			expected, found := query.Answer{Rows: slices.Clone(right.Rows)}, query.Answer{Rows: slices.Clone(a.Answer.Rows)}
			answered := asked.WithAnswer(&expected)
			if d := query.Compare(answered, answered.Columns(nil), &expected, &found); d != nil {
				return true, fmt.Sprintf("query %d of %s and %s: %s", key.id, other, p.target, d)
			}
		}
		if rows, known := x.rows[p.queryType][other].of(key.id); known {
			compared = compared || a.Answer == nil
			if rows != a.Rows {
				return true, fmt.Sprintf("query %d of %s and %s: %d and %d rows", key.id, other, p.target, rows, a.Rows)
			}
		}
	}
	return compared, ""
}

// kindOf is the driver of a target.
func (x *compareStage) kindOf(target string) string {
	return x.record.doc.Targets[slices.IndexFunc(x.record.doc.Targets, func(t result.Target) bool { return t.Name == target })].Driver
}

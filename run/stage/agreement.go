package stage

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
)

// rowCounts has 1 plus the number of rows in the answer to each query, by ID; 0: unknown.
type rowCounts []int64

// set returns the counts with another one added.
func (c rowCounts) set(id int, rows int64) rowCounts {
	if id >= len(c) {
		c = append(c, make(rowCounts, id+1-len(c))...)
	}
	c[id] = rows + 1
	return c
}

// get returns the number of rows in the answer to a query, if known.
func (c rowCounts) get(id int) (rows int64, known bool) {
	if id >= len(c) || c[id] == 0 {
		return 0, false
	}
	return c[id] - 1, true
}

// spread removes the verdicts of a type in all repeats if its answers differ in one.
func spread(found []decision) {
	for _, d := range found {
		for i := range found {
			if of := &found[i]; d.disagrees != "" && of.phase.QueryType == d.phase.QueryType {
				of.verdict, of.agreed, of.disagrees = result.Verdict{}, 0, cmp.Or(of.disagrees, d.disagrees)
			}
		}
	}
}

// agree compares answers of a phase with those of targets of other systems to the same queries: the
// sample row by row, all others by their number of rows. If two answers differ the correct one is
// unknown: then the decision has the first difference instead of a verdict.
func (x *Comparer) agree(q *plan.TypeQueries, p record.Phase, answers []engine.Answered, progress func()) decision {
	found := decision{phase: p}
	for i := range answers {
		a := &answers[i]
		if a.Answer != nil {
			progress()
		}
		compared, differs := x.agreeOn(q, p, a)
		switch {
		case differs != "":
			return decision{phase: p, disagrees: differs}
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

// agreeOn compares an answer with those of other systems to the same query. It reports whether
// there was an answer to compare with, in full if the answer was recorded.
func (x *Comparer) agreeOn(q *plan.TypeQueries, p record.Phase, a *engine.Answered) (compared bool, differs string) {
	kind := x.driverOf(p.Target)
	key := x.keyOf(p, a)
	ownQuery := &query.Query{Shape: query.Written{Ordered: q.OwnText.Ordered}}
	for j := range x.record.Doc.Targets {
		other := x.record.Doc.Targets[j].Name
		if x.driverOf(other) == kind { // a driver would agree with itself
			continue
		}
		if right := x.texts[key][other]; right != nil && a.Answer != nil {
			compared = true
			expected, found := query.Answer{Rows: slices.Clone(right.Rows)}, query.Answer{Rows: slices.Clone(a.Answer.Rows)}
			answered := ownQuery.WithAnswer(&expected)
			if d := query.Compare(answered, answered.Columns(nil), &expected, &found); d != nil {
				return true, fmt.Sprintf("query %d of %s and %s: %s", key.id, other, p.Target, d)
			}
		}
		if rows, known := x.rows[p.QueryType][other].get(key.id); known {
			compared = compared || a.Answer == nil
			if rows != a.Rows {
				return true, fmt.Sprintf("query %d of %s and %s: %d and %d rows", key.id, other, p.Target, rows, a.Rows)
			}
		}
	}
	return compared, ""
}

// driverOf returns the driver of a target.
func (x *Comparer) driverOf(target string) string {
	return x.record.Doc.Targets[slices.IndexFunc(x.record.Doc.Targets, func(t result.Target) bool { return t.Name == target })].Driver
}

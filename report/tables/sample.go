package tables

import (
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
)

// verdictText returns a verdict with the numbers of answers that were compared in full and of
// others whose rows were counted.
func verdictText(q *result.Queries) string {
	text := q.VerdictText()
	if q.By != "" && q.Verdict.OK() && q.CountedAnswers() == 0 {
		return text + " " + format.Count(int64(q.Verdict.Checked)) // others' rows are not known
	}
	if q.Verdict.OK() && q.Sample.Wanted > 0 {
		text += fmt.Sprintf(" %s + %s counted", format.Count(int64(q.Verdict.Checked)), format.Count(q.CountedAnswers()))
	}
	return text
}

// sampleNotes describe the errors that the comparison of a target's answers would have found, and
// name the types that ran the same queries again.
func sampleNotes(t *result.Target) []doc.Span {
	var list []doc.Span
	least, most, worst, early := 1.0, 0.0, "", 0
	var repeated, slow []string
	for i := range t.Queries {
		q := &t.Queries[i]
		if q.Sample.Repeated && q.Executed > 0 {
			repeated = append(repeated, fmt.Sprintf("%s (%s)", q.Type, format.Count(int64(q.Sample.Different))))
		}
		if q.TooSlow() {
			slow = append(slow, fmt.Sprintf("%s (%s)", q.Type, format.Count(int64(q.Sample.Different))))
		}
		found := q.DetectableShare()
		if found == 0 || !rank.HasFigures(q) {
			continue
		}
		early = max(early, q.Sample.Early)
		least = min(least, found)
		if found > most {
			most, worst = found, q.Type
		}
	}
	if most > 0 {
		text := fmt.Sprintf("verified: all answers of a random sample matched the expected ones; with 95%s%% probability it would find wrong answers if %s or more were wrong",
			format.UnitSpace, format.PercentUp(least))
		if most > least {
			text += fmt.Sprintf(" (%s of %s, the smallest sample)", format.PercentUp(most), worst)
		}
		text += ". counted: further answers, which had the expected number of rows."
		if early > 0 {
			text += fmt.Sprintf(" %s of each type that were compared before the measurement are not included.", format.Plural(early, "answer"))
		}
		list = append(list, doc.Dim(text))
	}
	if len(repeated) > 0 {
		list = append(list, doc.Dim("too few different queries to give each round its own: each round repeats them (different queries in brackets): "+strings.Join(repeated, ", ")))
	}
	if len(slow) > 0 {
		list = append(list, doc.Bad(fmt.Sprintf("too slow for this time box, no verdict: fewer than %d different queries have a time (their number in brackets): %s",
			result.LeastDifferent, strings.Join(slow, ", "))))
	}
	return list
}

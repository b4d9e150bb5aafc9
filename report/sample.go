package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/tsmark/tsmark/result"
)

// verdictText is a verdict, with how many answers were compared in full and of how
// many others the rows were counted.
func verdictText(q *result.Queries) string {
	text := q.VerdictText()
	if q.By != "" && q.Verdict.OK() && q.Counted() == 0 {
		return text + " " + count(int64(q.Verdict.Checked)) // others' rows are not known
	}
	if q.Verdict.OK() && q.Sample.Wanted > 0 {
		text += fmt.Sprintf(" %s + %s counted", count(int64(q.Verdict.Checked)), count(q.Counted()))
	}
	return text
}

// sampleNotes says what the comparison of a target's answers would have found, and
// which types ran the same queries again.
func sampleNotes(t *result.Target) []span {
	var list []span
	least, most, worst, early := 1.0, 0.0, "", 0
	var repeated, slow []string
	for i := range t.Queries {
		q := &t.Queries[i]
		if q.Sample.Repeated && q.Executed > 0 {
			repeated = append(repeated, fmt.Sprintf("%s (%s)", q.Type, count(int64(q.Sample.Different))))
		}
		if q.TooSlow() {
			slow = append(slow, fmt.Sprintf("%s (%s)", q.Type, count(int64(q.Sample.Different))))
		}
		found := q.Found()
		if found == 0 || !stands(q) {
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
			unitSpace, shareText(least))
		if most > least {
			text += fmt.Sprintf(" (%s of %s, the smallest sample)", shareText(most), worst)
		}
		text += ". counted: further answers, which had the expected number of rows."
		if early > 0 {
			text += fmt.Sprintf(" %s of each type that were compared before the measurement are not included.", plural(early, "answer"))
		}
		list = append(list, spanDim(text))
	}
	if len(repeated) > 0 {
		list = append(list, spanDim("too few different queries to give each round its own: each round repeats them (different queries in brackets): "+strings.Join(repeated, ", ")))
	}
	if len(slow) > 0 {
		list = append(list, spanBad(fmt.Sprintf("too slow for this time box, no verdict: fewer than %d different queries have a time (their number in brackets): %s",
			result.LeastDifferent, strings.Join(slow, ", "))))
	}
	return list
}

// shareText is a share, rounded up to what is not too good.
func shareText(share float64) string {
	p := 100 * share
	if p < 10 {
		return fmt.Sprintf("%.1f%s%%", math.Ceil(10*p)/10, unitSpace)
	}
	return fmt.Sprintf("%.0f%s%%", math.Ceil(p), unitSpace)
}

// leastRun is the smallest number of queries that a target recorded of a type
// that it ran, and of which type; -1: it ran none.
func leastRun(r *result.Run) (least int64, who string) {
	least = -1
	for i := range r.Targets {
		t := &r.Targets[i]
		for j := range t.Queries {
			q := &t.Queries[j]
			if different := int64(q.Sample.Different); different > 0 && !q.Sample.Repeated && (least < 0 || different < least) {
				least, who = different, q.Type+" of "+t.Name
			}
		}
	}
	return least, who
}

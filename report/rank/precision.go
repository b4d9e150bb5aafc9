package rank

import (
	"fmt"
	"math"
	"time"

	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
)

// moreTime is the additional time for queries whose effect reports estimate.
const moreTime = 5 * time.Minute

// precisionNotes names, for each run with a budget of queries, the median that is known least, and
// estimates what more time would bring.
func (g *Group) precisionNotes() (list []doc.Span) {
	for i := range g.Subjects {
		if r := g.Subjects[i].Run; r.Budget != nil && r.Status == result.Complete && (i == 0 || g.Subjects[i-1].Run != r) {
			if note := g.precisionNote(r); note != "" {
				list = append(list, doc.Dim(note))
			}
		}
	}
	return list
}

// precisionNote is precisionNotes for a run. It is empty if all medians are known well enough.
func (g *Group) precisionNote(r *result.Run) string {
	all, wide, seconds, widest, worst := 0, 0, 0.0, 0.0, ""
	for _, t := range g.Types() {
		isWide := false
		for i := range g.Subjects {
			s := &g.Subjects[i]
			if s.Run != r || s.isExcluded() || !estimate.Verified(s.Target, t.Key) {
				continue
			}
			reach := g.RankType(t.Key).Estimates[i].Reach()
			if math.IsInf(reach, 1) { // queries were cut off
				continue
			}
			all++
			if reach <= result.Precision {
				continue
			}
			wide++
			isWide = true
			if reach > widest {
				widest, worst = reach, t.Key+" on "+s.Label
			}
		}
		if isWide {
			seconds += measuredSeconds(r, t.Key)
		}
	}
	if wide == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %s not known within ±%.0f %%; the widest is %s, ±%.0f %%", wide, format.Plural(all, "median"), 100*result.Precision, worst, 100*widest)
	if rounds := r.Budget.Fixed + len(r.Budget.Further); rounds >= experiment.MostRounds {
		return text + fmt.Sprintf("; all %d rounds were run", rounds)
	}
	if seconds > 0 {
		// The time is divided among the wide types, and an interval narrows by the root of the number of rounds.
		narrower := math.Sqrt(seconds / (seconds + moreTime.Seconds()))
		total := moreTime + time.Duration(r.Budget.Seconds*float64(time.Second))
		text += fmt.Sprintf("; another %.0f minutes (--time %s) would give about ±%.0f %% (estimated by 1/√n)", moreTime.Minutes(), experiment.DurationText(total), 100*widest*narrower)
	}
	return text
}

// measuredSeconds returns the time for which a run measured a query type.
func measuredSeconds(r *result.Run, queryType string) (seconds float64) {
	for i := range r.Targets {
		for _, repeat := range r.Targets[i].MeasuredRepeats() {
			if q := repeat.Type(queryType); q != nil {
				seconds += q.To - q.From
			}
		}
	}
	return seconds
}

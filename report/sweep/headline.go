package sweep

import (
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/terms"
	"github.com/tsmark/tsmark/result"
)

// Answers are the first lines of a sweep's report: for each target, the best point
// by queries and by loads, its margin, and the differences that were not
// shown; of a ramp the knees; then the basis of these answers. It returns nil if fewer than two points have figures.
func Answers(runs []*result.Run) []doc.Span {
	if len(runs) < 2 {
		return nil
	}
	if ramps := newRamps(runs); len(ramps) > 0 {
		return rampAnswers(ramps)
	}
	d, same := sameDataset(runs)
	if !same {
		return []doc.Span{doc.Plain("The points differ in their data: figures say how a target scales, not which point is better")}
	}
	types := rank.CommonTypes(runs)
	var list []doc.Span
	for _, name := range rank.AllTargets(runs) {
		g := &rank.Group{Dataset: d}
		for _, r := range runs {
			t := rank.FindTarget(r, name)
			if t == nil || t.Failure != "" {
				continue
			}
			if why := terms.ReasonUnranked(t); why != "" {
				list = append(list, doc.Bad(name+" at "+pointLabel(r)+" is not ranked: "+why))
				continue
			}
			g.Subjects = append(g.Subjects, rank.Subject{Label: pointLabel(r), Name: pointLabel(r), Run: r, Target: t})
		}
		what, metric := compare.AllTypes, compare.GeoMean
		if len(types) == 1 { // a single type has no mean
			what, metric = types[0], compare.Median
		}
		for _, by := range []struct {
			what   string
			metric compare.Metric
			cost   func(*rank.Subject) float64
		}{
			{what, metric, func(s *rank.Subject) float64 { return meanOfTypes(s.Run, s.Target, types) }},
			{compare.LoadSubject, compare.Load, func(s *rank.Subject) float64 {
				if rank.SettledRate(s.Target.Load) <= 0 {
					return 0
				}
				return 1 / estimate.Load(s.Target, estimate.SettledRate).Median.Figure
			}},
		} {
			r := g.RankPoints(by.what, by.metric, by.cost)
			s := g.Places(&r, by.what)
			if s == nil {
				continue
			}
			if len(parameterPaths(runs)) > 1 {
				s.Places[0].Label += " (" + g.Subjects[r.Reference].Run.Parameters.String() + ")"
			}
			title := name + ", " + g.TimeName() + " of " + what + ": "
			switch by.metric {
			case compare.GeoMean:
				title = name + ", " + g.TimeName() + " over " + rank.TypeCount(&r) + ": "
			case compare.Load:
				title = name + ", load: "
			}
			text := fmt.Sprintf("%sno verdict between %d points: %s each", title, len(s.Places), r.MissingVerdict())
			if r.MissingVerdict() == "" {
				more := ""
				if n := len(s.Places); n > mostPoints {
					s.Places = slices.Delete(s.Places, mostPoints-1, n-1) // the best ones and the last
					more = fmt.Sprintf(" (of %d points)", n)
				}
				text = g.Answer(s, &r, title).Text + more
				if by.metric == compare.Load {
					text = format.Join("; ", text, g.UnequalDurability())
				}
			}
			// Intervals do not cover changes of the machine between two runs: a
			// point is never praised like the winner of a run.
			list = append(list, doc.Plain(text))
		}
	}
	if slices.ContainsFunc(list, func(n doc.Span) bool { return n.Tone != format.ToneBad }) {
		list = append(list, doc.Dim("The points ran one after the other: intervals and verdicts cover what differed between the rounds and loads of two runs, and not what changed on the machine from one run to the next."))
	}
	return list
}

// mostPoints is the maximum number of points that a sentence names.
const mostPoints = 5

// pointLabel names a point as its table does.
func pointLabel(r *result.Run) string {
	if len(r.Parameters) == 1 {
		return r.Parameters.String()
	}
	return fmt.Sprintf("point %d", r.Point)
}

// meanOfTypes returns the geometric mean of a target's medians of some query types; 0:
// it has no medians.
func meanOfTypes(r *result.Run, t *result.Target, types []string) float64 {
	var medians []float64
	for i := range t.Queries {
		if q := &t.Queries[i]; slices.Contains(types, q.Type) {
			medians = append(medians, estimate.Median(r, t, q).Median.Figure)
		}
	}
	if len(medians) == 0 {
		return 0
	}
	return stats.GeometricMean(medians)
}

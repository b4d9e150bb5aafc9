package report

import (
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/report/terms"
	"github.com/tsmark/tsmark/result"
)

// sweepAnswers are what a sweep's report says first: of each target, which point
// was the best by its queries and by its loads, by how much, and what was not
// shown; then what that rests on. Nil where fewer than two points have figures.
func sweepAnswers(runs []*result.Run) []span {
	if len(runs) < 2 {
		return nil
	}
	d, same := sameDataset(runs)
	if !same {
		return []span{spanPlain("The points differ in their data: figures say how a target scales, not which point is better")}
	}
	types := typesEverywhere(runs)
	var list []span
	for _, name := range targetsEverywhere(runs) {
		g := &group{dataset: d}
		for _, r := range runs {
			t := targetNamed(r, name)
			if t == nil || t.Failure != "" {
				continue
			}
			if why := terms.Unranked(t); why != "" {
				list = append(list, spanBad(name+" at "+pointLabel(r)+" is not ranked: "+why))
				continue
			}
			g.subjects = append(g.subjects, subject{pointLabel(r), pointLabel(r), r, t})
		}
		what, metric := compare.AllTypes, compare.GeoMean
		if len(types) == 1 { // of which there is no mean
			what, metric = types[0], compare.Median
		}
		for _, by := range []struct {
			what   string
			metric compare.Metric
			cost   func(*subject) float64
		}{
			{what, metric, func(s *subject) float64 { return sweptMean(s.run, s.target, types) }},
			{compare.LoadSubject, compare.Load, func(s *subject) float64 {
				if settledRate(s.target.Load) <= 0 {
					return 0
				}
				return 1 / estimate.Load(s.target, estimate.Settled).Median.Figure
			}},
		} {
			r := g.rankPoints(by.what, by.metric, by.cost)
			s := g.standings(&r, by.what)
			if s == nil {
				continue
			}
			if len(swept(runs)) > 1 {
				s.Places[0].Label += " (" + g.subjects[r.Reference].run.Parameters.String() + ")"
			}
			title := name + ", service time of " + what + ": "
			switch by.metric {
			case compare.GeoMean:
				title = name + ", service time over " + typesOf(&r) + ": "
			case compare.Load:
				title = name + ", load: "
			}
			text := fmt.Sprintf("%sno verdict between %d points: %s each", title, len(s.Places), r.untold())
			if r.untold() == "" {
				more := ""
				if n := len(s.Places); n > mostPoints {
					s.Places = slices.Delete(s.Places, mostPoints-1, n-1) // the best ones and the last
					more = fmt.Sprintf(" (of %d points)", n)
				}
				text = g.answer(s, &r, title).Text + more
			}
			// What changed on the machine between two runs no interval covers: a
			// point is never praised as the winner of a run is.
			list = append(list, spanPlain(text))
		}
	}
	if slices.ContainsFunc(list, func(n span) bool { return n.Tone != toneBad }) {
		list = append(list, spanDim("The points ran one after the other: intervals and verdicts cover what differed between the rounds and loads of two runs, and not what changed on the machine from one run to the next."))
	}
	return list
}

// mostPoints are as many as a sentence names.
const mostPoints = 5

// pointLabel names a point as its table does.
func pointLabel(r *result.Run) string {
	if len(r.Parameters) == 1 {
		return r.Parameters.String()
	}
	return fmt.Sprintf("point %d", r.Point)
}

// untold is why there is no verdict on any of a ranking's figures; empty: there
// is one on some.
func (r *ranking) untold() (why string) {
	for _, f := range r.Figures {
		if f != nil && f.Verdict != compare.CannotTell {
			return ""
		}
		if f != nil {
			why = noVerdict(f)
		}
	}
	return why
}

// rankPoints sets all points against the one of least cost. Each is compared
// with that one alone: with every other one as well, a sweep of a hundred points
// would take minutes. A cost of 0 is none.
func (g *group) rankPoints(what string, metric compare.Metric, cost func(*subject) float64) ranking {
	out := ranking{Reference: -1, Figures: make([]*compare.Figure, len(g.subjects)), Sole: true}
	costs := make([]float64, len(g.subjects))
	for i := range g.subjects {
		if costs[i] = cost(&g.subjects[i]); costs[i] > 0 && (out.Reference < 0 || costs[i] < costs[out.Reference]) {
			out.Reference = i
		}
	}
	for i := range g.subjects {
		if i == out.Reference || costs[i] == 0 {
			continue
		}
		a, b := out.Reference, i
		if metric == compare.Load { // more rows a second are better
			a, b = b, a
		}
		c, _ := compare.Runs(g.side(a), g.side(b), compare.Options{AnyTerms: true})
		if f := figureOf(c, what, metric); f != nil && f.MissingA == "" && f.MissingB == "" && f.Ratio.Bound != stats.Unknown {
			out.Figures[i] = f
		}
		out.Sole = out.Sole && out.Figures[i] != nil && out.Figures[i].Significant() && out.Figures[i].Ratio.Figure > 1
	}
	return out
}

// sweptMean is the geometric mean of a target's medians of some query types; 0:
// it has none.
func sweptMean(r *result.Run, t *result.Target, types []string) float64 {
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

package report

import (
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/store"
)

// StoreFigures derives the figures that the store's views show of a run: those of its
// tables, so that a dashboard and a report agree. Its answer has no signs of disturbances, which
// lists of runs do not explain.
func StoreFigures(r *result.Run) store.Figures {
	g := rank.NewGroup(r)
	figures := store.Figures{Answer: answer(g), Queries: []store.QueryFigure{}, Loads: []store.LoadFigure{}}
	for _, sign := range []string{rank.BoundMark, rank.NoisyMark} {
		figures.Answer = strings.ReplaceAll(figures.Answer, sign, "")
	}
	for i := range r.Targets {
		t := &r.Targets[i]
		if t.Load != nil {
			f := storedLoad(g, i, t.Load)
			f.Verdict, f.Why = storedVerdict(t, f.Verdict, f.Why, f.Rate != nil)
			figures.Loads = append(figures.Loads, f)
		}
		for j := range t.Queries {
			f := storedQuery(g, i, &t.Queries[j])
			f.Verdict, f.Why = storedVerdict(t, f.Verdict, f.Why, f.Median != nil)
			figures.Queries = append(figures.Queries, f)
		}
	}
	return figures
}

// answer is the first sentence of the report about a group; empty: it has no measurements.
func answer(g *rank.Group) string {
	if all := answers(g); len(all) > 0 {
		return all[0]
	}
	return ""
}

func answers(g *rank.Group) (all []string) {
	if h := rank.NewHeadline(g); h != nil {
		for _, a := range h.Answers {
			all = append(all, a.Text)
		}
	}
	return all
}

// storedVerdict returns the verdict on a figure and the reason: queries of the views for
// verified figures must not compare a stand-in with other targets.
func storedVerdict(t *result.Target, verdict, why string, figure bool) (string, string) {
	if what := t.Description.StandIn; what != "" && figure {
		return "stand-in", what
	}
	return verdict, why
}

func storedQuery(g *rank.Group, subject int, q *result.Queries) store.QueryFigure {
	f := store.QueryFigure{Target: g.Subjects[subject].Name, Type: q.Type, Verdict: q.VerdictText(), Workers: q.Workers}
	switch {
	case q.WithoutFigure() || !rank.HasFigures(q):
		f.Verdict, f.Why = q.MissingFigure()
	default:
		e := g.RankType(q.Type).Estimates[subject]
		f.Median, f.Bound, f.Low, f.High, f.Level = toColumns(&e)
		f.Rounds, f.Executed, f.Max, f.Rate = e.N, q.Executed, &q.Time().Max, &q.PerSecond
		if q.Time().Holds(0.99) {
			f.P99 = &q.Time().P99
		}
	}
	return f
}

func storedLoad(g *rank.Group, subject int, l *result.Load) store.LoadFigure {
	f := store.LoadFigure{Target: g.Subjects[subject].Name, Verdict: "verified", Rows: l.AllRows(), Workers: l.Workers, Batch: l.BatchSize}
	switch {
	case !l.HasFigures():
		f.Verdict, f.Why = l.Word(), l.Reason()
		return f
	case l.Unverified != "":
		f.Verdict, f.Why = "not verified", l.Unverified
	}
	e := g.RankLoads().Estimates[subject]
	f.Rate, _, f.Low, f.High, f.Level = toColumns(&e) // rates have no bounds
	f.Loads = e.N
	if disk := l.Disk(); disk >= 0 {
		f.Disk = &disk
	}
	return f
}

// toColumns returns an estimate as columns. Unknown values are nil. If only a bound of a
// figure is known, the median is that bound, and the column bound
// names its kind.
func toColumns(e *stats.Estimate) (median *float64, bound string, low, high, level *float64) {
	if e.N == 0 {
		return nil, "", nil, nil, nil
	}
	known := func(v stats.Value) *float64 {
		if v.Bound == stats.Unknown {
			return nil
		}
		return &v.Figure
	}
	if i := e.Interval; i != nil {
		low, high, level = known(i.Lo), known(i.Hi), &i.Level
	}
	return known(e.Median), string(e.Median.Bound), low, high, level
}

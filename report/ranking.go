package report

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/report/terms"
	"github.com/tsmark/tsmark/result"
)

// ranking is what a group's subjects come to in one figure: a query type's
// median, the loads' settled rate, or the geometric mean over the types.
type ranking struct {
	// Estimates are those of all subjects; the N of one without a figure is 0.
	Estimates []stats.Estimate
	// Reference is the subject that the others' ratios are to: the best one of
	// those that no other was shown to beat; -1: fewer than two can be compared.
	Reference int
	// Figures have, of each subject, how many times the reference it is, so that
	// more is worse; nil: the reference itself, or not compared.
	Figures []*compare.Figure
	// Sole reports whether the reference was shown to be better than every
	// other one. If it was not, nobody is the best.
	Sole bool
}

// unranked is why a subject has no place beside others: it failed, or see
// terms.Unranked; empty: nothing keeps it out.
func (g *group) unranked(i int) string {
	t := g.subjects[i].target
	if t.Failure != "" {
		return "failed"
	}
	return terms.Unranked(t)
}

// rankType is the ranking of a query type.
func (g *group) rankType(queryType string) ranking {
	return g.once(queryType, func() ranking { return g.rankTypeAnew(queryType) })
}

// once remembers a ranking.
func (g *group) once(what string, rank func() ranking) ranking {
	known, ok := g.judged[what]
	if !ok {
		known = rank()
		if g.judged == nil {
			g.judged = make(map[string]ranking)
		}
		g.judged[what] = known
	}
	return known
}

func (g *group) rankTypeAnew(queryType string) ranking {
	estimates := g.estimates(queryType)
	return g.rank(queryType, compare.Median, estimates, func(i int) (compared, best bool) {
		s := &g.subjects[i]
		if g.unranked(i) != "" || estimates[i].N == 0 || !estimate.Verified(s.target, queryType) || s.queries(queryType).TooSlow() {
			return false, false
		}
		return true, estimates[i].Median.Bound == stats.Exact && s.queries(queryType).AtLeast == 0
	})
}

// rankLoads is the ranking of the loads that stand.
func (g *group) rankLoads() ranking { return g.once(compare.LoadSubject, g.rankLoadsAnew) }

func (g *group) rankLoadsAnew() ranking {
	estimates := make([]stats.Estimate, len(g.subjects))
	for i, s := range g.subjects {
		if settledRate(s.target.Load) > 0 {
			estimates[i] = estimate.Load(s.target, estimate.Settled)
		}
	}
	return g.rank(compare.LoadSubject, compare.Load, estimates, func(i int) (compared, best bool) {
		return estimates[i].N > 0 && g.unranked(i) == "", true
	})
}

// rankOverall is the ranking by the geometric mean over all query types that two
// subjects have in common. It has ratios alone, no estimates.
func (g *group) rankOverall() ranking { return g.once(compare.AllTypes, g.rankOverallAnew) }

func (g *group) rankOverallAnew() ranking {
	out := ranking{Estimates: make([]stats.Estimate, len(g.subjects)), Reference: -1, Figures: make([]*compare.Figure, len(g.subjects))}
	// than is how many times as long subject i takes as subject by.
	than := func(i, by int) *compare.Figure {
		if g.unranked(i) != "" || g.unranked(by) != "" {
			return nil
		}
		f := g.figure(by, i, compare.AllTypes, compare.GeoMean)
		if f == nil || f.MissingA != "" || f.MissingB != "" || f.Ratio.Bound == stats.Unknown {
			return nil
		}
		return f
	}
	// The reference is one that no other was shown to beat, and whose own times are
	// known, not cut off; of several the one that is ahead of most others.
	best := [2]int{math.MinInt, math.MinInt}
	for i := range g.subjects {
		compared, cutOff, unbeaten, ahead := false, false, 1, 0
		for by := range g.subjects {
			f := than(i, by)
			if i == by || f == nil {
				continue
			}
			compared = true
			if f.Ratio.Bound == stats.AtLeast {
				cutOff = true
			}
			if f.Significant() && f.Ratio.Figure > 1 {
				unbeaten = 0
			}
			ahead += cmp.Compare(1, f.Ratio.Figure)
		}
		if score := [2]int{unbeaten, ahead}; compared && !cutOff && slices.Compare(score[:], best[:]) > 0 {
			out.Reference, best = i, score
		}
	}
	if out.Reference < 0 {
		return out
	}
	out.Sole = true
	for i := range g.subjects {
		if i == out.Reference {
			continue
		}
		if f := than(i, out.Reference); f != nil {
			out.Figures[i] = f
			out.Sole = out.Sole && f.Significant() && f.Ratio.Figure > 1
		}
	}
	return out
}

// rank sets the subjects against each other. Who says of one whether it takes
// part, and whether it can be the best.
func (g *group) rank(what string, metric compare.Metric, estimates []stats.Estimate, who func(int) (compared, best bool)) ranking {
	out := ranking{Estimates: estimates, Reference: -1, Figures: make([]*compare.Figure, len(g.subjects))}
	var all, candidates []int
	for i := range g.subjects {
		takesPart, best := who(i)
		if takesPart {
			all = append(all, i)
		}
		if takesPart && best {
			candidates = append(candidates, i)
		}
	}
	slices.SortStableFunc(candidates, func(i, j int) int {
		order := cmp.Compare(estimates[i].Median.Figure, estimates[j].Median.Figure)
		if metric == compare.Load {
			return -order
		}
		return order
	})
	worse := func(i, than int) *compare.Figure {
		if metric == compare.Load { // more rows a second are better
			i, than = than, i
		}
		return g.figure(than, i, what, metric)
	}
	compared := func(f *compare.Figure) bool { return f != nil && f.MissingA == "" && f.MissingB == "" }
	candidates = slices.DeleteFunc(candidates, func(i int) bool {
		return !slices.ContainsFunc(all, func(by int) bool { return by != i && compared(worse(i, by)) })
	})
	if len(candidates) == 0 {
		return out
	}
	beaten := func(i int) bool {
		return slices.ContainsFunc(all, func(by int) bool {
			if by == i {
				return false
			}
			f := worse(i, by)
			return f != nil && f.Significant() && f.Ratio.Figure > 1
		})
	}
	out.Reference = candidates[max(0, slices.IndexFunc(candidates, func(i int) bool { return !beaten(i) }))]
	out.Sole = true
	for _, i := range all {
		if i == out.Reference {
			continue
		}
		f := worse(i, out.Reference)
		if !compared(f) {
			f = nil
		}
		out.Figures[i] = f
		out.Sole = out.Sole && f != nil && f.Significant() && f.Ratio.Figure > 1
	}
	return out
}

// Words of a ratio that shows no difference.
const (
	tie        = "tie"
	chanceMark = "~" // stands before a ratio that was not shown to differ from 1
)

// beside is the cell that stands beside a subject's figure: how many times the
// best it is. What was not shown to differ says so, and nothing then is the
// best.
func (r *ranking) beside(i int) span {
	if i == r.Reference {
		if r.Sole {
			return spanBest(ratio(1))
		}
		compared, ahead := false, true
		for _, f := range r.Figures {
			switch {
			case f == nil:
			case f.Verdict == compare.CannotTell:
				return spanDim(noVerdict(f))
			case f.Ratio.Bound != stats.Unknown:
				compared, ahead = true, ahead && f.Significant() && f.Ratio.Figure > 1
			}
		}
		switch {
		case !compared:
			return span{}
		case ahead: // of all that it is compared with, which are not all
			return spanDim(ratio(1))
		}
		return spanDim(tie)
	}
	f := r.Figures[i]
	switch {
	case f == nil || f.Ratio.Bound == stats.Unknown:
		return span{}
	case f.Significant():
		return spanPlain(f.Ratio.Mark() + ratio(f.Ratio.Figure))
	case f.Ratio.Figure < 1.005 && f.Verdict == compare.CannotTell:
		return spanDim(noVerdict(f)) // 1.00× would read as the best
	case f.Ratio.Figure < 1.005:
		return spanDim(tie) // to the digits shown, not even the ratio says that it is worse
	}
	return spanDim(chanceMark + f.Ratio.Mark() + ratio(f.Ratio.Figure))
}

// verdict is what was shown of a subject, in words: best, worse, tie, or why
// there is no verdict; better than the reference it is only in a circle.
func (r *ranking) verdict(i int) string {
	if i != r.Reference {
		switch f := r.Figures[i]; {
		case f.Ratio.Bound == stats.Unknown && f.Verdict != compare.CannotTell:
			return "no verdict: not known"
		case f.Significant() && f.Ratio.Figure > 1:
			return "worse"
		case f.Significant(): // of three that beat each other in a circle
			return "better"
		case f.Verdict == compare.CannotTell:
			return "no verdict: " + noVerdict(f)
		}
		return tie
	}
	if r.Sole {
		return string(toneBest)
	}
	switch text := r.beside(i).Text; text {
	case tie:
		return tie
	case "":
		return "no verdict: not known"
	case ratio(1):
		return "no verdict: not compared with all"
	default:
		return "no verdict: " + text
	}
}

// noVerdict is why there is no verdict, in a cell's width.
func noVerdict(f *compare.Figure) string {
	what := "round"
	if f.Subject == compare.LoadSubject {
		what = "load"
	}
	switch {
	case f.Cause != compare.OneRepeat && f.Cause != compare.TooFewRepeats:
		return strings.Replace(string(f.Cause), "repeat", what, 1)
	case f.Method == compare.WithinRepeat || max(f.A.N, f.B.N) == 1:
		return "1 " + what
	}
	return "too few " + what + "s"
}

// estimates returns the estimate of a type of each subject: of the verified
// ones over the queries that all of them have.
func (g *group) estimates(queryType string) []stats.Estimate {
	list := make([]stats.Estimate, len(g.subjects))
	for i, sample := range g.samples(queryType) {
		switch q := g.subjects[i].queries(queryType); {
		case q == nil:
		case len(sample) == 0:
			list[i] = estimate.Median(g.subjects[i].run, g.subjects[i].target, q)
		default:
			list[i] = sample.Median()
		}
	}
	return list
}

// samples returns the common queries of a type of each subject: those that all have who
// have the same queries of it.
func (g *group) samples(queryType string) []estimate.Sample {
	if known, ok := g.sampled[queryType]; ok {
		return known
	}
	list := make([]estimate.Sample, len(g.subjects))
	var alike [][]int // subjects that have queries in common to look for
	for i, s := range g.subjects {
		list[i] = estimate.Of(s.run, s.target, queryType)
		if s.apart() || len(list[i]) == 0 || !estimate.Verified(s.target, queryType) {
			continue
		}
		at := slices.IndexFunc(alike, func(of []int) bool {
			return result.AlikeQueries(g.subjects[of[0]].run, s.run, queryType)
		})
		if at < 0 {
			at, alike = len(alike), append(alike, nil)
		}
		alike[at] = append(alike[at], i)
	}
	for _, of := range alike {
		together := make([]estimate.Sample, len(of))
		for n, i := range of {
			together[n] = list[i]
		}
		for n, aligned := range estimate.Align(together...) {
			list[of[n]] = aligned
		}
	}
	if g.sampled == nil {
		g.sampled = make(map[string][]estimate.Sample)
	}
	g.sampled[queryType] = list
	return list
}

// pair compares two subjects; nil where nothing can be compared.
func (g *group) pair(a, b int) *compare.Comparison {
	key := [2]int{a, b}
	c, known := g.pairs[key]
	if !known {
		var beside []compare.Side
		for i := range g.subjects {
			beside = append(beside, g.side(i))
		}
		c, _ = compare.Runs(g.side(a), g.side(b), compare.Options{Beside: beside, ByType: true})
		if g.pairs == nil {
			g.pairs = make(map[[2]int]*compare.Comparison)
		}
		g.pairs[key] = c
	}
	return c
}

func (g *group) side(i int) compare.Side {
	return compare.Side{Runs: []*result.Run{g.subjects[i].run}, Target: g.subjects[i].target.Name}
}

// figure returns how a figure of one subject compares with another's; nil where
// it cannot.
func (g *group) figure(a, b int, what string, metric compare.Metric) *compare.Figure {
	return figureOf(g.pair(a, b), what, metric)
}

// figureOf is a figure of a comparison of two targets; nil where it has none.
func figureOf(c *compare.Comparison, what string, metric compare.Metric) *compare.Figure {
	if c == nil {
		return nil
	}
	for i := range c.Targets[0].Figures {
		if f := &c.Targets[0].Figures[i]; f.Subject == what && f.Metric == metric {
			return f
		}
	}
	return nil
}

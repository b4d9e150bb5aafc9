package rank

import (
	"cmp"
	"math"
	"slices"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/terms"
	"github.com/tsmark/tsmark/result"
)

// Ranking compares a group's subjects in one figure: a query type's
// median, the loads' settled rate, or the geometric mean over the types.
type Ranking struct {
	// Estimates are those of all subjects; the N of one without a figure is 0.
	Estimates []stats.Estimate
	// Reference is the subject that the others' ratios refer to: the best one among the
	// subjects that no other was shown to beat; -1: fewer than two can be compared.
	Reference int
	// Figures hold each subject's multiple of the reference, so that
	// more is worse; nil: the reference itself, or not compared.
	Figures []*compare.Figure
	// Sole reports whether the reference was shown to be better than every
	// other one. If it was not, there is no best subject.
	Sole bool
}

// ReasonUnranked returns why a subject is not ranked: it failed, or see
// terms.ReasonUnranked. It is empty if the subject is ranked.
func (g *Group) ReasonUnranked(i int) string {
	t := g.Subjects[i].Target
	if t.Failure != "" {
		return "failed"
	}
	return terms.ReasonUnranked(t)
}

// RankType is the ranking of a query type.
func (g *Group) RankType(queryType string) Ranking {
	return g.remember(queryType, func() Ranking { return g.computeTypeRanking(queryType) })
}

// remember remembers a ranking.
func (g *Group) remember(what string, rank func() Ranking) Ranking {
	known, ok := g.judged[what]
	if !ok {
		known = rank()
		if g.judged == nil {
			g.judged = make(map[string]Ranking)
		}
		g.judged[what] = known
	}
	return known
}

func (g *Group) computeTypeRanking(queryType string) Ranking {
	estimates := g.estimates(queryType)
	return g.rank(queryType, compare.Median, estimates, func(i int) (compared, best bool) {
		s := &g.Subjects[i]
		if g.ReasonUnranked(i) != "" || estimates[i].N == 0 || !estimate.Verified(s.Target, queryType) || s.Queries(queryType).TooSlow() || s.Queries(queryType).ReasonUncompared() != "" {
			return false, false
		}
		return true, estimates[i].Median.Bound == stats.Exact && s.Queries(queryType).AtLeast == 0
	})
}

// RankLoads returns the ranking of the valid loads.
func (g *Group) RankLoads() Ranking { return g.remember(compare.LoadSubject, g.computeLoadRanking) }

func (g *Group) computeLoadRanking() Ranking {
	estimates := make([]stats.Estimate, len(g.Subjects))
	for i, s := range g.Subjects {
		if SettledRate(s.Target.Load) > 0 {
			estimates[i] = estimate.Load(s.Target, estimate.SettledRate)
		}
	}
	return g.rank(compare.LoadSubject, compare.Load, estimates, func(i int) (compared, best bool) {
		return estimates[i].N > 0 && g.ReasonUnranked(i) == "", true
	})
}

// RankOverall is the ranking by the geometric mean over all query types that two
// subjects have in common. It has ratios alone, no estimates.
func (g *Group) RankOverall() Ranking { return g.remember(compare.AllTypes, g.computeOverallRanking) }

func (g *Group) computeOverallRanking() Ranking {
	out := Ranking{Estimates: make([]stats.Estimate, len(g.Subjects)), Reference: -1, Figures: make([]*compare.Figure, len(g.Subjects))}
	// than returns subject i's time as a multiple of subject by's.
	than := func(i, by int) *compare.Figure {
		if g.ReasonUnranked(i) != "" || g.ReasonUnranked(by) != "" {
			return nil
		}
		f := g.Figure(by, i, compare.AllTypes, compare.GeoMean)
		if f == nil || f.MissingA != "" || f.MissingB != "" || f.Ratio.Bound == stats.Unknown {
			return nil
		}
		return f
	}
	// The reference is one that no other was shown to beat, and whose own times are
	// known, not cut off; of several the one that is ahead of most others.
	best := [2]int{math.MinInt, math.MinInt}
	for i := range g.Subjects {
		compared, cutOff, unbeaten, ahead := false, false, 1, 0
		for by := range g.Subjects {
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
	for i := range g.Subjects {
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
func (g *Group) rank(what string, metric compare.Metric, estimates []stats.Estimate, who func(int) (compared, best bool)) Ranking {
	out := Ranking{Estimates: estimates, Reference: -1, Figures: make([]*compare.Figure, len(g.Subjects))}
	var all, candidates []int
	for i := range g.Subjects {
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
		if rises(metric) {
			return -order
		}
		return order
	})
	worse := func(i, than int) *compare.Figure {
		if rises(metric) {
			i, than = than, i
		}
		return g.Figure(than, i, what, metric)
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

// rises reports whether more is better: rows a second.
func rises(metric compare.Metric) bool { return metric == compare.Load || metric == compare.Acked }

// ratioCell is the cell beside a subject's figure: its multiple of the best figure.
// Without a proven difference the cell says so, and no subject is the
// best.
func (r *Ranking) ratioCell(i int) doc.Span {
	if i == r.Reference {
		if r.Sole {
			return doc.Best(format.Ratio(1))
		}
		compared, ahead := false, true
		for _, f := range r.Figures {
			switch {
			case f == nil:
			case f.Verdict == compare.NoVerdict:
				return doc.Dim(NoVerdict(f))
			case f.Ratio.Bound != stats.Unknown:
				compared, ahead = true, ahead && f.Significant() && f.Ratio.Figure > 1
			}
		}
		switch {
		case !compared:
			return doc.Span{}
		case ahead: // of all that it is compared with, which are not all
			return doc.Dim(format.Ratio(1))
		}
		return doc.Dim(ChanceMark + format.Ratio(1))
	}
	f := r.Figures[i]
	switch {
	case f == nil || f.Ratio.Bound == stats.Unknown:
		return doc.Span{}
	case f.Significant():
		return doc.Plain(f.Ratio.Mark() + format.Ratio(f.Ratio.Figure))
	case f.Ratio.Figure < 1.005 && f.Verdict == compare.NoVerdict:
		return doc.Dim(NoVerdict(f)) // 1.00× would read as the best
	}
	return doc.Dim(ChanceMark + f.Ratio.Mark() + format.Ratio(f.Ratio.Figure))
}

// Verdict returns the verdict on a subject in words: best, worse, tie, or the reason
// for having no verdict. A subject better than the reference exists only in a circle.
func (r *Ranking) Verdict(i int) string {
	if i != r.Reference {
		switch f := r.Figures[i]; {
		case f.Ratio.Bound == stats.Unknown && f.Verdict != compare.NoVerdict:
			return "no verdict: not known"
		case f.Significant() && f.Ratio.Figure > 1:
			return "worse"
		case f.Significant(): // of three that beat each other in a circle
			return "better"
		case f.Verdict == compare.NoVerdict:
			return "no verdict: " + NoVerdict(f)
		}
		return Tie
	}
	if r.Sole {
		return string(format.ToneBest)
	}
	switch text := r.ratioCell(i).Text; text {
	case ChanceMark + format.Ratio(1):
		return Tie
	case "":
		return "no verdict: not known"
	case format.Ratio(1):
		return "no verdict: not compared with all"
	default:
		return "no verdict: " + text
	}
}

// estimates returns the estimate of a type of each subject: of the verified
// ones over the queries that all of them have.
func (g *Group) estimates(queryType string) []stats.Estimate {
	list := make([]stats.Estimate, len(g.Subjects))
	for i, sample := range g.Samples(queryType) {
		switch q := g.Subjects[i].Queries(queryType); {
		case q == nil:
		case len(sample) == 0:
			list[i] = estimate.Median(g.Subjects[i].Run, g.Subjects[i].Target, q)
		default:
			list[i] = sample.Median()
		}
	}
	return list
}

// Samples returns the common queries of a type of each subject: common to all subjects that
// have the same queries of it.
func (g *Group) Samples(queryType string) []estimate.Sample {
	if known, ok := g.sampled[queryType]; ok {
		return known
	}
	list := make([]estimate.Sample, len(g.Subjects))
	var alike [][]int // subjects that have queries in common to look for
	for i, s := range g.Subjects {
		list[i] = estimate.CommonSample(s.Run, s.Target, queryType)
		if s.isExcluded() || len(list[i]) == 0 || !estimate.Verified(s.Target, queryType) {
			continue
		}
		at := slices.IndexFunc(alike, func(of []int) bool {
			return result.AlikeQueries(g.Subjects[of[0]].Run, s.Run, queryType)
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

// pair compares two subjects. It returns nil if nothing can be compared.
func (g *Group) pair(a, b int) *compare.Comparison {
	key := [2]int{a, b}
	c, known := g.pairs[key]
	if !known {
		var beside []compare.Side
		for i := range g.Subjects {
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

func (g *Group) side(i int) compare.Side {
	return compare.Side{Runs: []*result.Run{g.Subjects[i].Run}, Target: g.Subjects[i].Target.Name}
}

// Figure compares a figure of one subject with another's. It returns nil if
// it cannot.
func (g *Group) Figure(a, b int, what string, metric compare.Metric) *compare.Figure {
	return FindFigure(g.pair(a, b), what, metric)
}

package rank

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/terms"
	"github.com/tsmark/tsmark/result"
)

// NewHeadline returns the headline of a group, or nil if it has no measurements.
func NewHeadline(g *Group) *doc.Headline {
	overall, what := g.RankOverall(), compare.AllTypes
	over := GeometricMean + TypeCount(&overall)
	if types := g.Types(); len(types) == 1 { // a single type has no mean
		what, over = types[0].Key, types[0].Key
		overall = g.RankType(what)
	}
	loads := g.RankLoads()
	h := &doc.Headline{Queries: g.Places(&overall, what), Loads: g.Places(&loads, compare.LoadSubject)}
	if h.Queries != nil {
		h.Queries.Title, h.Queries.Help = format.Capital(g.TimeName())+", relative to the fastest", over+"; shorter is better"
		prefix := ""
		if g.TimeName() == ResponseTime {
			prefix = "Response time: "
		}
		h.Answers = append(h.Answers, g.Answer(h.Queries, &overall, prefix))
		if text := g.ByType(); text != "" {
			h.Answers = append(h.Answers, doc.Plain(text))
		}
	}
	proven, provenPlaces := g.provenAnswers()
	if proven != nil {
		h.Loads = provenPlaces
	} else if h.Loads != nil {
		h.Loads.Title, h.Loads.Help = "Time of the load, relative to the fastest", "until all rows were visible; shorter is better"
		answer := g.Answer(h.Loads, &loads, "Load: ")
		answer.Text = format.Join("; ", answer.Text, loadTerms(g.rankedSides()))
		h.Answers = append(h.Answers, answer)
	}
	if len(h.Answers) == 0 && (proven == nil || len(g.Subjects) == 1) {
		h.Answers = g.single()
	}
	h.Answers = append(h.Answers, proven...)
	h.Answers = slices.Concat(g.saturatedNotes(), g.unrankedNotes(len(h.Answers) > 0), g.rateNotes(), h.Answers)
	if len(h.Answers) == 0 {
		return nil
	}
	h.Answers = slices.Concat(h.Answers, g.mixedNotes(), g.staleNotes(), g.unequalTerms(h.Loads == nil), g.precisionNotes())
	h.Basis = slices.DeleteFunc([]string{g.standInFact(), g.importedFact(), g.verifiedFact(), g.failedFact(), g.repeatsFact(), g.versionsFact(), g.shortDataset(), g.durabilityFact(), g.shortHosts(), g.agentsFact()},
		func(s string) bool { return s == "" })
	h.Noise = g.noiseFact()
	return h
}

// TypeCount returns the number of query types behind the ratios of a ranking: the types
// that the best subject and another one have in common.
func TypeCount(overall *Ranking) string {
	least, most := overall.types()
	if least < most {
		return fmt.Sprintf("%d to %d query types that both answered", least, most)
	}
	return format.Plural(most, "query type")
}

// types returns the minimum and maximum number of query types behind the ratios.
func (r *Ranking) types() (least, most int) {
	least = math.MaxInt
	for _, f := range r.Figures {
		if f != nil {
			least, most = min(least, f.Types), max(most, f.Types)
		}
	}
	return least, most
}

// Places puts the subjects of a ranking in order, the reference first. It returns nil
// if no two are compared.
func (g *Group) Places(r *Ranking, what string) *doc.Ranking {
	if r.Reference < 0 {
		return nil
	}
	least, most := r.types()
	beside := r.ratioCell(r.Reference)
	first := doc.Place{Subject: r.Reference, Times: 1, Text: beside.Text, Tone: beside.Tone, Verdict: r.Verdict(r.Reference)}
	var others []doc.Place
	for i, f := range r.Figures {
		if f == nil || f.Ratio.Bound == stats.Unknown {
			continue
		}
		p := doc.Place{Subject: i, Times: f.Ratio.Figure, Bound: f.Ratio.Bound, Text: r.ratioCell(i).Text, Within: BracketedInterval(f), Verdict: r.Verdict(i)}
		if f.Method == compare.AcrossRepeats {
			p.Interval = f.Interval
		}
		if least < most {
			p.Within += ", " + format.Plural(f.Types, "type")
		}
		if !f.Significant() || f.Ratio.Figure <= 1 {
			p.Tone = format.ToneDim
		}
		others = append(others, p)
	}
	if len(others) == 0 {
		return nil
	}
	slices.SortStableFunc(others, func(a, b doc.Place) int { return cmp.Compare(a.Times, b.Times) })
	s := &doc.Ranking{Places: append([]doc.Place{first}, others...)}
	for i := range s.Places {
		p := &s.Places[i]
		p.Label, p.Marks = g.Subjects[p.Subject].Label, Marks(g.Subjects[p.Subject].Target, what)
		p.Within += p.Marks
	}
	return s
}

// mostInSentence is the number of subjects whose ratios a sentence can carry. The intervals of more
// are in the ranking below it.
const mostInSentence = 4

// Answer returns the sentence about the ranking: which subjects were shown to be faster than
// which, and between which no difference was shown.
func (g *Group) Answer(s *doc.Ranking, r *Ranking, prefix string) doc.Span {
	name := func(p doc.Place) string { return p.Label + p.Marks }
	first := name(s.Places[0])
	many := len(s.Places) > mostInSentence
	interval := func(f *compare.Figure) string {
		if many {
			return ""
		}
		return BracketedInterval(f)
	}
	least, most := stats.Value{Figure: math.Inf(1)}, stats.Value{}
	var ahead, behind, level, noVerdict, why []string
	for _, p := range s.Places[1:] {
		f := r.Figures[p.Subject]
		switch {
		case f.Significant() && f.Ratio.Figure > 1:
			if f.Ratio.Figure < least.Figure {
				least = f.Ratio
			}
			if f.Ratio.Figure > most.Figure {
				most = f.Ratio
			}
			if many {
				ahead = append(ahead, name(p))
			} else {
				ahead = append(ahead, f.Ratio.Mark()+format.Ratio(f.Ratio.Figure)+" faster than "+name(p)+interval(f))
			}
		case f.Significant(): // of three that beat each other in a circle
			behind = append(behind, name(p))
		case f.Verdict == compare.NoVerdict:
			noVerdict = append(noVerdict, name(p))
			text := NoVerdict(f)
			if f.Cause == compare.DifferentTerms {
				text = strings.ReplaceAll(strings.ReplaceAll(f.Why, "(A)", "("+first+")"), "(B)", "("+name(p)+")")
			}
			if !slices.Contains(why, text) {
				why = append(why, text)
			}
		default:
			level = append(level, name(p)+interval(f))
		}
	}
	var parts []string
	switch {
	case len(ahead) > 0 && many:
		factor := least.Mark() + format.Ratio(least.Figure)
		if len(ahead) > 1 {
			factor += " to " + most.Mark() + format.Ratio(most.Figure)
		}
		parts = append(parts, first+" "+factor+" faster than "+format.List(ahead))
	case len(ahead) > 0:
		parts = append(parts, first+" "+format.List(ahead))
	}
	if len(behind) > 0 {
		parts = append(parts, "but slower than "+format.List(behind))
	}
	if len(level) > 0 {
		parts = append(parts, "no difference shown between "+first+" and "+format.List(level))
	}
	if len(noVerdict) > 0 {
		parts = append(parts, "no verdict between "+first+" and "+format.List(noVerdict)+": "+format.List(why))
	}
	text := strings.Join(parts, "; ")
	if len(ahead) == 0 && prefix == "" {
		text = format.Capital(text)
	}
	tone := format.TonePlain
	if r.Sole {
		tone = format.ToneBest
	}
	return doc.WithTone(prefix+text, tone)
}

// ByType counts the query types in which each subject was shown to be faster than
// all others, with the largest factor: systems that are alike over all types may
// differ in most of them. It is empty if there is one type, or if no type shows a difference.
func (g *Group) ByType() string {
	wins, most, ties, noVerdict := make([]int, len(g.Subjects)), make([]float64, len(g.Subjects)), 0, 0
	for _, t := range g.Types() {
		r := g.RankType(t.Key)
		switch {
		case r.Reference < 0:
		case r.Verdict(r.Reference) == Tie:
			ties++
		case !r.Sole:
			noVerdict++
		default:
			next := math.Inf(1)
			for _, f := range r.Figures {
				if f != nil {
					next = min(next, f.Ratio.Figure)
				}
			}
			wins[r.Reference]++
			most[r.Reference] = max(most[r.Reference], next)
		}
	}
	var order []int
	for i, n := range wins {
		if n > 0 {
			order = append(order, i)
		}
	}
	if len(order) == 0 || len(g.Types()) < 2 {
		return ""
	}
	slices.SortStableFunc(order, func(a, b int) int { return wins[b] - wins[a] })
	word := " faster in "
	beside := slices.DeleteFunc(slices.Clone(g.Subjects), func(s Subject) bool { return s.Target.Uncomparable() != "" })
	if len(beside) > 2 {
		word = " fastest in "
	}
	var parts []string
	for _, i := range order {
		parts = append(parts, fmt.Sprintf("%s%s%d (up to %s)", g.Subjects[i].Label, word, wins[i], format.Ratio(most[i])))
		word = " in "
	}
	if ties > 0 {
		parts = append(parts, fmt.Sprintf("%s in %d", Tie, ties))
	}
	if noVerdict > 0 {
		parts = append(parts, fmt.Sprintf("no verdict in %d", noVerdict))
	}
	return "By query type: " + strings.Join(parts, ", ")
}

// unrankedNotes name the targets whose figures are not ranked, and the reasons. If
// there are answers, stand-ins are left to their basis.
func (g *Group) unrankedNotes(answered bool) []doc.Span {
	var list []doc.Span
	for i := range g.Subjects {
		if answered && g.Subjects[i].Target.Uncomparable() != "" {
			continue
		}
		verb := " is not ranked: "
		if len(g.Subjects) == 1 {
			verb = ": "
		}
		if why := terms.ReasonUnranked(g.Subjects[i].Target); why != "" {
			list = append(list, doc.Bad(g.Subjects[i].Label+verb+why))
		}
	}
	return list
}

// single returns the headline for subjects that cannot be compared: the rate of the
// load, and the range of the medians of verified types.
func (g *Group) single() []doc.Span {
	var list []doc.Span
	for i, s := range g.Subjects {
		if s.Target.Failure != "" || len(g.Subjects) > 1 && g.ReasonUnranked(i) != "" {
			continue
		}
		if s.Target.Uncomparable() != "" { // see unrankedNotes
			continue
		}
		var parts []string
		if e := g.RankLoads().Estimates[i]; e.N > 0 {
			parts = append(parts, format.Digits(e.Median.Figure)+" rows/s loaded")
		}
		var medians []stats.Value
		for _, t := range g.Types() {
			v := g.RankType(t.Key).Estimates[i].Median
			if q := s.Queries(t.Key); q.Outcome() == result.Verified && !q.TooSlow() && q.ReasonUncompared() == "" && v.Bound != stats.Unknown && v.Figure > 0 {
				medians = append(medians, v)
			}
		}
		if len(medians) > 0 {
			slices.SortFunc(medians, func(a, b stats.Value) int { return cmp.Compare(a.Figure, b.Figure) })
			lo, hi := medians[0], medians[len(medians)-1]
			text := lo.Mark() + format.Duration(lo.Figure)
			if len(medians) > 1 {
				text += " to " + hi.Mark() + format.Duration(hi.Figure) + " over " + format.Plural(len(medians), "query type")
			}
			if what := TimeName(s.Target); what == ResponseTime {
				text = what + " " + text
			}
			parts = append(parts, "median "+text)
		}
		if len(parts) > 0 {
			list = append(list, doc.Plain(s.Label+": "+strings.Join(parts, ", ")))
		}
	}
	return list
}

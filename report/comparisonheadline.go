package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/terms"
)

// comparisonHeadline is what a comparison says first of two targets: which of
// them is faster, by how much, in how many query types, and which loads faster.
// Its figures are those of the tables.
type comparisonHeadline struct {
	Answers []span
	Basis   []string
}

func newComparisonHeadline(c *compare.Comparison, target *compare.Target) *comparisonHeadline {
	h := &comparisonHeadline{}
	var overall, load *compare.Figure
	var types, all []*compare.Figure
	for i := range target.Figures {
		switch f := &target.Figures[i]; f.Metric {
		case compare.GeoMean:
			overall = f
		case compare.Median:
			if all = append(all, f); f.Verdict != compare.NotCompared {
				types = append(types, f)
			}
		case compare.Load:
			load = f
		}
	}
	for _, side := range []struct{ name, why string }{{"A", target.UnrankedA}, {"B", target.UnrankedB}} {
		if side.why != "" {
			h.Answers = append(h.Answers, spanBad(side.name+" is not ranked: "+side.why))
		}
	}
	over := ""
	switch {
	case overall != nil:
		over = " over " + plural(overall.Types, "query type")
	case len(types) == 1: // of which there is no mean
		overall, over = types[0], " in "+types[0].Subject
	}
	say := func(f *compare.Figure, prefix, over, what string) {
		n := versus(target, f, over)
		if n.Text = prefix + n.Text; slices.ContainsFunc(target.Terms, func(d terms.Difference) bool { return d.Bars }) {
			n.Tone = tonePlain // the ratio is of the terms too
		}
		h.Answers = append(h.Answers, n)
		if f.Verdict != compare.NotCompared {
			h.Basis = append(h.Basis, fmt.Sprintf("%d and %d %s", repeatsOf(f, f.A.N), repeatsOf(f, f.B.N), what))
		}
	}
	switch {
	case overall != nil:
		say(overall, "", over, "rounds")
		if text := countVerdicts(all); len(all) > 1 {
			h.Answers = append(h.Answers, spanPlain("By query type: "+text))
		}
	case len(all) > 0:
		h.Answers = append(h.Answers, spanPlain("No query type has a figure on both sides"))
	}
	if load != nil {
		say(load, "Load: ", "", "loads")
	}
	h.Answers = append(h.Answers, termNotes(target.Terms)...)
	if slices.ContainsFunc(target.Figures, func(f compare.Figure) bool { return f.Cause == compare.DifferentTerms }) {
		h.Answers = append(h.Answers, spanDim("--allow-different compares them all the same."))
	}
	for _, side := range []struct {
		name string
		of   *compare.Subject
	}{{"A", &target.A}, {"B", &target.B}} {
		h.Basis = append(h.Basis, side.name+": "+aboutSubject(side.of))
	}
	return h
}

// termNotes name the terms in which targets differ: those that bar a verdict in words of
// their own, the others in a line.
func termNotes(list []terms.Difference) []span {
	var barring, others []string
	for _, d := range list {
		if d.Bars {
			barring = append(barring, d.String())
		} else {
			others = append(others, d.String())
		}
	}
	var notes []span
	for _, n := range []struct {
		prefix string
		parts  []string
		tone   tone
	}{{"Not measured under the same terms: ", barring, toneBad}, {"Terms that differ: ", others, tonePlain}} {
		if len(n.parts) > 0 {
			notes = append(notes, spanToned(n.prefix+strings.Join(n.parts, "; "), n.tone))
		}
	}
	return notes
}

// aboutSubject names a subject, its system and what stood in for that.
func aboutSubject(s *compare.Subject) string {
	text := joined(" ", s.Name, s.Kind, s.Version)
	if s.StandIn != "" {
		text += " (stand-in: " + s.StandIn + ")"
	}
	return text
}

// versus says of a figure which side is the better one.
func versus(target *compare.Target, f *compare.Figure, over string) span {
	name := func(side, of, noisy string) string {
		if target.A.Name != target.B.Name {
			side = of + " (" + side + ")"
		}
		if noisy != "" {
			side += noisyMark
		}
		return side
	}
	a, b := name("A", target.A.Name, f.NoisyA), name("B", target.B.Name, f.NoisyB)
	switch f.Verdict {
	case compare.NotCompared:
		return spanDim(string(f.Verdict) + ": " + f.Why)
	case compare.CannotTell:
		why := shortWhy(f)
		if f.Cause == compare.NotRanked || f.Cause == compare.DifferentTerms || f.Cause == compare.Scattered {
			why = f.Why
		}
		return spanPlain("no verdict between " + a + " and " + b + over + ": " + why)
	case compare.NoDifference:
		return spanPlain("no difference shown between " + a + " and " + b + over + inBrackets(f))
	}
	winner, loser, tone := b, a, toneBest
	if f.Verdict != compare.Faster {
		winner, loser = a, b
		if tone = toneBad; target.A.Name != target.B.Name {
			tone = toneBest // neither is the one that was changed
		}
	}
	turned := *f
	if f.Ratio.Figure < 1 {
		turned.Ratio, turned.Interval = inverse(f.Ratio), nil
		if f.Interval != nil {
			turned.Interval = &stats.Interval{Lo: inverse(f.Interval.Hi), Hi: inverse(f.Interval.Lo), Level: f.Interval.Level}
		}
	}
	return spanToned(winner+" "+turned.Ratio.Mark()+ratio(turned.Ratio.Figure)+" faster than "+loser+inBrackets(&turned)+over, tone)
}

// inverse is a ratio the other way round.
func inverse(v stats.Value) stats.Value {
	switch v.Bound {
	case stats.AtLeast:
		v.Bound = stats.AtMost
	case stats.AtMost:
		v.Bound = stats.AtLeast
	case stats.Unknown:
		return v
	}
	if v.Figure == 0 {
		return stats.Value{Bound: stats.Unknown}
	}
	v.Figure = 1 / v.Figure
	return v
}

// countVerdicts counts those of B against A.
func countVerdicts(figures []*compare.Figure) string {
	var parts []string
	for _, v := range []compare.Verdict{compare.Faster, compare.Slower, compare.NoDifference, compare.CannotTell, compare.NotCompared} {
		n := 0
		for _, f := range figures {
			if f.Verdict == v {
				n++
			}
		}
		text := string(v)
		if v == compare.Faster || v == compare.Slower {
			text = "B " + text
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s in %d", text, n))
		}
	}
	return strings.Join(parts, ", ")
}

// comparisonHeadlines are those of all targets. Each begins with the target's
// name where there are several.
func comparisonHeadlines(c *compare.Comparison) []*comparisonHeadline {
	var list []*comparisonHeadline
	for i := range c.Targets {
		h := newComparisonHeadline(c, &c.Targets[i])
		if len(h.Answers) == 0 {
			continue
		}
		if first := &h.Answers[0].Text; len(c.Targets) > 1 && c.Targets[i].A.Name == c.Targets[i].B.Name {
			*first = c.Targets[i].A.Name + ": " + *first
		} else if strings.HasPrefix(*first, "no ") || strings.HasPrefix(*first, "not ") { // and no name
			*first = strings.ToUpper((*first)[:1]) + (*first)[1:]
		}
		list = append(list, h)
	}
	return list
}

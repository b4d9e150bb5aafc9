package comparison

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/terms"
)

func newComparisonHeadline(c *compare.Comparison, target *compare.Target) *doc.Headline {
	h := &doc.Headline{}
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
			h.Answers = append(h.Answers, doc.Bad(side.name+" is not ranked: "+side.why))
		}
	}
	over := ""
	switch {
	case overall != nil:
		over = " over " + format.Plural(overall.Types, "query type")
	case len(types) == 1: // a single type has no mean
		overall, over = types[0], " in "+types[0].Subject
	}
	say := func(f *compare.Figure, prefix, over, what string) {
		n := versus(target, f, over)
		if n.Text = prefix + n.Text; slices.ContainsFunc(target.Terms, func(d terms.Difference) bool { return d.Bars }) {
			n.Tone = format.TonePlain // the ratio is of the terms too
		}
		h.Answers = append(h.Answers, n)
		if f.Verdict != compare.NotCompared {
			h.Basis = append(h.Basis, fmt.Sprintf("%d and %d %s", rank.RepeatCount(f, f.A.N), rank.RepeatCount(f, f.B.N), what))
		}
	}
	switch {
	case overall != nil:
		say(overall, "", over, "rounds")
		if text := countVerdicts(all); len(all) > 1 {
			h.Answers = append(h.Answers, doc.Plain("By query type: "+text))
		}
	case len(all) > 0:
		h.Answers = append(h.Answers, doc.Plain("No query type has a figure on both sides"))
	}
	if load != nil {
		say(load, "Load: ", "", "loads")
		last := &h.Answers[len(h.Answers)-1]
		last.Text = format.Join("; ", last.Text, target.UnequalDurability())
	}
	if n := crashes(target); n.Text != "" {
		h.Answers = append(h.Answers, n)
	}
	h.Answers = append(h.Answers, rank.TermNotes(slices.DeleteFunc(slices.Clone(target.Terms), terms.Difference.OfSafety))...)
	if slices.ContainsFunc(target.Figures, func(f compare.Figure) bool { return f.Cause == compare.DifferentTerms }) {
		h.Answers = append(h.Answers, doc.Dim("--allow-different compares them all the same."))
	}
	for _, side := range []struct {
		name string
		of   *compare.Subject
	}{{"A", &target.A}, {"B", &target.B}} {
		h.Basis = append(h.Basis, side.name+": "+rank.AboutSubject(side.of))
	}
	return h
}

// crashes says after how many crashes of each kind acknowledged rows were lost. It has no text if neither side
// had crashes.
func crashes(target *compare.Target) doc.Span {
	var parts []string
	tone := format.TonePlain
	for i := range target.Figures {
		f := &target.Figures[i]
		if f.Metric != compare.CrashLosses {
			continue
		}
		if f.Verdict == compare.NotCompared {
			parts = append(parts, f.Subject+" "+string(f.Verdict)+": "+f.Why)
			continue
		}
		of := func(e *stats.Estimate) string { return fmt.Sprintf("%.0f of %d", e.Median.Figure*float64(e.N), e.N) }
		text := fmt.Sprintf("%s %s (A) and %s (B), ", f.Subject, of(&f.A), of(&f.B))
		switch f.Verdict {
		case compare.Fewer, compare.More:
			if text += "B " + string(f.Verdict); f.Verdict == compare.More {
				tone = format.ToneBad
			}
		case compare.NoVerdict:
			text += string(f.Verdict) + ": " + rank.ShortCause(f)
		default:
			text += string(f.Verdict)
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return doc.Span{}
	}
	return doc.WithTone("Crashes that lost acknowledged rows: "+strings.Join(parts, "; "), tone)
}

// versus says of a figure which side is the better one.
func versus(target *compare.Target, f *compare.Figure, over string) doc.Span {
	name := func(side, of, noisy string) string {
		if target.A.Name != target.B.Name {
			side = of + " (" + side + ")"
		}
		if noisy != "" {
			side += rank.NoisyMark
		}
		return side
	}
	a, b := name("A", target.A.Name, f.NoisyA), name("B", target.B.Name, f.NoisyB)
	switch f.Verdict {
	case compare.NotCompared:
		return doc.Dim(string(f.Verdict) + ": " + f.Why)
	case compare.NoVerdict:
		why := rank.ShortCause(f)
		if f.Cause == compare.NotRanked || f.Cause == compare.DifferentTerms || f.Cause == compare.Scattered {
			why = f.Why
		}
		return doc.Plain("no verdict between " + a + " and " + b + over + ": " + why)
	case compare.NoDifference:
		return doc.Plain("no difference shown between " + a + " and " + b + over + rank.BracketedInterval(f))
	}
	winner, loser, tone := b, a, format.ToneBest
	if f.Verdict != compare.Faster {
		winner, loser = a, b
		if tone = format.ToneBad; target.A.Name != target.B.Name {
			tone = format.ToneBest // neither is the one that was changed
		}
	}
	turned := *f
	if f.Ratio.Figure < 1 {
		turned.Ratio, turned.Interval = format.Inverse(f.Ratio), nil
		if f.Interval != nil {
			turned.Interval = &stats.Interval{Lo: format.Inverse(f.Interval.Hi), Hi: format.Inverse(f.Interval.Lo), Level: f.Interval.Level}
		}
	}
	return doc.WithTone(winner+" "+turned.Ratio.Mark()+format.Ratio(turned.Ratio.Figure)+" faster than "+loser+rank.BracketedInterval(&turned)+over, tone)
}

// countVerdicts counts those of B against A.
func countVerdicts(figures []*compare.Figure) string {
	var parts []string
	for _, v := range []compare.Verdict{compare.Faster, compare.Slower, compare.NoDifference, compare.NoVerdict, compare.NotCompared} {
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

// Headlines returns the headlines of all targets. Each begins with the target's
// name if there are several.
func Headlines(c *compare.Comparison) []*doc.Headline {
	var list []*doc.Headline
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

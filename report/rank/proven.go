package rank

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/terms"
	"github.com/tsmark/tsmark/result"
)

// CrashName names a kind of crashes for readers.
func CrashName(kind string) string {
	if kind == result.CrashPower {
		return "power loss"
	}
	return kind
}

// CrashKinds lists the kinds of crashes that some subject had.
func (g *Group) CrashKinds() []string {
	var all []estimate.Crashes
	for _, s := range g.Subjects {
		all = append(all, estimate.CrashesByKind(s.Target)...)
	}
	return estimate.KindsOf(all)
}

// provenKinds lists the kinds of crashes that a target has to withstand: the kinds that some subject had. A kind that
// was possible for no subject is left out.
func (g *Group) provenKinds() []string {
	return slices.DeleteFunc(g.CrashKinds(), func(kind string) bool {
		return !slices.ContainsFunc(g.Subjects, func(s Subject) bool {
			c := findCrashes(s.Target, kind)
			return c != nil && c.Count+c.Failed > 0
		})
	})
}

func findCrashes(t *result.Target, kind string) *estimate.Crashes {
	return estimate.FindCrashes(estimate.CrashesByKind(t), kind)
}

// ReasonUnproven returns why the durability of a subject is not proven. It is empty if every acknowledged row was
// there as it was sent after each crash, of every kind that some subject had except pauses, and the crashes were enough
// for a bound on the share that may lose rows.
func (g *Group) ReasonUnproven(i int) string {
	if g.Subjects[i].Target.Crash == nil {
		return "was not crashed"
	}
	var losses, others, few []string
	for _, kind := range g.provenKinds() {
		c := findCrashes(g.Subjects[i].Target, kind)
		if kind == result.CrashPause && (c == nil || c.Count+c.Failed == 0) {
			continue // it takes nothing from a target that it could lose
		}
		switch {
		case c == nil:
			others = append(others, "not tested by "+CrashName(kind))
		case c.Losing > 0:
			losses = append(losses, lossText(c))
		case c.Failed > 0:
			others = append(others, fmt.Sprintf("%d of %d crashes by %s could not be judged", c.Failed, c.Failed+c.Count, CrashName(kind)))
		case c.Count == 0:
			others = append(others, CrashName(kind)+" n/a: "+c.Unsupported)
		case kind != result.CrashPause && c.Bound() == 1:
			few = append(few, fmt.Sprintf("%d by %s", c.Count, CrashName(kind)))
		}
	}
	if len(few) > 0 && len(losses) == 0 {
		others = append(others, "had too few crashes ("+strings.Join(few, ", ")+"; four of each kind bound the losses)")
	}
	if c := g.Subjects[i].Target.Crash; c != nil && c.Ended != "" {
		others = append(others, fmt.Sprintf("crashed %d of %d times: %s", len(c.Rounds), c.Planned, c.Ended))
	}
	return strings.Join(append(losses, others...), ", ")
}

// lossText says how many crashes of a kind did harm, and which.
func lossText(c *estimate.Crashes) string {
	what := "did not answer again"
	switch {
	case c.Lost > 0:
		what = "lost acknowledged rows"
	case c.Torn+c.Wrong > 0:
		what = "damaged rows"
	case c.Repeated > 0:
		what = "stored rows twice"
	}
	text := fmt.Sprintf("%s in %d of %d crashes by %s", what, c.Losing, c.Count, CrashName(c.Kind))
	if c.Holes > 0 {
		text += fmt.Sprintf(" (holes in %d)", c.Holes)
	}
	return text
}

// level is a subject's label with its level of durability.
func (g *Group) level(i int) string {
	s := &g.Subjects[i]
	if level := s.Target.Durability; level != "" && !strings.Contains(s.Label, level) {
		return s.Label + " (" + level + ")"
	}
	return s.Label
}

// isProven reports whether the durability of a subject is proven, and its rate known.
func (g *Group) isProven(i int) bool {
	t := g.Subjects[i].Target
	return g.ReasonUnranked(i) == "" && estimate.Load(t, estimate.AckedRate).N > 0 && estimate.AllCrashes(t).Count > 0 && g.ReasonUnproven(i) == ""
}

// proven returns the fastest subject of each system among those whose durability is proven, be it by chance: see
// closeLevels.
func (g *Group) proven() (list []int) {
	fastest := make(map[string]int) // by system
	rates := g.ackedEstimates()
	for i, s := range g.Subjects {
		if !g.isProven(i) {
			continue
		}
		known, ok := fastest[s.Target.System()]
		if !ok || rates[i].Median.Figure > rates[known].Median.Figure {
			fastest[s.Target.System()] = i
		}
	}
	for _, i := range fastest {
		list = append(list, i)
	}
	slices.SortFunc(list, func(i, j int) int {
		return cmp.Or(cmp.Compare(rates[j].Median.Figure, rates[i].Median.Figure), i-j)
	})
	return list
}

func (g *Group) ackedEstimates() []stats.Estimate {
	list := make([]stats.Estimate, len(g.Subjects))
	for i, s := range g.Subjects {
		list[i] = estimate.Load(s.Target, estimate.AckedRate)
	}
	return list
}

// RankProven ranks the proven subjects by the rows that they acknowledged a second.
func (g *Group) RankProven() Ranking {
	return g.remember("proven", func() Ranking {
		chosen := g.proven()
		return g.rank(compare.LoadSubject, compare.Acked, g.ackedEstimates(), func(i int) (compared, best bool) {
			return slices.Contains(chosen, i), true
		})
	})
}

// provenAnswers compares loads at proven durability: of each system the fastest subject that lost nothing in its
// crashes. It returns nothing if there were no crashes; places are nil if no two subjects are proven.
func (g *Group) provenAnswers() (answers []doc.Span, places *doc.Ranking) {
	kinds := g.provenKinds()
	if !slices.ContainsFunc(kinds, func(kind string) bool { return kind != result.CrashPause }) {
		return nil, nil // a pause alone takes nothing from a target that it could lose
	}
	const prefix = "Rows/s at proven durability: "
	chosen, ranked := g.proven(), g.RankProven()
	if len(chosen) == 0 {
		answers = append(answers, doc.Bad(prefix+"none was proven"))
	} else {
		var rates []string
		for _, i := range chosen {
			rates = append(rates, g.level(i)+" "+format.Digits(ranked.Estimates[i].Median.Figure))
		}
		answer := doc.Plain(prefix + strings.Join(rates, ", "))
		if places = g.Places(&ranked, compare.LoadSubject); places != nil {
			places.Title, places.Help = "Time of a row at proven durability, relative to the fastest", "until it was acknowledged, of the fastest level of each system that lost nothing; shorter is better"
			for n := range places.Places {
				places.Places[n].Label = g.level(places.Places[n].Subject)
			}
			answer = g.Answer(places, &ranked, answer.Text+"; ")
		}
		answer.Text = format.Join("; ", answer.Text, g.lostNothing(chosen), g.impossibleKinds(kinds), g.closeLevels(chosen), loadTerms(g.sides(chosen)))
		answers = append(answers, answer)
	}
	var unproven []string
	for i, s := range g.Subjects {
		if why := g.ReasonUnproven(i); why != "" && s.Target.Failure == "" && s.Target.Uncomparable() == "" {
			unproven = append(unproven, g.level(i)+" "+why)
		}
	}
	if len(unproven) > 0 {
		answers = append(answers, doc.Bad("Not proven: "+strings.Join(unproven, "; ")))
	}
	return answers, places
}

// lostNothing says how many crashes the durability of subjects was proven by.
func (g *Group) lostNothing(chosen []int) string {
	crashes := func(i int) string {
		all, kinds := estimate.AllCrashes(g.Subjects[i].Target), []string(nil)
		for _, c := range estimate.CrashesByKind(g.Subjects[i].Target) {
			if c.Count > 0 {
				kinds = append(kinds, fmt.Sprintf("%d by %s", c.Count, CrashName(c.Kind)))
			}
		}
		return fmt.Sprintf("%s (%s)", format.CountOf(int64(all.Count), "crash", "crashes"), strings.Join(kinds, ", "))
	}
	var parts []string
	for n, i := range chosen {
		text := crashes(i)
		switch {
		case n == 0 && !slices.ContainsFunc(chosen, func(other int) bool { return crashes(other) != text }):
			return []string{"it lost nothing in ", "both lost nothing in ", "each lost nothing in "}[min(len(chosen), 3)-1] + text
		default:
			parts = append(parts, g.level(i)+" lost nothing in "+text)
		}
	}
	return strings.Join(parts, ", ")
}

// impossibleKinds names the kinds of crashes that were possible for no subject.
func (g *Group) impossibleKinds(possible []string) string {
	var names []string
	for _, kind := range g.CrashKinds() {
		if !slices.Contains(possible, kind) {
			names = append(names, CrashName(kind)+" was not possible")
		}
	}
	return strings.Join(names, ", ")
}

// closeLevels names the proven subjects that the fastest one of their system was not shown to be faster than.
func (g *Group) closeLevels(fastest []int) string {
	var parts []string
	for _, by := range fastest {
		var near []string
		for i, s := range g.Subjects {
			if i == by || s.Target.System() != g.Subjects[by].Target.System() || !g.isProven(i) {
				continue
			}
			if f := g.Figure(i, by, compare.LoadSubject, compare.Acked); f == nil || !f.Significant() {
				near = append(near, g.level(i))
			}
		}
		if len(near) > 0 {
			parts = append(parts, g.level(by)+" was not shown to be faster than "+format.List(near))
		}
	}
	return strings.Join(parts, ", ")
}

// sides returns subjects as sides of a comparison of terms.
func (g *Group) sides(list []int) (sides []terms.Side) {
	for _, i := range list {
		s := &g.Subjects[i]
		sides = append(sides, terms.Side{Name: s.Label, Of: []terms.Measured{{Run: s.Run, Target: s.Target}}})
	}
	return sides
}

// UnequalDurability is terms.UnequalDurability of all subjects.
func (g *Group) UnequalDurability() string {
	return terms.UnequalDurability(g.rankedSides()...)
}

// loadTerms says in which terms of their loads sides differ that bear on the rates most: writers and durability.
func loadTerms(sides []terms.Side) string {
	sides = slices.DeleteFunc(slices.Clone(sides), func(s terms.Side) bool {
		return !slices.ContainsFunc(s.Of, func(m terms.Measured) bool { return m.Target.Load != nil })
	})
	if len(sides) < 2 {
		return ""
	}
	return format.Join("; ", terms.Writers(sides...), terms.UnequalDurability(sides...))
}

package claims

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/reproduce/document"
)

// advantage compares a figure of x with that of y, which may be of the same run.
func (r rule) advantage(what, subject string, x, y side) Part {
	for _, s := range []side{x, y} {
		if why := r.untestable(s); why != (reason{}) {
			return why.untestedPart(what)
		}
	}
	if why := r.incomparable(x, y); why != (reason{}) {
		return why.untestedPart(what)
	}
	p := r.compareSides(what, subject, x, y)
	p.unequal = r.unequalSafety(x, y)
	return p.addSides(subject, x, y)
}

// compareSides is advantage for sides that can be compared.
func (r rule) compareSides(what, subject string, x, y side) Part {
	if _, own := figureOf(r.Figure); own || r.verbatim {
		return r.advantageOwn(what, subject, x, y)
	}
	c, err := compare.Runs(compare.Side{Runs: []*result.Run{y.run}, Target: y.target.Name}, compare.Side{Runs: []*result.Run{x.run}, Target: x.target.Name}, compare.Options{Different: true})
	if err != nil {
		return untestedPart(what, err.Error())
	}
	for i := range c.Targets[0].Figures {
		f := &c.Targets[0].Figures[i]
		if f.Subject == subject && f.Metric == r.metric() {
			return newPart(what, f)
		}
	}
	return untestedPart(what, "no such figure was measured")
}

// advantageOwn is advantage for the figures that package compare does not have, and for TSBS's
// own texts, which it does not compare.
func (r rule) advantageOwn(what, subject string, x, y side) Part {
	if _, own := figureOf(r.Figure); r.verbatim && !own {
		common := estimate.Align(estimate.CommonSample(x.run, x.target, subject), estimate.CommonSample(y.run, y.target, subject))
		if common[0].Queries() == 0 || common[1].Queries() == 0 {
			return untestedPart(what, uncommon(x, y, subject))
		}
		return comparePart(what, common[0].PerRound(r.average()), common[1].PerRound(r.average()), compare.Lower)
	}
	ofX, better, missing := r.values(x, subject)
	if missing != "" {
		return untestedPart(what, x.name+": "+missing)
	}
	ofY, _, missing := r.values(y, subject)
	if missing != "" {
		return untestedPart(what, y.name+": "+missing)
	}
	return comparePart(what, ofX, ofY, better)
}

func (r rule) order() []Part {
	runs, why := r.points(r.Where)
	var parts []Part
	for _, subject := range r.subjects() {
		for i := range len(r.Order) - 1 {
			x, y := r.Order[i], r.Order[i+1]
			what := fmt.Sprintf("%s of %s better than of %s", r.describe(subject), x, y) + factor(r.By)
			if why != (reason{}) {
				parts = append(parts, why.untestedPart(what))
			}
			for _, run := range runs {
				parts = append(parts, r.advantage(what+pointName(run), subject, r.side(run, x, r.Where), r.side(run, y, r.Where)).decide(r.By))
			}
		}
	}
	return parts
}

// compareAlike compares each system with each that is named after it.
func (r rule) compareAlike() []Part {
	runs, why := r.points(r.Where)
	var parts []Part
	for _, subject := range r.subjects() {
		for i, x := range r.Alike {
			for _, y := range r.Alike[i+1:] {
				what := fmt.Sprintf("%s of %s and of %s within a tenth", r.describe(subject), x, y)
				if why != (reason{}) {
					parts = append(parts, why.untestedPart(what))
				}
				for _, run := range runs {
					parts = append(parts, r.advantage(what+pointName(run), subject, r.side(run, x, r.Where), r.side(run, y, r.Where)).decideSame())
				}
			}
		}
	}
	return parts
}

// first compares a system with each other system of the document.
func (r rule) first() []Part {
	var parts []Part
	for _, s := range r.d.Systems {
		if s.Driver != r.First {
			pair := r
			one := *r.Rule
			one.First, one.Order = "", []string{r.First, s.Driver}
			pair.Rule = &one
			parts = append(parts, pair.order()...)
		}
	}
	return parts
}

func (r rule) changes() []Part {
	c := r.Changes
	var parts []Part
	for _, value := range append(slices.Clone(c.Through), c.To) {
		pairs, why := r.along(c.Along, c.From, value, c.Against)
		var all []*result.Run
		for _, ends := range pairs {
			all = append(all, ends[0])
		}
		for _, subject := range r.subjects() {
			for _, system := range c.Systems {
				what := fmt.Sprintf("%s of %s %s from %s %s to %s", r.describe(subject), system, goes(c.Goes)+factor(r.By), c.Along, c.From, value)
				if why != (reason{}) {
					parts = append(parts, why.untestedPart(what))
				}
				for _, ends := range pairs {
					x, y := r.side(ends[1], system, withValue(r.Where, c.Along, value)), r.side(ends[0], system, withValue(r.Where, c.Along, c.From))
					parts = append(parts, r.advantage(what+atVaried(ends[0], all), subject, x, y).decideChange(c.Goes, r.By))
				}
			}
		}
	}
	return parts
}

// compareMore compares the factors by which figures change.
func (r rule) compareMore() []Part {
	m := r.More
	pairs, why := r.along(m.Along, m.From, m.To, "")
	var parts []Part
	for _, subject := range r.subjects() {
		for _, system := range either(m.Than, []string{m.System}) {
			for _, other := range either(m.ThanTypes, []string{subject}) {
				than := r.describe(other) + " of " + system
				what := fmt.Sprintf("%s of %s %s more%s than %s from %s %s to %s", r.describe(subject), m.System, goes(m.Goes), factor(r.By), than, m.Along, m.From, m.To)
				if why != (reason{}) {
					parts = append(parts, why.untestedPart(what))
				}
				for _, ends := range pairs {
					from, missing := r.leads(ends[0], withValue(r.Where, m.Along, m.From), subject, m.System, other, system)
					to, missingTo := r.leads(ends[1], withValue(r.Where, m.Along, m.To), subject, m.System, other, system)
					if missing = cmp.Or(missing, missingTo); missing != (reason{}) {
						parts = append(parts, missing.untestedPart(what))
						continue
					}
					if m.Goes == document.Better {
						from, to = to, from
					}
					parts = append(parts, comparePart(what, from, to, compare.Higher).decide(r.By).addSides(subject+"\n"+other,
						r.side(ends[1], m.System, r.Where), r.side(ends[1], system, r.Where), r.side(ends[0], m.System, r.Where), r.side(ends[0], system, r.Where)))
				}
			}
		}
	}
	return parts
}

// either returns the first list that is not empty.
func either(lists ...[]string) []string {
	i := slices.IndexFunc(lists, func(l []string) bool { return len(l) > 0 })
	return lists[max(i, 0)]
}

// peak compares the claimed value with each other one.
func (r rule) peak() []Part {
	k := r.Peak
	best, why := r.points(withValue(r.Where, k.Along, k.At))
	all, whyAll := r.points(r.Where)
	why = cmp.Or(why, whyAll)
	var parts []Part
	for _, subject := range r.subjects() {
		for _, system := range k.Systems {
			what := fmt.Sprintf("%s of %s best at %s=%s", r.describe(subject), system, k.Along, k.At)
			if why != (reason{}) {
				parts = append(parts, why.untestedPart(what))
				continue
			}
			for _, run := range all {
				if run != best[0] {
					parts = append(parts, r.advantage(what+", not"+atVaried(run, all), subject, r.side(best[0], system, r.Where), r.side(run, system, r.Where)).better())
				}
			}
		}
	}
	return parts
}

// lead compares the lead at the claimed values with that at each other one.
func (r rule) lead() []Part {
	l := r.Lead
	all, whyAll := r.points(r.Where)
	var parts []Part
	for _, end := range []struct{ name, at string }{{"largest", l.Largest}, {"smallest", l.Smallest}} {
		if end.at == "" {
			continue
		}
		claimed, why := r.points(withValue(r.Where, l.Along, end.at))
		why = cmp.Or(why, whyAll)
		for _, subject := range r.subjects() {
			what := fmt.Sprintf("%s: lead of %s over %s %s at %s=%s", r.describe(subject), l.Better, l.Than, end.name, l.Along, end.at)
			if why != (reason{}) {
				parts = append(parts, why.untestedPart(what))
				continue
			}
			own, missing := r.leads(claimed[0], r.Where, subject, l.Better, subject, l.Than)
			for _, run := range all {
				if run == claimed[0] {
					continue
				}
				other, missingOther := r.leads(run, r.Where, subject, l.Better, subject, l.Than)
				better := compare.Higher
				if end.name == "smallest" {
					better = compare.Lower
				}
				if missing := cmp.Or(missing, missingOther); missing != (reason{}) {
					parts = append(parts, missing.untestedPart(what))
					continue
				}
				parts = append(parts, comparePart(what+", not"+atVaried(run, all), own, other, better).better().addSides(subject+"\n"+end.name,
					r.side(claimed[0], l.Better, r.Where), r.side(claimed[0], l.Than, r.Where), r.side(run, l.Better, r.Where), r.side(run, l.Than, r.Where)))
			}
		}
	}
	return parts
}

// reach compares a figure with a number.
func (r rule) reach() []Part {
	runs, why := r.points(r.Where)
	relation := "at least"
	switch {
	case r.Reach.AtMost > 0:
		relation = "at most"
	case r.Reach.About > 0:
		relation = "within a tenth of"
	}
	return r.ofSystems(r.Reach.Systems, runs, why, r.compareReach, func(subject, system string) string {
		return fmt.Sprintf("%s of %s %s %g", r.describe(subject), system, relation, r.Reach.Number())
	})
}

// ofSystems returns the parts of each system in each run, for each subject, as judge makes them.
// Without runs it returns the reason why they were not tested. Each part names its subject.
func (r rule) ofSystems(systems []string, runs []*result.Run, why reason, judge func(what, subject string, run *result.Run, system string) Part, words func(subject, system string) string) []Part {
	var parts []Part
	for _, subject := range r.subjects() {
		for _, system := range systems {
			what := words(subject, system)
			if why != (reason{}) {
				parts = append(parts, why.untestedPart(what))
			}
			for _, run := range runs {
				parts = append(parts, judge(what+pointName(run), subject, run, system))
			}
		}
	}
	return parts
}

// compareReach returns the part of one system and run: its multiple of the number.
func (r rule) compareReach(what, subject string, run *result.Run, system string) Part {
	s := r.side(run, system, r.Where)
	if why := r.untestable(s); why != (reason{}) {
		return why.untestedPart(what)
	}
	values, _, missing := r.values(s, subject)
	if missing != "" {
		return untestedPart(what, missing)
	}
	e := stats.Summarize(values)
	if e.Interval == nil || e.Interval.Level < stats.Confidence {
		return untestedPart(what, tooFewRepeats)
	}
	share := func(v stats.Value) stats.Value { v.Figure /= r.Reach.Number(); return v }
	p := Part{What: what, Advantage: share(e.Median), Interval: &stats.Interval{Lo: share(e.Interval.Lo), Hi: share(e.Interval.Hi), Level: e.Interval.Level}}.addSides(subject, s)
	switch {
	case r.Reach.About > 0:
		return p.decideSame()
	case r.Reach.AtMost > 0:
		return p.invert().better()
	}
	return p.better()
}

// wins counts the comparisons in which one system is shown to be better. The claim allows
// as many losses as the document has: it does not hold if more are shown.
func (r rule) wins() []Part {
	w := r.Wins
	relation := "better than"
	if w.OrEqual {
		relation = "better than, or equal to,"
	}
	what := fmt.Sprintf("%s %s %s in at least %d of %d comparisons", w.Better, relation, w.Than, w.Least, w.Of)
	runs, why := r.points(r.Where)
	var parts []Part
	if why != (reason{}) {
		parts = append(parts, why.untestedPart(what))
	}
	n, won, lost := 0, 0, 0
	var missing Part
	var compared []Part
	for _, run := range runs {
		for _, subject := range r.subjects() {
			p := r.advantage(subject, subject, r.side(run, w.Better, r.Where), r.side(run, w.Than, r.Where)).better()
			compared = append(compared, p)
			switch p.Verdict {
			case NotTested:
				if p.What = what; missing.Why == "" {
					missing = p
				}
				continue
			case Holds:
				won++
			case DoesNotHold:
				lost++
			}
			n++
		}
	}
	switch {
	case n == 0 && len(runs) == 0:
		return parts
	case n == 0:
		return append(parts, missing)
	}
	p := Part{What: fmt.Sprintf("%s; here %d won, %d lost, %d ties of %d", what, won, lost, n-won-lost, n), Verdict: Tie, Advantage: stats.Value{Bound: stats.Unknown}, sides: sidesOf(compared)}
	share := float64(w.Least) / float64(w.Of)
	counted := won
	if w.OrEqual {
		counted = n - lost
	}
	switch {
	case float64(counted) >= share*float64(n):
		p.Verdict = Holds
	case float64(lost) > (1-share)*float64(n):
		p.Verdict = DoesNotHold
	}
	return append(parts, p)
}

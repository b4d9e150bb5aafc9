package claims

import (
	"math"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/reproduce/document"
)

// Trial is the deciding comparison of a claim, repeated at another setting.
type Trial struct {
	Setting string // in words: load.batch-size=5000 in place of 10000
	Base    Part   // the comparison at the document's settings
	Part    Part   // the comparison at this setting
}

// Reverses reports whether the setting reverses the comparison.
func (t *Trial) Reverses() bool {
	return t.Base.Verdict == Holds && t.Part.Verdict == DoesNotHold || t.Base.Verdict == DoesNotHold && t.Part.Verdict == Holds
}

// SettingsOnly reports whether the verdict is that of these settings only: a trial reverses its deciding
// comparison, and no other comparison shows the same verdict.
func (f *Finding) SettingsOnly() bool {
	return slices.ContainsFunc(f.Trials, func(t Trial) bool { return t.Reverses() }) && (f.Verdict == Holds || f.failures() == 1)
}

// Word returns the verdict in words, with the limits that trials showed.
func (f *Finding) Word() string {
	if f.SettingsOnly() {
		return string(f.Verdict) + " at these settings only"
	}
	return string(f.Verdict)
}

// failures counts the comparisons that do not hold.
func (f *Finding) failures() int {
	n := 0
	for _, p := range f.Parts {
		if p.Verdict == DoesNotHold {
			n++
		}
	}
	return n
}

// Deciding is the comparison on which the verdict on a claim rests: of a claim that holds, the one
// nearest to its bound; of one that does not, the comparison that fails most clearly, since the claim
// does not hold as long as that one fails.
type Deciding struct {
	Part    Part
	Runs    map[string][]*result.Run // the compared points, by experiment
	Systems []string                 // drivers of the compared targets
	Weaker  string                   // driver whose figure is worse; empty: only one is compared
	Queries bool                     // the figure is of queries, not of loads
	// Subject lists parameters that the claim itself is about: they are not varied.
	Subject []string
}

// Deciding returns the deciding comparison of a finding; not ok: it has no verdict, or no figures.
func (f *Finding) Deciding(m Measured) (d Deciding, ok bool) {
	best := math.Inf(1)
	for _, p := range f.Parts {
		if p.Verdict != f.Verdict || len(p.sides) == 0 || f.Verdict != Holds && f.Verdict != DoesNotHold {
			continue
		}
		distance := math.MaxFloat64 // a count of comparisons has none
		if p.Interval != nil {
			distance = p.margin()
		}
		if distance < best {
			best, d.Part, ok = distance, p, true
		}
	}
	if !ok {
		return d, false
	}
	r := &f.Claim.Rules[d.Part.rule]
	d.Queries, d.Subject, d.Runs = len(r.Types) > 0, alongOf(r), make(map[string][]*result.Run)
	for path := range r.Where {
		if slices.ContainsFunc(f.Claim.Rules, func(other document.Rule) bool { return other.Where[path] != r.Where[path] }) {
			d.Subject = append(d.Subject, path)
		}
	}
	for _, s := range d.Part.sides {
		if !slices.Contains(d.Systems, s.target.Driver) {
			d.Systems = append(d.Systems, s.target.Driver)
		}
		for name, runs := range m.Runs {
			if slices.Contains(runs, s.run) && !slices.Contains(d.Runs[name], s.run) {
				d.Runs[name] = append(d.Runs[name], s.run)
			}
		}
	}
	if len(d.Part.sides) != 2 || d.Part.Interval == nil {
		return d, true
	}
	if x, y := d.Part.sides[0], d.Part.sides[1]; x.target.Driver != y.target.Driver && x.run == y.run {
		d.Weaker = y.target.Driver
		if d.Part.Advantage.Figure < 1 {
			d.Weaker = x.target.Driver
		}
	}
	return d, true
}

// AddUntuned adds the trial with the weaker system tuned to a finding with other trials, if it cannot
// be made because the document names no tuning.
func (f *Finding) AddUntuned(d *document.Document, m Measured) {
	base, _ := f.Deciding(m)
	if len(f.Trials) == 0 || base.Weaker == "" {
		return
	}
	if s, known := d.System(base.Weaker); !known || s.Tuned.IsZero() {
		part := untestedPart(base.Part.What, "the document names no tuning of "+base.Weaker)
		f.Trials = append(f.Trials, Trial{Setting: base.Weaker + " tuned", Base: base.Part, Part: part})
	}
}

// margin returns how far the interval of a part lies from the nearest bound of its range, on a
// logarithmic scale: positive if it holds, the more negative the more clearly it does not.
func (p *Part) margin() float64 {
	low, high := p.ends()
	inside := min(math.Log(low/p.least), math.Log(p.most/high))
	if p.Verdict == Holds {
		return inside
	}
	return -max(math.Log(p.least/high), math.Log(low/p.most))
}

// Repeat judges the deciding comparison by its points, measured at another setting.
func (f *Finding) Repeat(d *document.Document, m Measured, base Deciding, runs map[string][]*result.Run) Part {
	m.Runs = make(map[string][]*result.Run)
	for name, points := range base.Runs {
		for i, run := range points {
			one := *runs[name][i]
			one.Parameters = run.Parameters // by which rules choose it
			m.Runs[name] = append(m.Runs[name], &one)
		}
	}
	r := rule{d: d, m: m, Rule: &f.Claim.Rules[base.Part.rule], needs: f.Claim.Needs, extents: make(map[string]*document.Extents)}
	parts := r.addPlaces(r.parts())
	i := slices.IndexFunc(parts, func(p Part) bool { return p.identity() == base.Part.identity() })
	if i < 0 {
		return untestedPart(base.Part.What, reasons(parts))
	}
	return parts[i]
}

// identity names the targets and points that a part compares, whatever the runs.
func (p *Part) identity() string {
	if p.subject == "" { // a count
		return ""
	}
	list := []string{p.subject}
	for _, s := range p.sides {
		list = append(list, s.name, s.run.Parameters.String())
	}
	return strings.Join(list, "\n")
}

// addSides returns the part with the targets that it compares.
func (p Part) addSides(subject string, sides ...side) Part {
	if !slices.ContainsFunc(sides, func(s side) bool { return s.target == nil }) {
		p.subject, p.sides = subject, sides
	}
	return p
}

// sidesOf returns the targets that parts compare.
func sidesOf(parts []Part) []side {
	var list []side
	for _, p := range parts {
		list = append(list, p.sides...)
	}
	return list
}

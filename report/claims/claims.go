// Package claims decides from measurements which claims of a document hold.
//
// A claim is a set of comparisons that must all hold. A comparison is the ratio of
// two figures, oriented so that above 1 means better, with its interval over the repeats
// (package compare, measure/stats). It holds if the whole interval lies on the claimed
// side, does not hold if the whole interval lies on the other side, and is a tie if
// the interval includes the border. Without enough repeats for a 95 % interval, or without
// a figure, the comparison is undecided. Points that the size does not include are
// undecided too: the verdict covers the others, and the finding says so.
package claims

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/reproduce/document"
)

// Verdict is the result of testing a claim.
type Verdict string

// The verdicts.
const (
	Holds       Verdict = "holds"
	DoesNotHold Verdict = "does not hold"
	Tie         Verdict = "tie" // neither is shown
	NotTested   Verdict = "not tested"
)

// Measured are the runs of a document's experiments in one size.
type Measured struct {
	Size document.Size
	Runs map[string][]*result.Run // by the experiment's name
	// Verbatim are runs of the same experiments with TSBS's own texts, which are not
	// verified. It is empty if there are no such runs.
	Verbatim map[string][]*result.Run
	// Correctness are runs of stand-ins for systems that were not measured, by the experiment's
	// name: their answers were verified, and their figures are not compared.
	Correctness map[string][]*result.Run
}

// Missing says why there are no figures of a system, in words that follow its name, which may have
// options behind it.
func (m *Measured) Missing(system string) string {
	system, _, _ = strings.Cut(system, " with ")
	for _, name := range slices.Sorted(maps.Keys(m.Correctness)) {
		for _, r := range m.Correctness[name] {
			for i := range r.Targets {
				if t := &r.Targets[i]; t.Driver == system && t.Description.StandIn != "" {
					return "was " + t.Description.StandIn + ", for correctness only"
				}
			}
		}
	}
	return "was not given"
}

// Finding is a claim with its verdict and the reason.
type Finding struct {
	Claim   document.Claim
	Verdict Verdict
	Why     string // in words; empty where the parts say all
	Parts   []Part // parts that the size lacks are listed only if it lacks all
	// InPart says that the verdict is of a part of the claim: of the rest the size has
	// nothing, or no rule decides it. Why has which.
	InPart bool
	// Verbatim is the verdict with TSBS's own texts, by VerbatimParts. It is empty if the claim
	// is not about queries, or if these texts were not run.
	Verbatim      Verdict
	VerbatimParts []Part
	// Trials repeat the comparison on which the verdict rests at other settings.
	Trials []Trial
}

// Changes reports whether a claim is decided otherwise by TSBS's own texts than by equal
// queries.
func (f *Finding) Changes() bool {
	return f.Verbatim != "" && f.Verbatim != NotTested && f.Verdict != NotTested && f.Verbatim != f.Verdict
}

// Part is one comparison.
type Part struct {
	What string // which figures are compared, in words
	// Advantage is the factor by which the claimed side is better, and Interval its 95 %
	// interval, or nil.
	Advantage stats.Value
	Interval  *stats.Interval
	Range     string // of advantages with which it holds, in words; empty: no number decides it
	Verdict   Verdict
	Why       string // it was not tested
	lacking   bool   // it was not tested since the size does not have it
	small     bool   // it was not tested since the size is too small for it: lacking, too
	// unequal is the safety of acknowledged rows of two systems whose load rates it compares, if it
	// differs.
	unequal string

	rule        int     // index in the claim's rules
	least, most float64 // ends of Range
	subject     string  // compared query type, or the load
	sides       []side  // compared targets at their points
}

// Judge judges all claims of a document.
func Judge(d *document.Document, m Measured) []Finding {
	findings := make([]Finding, len(d.Claims))
	extents := make(map[string]*document.Extents)
	for i, c := range d.Claims {
		findings[i] = judge(d, m, c, extents)
	}
	return findings
}

func judge(d *document.Document, m Measured, c document.Claim, extents map[string]*document.Extents) Finding {
	f := Finding{Claim: c, Verdict: NotTested, Why: c.Missing}
	if c.Missing != "" {
		return f
	}
	lacks := make(map[string][]string)
	var notes []string
	for i := range c.Rules {
		r := rule{d: d, m: m, Rule: &c.Rules[i], needs: c.Needs, extents: extents}
		for _, p := range r.addPlaces(r.parts()) {
			p.rule = i
			f.Parts = append(f.Parts, p)
		}
		r.addLacking(lacks)
	}
	var small []string
	for _, p := range f.Parts {
		if p.small && !slices.Contains(small, p.Why) {
			small = append(small, p.Why)
		}
	}
	f.Verdict, f.Parts = combine(f.Parts)
	f.judgeVerbatim(d, m, extents)
	if f.Verdict == NotTested {
		f.Why = reasons(f.Parts)
		for _, p := range f.Parts {
			if e, _ := d.Experiment(c.Rules[p.rule].Of); p.lacking && !p.small && len(e.Cut(m.Size).Lost) > 0 { // the words of the cut say why
				f.Why += "; " + e.Name + " has " + e.Cut(m.Size).Words
				break
			}
		}
		return f
	}
	var without []string
	for _, path := range slices.Sorted(maps.Keys(lacks)) {
		without = append(without, fmt.Sprintf("%s=%s, which size %s has not", path, strings.Join(lacks[path], ", "), m.Size))
	}
	if c.Untested != "" {
		without = append(without, c.Untested)
	}
	f.InPart = len(without)+len(small) > 0
	if len(without) > 0 {
		notes = append(notes, "the verdict is of a part of the claim, without "+strings.Join(without, "; and without "))
	}
	if len(small) > 0 {
		notes = append(notes, "a part is "+strings.Join(small, "; and "))
	}
	if unequal := unequalNote(f.Parts); unequal != "" {
		notes = append(notes, unequal)
	}
	f.Why = strings.Join(notes, "; ")
	return f
}

// judgeVerbatim judges a claim by TSBS's own texts, if all of its rules are about queries
// that were run so.
func (f *Finding) judgeVerbatim(d *document.Document, m Measured, extents map[string]*document.Extents) {
	var parts []Part
	for i := range f.Claim.Rules {
		r := &f.Claim.Rules[i]
		if len(r.Types) == 0 || len(m.Verbatim[r.Of]) == 0 {
			return
		}
		own := rule{d: d, m: m, Rule: r, needs: f.Claim.Needs, extents: extents, verbatim: true}
		parts = append(parts, own.addPlaces(own.parts())...)
	}
	f.Verbatim, f.VerbatimParts = combine(parts)
}

// combine returns the verdict of a claim from the parts that the size has, and these parts.
func combine(all []Part) (Verdict, []Part) {
	parts := slices.DeleteFunc(slices.Clone(all), func(p Part) bool { return p.lacking })
	if len(parts) == 0 {
		return NotTested, all
	}
	for _, v := range []Verdict{DoesNotHold, NotTested, Tie} {
		if slices.ContainsFunc(parts, func(p Part) bool { return p.Verdict == v }) {
			return v, parts
		}
	}
	return Holds, parts
}

// judgeMost returns the verdict of comparisons if more than half of them must hold.
func judgeMost(parts []Part) Part {
	count := make(map[Verdict]int)
	for _, p := range parts {
		count[p.Verdict]++
	}
	n := len(parts) - count[NotTested]
	if n == 0 {
		p := untestedPart("", reasons(parts))
		p.lacking = !slices.ContainsFunc(parts, func(p Part) bool { return !p.lacking })
		return p
	}
	p := Part{Verdict: Tie, Advantage: stats.Value{Bound: stats.Unknown}, sides: sidesOf(parts),
		What: fmt.Sprintf("most of %d comparisons, such as %s; here %d hold, %d do not, %d are ties", n, parts[0].What, count[Holds], count[DoesNotHold], count[Tie])}
	switch {
	case 2*count[Holds] > n:
		p.Verdict = Holds
	case 2*count[DoesNotHold] > n:
		p.Verdict = DoesNotHold
	}
	return p
}

// reasons lists why parts were not tested, each once.
func reasons(parts []Part) string {
	var list []string
	for _, p := range parts {
		if p.Verdict == NotTested && !slices.Contains(list, p.Why) {
			list = append(list, p.Why)
		}
	}
	return strings.Join(list, "; ")
}

// tenth is the largest factor between figures that count as alike.
const tenth = 1.1

// Package compare computes how much the figures of some runs differ from those
// of others, how certain the difference is, and which figures could not be compared and why.
//
// A side is one or more runs, each a repeat or several of the same
// measurement. Figures of a query type are those of package estimate, over the
// queries that both sides have, so that both are judged by the same queries: for
// targets of one run they are the run's own. See package measure/stats for the
// methods.
package compare

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/terms"
	"github.com/tsmark/tsmark/result"
)

// ErrDifferent is wrapped by the errors about sides that were not given the
// same data or the same queries.
var ErrDifferent = errors.New("not the same was measured")

// Options say when not to compare. The zero value is the strictest.
type Options struct {
	Different bool // other data, other queries, or terms that bar a verdict
	// AnyTerms gives verdicts whatever the terms are, since a sweep varies one of them.
	AnyTerms bool
	// ByType compares everything except query types whose queries differ between the sides:
	// these are not compared, and their figures say so.
	ByType bool
	// Beside are further sides that the figures are shown with: only queries
	// that these have too take part.
	Beside []Side
}

// Comparison is the outcome. It goes from A to B: a ratio above 1 says that B
// has more.
type Comparison struct {
	A       Party    `json:"a"`
	B       Party    `json:"b"`
	Notes   []string `json:"notes,omitempty"` // about all figures, and about targets without a counterpart
	Targets []Target `json:"targets"`
}

// Party identifies a side.
type Party struct {
	Runs   []string `json:"runs"` // IDs
	Target string   `json:"target,omitempty"`
}

// Target is two targets, or the same one twice.
type Target struct {
	A Subject `json:"a"`
	B Subject `json:"b"`
	// Figures are one per query type and metric, types in the order run,
	// then the geometric mean over the types, then those of the load and of its
	// mixed phase.
	Figures []Figure `json:"figures"`
	// Terms are the conditions of measurement that differ between A and B, and can explain a
	// ratio.
	Terms []terms.Difference `json:"terms,omitempty"`
	// UnrankedA and UnrankedB are why a side is not ranked, for example because of a wrong
	// answer. They are empty for a ranked side.
	UnrankedA string   `json:"unranked_a,omitempty"`
	UnrankedB string   `json:"unranked_b,omitempty"`
	Notes     []string `json:"notes,omitempty"`
}

// ByResponse reports whether the times of the queries are response times of an open loop: see
// result.Queries.Time.
func (t *Target) ByResponse() bool {
	return slices.ContainsFunc(slices.Concat(t.A.targets, t.B.targets), func(of *result.Target) bool {
		return slices.ContainsFunc(of.Queries, func(q result.Queries) bool { return q.ByResponse() })
	})
}

// MixedByResponse is ByResponse of the queries of mixed phases.
func (t *Target) MixedByResponse() bool {
	return slices.ContainsFunc(slices.Concat(t.A.targets, t.B.targets), func(of *result.Target) bool {
		return slices.ContainsFunc(of.MeasuredRepeats(), func(r result.Repeat) bool {
			return r.Load != nil && r.Load.Mixed != nil && slices.ContainsFunc(r.Load.Mixed.Types, func(q result.MixedType) bool { return q.Response != nil })
		})
	})
}

// UnequalDurability is terms.UnequalDurability of A and B.
func (t *Target) UnequalDurability() string {
	return terms.UnequalDurability(t.A.side("A"), t.B.side("B"))
}

// BarringTerms lists the terms that bar a verdict on queries, on loads, or on mixed phases.
func (t *Target) BarringTerms(scope terms.Scope) []terms.Difference {
	return slices.DeleteFunc(slices.Clone(t.Terms), func(d terms.Difference) bool { return !d.Bars || !d.Concerns(scope) })
}

// Runs compares two sides. An error that wraps ErrDifferent means that the sides
// are not comparable; with Options.Different it becomes a note instead. Other errors
// mean that there is nothing to compare.
func Runs(a, b Side, opts Options) (*Comparison, error) {
	c := &Comparison{A: a.party(), B: b.party()}
	if r := findSharedRun(a, b); r != nil {
		return nil, fmt.Errorf("run %s would count twice: name each run once", r.ID)
	}
	if err := checkComparable(a, b, opts.ByType); err != nil {
		if !opts.Different {
			return nil, err
		}
		c.Notes = append(c.Notes, "Not the same was measured: "+strings.TrimSuffix(err.Error(), ": "+ErrDifferent.Error())+".")
	}
	for _, s := range []Side{a, b} {
		for _, r := range s.Runs {
			if r.Status != result.Complete {
				c.Notes = append(c.Notes, fmt.Sprintf("Run %s is not complete.", r.ID))
			}
			if why := r.NotMeasuredHere(); why != "" {
				c.Notes = append(c.Notes, fmt.Sprintf("Run %s: %s.", r.ID, why))
			}
		}
	}
	pairs, alone := match(a.subjects(), b.subjects())
	if len(pairs) == 0 {
		return nil, fmt.Errorf("no target of %s goes with one of %s: name one of each", a.label(), b.label())
	}
	var beside []Subject
	for _, s := range opts.Beside {
		beside = append(beside, s.subjects()...)
	}
	for _, p := range pairs {
		t := compareTarget(p[0], p[1], beside, opts)
		if one := a.Runs[0].ID == b.Runs[0].ID; one && result.InDifferentGroups(p[0].targets[0], p[1].targets[0]) {
			t.Notes = append(t.Notes, "A and B share a place or one of them does: they were measured in different groups of targets, one after the other, and their ratios include any change of the machine in between.")
		}
		c.Targets = append(c.Targets, t)
	}
	c.Notes = append(c.Notes, alone...)
	return c, nil
}

// bar keeps figures from a verdict that would not be about the systems: a side has wrong
// answers, or differing terms bar a verdict, unless it is requested explicitly.
func (t *Target) bar(anyTerms bool) {
	var unranked []string
	for _, side := range []struct{ name, why string }{{"A", t.UnrankedA}, {"B", t.UnrankedB}} {
		if side.why != "" {
			unranked = append(unranked, side.name+": "+side.why)
		}
	}
	for i := range t.Figures {
		f := &t.Figures[i]
		if len(unranked) > 0 {
			f.bar(NotRanked, strings.Join(unranked, "; "))
		}
		if f.Metric == GeoMean { // a mean over the answers that were not wrong is the mean of another system
			f.MissingA, f.MissingB = cmp.Or(f.MissingA, t.UnrankedA), cmp.Or(f.MissingB, t.UnrankedB)
		}
		if anyTerms {
			continue
		}
		scope := terms.Queries
		switch {
		case f.Metric.isMixed():
			scope = terms.Mixed
		case f.Metric.repetitionUnit() == LacksLoads, f.Metric.isOfCrashes():
			scope = terms.Loads
		}
		var list []string
		for _, d := range t.BarringTerms(scope) {
			list = append(list, d.String())
		}
		if len(list) > 0 {
			f.bar(DifferentTerms, strings.Join(list, "; "))
		}
	}
}

// SingleRun returns the figures of one run, as B's, for conditions that need no other run.
func SingleRun(r *result.Run) *Comparison {
	side := Side{Runs: []*result.Run{r}}
	c := &Comparison{A: side.party(), B: side.party()}
	for _, s := range side.subjects() {
		c.Targets = append(c.Targets, compareTarget(s, s, nil, Options{}))
	}
	return c
}

// compareTarget compares all that two subjects recorded, even different queries of a type
// if that is wanted.
func compareTarget(a, b Subject, beside []Subject, opts Options) Target {
	t := Target{A: a, B: b, UnrankedA: a.reasonUnranked(), UnrankedB: b.reasonUnranked(), Terms: terms.Differences(a.side("A"), b.side("B"))}
	var medians []typeMedians
	for _, name := range types(a, b) {
		figures, m := compareType(name, a, b, beside, opts.Different)
		t.Figures = append(t.Figures, figures...)
		// A type answered from an aggregate is the same query again, not a further one; and
		// the oracle has no answers for own texts.
		if _, aggregate := result.RawType(name); m != nil && !aggregate && !ownText(name, a, b) {
			medians = append(medians, *m)
		}
	}
	if len(medians) > 1 {
		t.Figures = append(t.Figures, geometricMean(medians))
	}
	t.Figures = append(t.Figures, compareLoads(a, b)...)
	t.Figures = append(t.Figures, compareMixed(a, b)...)
	t.Figures = append(t.Figures, compareLife(a, b)...)
	t.Figures = append(t.Figures, compareCrashes(a, b)...)
	t.bar(opts.Different || opts.AnyTerms)
	t.Notes = append(t.Notes, exclude(t.Figures, a, b)...)
	judge(t.Figures)
	for i := range t.Figures {
		f := &t.Figures[i]
		f.NoisyA, f.NoisyB = a.noisy(f), b.noisy(f)
	}
	t.Notes = append(t.Notes, append(a.failures("A"), b.failures("B")...)...)
	if note := sameQueriesNote(a, b); note != "" {
		t.Notes = append(t.Notes, note)
	}
	return t
}

// exclude takes figures out of the comparison where a side is not comparable, and says of
// which side that is so. Each side keeps its own figures.
func exclude(figures []Figure, a, b Subject) (notes []string) {
	whyA, whyB := a.uncomparable(), b.uncomparable()
	if whyA != "" {
		notes = append(notes, "A: "+a.Name+" is a "+whyA+"; it is not compared.")
	}
	if whyB != "" {
		notes = append(notes, "B: "+b.Name+" is a "+whyB+"; it is not compared.")
	}
	if len(notes) == 0 {
		return nil
	}
	for i := range figures {
		f := &figures[i]
		f.MissingA, f.MissingB = cmp.Or(whyA, f.MissingA), cmp.Or(whyB, f.MissingB)
		f.Ratio, f.Interval, f.P, f.SmallestP = stats.Value{Bound: stats.Unknown}, nil, 1, 1
		if f.Metric == GeoMean {
			f.A, f.B = stats.Summarize(nil), stats.Summarize(nil)
		}
	}
	return notes
}

// sameQueriesNote names the types whose queries are the same in runs of both sides, so that
// a cache of answers may have served the later run. It is empty without such types, or if all
// of them are types with too few different queries for a run to have others, of systems
// whose own caches do not answer.
func sameQueriesNote(a, b Subject) string {
	var same []string
	answers := slices.ContainsFunc(slices.Concat(a.targets, b.targets), func(t *result.Target) bool { return t.ResultCache.Answers() })
	chosen := answers
	for _, name := range types(a, b) {
		for _, r := range a.runs {
			for _, other := range b.runs {
				p, q := r.QuerySet(name), other.QuerySet(name)
				if r.ID == other.ID || p == nil || q == nil || !p.Equal(q) {
					continue
				}
				chosen = chosen || r.QuerySeed == other.QuerySeed
				if !slices.Contains(same, name) {
					same = append(same, name)
				}
			}
		}
	}
	if len(same) == 0 || !chosen {
		return ""
	}
	note := "A and B ran the same queries of " + strings.Join(same, ", ") + ": a cache may have answered those of the later run"
	if !answers {
		note += ", though none of the systems' own (" + a.targets[0].ResultCache.String() + ")"
	}
	return note + "."
}

// ownText reports whether a query type was texts that an experiment brought.
func ownText(name string, subjects ...Subject) bool {
	for _, s := range subjects {
		for _, t := range s.targets {
			for _, r := range t.MeasuredRepeats() {
				if q := r.Type(name); q != nil && q.Texts == result.TextsOwn {
					return true
				}
			}
		}
	}
	return false
}

// types lists the query types of two subjects in the order run.
func types(a, b Subject) []string {
	var list []string
	for _, t := range slices.Concat(a.targets, b.targets) {
		for _, r := range t.MeasuredRepeats() {
			for i := range r.Queries {
				if name := r.Queries[i].Type; !slices.Contains(list, name) {
					list = append(list, name)
				}
			}
		}
	}
	return list
}

// typeMedians are the medians of the repeats of one type.
type typeMedians struct{ a, b []float64 }

// geometricMean compares, repeat by repeat, the geometric means of the medians of all
// types, so that an effect on a whole repeat counts once.
func geometricMean(types []typeMedians) Figure {
	repeats := func(side func(typeMedians) []float64) []float64 {
		n := len(side(slices.MinFunc(types, func(x, y typeMedians) int { return len(side(x)) - len(side(y)) })))
		means := make([]float64, n)
		for r := range means {
			var medians []float64
			for _, t := range types {
				medians = append(medians, side(t)[r])
			}
			means[r] = stats.GeometricMean(medians)
		}
		return means
	}
	a := repeats(func(t typeMedians) []float64 { return t.a })
	b := repeats(func(t typeMedians) []float64 { return t.b })
	return Figure{Subject: AllTypes, Metric: GeoMean, Unit: Seconds, Better: Lower, Method: AcrossRepeats, Types: len(types), Comparison: stats.Compare(a, b), ofA: a, ofB: b}
}

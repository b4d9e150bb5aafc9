// Package compare says by how much the figures of some runs differ from those
// of others, how sure that is, and what could not be compared and why.
//
// A side is one or more runs, each a repeat or several of the same
// measurement. Figures of a query type are those of package estimate, over the
// queries that both sides have, so that nobody is judged by other queries: of
// targets of one run they are the run's own. See package measure/stats for the
// methods.
package compare

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/result"
)

// ErrDifferent is wrapped by the errors about sides that were not given the
// same data or the same queries.
var ErrDifferent = errors.New("not the same was measured")

// Options say when not to compare. The zero value is the strictest.
type Options struct {
	Different bool // other data or other queries
	// ByType compares all but the query types of which the sides have different queries:
	// these are not compared, and their figures say so.
	ByType bool
	// Beside are further sides that the figures are shown with: only queries
	// that these have too take part.
	Beside []Side
}

// Comparison is the outcome. It goes from A to B: a ratio above 1 says that B
// has more.
type Comparison struct {
	A Party `json:"a"`
	B Party `json:"b"`
	// OtherMachine says that the runs are of more than one machine, so that ratios
	// are of machines too.
	OtherMachine bool     `json:"other_machine,omitempty"`
	Notes        []string `json:"notes,omitempty"` // what holds for all figures, and what has no counterpart
	Targets      []Target `json:"targets"`
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
	Notes   []string `json:"notes,omitempty"`
}

// Runs compares two sides. Errors that wrap ErrDifferent say that this would
// compare unlike things, and are notes where Options.Different asks for it all
// the same; other errors say that there is nothing to compare.
func Runs(a, b Side, opts Options) (*Comparison, error) {
	c := &Comparison{A: a.party(), B: b.party()}
	if r := shared(a, b); r != nil {
		return nil, fmt.Errorf("run %s would count twice: name each run once", r.ID)
	}
	if err := alike(a, b, opts.ByType); err != nil {
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
			c.OtherMachine = c.OtherMachine || !result.SameMachine(&r.Host, &a.Runs[0].Host)
		}
	}
	if c.OtherMachine {
		c.Notes = append(c.Notes, "The runs were made on different machines, whose differences are in all ratios.")
	}
	if text := otherClients(a, b); text != "" {
		c.Notes = append(c.Notes, text)
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
		t := compareTarget(p[0], p[1], beside, opts.Different)
		if one := a.Runs[0].ID == b.Runs[0].ID; one && result.Apart(p[0].targets[0], p[1].targets[0]) {
			t.Notes = append(t.Notes, "A and B share a place or one of them does: they were measured in different parts of the run, one after the other, and their ratios include any change of the machine in between.")
		}
		if text := otherMemory(p[0], p[1]); text != "" {
			t.Notes = append(t.Notes, text)
		}
		c.Targets = append(c.Targets, t)
	}
	c.Notes = append(c.Notes, alone...)
	return c, nil
}

// otherClients says that runs had different numbers of clients; empty: they had as many.
func otherClients(sides ...Side) string {
	var numbers []int
	for _, s := range sides {
		for _, r := range s.Runs {
			if n := max(1, len(r.Agents)); !slices.Contains(numbers, n) {
				numbers = append(numbers, n)
			}
		}
	}
	if len(numbers) < 2 {
		return ""
	}
	slices.Sort(numbers)
	return fmt.Sprintf("The runs had %d to %d clients: where one of them was the limit, or loaded fewer series into a system that keeps rows as they come, that is in the ratios.", numbers[0], numbers[len(numbers)-1])
}

// otherMemory says that the servers of two subjects could use different amounts of memory;
// empty: they could use the same.
func otherMemory(a, b Subject) string {
	var amounts []int64
	for _, t := range slices.Concat(a.targets, b.targets) {
		if !slices.Contains(amounts, t.ServerMemory) {
			amounts = append(amounts, t.ServerMemory)
		}
	}
	if len(amounts) < 2 {
		return ""
	}
	slices.Sort(amounts)
	var words []string
	for _, n := range amounts {
		if n > 0 {
			words = append(words, "at most "+humanize.IBytes(uint64(n)))
		}
	}
	if amounts[0] == 0 {
		words = append(words, "all of their host's")
	}
	return "The servers had different amounts of memory, " + strings.Join(words, " and ") + ", which is in the ratios."
}

// Alone are the figures of one run, as B's, for conditions that are about no other.
func Alone(r *result.Run) *Comparison {
	side := Side{Runs: []*result.Run{r}}
	c := &Comparison{A: side.party(), B: side.party()}
	for _, s := range side.subjects() {
		c.Targets = append(c.Targets, compareTarget(s, s, nil, false))
	}
	return c
}

// compareTarget compares all that two subjects recorded, even different queries of a type
// if that is wanted.
func compareTarget(a, b Subject, beside []Subject, different bool) Target {
	t := Target{A: a, B: b}
	var medians []typeMedians
	for _, name := range types(a, b) {
		figures, m := compareType(name, a, b, beside, different)
		t.Figures = append(t.Figures, figures...)
		// From an aggregate a type is no further query, but the same once more; and of own
		// texts the oracle knows no answer.
		if _, aggregate := result.RawType(name); m != nil && !aggregate && !ownText(name, a, b) {
			medians = append(medians, *m)
		}
	}
	if len(medians) > 1 {
		t.Figures = append(t.Figures, geometricMean(medians))
	}
	t.Figures = append(t.Figures, compareLoads(a, b)...)
	t.Figures = append(t.Figures, compareMixed(a, b)...)
	judge(t.Figures)
	for i := range t.Figures {
		f := &t.Figures[i]
		f.NoisyA, f.NoisyB = a.noisy(f), b.noisy(f)
	}
	t.Notes = append(t.Notes, append(a.failures("A"), b.failures("B")...)...)
	return t
}

// ownText reports whether a query type was texts that an experiment brought.
func ownText(name string, subjects ...Subject) bool {
	for _, s := range subjects {
		for _, t := range s.targets {
			for _, r := range t.Measured() {
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
		for _, r := range t.Measured() {
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

// geometricMean compares, repeat by repeat, the geometric means over the types
// of their medians: so what makes a whole repeat faster or slower counts once.
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
	return Figure{Subject: AllTypes, Metric: GeoMean, Unit: Seconds, Better: Lower, Method: AcrossRepeats, Types: len(types), Comparison: stats.Compare(a, b)}
}

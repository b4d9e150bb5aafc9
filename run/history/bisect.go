package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Bisection finds the first target of a series whose figure is that of the last one rather than that
// of the first.
type Bisection struct {
	*Series
	Names []string // of the targets
	// Judge says what the runs of a pair show.
	Judge func(*Pair) Evidence
	// Prepare makes a target ready to be started; the reason says why it cannot be tested, and is
	// empty if it can. Nil: nothing is needed.
	Prepare func(ctx context.Context, target int) (reason string, err error)
	Say     func(text string) // tells the user a decision
	// Least is the least ratio, either way, for which the ends count as different.
	Least float64
	// MostRuns is the maximum number of runs for one decision.
	MostRuns int

	limit float64 // the ratio that separates both sides; 0: the ends are compared
}

// Evidence is what the runs of two targets show about the ratio of the second figure to the first.
type Evidence struct {
	Ratio, Low, High float64 // above 0; High may be infinite
	Text             string  // the ratio, its interval and its basis, in words
	Missing          string  // why a target has no figure; empty: both have one
	// Each is the ratio in each run; nil: one run is proof. The rounds of a run share processes and loads, which may
	// differ by chance.
	Each []float64
}

// Found is the outcome of a bisection.
type Found struct {
	// Same says that the ends were not shown to differ; then the other fields are of the ends.
	// Together with Undecided, they may differ all the same.
	Same bool
	// Before and First are neighbours, apart from targets that could not be tested: the step is
	// between them.
	Before, First int
	Evidence      Evidence // of First against Before
	Skipped       []int    // targets between them
	Undecided     bool     // the evidence does not decide where the step is
}

// side is a side of the step.
type side int

const (
	unknown side = iota
	good
	bad
)

// sideOf returns on which side of the step a ratio is if its interval goes from low to high.
func (b *Bisection) sideOf(low, high float64) side {
	if b.limit == 0 {
		switch {
		case low > b.Least || high < 1/b.Least:
			return bad
		case low > 1/b.Least && high < b.Least:
			return good
		}
		return unknown
	}
	above, below := low > b.limit, high < b.limit
	switch {
	case b.limit > 1 && above, b.limit < 1 && below:
		return bad
	case above, below:
		return good
	}
	return unknown
}

// side returns on which side of the step a pair's second target is, if its first one is good. It takes two runs to
// be bad, and all must point the same way.
func (b *Bisection) side(e Evidence) side {
	s := b.sideOf(e.Low, e.High)
	if s == bad && e.Each != nil {
		middle := cmp.Or(b.limit, 1)
		if len(e.Each) < 2 || slices.ContainsFunc(e.Each, func(ratio float64) bool { return (ratio > middle) != (e.Ratio > middle) }) {
			return unknown
		}
	}
	return s
}

// Decided reports whether the evidence needs no further round of the run that is going on. Another run may follow.
func (b *Bisection) Decided(e Evidence) bool {
	return e.Missing != "" || b.sideOf(e.Low, e.High) != unknown
}

// decide compares two targets until the evidence is enough.
func (b *Bisection) decide(ctx context.Context, a, z int) (Evidence, error) {
	for _, target := range []int{a, z} {
		if b.Prepare == nil {
			break
		}
		if reason, err := b.Prepare(ctx, target); err != nil || reason != "" {
			return Evidence{Missing: reason}, err
		}
	}
	p, err := b.compareUntil(ctx, a, z, func(p *Pair) bool {
		if len(p.Runs) == 0 {
			return false
		}
		e := b.Judge(p)
		return len(p.Runs) >= b.MostRuns || e.Missing != "" || b.side(e) != unknown
	})
	if err != nil {
		return Evidence{}, err
	}
	for _, target := range []int{z, a} {
		if failure := p.Failure(target); failure != "" {
			return Evidence{Missing: b.Names[target] + " failed: " + failure}, nil
		}
	}
	return b.Judge(p), nil
}

// ErrNoFigure means that the figure of an end is missing.
var ErrNoFigure = errors.New("the ends cannot be compared")

// Find bisects. An error says that a comparison could not be made; it wraps ErrNoFigure if an end has no
// figure.
func (b *Bisection) Find(ctx context.Context) (Found, error) {
	found := Found{Before: 0, First: len(b.Names) - 1}
	about := func() string { return b.Names[found.First] + " against " + b.Names[found.Before] }
	ends, err := b.decide(ctx, found.Before, found.First)
	switch {
	case err != nil:
		return found, err
	case ends.Missing != "":
		return found, fmt.Errorf("%w: %s: %s", ErrNoFigure, about(), ends.Missing)
	}
	found.Evidence = ends
	switch b.side(ends) {
	case good:
		found.Same = true
		b.Say(about() + ": " + ends.Text + ": they do not differ")
		return found, nil
	case unknown:
		found.Same, found.Undecided = true, true
		b.Say(about() + ": " + ends.Text + fmt.Sprintf(": not decided after %d runs", b.MostRuns))
		return found, nil
	}
	b.Say(about() + ": " + ends.Text + ": they differ")
	b.limit = math.Sqrt(ends.Ratio)
	skipped := make(map[int]bool)
	for {
		middle := b.middle(found.Before, found.First, skipped)
		if middle < 0 {
			break
		}
		e, err := b.decide(ctx, found.Before, middle)
		if err != nil {
			return found, err
		}
		text := b.Names[middle] + " against " + b.Names[found.Before] + ": "
		switch {
		case e.Missing != "":
			skipped[middle] = true
			b.Say(text + "skipped: " + e.Missing)
		case b.side(e) == bad:
			found.First, found.Evidence = middle, e
			b.Say(text + e.Text + ": after the step")
		case b.side(e) == good:
			found.Before, found.Evidence = middle, Evidence{}
			b.Say(text + e.Text + ": before the step")
		default:
			found.Undecided, found.Evidence = true, e
			b.Say(text + e.Text + fmt.Sprintf(": not decided after %d runs", b.MostRuns))
			return found, nil
		}
	}
	for i := found.Before + 1; i < found.First; i++ {
		found.Skipped = append(found.Skipped, i)
	}
	if found.Evidence.Text == "" { // the last decision was about another pair
		if found.Evidence, err = b.decide(ctx, found.Before, found.First); err != nil {
			return found, err
		}
		found.Undecided = b.side(found.Evidence) != bad
		b.Say(about() + ": " + found.Evidence.Text + found.Evidence.Missing)
	}
	return found, nil
}

// middle returns the target between two others that is next to the middle and was not skipped, or
// -1.
func (b *Bisection) middle(low, high int, skipped map[int]bool) int {
	center := (low + high) / 2
	for d := 0; d < high-low; d++ {
		for _, i := range []int{center - d, center + d} {
			if i > low && i < high && !skipped[i] {
				return i
			}
		}
	}
	return -1
}

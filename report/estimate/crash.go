package estimate

import (
	"cmp"
	"slices"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/result"
)

// Crashes is what crashes of one kind, or of several, did to a target. All fields but Failed
// are about the crashes that could be judged, and count rows unless they say otherwise.
type Crashes struct {
	Kind        string
	Unsupported string // why there were no crashes; empty: there were some
	Failed      int    // further crashes, which could not be judged
	Count       int    // crashes
	Losing      int    // crashes after which the target was not intact: see result.CrashRound.Intact
	Holes       int    // of Losing, whose lost rows are not the last ones

	// Acked are of the crashes after which the target answered. Lost includes Earlier: rows from before the round of
	// the crash, which are not among Acked. Doubled includes Repeated.
	Acked, Lost, Earlier, Extra, Doubled, Repeated, Torn, Wrong int64

	// Answers and Complete are in seconds, one for each crash; less than 0: not within so long.
	Answers, Complete []float64
}

// Bound is the largest share of such crashes that may lose acknowledged rows, with 95 %, if none did.
func (c *Crashes) Bound() float64 { return stats.RuleOfThree(c.Count) }

// CrashesByKind returns the crashes of a target by kind, in the order of result.CrashKinds; nil: it had none.
func CrashesByKind(t *result.Target) (list []Crashes) {
	of := func(kind string) *Crashes {
		if FindCrashes(list, kind) == nil {
			list = append(list, Crashes{Kind: kind})
		}
		return FindCrashes(list, kind)
	}
	if t.Crash == nil {
		return nil
	}
	for kind, why := range t.Crash.Unsupported {
		of(kind).Unsupported = why
	}
	for i := range t.Crash.Rounds {
		of(t.Crash.Rounds[i].Kind).Add(&t.Crash.Rounds[i], t.Crash.Patience)
	}
	slices.SortFunc(list, func(a, b Crashes) int { return compareKinds(a.Kind, b.Kind) })
	return list
}

// FindCrashes returns the crashes of a kind; nil: the list has none.
func FindCrashes(list []Crashes, kind string) *Crashes {
	if at := slices.IndexFunc(list, func(c Crashes) bool { return c.Kind == kind }); at >= 0 {
		return &list[at]
	}
	return nil
}

// KindsOf returns the kinds of crashes of all lists, in the order of result.CrashKinds.
func KindsOf(lists ...[]Crashes) (kinds []string) {
	for _, c := range slices.Concat(lists...) {
		if !slices.Contains(kinds, c.Kind) {
			kinds = append(kinds, c.Kind)
		}
	}
	slices.SortFunc(kinds, compareKinds)
	return kinds
}

// compareKinds orders kinds as result.CrashKinds does.
func compareKinds(a, b string) int {
	order := result.CrashKinds()
	return cmp.Or(slices.Index(order, a)-slices.Index(order, b), cmp.Compare(a, b))
}

// AllCrashes returns the crashes of a target together.
func AllCrashes(t *result.Target) (all Crashes) {
	for _, c := range CrashesByKind(t) {
		all.Join(&c)
	}
	return all
}

// Restarts returns the crashes of a target after which it was started again.
func Restarts(t *result.Target) (all Crashes) {
	for _, c := range CrashesByKind(t) {
		if c.Kind != result.CrashPause {
			all.Join(&c)
		}
	}
	return all
}

// RestartRounds returns the crashes of Restarts that could be judged, a list for each kind that there was, by the rows
// that were stored.
func RestartRounds(t *result.Target) (byKind [][]result.CrashRound) {
	if t.Crash == nil {
		return nil
	}
	for _, kind := range result.CrashKinds() {
		rounds := slices.Clone(t.Crash.Rounds)
		rounds = slices.DeleteFunc(rounds, func(r result.CrashRound) bool { return r.Kind != kind || r.Failed != "" })
		if kind == result.CrashPause || len(rounds) == 0 {
			continue
		}
		slices.SortStableFunc(rounds, func(a, b result.CrashRound) int { return cmp.Compare(a.Stored, b.Stored) })
		byKind = append(byKind, rounds)
	}
	return byKind
}

// Join adds further crashes.
func (c *Crashes) Join(more *Crashes) {
	c.Failed, c.Count, c.Losing, c.Holes = c.Failed+more.Failed, c.Count+more.Count, c.Losing+more.Losing, c.Holes+more.Holes
	c.Acked, c.Lost, c.Earlier, c.Extra = c.Acked+more.Acked, c.Lost+more.Lost, c.Earlier+more.Earlier, c.Extra+more.Extra
	c.Doubled, c.Repeated, c.Torn, c.Wrong = c.Doubled+more.Doubled, c.Repeated+more.Repeated, c.Torn+more.Torn, c.Wrong+more.Wrong
	c.Answers, c.Complete = slices.Concat(c.Answers, more.Answers), slices.Concat(c.Complete, more.Complete)
}

// Add adds a crash; patience is that of its record.
func (c *Crashes) Add(r *result.CrashRound, patience float64) {
	if r.Failed != "" {
		c.Failed++
		return
	}
	c.Count++
	if !r.Intact() {
		c.Losing++
	}
	if r.Holes && r.Lost > 0 {
		c.Holes++
	}
	if r.Answers >= 0 { // otherwise no row could be read
		c.Acked += r.Acked
	}
	earlier := max(r.LostEarlier, 0)
	c.Lost, c.Earlier, c.Extra = c.Lost+r.Lost+earlier, c.Earlier+earlier, c.Extra+r.Extra
	c.Doubled, c.Repeated, c.Torn, c.Wrong = c.Doubled+r.Doubled, c.Repeated+r.Repeated, c.Torn+r.Torn, c.Wrong+r.Wrong
	const least = 1e-6 // which keeps ratios finite
	seconds := func(s float64) float64 {
		if s < 0 {
			return -max(patience, least)
		}
		return max(s, least)
	}
	c.Answers, c.Complete = append(c.Answers, seconds(r.Answers)), append(c.Complete, seconds(r.Complete))
}

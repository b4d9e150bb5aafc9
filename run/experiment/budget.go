package experiment

import (
	"slices"
	"time"

	"github.com/tsmark/tsmark/result"
)

// Default budgets of queries: without a server, and if one takes part.
const (
	EmbeddedBudget = time.Minute
	ServerBudget   = 5 * time.Minute
)

// DefaultTimeBox is the default of Queries.TimeBox where the user limits queries otherwise.
const DefaultTimeBox = 1200 * time.Millisecond

// MostRounds is the maximum number of rounds with a budget. Further ones would run few queries that
// were not run before.
const MostRounds = 8 * DefaultRepeats

// A round gives each query type of a target one part in budgetParts of the budget, or less: the
// first DefaultRepeats rounds take no more than a third of it, unless that leaves less than
// leastTimeBox.
const (
	budgetParts  = 300
	leastTimeBox = 50 * time.Millisecond
)

// TimeBoxOfRepeat returns the time limit of a type in one repeat, for a number of types; 0: no
// limit. With a budget it is the same in all rounds.
func (e *Experiment) TimeBoxOfRepeat(types int) time.Duration {
	q := &e.Queries
	switch {
	case q.Time > 0:
		return max(q.Time/time.Duration(max(budgetParts, 3*DefaultRepeats*types*len(e.Targets))), leastTimeBox)
	case q.TimeBox == 0:
		return 0
	}
	return max(q.TimeBox/time.Duration(e.QueryRepeats()), 1)
}

// SetBudget gives the experiment the default budget if the user named none, and no other limit of
// the queries. A limit from a flag replaces those of a file.
func (e *Experiment) SetBudget(byDefault time.Duration) { e.setLimits(Queries{Time: byDefault}) }

// SetRounds is SetBudget with a number of rounds as the default, and a time limit for a type over all
// of them. An interval of a median becomes narrower with the number of rounds where these differ
// more from each other than queries within a round do.
func (e *Experiment) SetRounds(rounds int, timeBox time.Duration) {
	e.setLimits(Queries{Repeats: rounds, TimeBox: timeBox})
}

// setLimits sets the limits of byDefault unless the user named others.
func (e *Experiment) setLimits(byDefault Queries) {
	q := &e.Queries
	others := []string{"time-box", "until", "rate", "find-max-rate", "cache"}
	if q.Repeats != 0 || e.sweeps("repeats") { // 0 is the default
		others = append(others, "repeats")
	}
	switch {
	case e.fromFlag("time"):
		if q.Time == 0 { // no budget
			return
		}
		if !e.fromFlag("repeats") {
			q.Repeats = 0
		}
		if !e.fromFlag("until") {
			q.Until = ""
		}
	case slices.ContainsFunc(others, e.fromFlag):
		if q.Time > 0 && q.TimeBox == 0 && !e.fromFlag("time-box") {
			q.TimeBox = DefaultTimeBox
		}
		q.Time = 0
		e.divideTimeBox(others)
		return
	case e.names("time"):
		if q.Time == 0 && !e.sweeps("time") {
			return
		}
		if e.names("time-box") { // Check compares them
			return
		}
	case slices.ContainsFunc(others, e.names):
		e.divideTimeBox(others)
		return
	case e.names("count"), q.warmsUpByCount():
		// One target has as many rounds as several, so that it can be compared with a later run.
		if w, _ := ParseWarmUp(q.WarmUp); q.Count/DefaultRepeats-w.Queries >= result.LeastDifferent {
			q.Repeats = DefaultRepeats
		}
		return
	default:
		q.Time, q.Repeats, q.TimeBox = byDefault.Time, byDefault.Repeats, byDefault.TimeBox
		return
	}
	if !e.fromFlag("time-box") {
		q.TimeBox = 0
	}
}

// divideTimeBox gives a single target as many rounds as several, so that it can be compared with a later
// run, if a time box is the only limit of the queries that the user named.
func (e *Experiment) divideTimeBox(limits []string) {
	if slices.ContainsFunc(append(limits, "count"), func(key string) bool { return e.names(key) != (key == "time-box") }) || e.Queries.warmsUpByCount() {
		return
	}
	e.Queries.Repeats = DefaultRepeats
}

// names reports whether the user set a key of the section queries.
func (e *Experiment) names(key string) bool {
	_, ok := e.origins["queries."+key]
	return ok || e.sweeps(key)
}

// sweeps reports whether the matrix has a key of the section queries.
func (e *Experiment) sweeps(key string) bool {
	return slices.ContainsFunc(e.Matrix, func(a Axis) bool { return a.Path == "queries."+key })
}

// fromFlag reports whether a flag set a key of the section queries.
func (e *Experiment) fromFlag(key string) bool { return e.origins["queries."+key].Flag != "" }

// warmsUpByCount reports whether the warm-up is a number of queries, which a late round may not have.
func (q *Queries) warmsUpByCount() bool {
	w, _ := ParseWarmUp(q.WarmUp) // Check judges it
	return w.Queries > 0
}

// budget checks the budget of queries.
func (c *checker) budget(e *Experiment) {
	q := &e.Queries
	c.duration("queries.time", q.Time)
	if q.Time == 0 {
		return
	}
	for _, other := range []struct {
		key string
		set bool
	}{
		{"time-box", q.TimeBox != 0}, {"repeats", q.Repeats != 0}, {"until", q.Until != ""}, {"rate", q.Rate != ""}, {"find-max-rate", q.FindMaxRate != ""}, {"cache", q.Cache != ""}, {"warm-up", q.warmsUpByCount()},
	} {
		if other.set {
			c.add("queries.time", "is divided among as many rounds as the medians need, and queries.%s sets another limit; leave one of them out", other.key)
		}
	}
}

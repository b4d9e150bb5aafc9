package compare

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/report/terms"
	"github.com/tsmark/tsmark/result"
)

// Side is one side of a comparison.
type Side struct {
	Runs   []*result.Run // at least one, in the order of their creation
	Target string        // restricts the runs to the target of this name; empty: all targets
}

func (s Side) party() Party {
	p := Party{Target: s.Target}
	for _, r := range s.Runs {
		p.Runs = append(p.Runs, r.ID)
	}
	return p
}

// label names a side in an error.
func (s Side) label() string {
	name := s.Runs[0].ID
	if len(s.Runs) > 1 {
		name += fmt.Sprintf(" and %d more", len(s.Runs)-1)
	}
	if s.Target != "" {
		name += ":" + s.Target
	}
	return name
}

// checkComparable returns an error unless all runs are about the same data, and about the same queries
// unless each type is looked at for itself.
func checkComparable(a, b Side, byType bool) error {
	first := a.Runs[0]
	for _, r := range slices.Concat(a.Runs, b.Runs) {
		switch {
		case r.ID == first.ID:
			continue
		case !result.SameDataset(&r.Dataset, &first.Dataset):
			return fmt.Errorf("runs %s and %s have different datasets (fingerprints %s and %s): %w",
				first.ID, r.ID, first.Dataset.Fingerprint, r.Dataset.Fingerprint, ErrDifferent)
		case !byType && result.OtherQueries(first, r) != "":
			return fmt.Errorf("runs %s and %s have different queries of type %s: %w", first.ID, r.ID, result.OtherQueries(first, r), ErrDifferent)
		}
	}
	return nil
}

// findSharedRun returns a run that both sides have with the same targets, or that one
// has twice, so that its figures would count twice; otherwise nil.
func findSharedRun(a, b Side) *result.Run {
	seen := map[string]bool{}
	for _, s := range []Side{a, b} {
		if a.Target != b.Target {
			clear(seen)
		}
		for _, r := range s.Runs {
			if seen[r.ID] {
				return r
			}
			seen[r.ID] = true
		}
	}
	return nil
}

// subjects returns the targets of a side, in order of appearance.
func (s Side) subjects() []Subject {
	var list []Subject
	for _, r := range s.Runs {
		for i := range r.Targets {
			t := &r.Targets[i]
			if s.Target != "" && t.Name != s.Target {
				continue
			}
			at := slices.IndexFunc(list, func(known Subject) bool { return known.Name == t.Name })
			if at < 0 {
				at = len(list)
				list = append(list, Subject{Name: t.Name, Driver: t.Driver, Version: t.Description.Version})
			}
			list[at].StandIn = cmp.Or(list[at].StandIn, t.Description.StandIn)
			list[at].targets, list[at].runs = append(list[at].targets, t), append(list[at].runs, r)
		}
	}
	return list
}

// match pairs the subjects of two sides: by name; then by driver if each side has one
// subject of it; finally the last remaining one of each side. It also returns the
// subjects without a partner.
func match(a, b []Subject) (pairs [][2]Subject, alone []string) {
	take := func(i, j int) {
		pairs = append(pairs, [2]Subject{a[i], b[j]})
		a, b = slices.Delete(slices.Clone(a), i, i+1), slices.Delete(slices.Clone(b), j, j+1)
	}
	for i := 0; i < len(a); {
		if j := slices.IndexFunc(b, func(s Subject) bool { return s.Name == a[i].Name }); j >= 0 {
			take(i, j)
			continue
		}
		i++
	}
	only := func(list []Subject, kind string) int {
		at := slices.IndexFunc(list, func(s Subject) bool { return s.Driver == kind })
		if at >= 0 && slices.ContainsFunc(list[at+1:], func(s Subject) bool { return s.Driver == kind }) {
			return -1
		}
		return at
	}
	for i := 0; i < len(a); {
		if j := only(b, a[i].Driver); j >= 0 && only(a, a[i].Driver) == i {
			take(i, j)
			continue
		}
		i++
	}
	if len(a) == 1 && len(b) == 1 {
		take(0, 0)
	}
	for _, s := range a {
		alone = append(alone, fmt.Sprintf("Target %s is only in A.", s.Name))
	}
	for _, s := range b {
		alone = append(alone, fmt.Sprintf("Target %s is only in B.", s.Name))
	}
	return pairs, alone
}

// Subject is a target in all runs of a side.
type Subject struct {
	Name    string `json:"name"`
	Driver  string `json:"driver"`
	Version string `json:"version,omitempty"`
	// StandIn describes the stand-in that answered in place of a server of the system, in any of
	// the runs, so that the subject is not compared. It is empty if no stand-in is known.
	StandIn string `json:"stand_in,omitempty"`
	targets []*result.Target
	runs    []*result.Run // of each target
}

// Targets returns the target in each run, in the order of the runs.
func (s *Subject) Targets() []*result.Target { return s.targets }

// side returns the subject's targets with their runs.
func (s Subject) side(name string) terms.Side {
	side := terms.Side{Name: name}
	for i, t := range s.targets {
		side.Of = append(side.Of, terms.Measured{Run: s.runs[i], Target: t})
	}
	return side
}

// reasonUnranked returns why the subject is not ranked: see terms.ReasonUnranked.
func (s Subject) reasonUnranked() string {
	for _, t := range s.targets {
		if why := terms.ReasonUnranked(t); why != "" {
			return why
		}
	}
	return ""
}

// uncomparable returns why no figure of the subject is compared, or "" if they may be.
func (s Subject) uncomparable() string {
	for _, t := range s.targets {
		if why := t.Uncomparable(); why != "" {
			return why
		}
	}
	return ""
}

// sample returns the common queries of a type in all runs of a subject.
func (s Subject) sample(queryType string) estimate.Sample {
	var all estimate.Sample
	for i, t := range s.targets {
		all = append(all, estimate.CommonSample(s.runs[i], t, queryType)...)
	}
	return all
}

// alikeQueries reports whether all runs of two subjects may draw the queries of a type in
// the same way.
func (s Subject) alikeQueries(other Subject, queryType string) bool {
	all := slices.Concat(s.runs, other.runs)
	return !slices.ContainsFunc(all, func(r *result.Run) bool { return !result.AlikeQueries(all[0], r, queryType) })
}

// repeats returns the recorded queries of a subject for a type, one or several for each of its
// runs, and why they have no figure, or "" if they have one.
func (s Subject) repeats(queryType string) (list []*result.Queries, missing string) {
	failed := ""
	for _, t := range s.targets {
		if t.Failure != "" {
			failed = "failed: " + t.Failure
		}
		for _, r := range t.MeasuredRepeats() {
			if q := r.Type(queryType); q != nil {
				list = append(list, q)
			}
		}
	}
	if len(list) == 0 {
		return nil, cmp.Or(failed, "not run")
	}
	if missing = withoutFigure(list); missing == "" && tooSlow(list) {
		missing = "too slow for this time box"
	}
	for _, q := range list {
		missing = cmp.Or(missing, q.ReasonUncompared())
	}
	return list, missing
}

// tooSlow reports whether time boxes were too short for a figure of a type even from all
// repeats together.
func tooSlow(repeats []*result.Queries) bool {
	short := slices.ContainsFunc(repeats, func(q *result.Queries) bool { return q.Sample.Short })
	if !short {
		return false
	}
	different := make(map[int]bool)
	for _, q := range repeats {
		for i, seconds := range q.Each {
			if seconds != 0 {
				different[q.First+i] = true
			}
		}
	}
	return len(different) < result.LeastDifferent
}

// failures says in which runs a subject failed.
func (s Subject) failures(side string) []string {
	var list []string
	for i, t := range s.targets {
		if t.Failure != "" {
			list = append(list, fmt.Sprintf("%s: %s failed in run %d of %d: %s", side, s.Name, i+1, len(s.targets), t.Failure))
		}
	}
	return list
}

// withoutFigure says why repeats of a type have no figure, and names the repeat unless all say the same.
func withoutFigure(repeats []*result.Queries) string {
	outcomes := result.Outcomes(repeats)
	list := make([]string, len(repeats))
	for i, q := range repeats {
		switch outcomes[i] {
		case result.NotRun:
			list[i] = "not run"
		case result.Unsupported, result.Withheld, result.Failed:
			word, reason := q.MissingFigure()
			list[i] = word + ": " + reason
		case result.Empty:
			list[i] = "empty: the right answers have no rows"
		case result.Unverified:
			list[i] = q.VerdictText()
		}
	}
	i := slices.IndexFunc(list, func(why string) bool { return why != "" })
	switch {
	case i < 0:
		return ""
	case outcomes[i] == result.Unsupported || !slices.ContainsFunc(list, func(why string) bool { return why != list[i] }):
		return list[i]
	}
	return fmt.Sprintf("repeat %d: %s", i+1, list[i])
}

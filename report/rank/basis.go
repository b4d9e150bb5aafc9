package rank

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/terms"
	"github.com/tsmark/tsmark/result"
)

// rankedSides returns the ranked subjects.
func (g *Group) rankedSides() []terms.Side {
	var ranked []int
	for i := range g.Subjects {
		if g.ReasonUnranked(i) == "" {
			ranked = append(ranked, i)
		}
	}
	return g.sides(ranked)
}

// unequalTerms name the terms that the ranked subjects do not share, apart from loadTerms
// unless ofLoads is set.
func (g *Group) unequalTerms(ofLoads bool) []doc.Span {
	var bound []string
	for i, s := range g.Subjects {
		if g.ReasonUnranked(i) != "" {
			continue
		}
		marked := ClientBounds(s.Target)
		what := ""
		if n := len(MarkedTypes(s.Target, marked)); n > 0 {
			what = fmt.Sprintf(" in %d of %s", n, format.Plural(len(s.Target.Queries), "query type"))
		}
		if _, load := marked[compare.LoadSubject]; load {
			what = format.Join(" and", what, " in the load")
		}
		if what != "" {
			bound = append(bound, s.Label+what)
		}
	}
	sides := g.rankedSides()
	if len(sides) < 2 {
		return nil
	}
	list := TermNotes(slices.DeleteFunc(terms.Differences(sides...), func(d terms.Difference) bool { return (d.OfWriters() || d.OfSafety()) && !ofLoads }))
	if len(bound) > 0 {
		list = append(list, doc.Bad("Client-bound, so that the system may be faster than shown: "+strings.Join(bound, ", ")))
	}
	return list
}

// staleNotes names the query types with more than a few stale answers while rows were
// loaded, and the number of these answers.
func (g *Group) staleNotes() []doc.Span {
	var list []doc.Span
	for _, s := range g.Subjects {
		if s.Target.Load == nil || s.Target.Load.Mixed == nil {
			continue
		}
		var types []string
		for j := range s.Target.Load.Mixed.Types {
			if q := &s.Target.Load.Mixed.Types[j]; q.TooStale() {
				types = append(types, fmt.Sprintf("%s (%s)", q.Type, format.PercentUp(q.StaleShare())))
			}
		}
		if len(types) > 0 {
			list = append(list, doc.Bad(fmt.Sprintf("%s: answers were stale while rows were loaded, in %s", s.Label, strings.Join(types, ", "))))
		}
	}
	return list
}

// verifiedFact returns for how many query types all targets that can answer them
// were verified, including correct empty answers.
func (g *Group) verifiedFact() string {
	types, verified, withheld, failed, unsupported := 0, 0, 0, 0, 0
	for _, t := range g.Types() {
		answered, right, wrong, fails := 0, 0, false, false
		for i := range g.Subjects {
			switch g.Subjects[i].Queries(t.Key).Outcome() {
			case result.NotRun:
				continue
			case result.Unsupported:
				unsupported++
				continue
			case result.Verified, result.Empty:
				right++
			case result.Withheld:
				wrong = true
			case result.Failed:
				fails = true
			}
			answered++
		}
		if answered == 0 {
			continue
		}
		types++
		if right == answered {
			verified++
		}
		if wrong {
			withheld++
		} else if fails {
			failed++
		}
	}
	if types == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %s verified", verified, format.Plural(types, "query type"))
	own := 0
	for _, s := range g.Subjects {
		own = max(own, len(s.Run.OwnTexts()))
	}
	if own > 0 {
		text += fmt.Sprintf(", %d own text not verified", own)
	}
	if slices.ContainsFunc(g.Subjects, func(s Subject) bool { return s.Run.Texts() == result.TextsTSBS }) {
		text += ": the others are TSBS's texts"
		if verified == 0 {
			text = "TSBS's texts of " + format.Plural(types, "query type") + ", not verified"
		}
	}
	if withheld > 0 {
		text += fmt.Sprintf(", %d withheld", withheld)
	}
	if failed > 0 {
		text += fmt.Sprintf(", %d failed", failed)
	}
	if unsupported > 0 {
		text += fmt.Sprintf(", %d n/a", unsupported)
	}
	return text
}

// standInFact names the targets that are stand-ins, with their descriptions. Stand-ins have no ratios.
func (g *Group) standInFact() string {
	var list []string
	for _, s := range g.Subjects {
		if what := s.Target.Description.StandIn; what != "" {
			list = append(list, s.Label+": "+what+", not compared")
		}
	}
	return strings.Join(list, "; ")
}

// importedFact names the runs whose figures came from a file.
func (g *Group) importedFact() string {
	runs := make(map[string][]string) // by the text about them
	var said []string
	for _, s := range g.Subjects {
		why := s.Run.NotMeasuredHere()
		if why == "" || slices.Contains(runs[why], s.Run.ID) {
			continue
		}
		if runs[why] == nil {
			said = append(said, why)
		}
		runs[why] = append(runs[why], s.Run.ID)
	}
	for i, why := range said {
		said[i] = format.List(runs[why]) + ": " + why
	}
	return strings.Join(said, "; ")
}

// failedFact names the targets that failed: no ratio has them.
func (g *Group) failedFact() string {
	var list []string
	for _, s := range g.Subjects {
		if s.Target.Failure != "" {
			list = append(list, s.Label)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return format.List(list) + " failed"
}

// Repeats returns the numbers of rounds, in words, and of loads behind the figures; most is the
// largest number of rounds.
func (g *Group) Repeats() (rounds string, most, loads int) {
	least := math.MaxInt
	for i := range g.Subjects {
		loads = max(loads, g.RankLoads().Estimates[i].N)
		for _, t := range g.Types() {
			if n := len(g.Samples(t.Key)[i]); n > 0 {
				least, most = min(least, n), max(most, n)
			}
		}
	}
	switch {
	case most == 0:
	case least < most:
		rounds = fmt.Sprintf("%d to %s", least, format.Plural(most, "round"))
	default:
		rounds = format.Plural(most, "round")
	}
	return rounds, most, loads
}

// repeatsFact names the rounds and loads.
func (g *Group) repeatsFact() string {
	rounds, _, loads := g.Repeats()
	if loads == 0 {
		return rounds
	}
	return format.Join(", ", rounds, format.Plural(loads, "load"))
}

// versionsFact names each system once, with its version.
func (g *Group) versionsFact() string {
	var list []string
	for _, s := range g.Subjects {
		if text := s.Target.System(); !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return strings.Join(list, ", ")
}

// durabilityFact notes that systems have the durability of their options or defaults, which
// differ. It is empty for one system, and if levels were chosen. Differing levels
// are among the terms.
func (g *Group) durabilityFact() string {
	systems := map[string]bool{}
	for _, s := range g.Subjects {
		if s.Target.Durability != "" && s.Target.Durability != driver.AsShipped {
			return ""
		}
		systems[s.Target.Driver] = true
	}
	if len(systems) < 2 {
		return ""
	}
	return "durability as each target's options say"
}

func (g *Group) shortDataset() string {
	d := g.Dataset
	if d.Spec.Name == "" {
		return ""
	}
	if len(d.Files) > 0 {
		return d.Spec.Name + ", " + format.Plural(len(d.Files), "file") + ", " + format.Count(d.Rows) + " rows"
	}
	return d.Spec.Name + ", scale " + format.Count(int64(d.Spec.Scale)) + ", " + format.Count(d.Rows) + " rows"
}

// shortHosts names each machine once.
func (g *Group) shortHosts() string {
	var list []string
	for _, s := range g.Subjects {
		h := &s.Run.Host
		text := format.Join(", ", h.CPU, format.Plural(h.Cores, "core"), format.Size(int64(h.Memory)), h.OS)
		if h.Cores > 0 && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	if g.manyHosts() {
		return "on different machines: " + strings.Join(list, "; ")
	}
	return strings.Join(list, "; ")
}

// agentsFact returns the numbers of clients of the runs, if one had several.
func (g *Group) agentsFact() string {
	var list []string
	several := false
	for _, s := range g.Subjects {
		text := format.Plural(max(1, len(s.Run.Agents)), "client")
		if several = several || len(s.Run.Agents) > 0; !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	if !several {
		return ""
	}
	return strings.Join(list, " and ")
}

// manyHosts reports whether the runs are known to be of more than one machine:
// a faster figure is then not due to the systems alone.
func (g *Group) manyHosts() bool {
	return slices.ContainsFunc(g.Subjects, func(s Subject) bool { return !result.SameMachine(&s.Run.Host, &g.Subjects[0].Run.Host) })
}

// noiseFact returns how much of the machine other processes used during the measurements. The
// disturbed figures are in the runs' own alerts.
func (g *Group) noiseFact() doc.Span {
	var phases []*result.Noise
	unknown, disturbed := false, ""
	for i := range g.Subjects {
		for _, h := range PhaseNoises(g.Subjects[i].Target) {
			disturbed = cmp.Or(disturbed, h.Reason())
			for _, n := range h.Phases {
				unknown = unknown || n.Unknown != ""
				if n.OthersShare().IsKnown() {
					phases = append(phases, n)
				}
			}
		}
	}
	share := ""
	if len(phases) > 0 && !g.manyHosts() {
		share = strconv.FormatFloat(100*float64(result.AddNoise(phases...).OthersShare()), 'f', 0, 64) + " % of the CPU went to other processes"
	}
	switch {
	case disturbed != "" && (share == "" || !strings.Contains(disturbed, "other processes")):
		return doc.Bad("noisy host: " + disturbed)
	case disturbed != "":
		return doc.Bad("noisy host: " + share)
	case share != "" && !unknown:
		return doc.Plain("quiet host: " + share)
	}
	return doc.Plain(share)
}

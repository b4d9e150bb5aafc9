package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/terms"
	"github.com/tsmark/tsmark/result"
)

// headline is what a report says first of targets with one dataset: who is
// faster, by how much, and what that rests on. Its figures are those of the
// rankings that all tables and charts show.
type headline struct {
	Answers []span   // a sentence about all query types, one about single ones, and one about the loads
	Basis   []string // what they rest on: verified, rounds, versions, dataset, machine
	Noise   span     // how much of the machine others used; no text: nobody looked
	Queries *standings
	Loads   *standings
}

// standings are the subjects in order of one figure, as multiples of the best.
type standings struct {
	Title, Help string
	Places      []standing
}

// standing is a subject's place.
type standing struct {
	Subject int // of the group
	Label   string
	// Times is how many times the reference; 1: the reference itself.
	Times    float64
	Bound    stats.Bound // of Times: queries that were cut off may have taken any time
	Text     string      // as beside its figure in tables, with the interval: marked where it may be chance
	Verdict  string      // best, worse, tie, or no verdict and why
	Marks    string      // of what may have disturbed it; Text has them too
	Tone     tone
	Interval *stats.Interval // nil: the reference itself, or not known
}

// newHeadline says it of a group; nil where nothing of it was measured.
func newHeadline(g *group) *headline {
	overall, what := g.rankOverall(), compare.AllTypes
	over := geometricMean + typesOf(&overall)
	if types := g.types(); len(types) == 1 { // of which there is no mean
		what, over = types[0].Key, types[0].Key
		overall = g.rankType(what)
	}
	loads := g.rankLoads()
	h := &headline{Queries: g.standings(&overall, what), Loads: g.standings(&loads, compare.LoadSubject)}
	if h.Queries != nil {
		h.Queries.Title, h.Queries.Help = "Service time, relative to the fastest", over+"; shorter is better"
		h.Answers = append(h.Answers, g.answer(h.Queries, &overall, ""))
		if text := g.byType(); text != "" {
			h.Answers = append(h.Answers, spanPlain(text))
		}
	}
	if h.Loads != nil {
		h.Loads.Title, h.Loads.Help = "Time of the load, relative to the fastest", "until all rows were visible; shorter is better"
		h.Answers = append(h.Answers, g.answer(h.Loads, &loads, "Load: "))
	}
	if len(h.Answers) == 0 {
		h.Answers = g.single()
	}
	h.Answers = append(g.unrankedNotes(len(h.Answers) > 0), h.Answers...)
	if len(h.Answers) == 0 {
		return nil
	}
	h.Answers = append(append(h.Answers, g.staleNotes()...), g.unequalTerms()...)
	h.Basis = slices.DeleteFunc([]string{g.standInFact(), g.importedFact(), g.verifiedFact(), g.failedFact(), g.repeatsFact(), g.versionsFact(), g.shortDataset(), g.durabilityFact(), g.shortHosts(), g.agentsFact()},
		func(s string) bool { return s == "" })
	h.Noise = g.noiseFact()
	return h
}

// typesOf says over how many query types the ratios of a ranking are: over those
// that the best and another one have in common.
func typesOf(overall *ranking) string {
	least, most := overall.types()
	if least < most {
		return fmt.Sprintf("%d to %d query types, those that both answered", least, most)
	}
	return plural(most, "query type")
}

// types is over how many query types the ratios are, at least and at most.
func (r *ranking) types() (least, most int) {
	least = math.MaxInt
	for _, f := range r.Figures {
		if f != nil {
			least, most = min(least, f.Types), max(most, f.Types)
		}
	}
	return least, most
}

// standings puts the subjects of a ranking in order, the reference first; nil
// where no two are compared.
func (g *group) standings(r *ranking, what string) *standings {
	if r.Reference < 0 {
		return nil
	}
	least, most := r.types()
	beside := r.beside(r.Reference)
	first := standing{Subject: r.Reference, Times: 1, Text: beside.Text, Tone: beside.Tone, Verdict: r.verdict(r.Reference)}
	var others []standing
	for i, f := range r.Figures {
		if f == nil || f.Ratio.Bound == stats.Unknown {
			continue
		}
		p := standing{Subject: i, Times: f.Ratio.Figure, Bound: f.Ratio.Bound, Text: r.beside(i).Text + inBrackets(f), Verdict: r.verdict(i)}
		if f.Method == compare.AcrossRepeats {
			p.Interval = f.Interval
		}
		if least < most {
			p.Text += ", " + plural(f.Types, "type")
		}
		if !f.Significant() || f.Ratio.Figure <= 1 {
			p.Tone = toneDim
		}
		others = append(others, p)
	}
	if len(others) == 0 {
		return nil
	}
	slices.SortStableFunc(others, func(a, b standing) int { return cmp.Compare(a.Times, b.Times) })
	s := &standings{Places: append([]standing{first}, others...)}
	for i := range s.Places {
		p := &s.Places[i]
		p.Label, p.Marks = g.subjects[p.Subject].Label, marksOf(g.subjects[p.Subject].target, what)
		p.Text += p.Marks
	}
	return s
}

// answer is the sentence about standings: who was shown to be faster than whom,
// and between whom no difference was shown.
func (g *group) answer(s *standings, r *ranking, prefix string) span {
	name := func(p standing) string { return p.Label + p.Marks }
	first := name(s.Places[0])
	var ahead, behind, level, untold, why []string
	for _, p := range s.Places[1:] {
		f := r.Figures[p.Subject]
		switch {
		case f.Significant() && f.Ratio.Figure > 1:
			ahead = append(ahead, f.Ratio.Mark()+ratio(f.Ratio.Figure)+" faster than "+name(p)+inBrackets(f))
		case f.Significant(): // of three that beat each other in a circle
			behind = append(behind, name(p))
		case f.Verdict == compare.CannotTell:
			untold = append(untold, name(p))
			text := noVerdict(f)
			if f.Cause == compare.DifferentTerms {
				text = strings.ReplaceAll(strings.ReplaceAll(f.Why, "(A)", "("+first+")"), "(B)", "("+name(p)+")")
			}
			if !slices.Contains(why, text) {
				why = append(why, text)
			}
		default:
			level = append(level, name(p)+inBrackets(f))
		}
	}
	var parts []string
	if len(ahead) > 0 {
		parts = append(parts, first+" "+listed(ahead))
	}
	if len(behind) > 0 {
		parts = append(parts, "but slower than "+listed(behind))
	}
	if len(level) > 0 {
		parts = append(parts, "no difference shown between "+first+" and "+listed(level))
	}
	if len(untold) > 0 {
		parts = append(parts, "no verdict between "+first+" and "+listed(untold)+": "+listed(why))
	}
	text := strings.Join(parts, "; ")
	if len(ahead) == 0 && prefix == "" {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	tone := tonePlain
	if r.Sole {
		tone = toneBest
	}
	return spanToned(prefix+text, tone)
}

// byType says in how many query types each subject was shown to be faster than
// all others, and by how much at most: systems that are alike over all types may
// differ in most of them. Empty: there is one type, or no type shows a difference.
func (g *group) byType() string {
	wins, most, ties, untold := make([]int, len(g.subjects)), make([]float64, len(g.subjects)), 0, 0
	for _, t := range g.types() {
		r := g.rankType(t.Key)
		switch {
		case r.Reference < 0:
		case r.verdict(r.Reference) == tie:
			ties++
		case !r.Sole:
			untold++
		default:
			next := math.Inf(1)
			for _, f := range r.Figures {
				if f != nil {
					next = min(next, f.Ratio.Figure)
				}
			}
			wins[r.Reference]++
			most[r.Reference] = max(most[r.Reference], next)
		}
	}
	var order []int
	for i, n := range wins {
		if n > 0 {
			order = append(order, i)
		}
	}
	if len(order) == 0 || len(g.types()) < 2 {
		return ""
	}
	slices.SortStableFunc(order, func(a, b int) int { return wins[b] - wins[a] })
	word := " faster in "
	beside := slices.DeleteFunc(slices.Clone(g.subjects), func(s subject) bool { return s.target.Uncomparable() != "" })
	if len(beside) > 2 {
		word = " fastest in "
	}
	var parts []string
	for _, i := range order {
		parts = append(parts, fmt.Sprintf("%s%s%d (up to %s)", g.subjects[i].Label, word, wins[i], ratio(most[i])))
		word = " in "
	}
	if ties > 0 {
		parts = append(parts, fmt.Sprintf("%s in %d", tie, ties))
	}
	if untold > 0 {
		parts = append(parts, fmt.Sprintf("no verdict in %d", untold))
	}
	return "By query type: " + strings.Join(parts, ", ")
}

// inBrackets is the interval of a ratio, where the rounds or loads give one.
func inBrackets(f *compare.Figure) string {
	i := f.Interval
	if i == nil || f.Method != compare.AcrossRepeats {
		return ""
	}
	text := times(i.Lo) + "–" + times(i.Hi)
	return " (" + text + levelText(i) + ")"
}

// levelText is the level of an interval where it is not as usual.
func levelText(i *stats.Interval) string {
	const careful = 0.99 // of one that was widened for many comparisons: see compare.Figure
	switch {
	case i.Level < stats.Confidence:
		return fmt.Sprintf(", %.0f%s%%", 100*i.Level, unitSpace)
	case i.Level >= careful:
		return fmt.Sprintf(", %.4g%s%%", 100*i.Level, unitSpace)
	}
	return ""
}

// unrankedNotes name the targets whose figures have no place beside others, and why. Where
// there are answers, stand-ins are left to the basis of these.
func (g *group) unrankedNotes(answered bool) []span {
	var list []span
	for i := range g.subjects {
		if answered && g.subjects[i].target.Uncomparable() != "" {
			continue
		}
		verb := " is not ranked: "
		if len(g.subjects) == 1 {
			verb = ": "
		}
		if why := terms.Unranked(g.subjects[i].target); why != "" {
			list = append(list, spanBad(g.subjects[i].Label+verb+why))
		}
	}
	return list
}

// unequalTerms name the terms that the ranked subjects do not share.
func (g *group) unequalTerms() []span {
	var sides []terms.Side
	var bound []string
	for i, s := range g.subjects {
		if g.unranked(i) != "" {
			continue
		}
		sides = append(sides, terms.Side{Name: s.Label, Of: []terms.Measured{{Run: s.run, Target: s.target}}})
		marked := clientBounds(s.target)
		what := ""
		if n := len(typesAmong(s.target, marked)); n > 0 {
			what = fmt.Sprintf(" in %d of %s", n, plural(len(s.target.Queries), "query type"))
		}
		if _, load := marked[compare.LoadSubject]; load {
			what = joined(" and", what, " in the load")
		}
		if what != "" {
			bound = append(bound, s.Label+what)
		}
	}
	if len(sides) < 2 {
		return nil
	}
	list := termNotes(terms.Among(sides...))
	if len(bound) > 0 {
		list = append(list, spanBad("Client-bound, so that the system may be faster than shown: "+strings.Join(bound, ", ")))
	}
	return list
}

// staleNotes says of which query types more answers than a few were stale while rows were
// loaded, and how many.
func (g *group) staleNotes() []span {
	var list []span
	for _, s := range g.subjects {
		if s.target.Load == nil || s.target.Load.Mixed == nil {
			continue
		}
		var types []string
		for j := range s.target.Load.Mixed.Types {
			if q := &s.target.Load.Mixed.Types[j]; !q.WithoutFigure() && q.StaleShare() > result.MostStale {
				types = append(types, fmt.Sprintf("%s (%s)", q.Type, shareText(q.StaleShare())))
			}
		}
		if len(types) > 0 {
			list = append(list, spanBad(fmt.Sprintf("%s: answers were stale while rows were loaded, in %s", s.Label, strings.Join(types, ", "))))
		}
	}
	return list
}

// listed joins parts as people do: a, b and c.
func listed(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}

// single is what is said of subjects that cannot be compared: the rate of the
// load, and between what the medians of verified types lie.
func (g *group) single() []span {
	var list []span
	for i, s := range g.subjects {
		if s.target.Failure != "" || len(g.subjects) > 1 && g.unranked(i) != "" {
			continue
		}
		if s.target.Uncomparable() != "" { // see unrankedNotes
			continue
		}
		var parts []string
		if e := g.rankLoads().Estimates[i]; e.N > 0 {
			parts = append(parts, digits(e.Median.Figure)+" rows/s loaded")
		}
		var medians []stats.Value
		for _, t := range g.types() {
			v := g.rankType(t.Key).Estimates[i].Median
			if q := s.queries(t.Key); q.Outcome() == result.Verified && !q.TooSlow() && v.Bound != stats.Unknown && v.Figure > 0 {
				medians = append(medians, v)
			}
		}
		if len(medians) > 0 {
			slices.SortFunc(medians, func(a, b stats.Value) int { return cmp.Compare(a.Figure, b.Figure) })
			lo, hi := medians[0], medians[len(medians)-1]
			text := lo.Mark() + duration(lo.Figure)
			if len(medians) > 1 {
				text += " to " + hi.Mark() + duration(hi.Figure) + " over " + plural(len(medians), "query type")
			}
			parts = append(parts, "median "+text)
		}
		if len(parts) > 0 {
			list = append(list, spanPlain(s.Label+": "+strings.Join(parts, ", ")))
		}
	}
	return list
}

// verifiedFact says of how many query types all targets that can answer them
// were verified, an empty answer where that is the right one included.
func (g *group) verifiedFact() string {
	types, verified, withheld, failed, unsupported := 0, 0, 0, 0, 0
	for _, t := range g.types() {
		answered, right, wrong, fails := 0, 0, false, false
		for i := range g.subjects {
			switch g.subjects[i].queries(t.Key).Outcome() {
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
	text := fmt.Sprintf("%d of %s verified", verified, plural(types, "query type"))
	own := 0
	for _, s := range g.subjects {
		own = max(own, len(s.run.OwnTexts()))
	}
	if own > 0 {
		text += fmt.Sprintf(", %d own text not verified", own)
	}
	if slices.ContainsFunc(g.subjects, func(s subject) bool { return s.run.Texts() == result.TextsTSBS }) {
		text += ": the others are TSBS's texts"
		if verified == 0 {
			text = "TSBS's texts of " + plural(types, "query type") + ", not verified"
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

// standInFact names the targets that are stand-ins, and what they are: no ratio has them.
func (g *group) standInFact() string {
	var list []string
	for _, s := range g.subjects {
		if what := s.target.Description.StandIn; what != "" {
			list = append(list, s.Label+": "+what+", compared with none")
		}
	}
	return strings.Join(list, "; ")
}

// importedFact says of which runs the figures came from a file.
func (g *group) importedFact() string {
	runs := make(map[string][]string) // by what is said of them
	var said []string
	for _, s := range g.subjects {
		why := s.run.NotMeasuredHere()
		if why == "" || slices.Contains(runs[why], s.run.ID) {
			continue
		}
		if runs[why] == nil {
			said = append(said, why)
		}
		runs[why] = append(runs[why], s.run.ID)
	}
	for i, why := range said {
		said[i] = listed(runs[why]) + ": " + why
	}
	return strings.Join(said, "; ")
}

// failedFact names the targets that failed: no ratio has them.
func (g *group) failedFact() string {
	var list []string
	for _, s := range g.subjects {
		if s.target.Failure != "" {
			list = append(list, s.Label)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return listed(list) + " failed"
}

// repeatsFact is how many rounds and loads the figures are of.
func (g *group) repeatsFact() string {
	least, most, loads := math.MaxInt, 0, 0
	for i := range g.subjects {
		loads = max(loads, g.rankLoads().Estimates[i].N)
		for _, t := range g.types() {
			if rounds := len(g.samples(t.Key)[i]); rounds > 0 {
				least, most = min(least, rounds), max(most, rounds)
			}
		}
	}
	var parts []string
	switch {
	case most == 0:
	case least < most:
		parts = append(parts, fmt.Sprintf("%d to %s", least, plural(most, "round")))
	default:
		parts = append(parts, plural(most, "round"))
	}
	if loads > 0 {
		parts = append(parts, plural(loads, "load"))
	}
	return strings.Join(parts, ", ")
}

// versionsFact names each system once, with its version.
func (g *group) versionsFact() string {
	var list []string
	for _, s := range g.subjects {
		if text := s.target.System(); !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return strings.Join(list, ", ")
}

// durabilityFact says that systems have the durability of their options, single ones or
// defaults, which is not the same one; empty: of one system, and where levels were chosen. Those that differ
// are among the terms.
func (g *group) durabilityFact() string {
	systems := map[string]bool{}
	for _, s := range g.subjects {
		if s.target.Durability != "" && s.target.Durability != driver.AsShipped {
			return ""
		}
		systems[s.target.Kind] = true
	}
	if len(systems) < 2 {
		return ""
	}
	return "durability as each target's options say"
}

func (g *group) shortDataset() string {
	d := g.dataset
	if d.Spec.Name == "" {
		return ""
	}
	if d.Unverified != "" {
		return joined(", ", d.Spec.Name, d.Unverified)
	}
	if len(d.Files) > 0 {
		return d.Spec.Name + ", " + plural(len(d.Files), "file") + ", " + count(d.Rows) + " rows"
	}
	return d.Spec.Name + ", scale " + count(int64(d.Spec.Scale)) + ", " + count(d.Rows) + " rows"
}

// shortHosts names each machine once.
func (g *group) shortHosts() string {
	var list []string
	for _, s := range g.subjects {
		h := &s.run.Host
		text := joined(", ", h.CPU, plural(h.Cores, "core"), size(int64(h.Memory)), h.OS)
		if h.Cores > 0 && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	if g.manyHosts() {
		return "on different machines: " + strings.Join(list, "; ")
	}
	return strings.Join(list, "; ")
}

// agentsFact says how many clients the runs had, where one had several.
func (g *group) agentsFact() string {
	var list []string
	several := false
	for _, s := range g.subjects {
		text := plural(max(1, len(s.run.Agents)), "client")
		if several = several || len(s.run.Agents) > 0; !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	if !several {
		return ""
	}
	return strings.Join(list, " and ")
}

// manyHosts reports whether the runs are known to be of more than one machine:
// who is faster then says nothing of the systems alone.
func (g *group) manyHosts() bool {
	return slices.ContainsFunc(g.subjects, func(s subject) bool { return !result.SameMachine(&s.run.Host, &g.subjects[0].run.Host) })
}

// noiseFact says how much of the machine others used while it was measured. What
// it disturbed the runs' own alerts say.
func (g *group) noiseFact() span {
	var phases []*result.Noise
	untold, disturbed := false, ""
	for i := range g.subjects {
		for _, h := range heardIn(g.subjects[i].target) {
			disturbed = cmp.Or(disturbed, h.noisy())
			for _, n := range h.Phases {
				untold = untold || n.Untold != ""
				if n.OthersShare().Known() {
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
		return spanBad("noisy host: " + disturbed)
	case disturbed != "":
		return spanBad("noisy host: " + share)
	case share != "" && !untold:
		return spanPlain("quiet host: " + share)
	}
	return spanPlain(share)
}

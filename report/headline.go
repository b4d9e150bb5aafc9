package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/result"
)

// headline is what a report says first of targets with one dataset: who is
// faster, by how much, and what that rests on. Its figures are those of the
// rankings that all tables and charts show.
type headline struct {
	Answers []note   // a sentence about all query types, and one about the loads
	Basis   []string // what they rest on: verified, rounds, versions, dataset, machine
	Noise   note     // how much of the machine others used; no text: nobody looked
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
	Text     string // Times and its interval; marked where it may be chance
	Tone     tone
	Interval *stats.Interval // nil: the reference itself, or not known
}

// newHeadline says it of a group; nil where nothing of it was measured.
func newHeadline(g *group) *headline {
	overall, loads := g.rankOverall(), g.rankLoads()
	h := &headline{Queries: g.standings(&overall, compare.AllTypes), Loads: g.standings(&loads, compare.LoadSubject)}
	if h.Queries != nil {
		h.Queries.Title, h.Queries.Help = "Service time, relative to the fastest", geometricMean+typesOf(&overall)+"; shorter is better"
		h.Answers = append(h.Answers, answer(h.Queries, &overall, ""))
	}
	if h.Loads != nil {
		h.Loads.Title, h.Loads.Help = "Time of the load, relative to the fastest", "until all rows were visible; shorter is better"
		h.Answers = append(h.Answers, answer(h.Loads, &loads, "Load: "))
	}
	if len(h.Answers) == 0 {
		h.Answers = g.single()
	}
	if len(h.Answers) == 0 {
		return nil
	}
	h.Basis = slices.DeleteFunc([]string{g.verifiedFact(), g.repeatsFact(), g.versionsFact(), g.shortDataset(), g.shortHosts()},
		func(s string) bool { return s == "" })
	h.Noise = g.noiseFact()
	return h
}

// typesOf says over how many query types the ratios of a ranking are: over those
// that the best and another one have in common.
func typesOf(overall *ranking) string {
	least, most := math.MaxInt, 0
	for _, f := range overall.Figures {
		if f != nil {
			least, most = min(least, f.Types), max(most, f.Types)
		}
	}
	if least < most {
		return fmt.Sprintf("%d to %d query types, those that both answered", least, most)
	}
	return plural(most, "query type")
}

// standings puts the subjects of a ranking in order, the reference first; nil
// where no two are compared.
func (g *group) standings(r *ranking, what string) *standings {
	s := &standings{}
	for i, f := range r.Figures {
		p := standing{Subject: i, Label: g.subjects[i].Label, Times: 1}
		switch {
		case i == r.Reference:
			p.Text, p.Tone = ratio(1), dim
			if r.Sole {
				p.Tone = best
			}
		case f == nil || f.Ratio.Bound == stats.Unknown:
			continue
		default:
			p.Times, p.Interval, p.Text = f.Ratio.Figure, f.Interval, f.Ratio.Mark()+ratio(f.Ratio.Figure)+inBrackets(f)
			if !f.Significant() || f.Ratio.Figure <= 1 {
				p.Text, p.Tone = chanceMark+p.Text, dim
			}
		}
		p.Text += marksOf(g.subjects[i].target, what)
		s.Places = append(s.Places, p)
	}
	if len(s.Places) < 2 {
		return nil
	}
	slices.SortStableFunc(s.Places, func(a, b standing) int {
		if of := cmp.Compare(boolean(a.Subject != r.Reference), boolean(b.Subject != r.Reference)); of != 0 {
			return of
		}
		return cmp.Compare(a.Times, b.Times)
	})
	return s
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// answer is the sentence about standings: who was shown to be faster than whom,
// and between whom no difference was shown.
func answer(s *standings, r *ranking, prefix string) note {
	first := s.Places[0]
	var beaten, level, untold []string
	short := ""
	for _, p := range s.Places[1:] {
		f := r.Figures[p.Subject]
		switch {
		case f.Significant() && f.Ratio.Figure > 1:
			beaten = append(beaten, f.Ratio.Mark()+ratio(f.Ratio.Figure)+" faster than "+p.Label+inBrackets(f))
		case f.Verdict == compare.CannotTell:
			untold, short = append(untold, p.Label), noVerdict(f)
		default:
			level = append(level, p.Label+inBrackets(f))
		}
	}
	var parts []string
	if len(beaten) > 0 {
		parts = append(parts, first.Label+" "+listed(beaten))
	}
	if len(level) > 0 {
		parts = append(parts, "no difference shown between "+first.Label+" and "+listed(level))
	}
	if len(untold) > 0 {
		parts = append(parts, "no verdict between "+first.Label+" and "+listed(untold)+": "+short)
	}
	text := strings.Join(parts, "; ")
	if len(beaten) == 0 && prefix == "" {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	tone := plain
	if len(beaten) == len(s.Places)-1 {
		tone = best
	}
	return note{prefix + text, tone}
}

// inBrackets is the interval of a ratio, where the rounds or loads give one.
func inBrackets(f *compare.Figure) string {
	if f.Interval == nil || f.Method != compare.AcrossRepeats {
		return ""
	}
	return " (" + strings.Replace(intervalText(f.Interval), " to ", "–", 1) + ")"
}

// listed joins parts as people do: a, b and c.
func listed(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}

// single is what is said of subjects that cannot be compared: the rate of the
// load, and between what the medians lie.
func (g *group) single() []note {
	var list []note
	for i, s := range g.subjects {
		var parts []string
		if e := g.rankLoads().Estimates[i]; e.N > 0 {
			parts = append(parts, digits(e.Median.Figure)+" rows/s loaded")
		}
		var medians []stats.Value
		for _, t := range g.types() {
			if q := s.queries(t.Key); drawn(q) {
				medians = append(medians, g.rankType(t.Key).Estimates[i].Median)
			}
		}
		medians = slices.DeleteFunc(medians, func(v stats.Value) bool { return v.Bound == stats.Unknown || v.Figure <= 0 })
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
			list = append(list, note{s.Label + ": " + strings.Join(parts, ", "), plain})
		}
	}
	return list
}

// verifiedFact says of how many query types and loads the answers and contents
// were verified.
func (g *group) verifiedFact() string {
	types, verified, withheld, unsupported := 0, 0, 0, 0
	for _, s := range g.subjects {
		for i := range s.target.Queries {
			switch s.target.Queries[i].Outcome() {
			case result.NotRun:
				continue
			case result.Unsupported:
				unsupported++
				continue
			case result.Verified, result.Empty:
				verified++
			case result.Withheld:
				withheld++
			}
			types++
		}
	}
	if types == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %d verified", verified, types)
	if withheld > 0 {
		text += fmt.Sprintf(", %d withheld", withheld)
	}
	if unsupported > 0 {
		text += fmt.Sprintf(", %d n/a", unsupported)
	}
	return text
}

// repeatsFact is how many rounds and loads the figures are of.
func (g *group) repeatsFact() string {
	rounds, loads := 0, 0
	for i := range g.subjects {
		loads = max(loads, g.rankLoads().Estimates[i].N)
		for _, t := range g.types() {
			rounds = max(rounds, len(g.samples(t.Key)[i]))
		}
	}
	var parts []string
	if rounds > 0 {
		parts = append(parts, plural(rounds, "round"))
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
		if text := joined(" ", s.target.Kind, version(&s.target.Description)); !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return strings.Join(list, ", ")
}

func (g *group) shortDataset() string {
	d := g.dataset
	if d.Spec.Name == "" {
		return ""
	}
	if d.Unverified != "" {
		return joined(", ", d.Spec.Name, d.Unverified)
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
	return strings.Join(list, "; ")
}

// noiseFact says how much of the machine others used in all measurements
// together. What it disturbed the runs' own alerts say.
func (g *group) noiseFact() note {
	var phases []*result.Noise
	noisy := false
	for i := range g.subjects {
		for _, h := range heardIn(g.subjects[i].target) {
			noisy = noisy || h.noisy() != ""
			phases = append(phases, slices.DeleteFunc(slices.Clone(h.Phases), func(n *result.Noise) bool { return !n.OthersShare().Known() })...)
		}
	}
	if len(phases) == 0 {
		return note{}
	}
	text := strconv.FormatFloat(100*float64(result.AddNoise(phases...).OthersShare()), 'f', 0, 64) + " % of the CPU went to other processes"
	if noisy {
		return note{"noisy host: " + text, bad}
	}
	return note{"quiet host: " + text, plain}
}

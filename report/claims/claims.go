// Package claims decides by measurements which claims of a document hold.
//
// A claim is a set of comparisons, all of which must hold. A comparison is the ratio of
// two figures, oriented so that above 1 means better, with its interval over the repeats
// (package compare, measure/stats). It holds where the whole interval lies on the claimed
// side, does not hold where the whole interval lies on the other side, and is a tie where
// the interval includes the border. Where repeats are too few for an interval of 95 %, or
// a figure is missing, nothing is decided. Of what the size lacks nothing is decided either:
// the verdict is of the rest, and the finding says so.
package claims

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/reproduce/document"
)

// Verdict is what became of a claim.
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
	// Verbatim are those of the same experiments with TSBS's own texts, which are not
	// verified; empty: there are none.
	Verbatim map[string][]*result.Run
}

// Finding is a claim, what became of it, and why.
type Finding struct {
	Claim   document.Claim
	Verdict Verdict
	Why     string // in words; empty where the parts say all
	Parts   []Part // those that the size lacks only where it lacks all
	// InPart says that the verdict is of a part of the claim: of the rest the size has
	// nothing, or no rule decides it. Why has which.
	InPart bool
	// Verbatim is what became of it with TSBS's own texts, by VerbatimParts; empty: it is
	// not about queries, or these were not run.
	Verbatim      Verdict
	VerbatimParts []Part
}

// Turns reports whether a claim is decided otherwise by TSBS's own texts than by equal
// queries.
func (f *Finding) Turns() bool {
	return f.Verbatim != "" && f.Verbatim != NotTested && f.Verdict != NotTested && f.Verbatim != f.Verdict
}

// Part is one comparison.
type Part struct {
	What string // which figures are compared, in words
	// Advantage is how many times better the claimed side is, and Interval where that
	// lies with 95 %; nil: there is none.
	Advantage stats.Value
	Interval  *stats.Interval
	Verdict   Verdict
	Why       string // it was not tested
	lacking   bool   // it was not tested since the size does not have it
}

// Judge judges all claims of a document.
func Judge(d *document.Document, m Measured) []Finding {
	findings := make([]Finding, len(d.Claims))
	for i, c := range d.Claims {
		findings[i] = judge(d, m, c)
	}
	return findings
}

func judge(d *document.Document, m Measured, c document.Claim) Finding {
	f := Finding{Claim: c, Verdict: NotTested, Why: c.Missing}
	if c.Missing != "" {
		return f
	}
	lacks := make(map[string][]string)
	var notes []string
	for i := range c.Rules {
		r := rule{d: d, m: m, Rule: &c.Rules[i]}
		f.Parts = append(f.Parts, r.located(r.parts())...)
		r.addLacking(lacks)
		if r.Tie {
			notes = []string{tieFromStart}
		}
	}
	f.Verdict, f.Parts = together(f.Parts)
	f.judgeVerbatim(d, m)
	if f.Verdict == NotTested {
		f.Why = reasons(f.Parts)
		return f
	}
	var without []string
	for _, path := range slices.Sorted(maps.Keys(lacks)) {
		without = append(without, fmt.Sprintf("%s=%s, which size %s has not", path, strings.Join(lacks[path], ", "), m.Size))
	}
	if c.Untested != "" {
		without = append(without, c.Untested)
	}
	if len(without) > 0 {
		f.InPart = true
		notes = append(notes, "the verdict is of a part of the claim, without "+strings.Join(without, "; and without "))
	}
	f.Why = strings.Join(notes, "; ")
	return f
}

// tieFromStart is why a comparison is a tie whatever was measured.
const tieFromStart = "printed figures that differ by less than a tenth are ties from the start"

// judgeVerbatim judges a claim by TSBS's own texts, if all of its rules are about queries
// that were run so.
func (f *Finding) judgeVerbatim(d *document.Document, m Measured) {
	var parts []Part
	for i := range f.Claim.Rules {
		r := &f.Claim.Rules[i]
		if len(r.Types) == 0 || len(m.Verbatim[r.Of]) == 0 {
			return
		}
		own := rule{d: d, m: m, Rule: r, verbatim: true}
		parts = append(parts, own.located(own.parts())...)
	}
	f.Verbatim, f.VerbatimParts = together(parts)
}

// together is the verdict of a claim by those of its parts that the size has, and these.
func together(all []Part) (Verdict, []Part) {
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

// most is the verdict of comparisons of which more than half must hold.
func most(parts []Part) Part {
	count := make(map[Verdict]int)
	for _, p := range parts {
		count[p.Verdict]++
	}
	n := len(parts) - count[NotTested]
	if n == 0 {
		return untested("", reasons(parts))
	}
	p := Part{Verdict: Tie, Advantage: stats.Value{Bound: stats.Unknown},
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

// rule is a rule beside what was measured.
type rule struct {
	*document.Rule
	d *document.Document
	m Measured
	// verbatim takes the runs with TSBS's own texts, whose answers nobody knows.
	verbatim bool
}

func (r rule) parts() []Part {
	if e, _ := r.d.Experiment(r.Of); r.Full && !e.Whole(r.m.Size) {
		p := untested("", r.needsFull())
		p.lacking = true
		return []Part{p}
	}
	parts := r.each()
	if r.Most {
		parts = []Part{most(parts)}
	}
	for i := range parts {
		if r.Tie && parts[i].Verdict != NotTested {
			parts[i].Verdict = Tie
		}
	}
	return parts
}

// addLacking adds the values of parameters that the document has and the size has not, and
// that the rule is about, by path.
func (r rule) addLacking(to map[string][]string) {
	along := make(map[string][]string) // values that a comparison is between
	switch {
	case r.Rows > 0:
		return
	case r.Changes != nil:
		along[r.Changes.Along] = append([]string{r.Changes.From, r.Changes.To}, r.Changes.Through...)
	case r.More != nil:
		along[r.More.Along] = []string{r.More.From, r.More.To}
	}
	e, _ := r.d.Experiment(r.Of)
	cut := e.Cut(r.m.Size)
	if c := r.Changes; c != nil && c.Against == "" {
		for _, v := range append(slices.Clone(c.Through), c.To) {
			if ours(cut, c.Along, v) == ours(cut, c.Along, c.From) && !slices.Contains(to[c.Along], v) {
				to[c.Along] = append(to[c.Along], v) // one value stands for both
			}
		}
	}
	for path, values := range cut.Lost {
		for _, v := range values {
			where, given := r.Where[path]
			between, swept := along[path]
			if (!given || where == v) && (!swept || slices.Contains(between, v)) && !slices.Contains(to[path], v) {
				to[path] = append(to[path], v)
			}
		}
	}
}

// each are the comparisons of a rule.
func (r rule) each() []Part {
	switch {
	case len(r.Order) > 0:
		return r.order()
	case len(r.Alike) > 0:
		return r.alike()
	case r.First != "":
		return r.first()
	case r.Changes != nil:
		return r.changes()
	case r.More != nil:
		return r.more()
	case r.Peak != nil:
		return r.peak()
	case r.Lead != nil:
		return r.lead()
	case r.Reach != nil:
		return r.reach()
	case r.Wins != nil:
		return []Part{r.wins()}
	case r.Aggregate != nil:
		return r.aggregate()
	case r.Fails != nil:
		return r.fails()
	case r.Input != nil:
		return r.input()
	case r.Columns != nil:
		return r.columns()
	}
	return []Part{r.rows()}
}

// untested is a part of which nothing was measured.
func untested(what, why string) Part {
	return Part{What: what, Verdict: NotTested, Why: why, Advantage: stats.Value{Bound: stats.Unknown}}
}

// reason is why there is nothing to compare; the zero value: there is.
type reason struct {
	words   string
	lacking bool // the size does not have it
}

// untested is the part of which nothing was measured for that reason.
func (w reason) untested(what string) Part {
	p := untested(what, w.words)
	p.lacking = w.lacking
	return p
}

// about is the rule's figure in words.
func (r rule) about(subject string) string {
	if f, ok := figureOf(r.Figure); ok {
		if len(r.Types) == 0 {
			subject = "a load"
		}
		return f.words + " with " + subject
	}
	if len(r.Types) == 0 {
		switch r.Figure {
		case "acked":
			return "acknowledged load rate"
		case "disk":
			return "size on disk"
		}
		return "load rate"
	}
	return subject
}

// subjects are the query types, or the load.
func (r rule) subjects() []string {
	if len(r.Types) > 0 {
		return r.Types
	}
	return []string{compare.LoadSubject}
}

// metric is the figure that is compared.
func (r rule) metric() compare.Metric {
	if len(r.Types) > 0 {
		return compare.Metric(cmp.Or(r.Figure, string(compare.Mean)))
	}
	return compare.Metric(cmp.Or(r.Figure, string(compare.Load)))
}

// points returns the runs that a rule is about, or why there is none.
func (r rule) points(where map[string]string) ([]*result.Run, reason) { return r.pointsOf(r.Of, where) }

// pointsOf are those of an experiment.
func (r rule) pointsOf(name string, where map[string]string) ([]*result.Run, reason) {
	e, _ := r.d.Experiment(name)
	cut := e.Cut(r.m.Size)
	for path, value := range where {
		if slices.Contains(cut.Lost[path], value) {
			return nil, reason{fmt.Sprintf("size %s has no %s=%s", r.m.Size, path, value), true}
		}
	}
	runs := r.m.Runs[e.Name]
	if r.verbatim {
		runs = r.m.Verbatim[e.Name]
	}
	if len(runs) == 0 {
		if e.Only != "" {
			return nil, reason{words: fmt.Sprintf("experiment %s, of %s alone, was not run", e.Name, e.Only)}
		}
		return nil, reason{words: fmt.Sprintf("experiment %s was not run", e.Name)}
	}
	var list []*result.Run
	for _, run := range runs {
		fits := true
		for path, value := range where {
			_, _, ofTarget := option(path)
			fits = fits && (ofTarget || run.Parameters.Value(path) == ours(cut, path, value))
		}
		if fits {
			list = append(list, run)
		}
	}
	if len(list) == 0 {
		return nil, reason{words: fmt.Sprintf("experiment %s has no run with %s", e.Name, words(where))}
	}
	return list, reason{}
}

// ours is the value that stands for a document's in a size.
func ours(cut document.Cut, path, value string) string { return cmp.Or(cut.For[path][value], value) }

// words are parameters as text.
func words(where map[string]string) string {
	var list []string
	for path, value := range where {
		list = append(list, path+"="+value)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// at says where a comparison was made.
func at(run *result.Run) string {
	if len(run.Parameters) == 0 {
		return ""
	}
	return " at " + run.Parameters.String()
}

// atVaried says where of several runs one is: by the parameters in which they differ.
func atVaried(run *result.Run, all []*result.Run) string {
	varied := slices.DeleteFunc(slices.Clone(run.Parameters), func(p result.Parameter) bool {
		return !slices.ContainsFunc(all, func(other *result.Run) bool { return other.Parameters.Value(p.Path) != p.Value })
	})
	return at(&result.Run{Place: result.Place{Parameters: varied}})
}

// option splits the path of a target's option, targets.NAME.OPTION, whose values are
// targets of one run and no runs of their own.
func option(path string) (target, name string, ok bool) {
	rest, ok := strings.CutPrefix(path, "targets.")
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, ".")
}

// side is a system at a point: a target of a run.
type side struct {
	run    *result.Run
	target *result.Target // nil: none is the system with these options
	name   string         // the system's, with the options that choose it
}

// side returns a system's target in a run, with the options that where gives it.
func (r rule) side(run *result.Run, system string, where map[string]string) side {
	e, _ := r.d.Experiment(r.Of)
	cut := e.Cut(r.m.Size)
	s := side{run: run, name: system}
	i := slices.IndexFunc(run.Targets, func(t result.Target) bool {
		if t.Kind != system {
			return false
		}
		for path, value := range where {
			if of, name, ok := option(path); ok && of == system && t.Options[name] != ours(cut, path, value) {
				return false
			}
		}
		return true
	})
	if i >= 0 {
		s.target = &run.Targets[i]
	}
	for path, value := range where {
		if of, name, ok := option(path); ok && of == system {
			s.name += " with " + name + "=" + ours(cut, path, value)
		}
	}
	return s
}

// advantage compares a figure of x with that of y, which may be of the same run.
func (r rule) advantage(what, subject string, x, y side) Part {
	for _, s := range []side{x, y} {
		if s.target == nil {
			return untested(what, s.name+" was not given")
		}
	}
	if _, own := figureOf(r.Figure); own || r.verbatim {
		return r.advantageOwn(what, subject, x, y)
	}
	c, err := compare.Runs(compare.Side{Runs: []*result.Run{y.run}, Target: y.target.Name}, compare.Side{Runs: []*result.Run{x.run}, Target: x.target.Name}, compare.Options{Different: true})
	if err != nil {
		return untested(what, err.Error())
	}
	for i := range c.Targets[0].Figures {
		f := &c.Targets[0].Figures[i]
		if f.Subject == subject && f.Metric == r.metric() {
			return of(what, f)
		}
	}
	return untested(what, "no such figure was measured")
}

// advantageOwn is advantage for the figures that package compare has not, and for TSBS's
// own texts, which it does not compare.
func (r rule) advantageOwn(what, subject string, x, y side) Part {
	if _, own := figureOf(r.Figure); r.verbatim && !own {
		common := estimate.Align(estimate.Of(x.run, x.target, subject), estimate.Of(y.run, y.target, subject))
		if common[0].Queries() == 0 || common[1].Queries() == 0 {
			return untested(what, uncommon(x, y, subject))
		}
		return compared(what, common[0].Each(r.average()), common[1].Each(r.average()), compare.Lower)
	}
	ofX, better, missing := r.values(x, subject)
	if missing != "" {
		return untested(what, x.name+": "+missing)
	}
	ofY, _, missing := r.values(y, subject)
	if missing != "" {
		return untested(what, y.name+": "+missing)
	}
	return compared(what, ofX, ofY, better)
}

// of is a figure of a comparison as a part, oriented so that above 1 is better. It
// decides nothing yet.
func of(what string, f *compare.Figure) Part {
	p := Part{What: what, Advantage: f.Ratio, Interval: f.Interval}
	missing := cmp.Or(f.MissingA, f.MissingB)
	switch {
	case missing != "":
		return untested(what, missing)
	case f.Method == compare.WithinRepeat || f.Interval == nil || f.Interval.Level < stats.Confidence:
		return untested(what, tooFewRepeats)
	}
	if f.Better == compare.Lower {
		p = p.inverted()
	}
	return p
}

// inverted is the part with its sides exchanged.
func (p Part) inverted() Part {
	if p.Verdict != NotTested {
		p.Advantage = inverse(p.Advantage)
		p.Interval = &stats.Interval{Lo: inverse(p.Interval.Hi), Hi: inverse(p.Interval.Lo), Level: p.Interval.Level}
	}
	return p
}

// inverse is 1 over a value.
func inverse(v stats.Value) stats.Value {
	i := stats.Value{Figure: 1 / v.Figure, Bound: v.Bound}
	switch v.Bound {
	case stats.AtLeast:
		i.Bound = stats.AtMost
	case stats.AtMost:
		i.Bound = stats.AtLeast
	case stats.Unknown:
		i.Figure = 0
	}
	return i
}

// ends are those of a part's interval; what was cut off is open.
func (p *Part) ends() (low, high float64) {
	low, high = p.Interval.Lo.Figure, p.Interval.Hi.Figure
	if b := p.Interval.Lo.Bound; b == stats.AtMost || b == stats.Unknown {
		low = 0
	}
	if b := p.Interval.Hi.Bound; b == stats.AtLeast || b == stats.Unknown {
		high = math.Inf(1)
	}
	return low, high
}

// decided says whether the advantage is between the factors that are meant.
func (p Part) decided(by document.By) Part {
	if p.Verdict == NotTested {
		return p
	}
	least, most := by.Ends()
	switch low, high := p.ends(); {
	case (low > least || least > 1 && low == least) && high <= most:
		p.Verdict = Holds
	case high < least || low > most:
		p.Verdict = DoesNotHold
	default:
		p.Verdict = Tie
	}
	return p
}

// better is a comparison without a factor.
func (p Part) better() Part { return p.decided(document.By{}) }

// factor is by how much, in words.
func factor(by document.By) string {
	least, _ := by.Ends()
	switch {
	case by.About > 0:
		return fmt.Sprintf(" about %g times (%.3g or more)", by.About, least)
	case by.AtLeast > 0 && by.AtMost > 0:
		return fmt.Sprintf(" %g to %g times", by.AtLeast, by.AtMost)
	case by.AtLeast > 0:
		return fmt.Sprintf(" at least %g times", by.AtLeast)
	case by.AtMost > 0:
		return fmt.Sprintf(" less than %g times", by.AtMost)
	}
	return ""
}

func (r rule) order() []Part {
	runs, why := r.points(r.Where)
	var parts []Part
	for _, subject := range r.subjects() {
		for i := range len(r.Order) - 1 {
			x, y := r.Order[i], r.Order[i+1]
			what := fmt.Sprintf("%s of %s better than of %s", r.about(subject), x, y) + factor(r.By)
			if why != (reason{}) {
				parts = append(parts, why.untested(what))
			}
			for _, run := range runs {
				parts = append(parts, r.advantage(what+at(run), subject, r.side(run, x, r.Where), r.side(run, y, r.Where)).decided(r.By))
			}
		}
	}
	return parts
}

// alike compares each system with each that is named after it.
func (r rule) alike() []Part {
	runs, why := r.points(r.Where)
	var parts []Part
	for _, subject := range r.subjects() {
		for i, x := range r.Alike {
			for _, y := range r.Alike[i+1:] {
				what := fmt.Sprintf("%s of %s and of %s within a tenth", r.about(subject), x, y)
				if why != (reason{}) {
					parts = append(parts, why.untested(what))
				}
				for _, run := range runs {
					parts = append(parts, r.advantage(what+at(run), subject, r.side(run, x, r.Where), r.side(run, y, r.Where)).same())
				}
			}
		}
	}
	return parts
}

// first is an order against each other system of the document.
func (r rule) first() []Part {
	var parts []Part
	for _, s := range r.d.Systems {
		if s.Driver != r.First {
			pair := *r.Rule
			pair.First, pair.Order = "", []string{r.First, s.Driver}
			parts = append(parts, rule{&pair, r.d, r.m, r.verbatim}.order()...)
		}
	}
	return parts
}

// with returns conditions with one more.
func with(where map[string]string, path, value string) map[string]string {
	all := map[string]string{path: value}
	for k, v := range where {
		all[k] = v
	}
	return all
}

// along are the runs at two values of a parameter, which otherwise are the same.
func (r rule) along(path, from, to, against string) (pairs [][2]*result.Run, why reason) {
	e, _ := r.d.Experiment(r.Of)
	if here := ours(e.Cut(r.m.Size), path, from); against == "" && here == ours(e.Cut(r.m.Size), path, to) {
		return nil, reason{fmt.Sprintf("size %s has %s=%s for both %s and %s", r.m.Size, path, here, from, to), true}
	}
	first, why := r.points(with(r.Where, path, from))
	last, whyLast := r.pointsOf(cmp.Or(against, r.Of), with(r.Where, path, to))
	if why = cmp.Or(why, whyLast); why != (reason{}) {
		return nil, why
	}
	others := func(run *result.Run) string {
		return slices.DeleteFunc(slices.Clone(run.Parameters), func(p result.Parameter) bool { return p.Path == path }).String()
	}
	for _, x := range first {
		if i := slices.IndexFunc(last, func(y *result.Run) bool { return others(x) == others(y) }); i >= 0 {
			pairs = append(pairs, [2]*result.Run{x, last[i]})
		}
	}
	if len(pairs) == 0 { // another parameter goes with it, as the time with the number of hosts
		pairs = append(pairs, [2]*result.Run{first[0], last[0]})
	}
	return pairs, reason{}
}

func (r rule) changes() []Part {
	c := r.Changes
	var parts []Part
	for _, value := range append(slices.Clone(c.Through), c.To) {
		pairs, why := r.along(c.Along, c.From, value, c.Against)
		var all []*result.Run
		for _, ends := range pairs {
			all = append(all, ends[0])
		}
		for _, subject := range r.subjects() {
			for _, system := range c.Systems {
				what := fmt.Sprintf("%s of %s %s from %s %s to %s", r.about(subject), system, goes(c.Goes)+factor(r.By), c.Along, c.From, value)
				if why != (reason{}) {
					parts = append(parts, why.untested(what))
				}
				for _, ends := range pairs {
					x, y := r.side(ends[1], system, with(r.Where, c.Along, value)), r.side(ends[0], system, with(r.Where, c.Along, c.From))
					parts = append(parts, r.advantage(what+atVaried(ends[0], all), subject, x, y).gone(c.Goes, r.By))
				}
			}
		}
	}
	return parts
}

// gone decides on the advantage of a figure over what it was before.
func (p Part) gone(to document.Direction, by document.By) Part {
	switch to {
	case document.Better:
		return p.decided(by)
	case document.Worse:
		return p.inverted().decided(by)
	case document.NotBetter:
		return p.notBetter()
	}
	return p.same()
}

func goes(d document.Direction) string {
	switch d {
	case document.Better:
		return "improves"
	case document.Worse:
		return "worsens"
	case document.NotBetter:
		return "does not improve by more than a tenth"
	}
	return "stays within a tenth"
}

// tenth is the factor up to which figures are alike.
const tenth = 1.1

// same says whether the advantage is within a tenth of 1.
func (p Part) same() Part {
	if p.Verdict == NotTested {
		return p
	}
	switch low, high := p.ends(); {
	case low >= 1/tenth && high <= tenth:
		p.Verdict = Holds
	case low > tenth || high < 1/tenth:
		p.Verdict = DoesNotHold
	default:
		p.Verdict = Tie
	}
	return p
}

// notBetter says whether the advantage is at most a tenth.
func (p Part) notBetter() Part {
	if p.Verdict == NotTested {
		return p
	}
	switch low, high := p.ends(); {
	case high <= tenth:
		p.Verdict = Holds
	case low > tenth:
		p.Verdict = DoesNotHold
	default:
		p.Verdict = Tie
	}
	return p
}

// more compares by what factors figures change.
func (r rule) more() []Part {
	m := r.More
	pairs, why := r.along(m.Along, m.From, m.To, "")
	var parts []Part
	for _, subject := range r.subjects() {
		for _, system := range either(m.Than, []string{m.System}) {
			for _, other := range either(m.ThanTypes, []string{subject}) {
				than := r.about(other) + " of " + system
				what := fmt.Sprintf("%s of %s %s more%s than %s from %s %s to %s", r.about(subject), m.System, goes(m.Goes), factor(r.By), than, m.Along, m.From, m.To)
				if why != (reason{}) {
					parts = append(parts, why.untested(what))
				}
				for _, ends := range pairs {
					from, missing := r.leads(ends[0], with(r.Where, m.Along, m.From), subject, m.System, other, system)
					to, missingTo := r.leads(ends[1], with(r.Where, m.Along, m.To), subject, m.System, other, system)
					if missing = cmp.Or(missing, missingTo); missing != "" {
						parts = append(parts, untested(what, missing))
						continue
					}
					if m.Goes == document.Better {
						from, to = to, from
					}
					parts = append(parts, compared(what, from, to, compare.Higher).decided(r.By))
				}
			}
		}
	}
	return parts
}

// either is the first list that is not empty.
func either(lists ...[]string) []string {
	i := slices.IndexFunc(lists, func(l []string) bool { return len(l) > 0 })
	return lists[max(i, 0)]
}

// peak compares the claimed value with each other one.
func (r rule) peak() []Part {
	k := r.Peak
	best, why := r.points(with(r.Where, k.Along, k.At))
	all, whyAll := r.points(r.Where)
	why = cmp.Or(why, whyAll)
	var parts []Part
	for _, subject := range r.subjects() {
		for _, system := range k.Systems {
			what := fmt.Sprintf("%s of %s best at %s=%s", r.about(subject), system, k.Along, k.At)
			if why != (reason{}) {
				parts = append(parts, why.untested(what))
				continue
			}
			for _, run := range all {
				if run != best[0] {
					parts = append(parts, r.advantage(what+", not"+atVaried(run, all), subject, r.side(best[0], system, r.Where), r.side(run, system, r.Where)).better())
				}
			}
		}
	}
	return parts
}

// lead compares the lead at the claimed values with that at each other one.
func (r rule) lead() []Part {
	l := r.Lead
	all, whyAll := r.points(r.Where)
	var parts []Part
	for _, end := range []struct{ name, at string }{{"largest", l.Largest}, {"smallest", l.Smallest}} {
		if end.at == "" {
			continue
		}
		claimed, why := r.points(with(r.Where, l.Along, end.at))
		why = cmp.Or(why, whyAll)
		for _, subject := range r.subjects() {
			what := fmt.Sprintf("%s: lead of %s over %s %s at %s=%s", r.about(subject), l.Better, l.Than, end.name, l.Along, end.at)
			if why != (reason{}) {
				parts = append(parts, why.untested(what))
				continue
			}
			own, missing := r.leads(claimed[0], r.Where, subject, l.Better, subject, l.Than)
			for _, run := range all {
				if run == claimed[0] {
					continue
				}
				other, missingOther := r.leads(run, r.Where, subject, l.Better, subject, l.Than)
				switch missing := cmp.Or(missing, missingOther); {
				case missing != "":
					parts = append(parts, untested(what, missing))
				case end.name == "largest":
					parts = append(parts, compared(what+", not"+atVaried(run, all), own, other, compare.Higher).better())
				default:
					parts = append(parts, compared(what+", not"+atVaried(run, all), own, other, compare.Lower).better())
				}
			}
		}
	}
	return parts
}

// reach compares a figure with a number.
func (r rule) reach() []Part {
	runs, why := r.points(r.Where)
	relation := "at least"
	switch {
	case r.Reach.AtMost > 0:
		relation = "at most"
	case r.Reach.About > 0:
		relation = "within a tenth of"
	}
	var parts []Part
	for _, subject := range r.subjects() {
		for _, system := range r.Reach.Systems {
			what := fmt.Sprintf("%s of %s %s %g", r.about(subject), system, relation, r.Reach.Number())
			if why != (reason{}) {
				parts = append(parts, why.untested(what))
			}
			for _, run := range runs {
				parts = append(parts, r.reached(what+at(run), subject, run, system))
			}
		}
	}
	return parts
}

// reached is the part of one system and run: how many times the number it has.
func (r rule) reached(what, subject string, run *result.Run, system string) Part {
	s := r.side(run, system, r.Where)
	if s.target == nil {
		return untested(what, s.name+" was not given")
	}
	if r.Figure == document.ClientMost {
		return r.clientReached(what, run)
	}
	values, _, missing := r.values(s, subject)
	if missing != "" {
		return untested(what, missing)
	}
	e := stats.Summarize(values)
	if e.Interval == nil || e.Interval.Level < stats.Confidence {
		return untested(what, tooFewRepeats)
	}
	share := func(v stats.Value) stats.Value { v.Figure /= r.Reach.Number(); return v }
	p := Part{What: what, Advantage: share(e.Median), Interval: &stats.Interval{Lo: share(e.Interval.Lo), Hi: share(e.Interval.Hi), Level: e.Interval.Level}}
	switch {
	case r.Reach.About > 0:
		return p.same()
	case r.Reach.AtMost > 0:
		return p.inverted().better()
	}
	return p.better()
}

// clientReached compares what the client loads at most, which is measured once a run.
func (r rule) clientReached(what string, run *result.Run) Part {
	if run.Calibration == nil {
		return untested(what, "it was not measured what the client loads at most")
	}
	rows := run.Calibration.RowsPerSecond
	p := Part{What: fmt.Sprintf("%s; here %.3g", what, rows), Verdict: DoesNotHold, Advantage: stats.Value{Bound: stats.Unknown}}
	if k := r.Reach; k.AtLeast > 0 && rows >= k.AtLeast || k.AtMost > 0 && rows <= k.AtMost || k.About > 0 && rows <= k.About*tenth && rows >= k.About/tenth {
		p.Verdict = Holds
	}
	return p
}

// wins counts in how many comparisons one system is shown to be better. The claim allows
// as many losses as the document has: it does not hold where more are shown.
func (r rule) wins() Part {
	w := r.Wins
	relation := "better than"
	if w.OrEqual {
		relation = "better than, or equal to,"
	}
	what := fmt.Sprintf("%s %s %s in at least %d of %d comparisons", w.Better, relation, w.Than, w.Least, w.Of)
	runs, why := r.points(r.Where)
	if why != (reason{}) {
		return why.untested(what)
	}
	n, won, lost := 0, 0, 0
	missing := ""
	for _, run := range runs {
		for _, subject := range r.subjects() {
			switch p := r.advantage(subject, subject, r.side(run, w.Better, r.Where), r.side(run, w.Than, r.Where)).better(); p.Verdict {
			case NotTested:
				missing = cmp.Or(missing, p.Why)
				continue
			case Holds:
				won++
			case DoesNotHold:
				lost++
			}
			n++
		}
	}
	if n == 0 {
		return untested(what, missing)
	}
	p := Part{What: fmt.Sprintf("%s; here %d won, %d lost, %d ties of %d", what, won, lost, n-won-lost, n), Verdict: Tie, Advantage: stats.Value{Bound: stats.Unknown}}
	share := float64(w.Least) / float64(w.Of)
	counted := won
	if w.OrEqual {
		counted = n - lost
	}
	switch {
	case float64(counted) >= share*float64(n):
		p.Verdict = Holds
	case float64(lost) > (1-share)*float64(n):
		p.Verdict = DoesNotHold
	}
	return p
}

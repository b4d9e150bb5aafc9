package claims

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/reproduce/document"
)

// rule is a rule with the measurements to decide it.
type rule struct {
	*document.Rule
	needs   document.Needs               // of the claim
	extents map[string]*document.Extents // by experiment, computed once for all claims with needs
	d       *document.Document
	m       Measured
	// verbatim takes the runs with TSBS's own texts, which have no expected answers.
	verbatim bool
}

func (r rule) parts() []Part {
	if e, _ := r.d.Experiment(r.Of); r.Full && !e.IsWhole(r.m.Size) {
		p := untestedPart("", r.needsFull())
		p.lacking = true
		return []Part{p}
	}
	parts := r.judgeKind()
	if r.Most {
		parts = []Part{judgeMost(parts)}
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
			where, conditional := r.Where[path]
			between, swept := along[path]
			if (!conditional || where == v) && (!swept || slices.Contains(between, v)) && !slices.Contains(to[path], v) {
				to[path] = append(to[path], v)
			}
		}
	}
}

// judgeKind returns the comparisons of a rule.
func (r rule) judgeKind() []Part {
	switch {
	case len(r.Order) > 0:
		return r.order()
	case len(r.Alike) > 0:
		return r.compareAlike()
	case r.First != "":
		return r.first()
	case r.Changes != nil:
		return r.changes()
	case r.More != nil:
		return r.compareMore()
	case r.Peak != nil:
		return r.peak()
	case r.Lead != nil:
		return r.lead()
	case r.Reach != nil:
		return r.reach()
	case r.Wins != nil:
		return r.wins()
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

// untestedPart returns a part without a measurement.
func untestedPart(what, why string) Part {
	return Part{What: what, Verdict: NotTested, Why: why, Advantage: stats.Value{Bound: stats.Unknown}}
}

// reason is the reason for a missing comparison; the zero value means that there is one.
type reason struct {
	words   string
	lacking bool // the size does not have it
	small   bool // the size has too little of it: lacking, too
}

// untestedPart returns a part that was not measured for this reason.
func (w reason) untestedPart(what string) Part {
	p := untestedPart(what, w.words)
	p.lacking, p.small = w.lacking, w.small
	return p
}

// describe describes the rule's figure in words.
func (r rule) describe(subject string) string {
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

// subjects returns the query types, or the load.
func (r rule) subjects() []string {
	if len(r.Types) > 0 {
		return r.Types
	}
	return []string{compare.LoadSubject}
}

// metric returns the compared metric.
func (r rule) metric() compare.Metric {
	if len(r.Types) > 0 {
		return compare.Metric(cmp.Or(r.Figure, string(compare.Mean)))
	}
	return compare.Metric(cmp.Or(r.Figure, string(compare.Load)))
}

// points returns the runs that a rule covers, or the reason for having none.
func (r rule) points(where map[string]string) ([]*result.Run, reason) { return r.pointsOf(r.Of, where) }

// pointsOf returns the points of an experiment, and why none was found, or why some of them have too
// little data to decide the claim.
func (r rule) pointsOf(name string, where map[string]string) ([]*result.Run, reason) {
	e, _ := r.d.Experiment(name)
	cut := e.Cut(r.m.Size)
	if cut.LeftOut != "" {
		return nil, reason{words: fmt.Sprintf("not tested at size %s, which leaves out %s %s: %s", r.m.Size, e.ID, e.Name, cut.LeftOut), lacking: true, small: true}
	}
	for _, path := range slices.Sorted(maps.Keys(where)) { // the same reason each time
		if value := where[path]; slices.Contains(cut.Lost[path], value) {
			return nil, reason{words: inWords(e, fmt.Sprintf("size %s has no %s=%s", r.m.Size, path, value)), lacking: true}
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
	thin := ""
	for _, run := range runs {
		fits := true
		for path, value := range where {
			_, _, ofTarget := option(path)
			fits = fits && (ofTarget || run.Parameters.Value(path) == ours(cut, path, value))
		}
		if !fits {
			continue
		}
		if why := r.thin(e, run); why != "" {
			thin = cmp.Or(thin, why)
			continue
		}
		list = append(list, run)
	}
	if thin != "" {
		return list, reason{words: thin, lacking: true, small: true}
	}
	if len(list) == 0 {
		return nil, reason{words: fmt.Sprintf("experiment %s has no run with %s", e.Name, words(where))}
	}
	return list, reason{}
}

// ours returns the value that replaces a document's value in a size.
func ours(cut document.Cut, path, value string) string { return cmp.Or(cut.For[path][value], value) }

// words formats parameters as text.
func words(where map[string]string) string {
	var list []string
	for path, value := range where {
		list = append(list, path+"="+value)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// pointName says where a comparison was made.
func pointName(run *result.Run) string {
	parameters := slices.DeleteFunc(slices.Clone(run.Parameters), experiment.LimitsNothing)
	if len(parameters) == 0 {
		return ""
	}
	return " at " + parameters.String()
}

// atVaried returns the parameters of a run that differ among several runs.
func atVaried(run *result.Run, all []*result.Run) string {
	varied := slices.DeleteFunc(slices.Clone(run.Parameters), func(p result.Parameter) bool {
		return !slices.ContainsFunc(all, func(other *result.Run) bool { return other.Parameters.Value(p.Path) != p.Value })
	})
	return pointName(&result.Run{Place: result.Place{Parameters: varied}})
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
	target *result.Target // nil: no system has these options
	name   string         // the system's, with the options that choose it
}

// untestable returns why a side cannot be judged: it is missing, a stand-in was measured, or its loads
// were too short. The zero value means that it can be judged.
func (r rule) untestable(s side) reason {
	if s.target == nil {
		system, _, _ := strings.Cut(s.name, " with ")
		if e, _ := r.d.Experiment(r.Of); !e.Has(r.m.Size, system) {
			return reason{words: fmt.Sprintf("not tested at size %s, which measures %s without %s", r.m.Size, e.Name, system), lacking: true, small: true}
		}
		return reason{words: s.name + " " + r.m.Missing(s.name)}
	}
	if why := s.target.Uncomparable(); why != "" {
		return reason{words: s.name + " is a " + why}
	}
	if why := r.brief(s); why != "" {
		return reason{words: why, lacking: true, small: true}
	}
	return reason{}
}

// sideOf returns a system's first target in a run, whatever its options.
func sideOf(run *result.Run, system string) side {
	s := side{run: run, name: system}
	if i := slices.IndexFunc(run.Targets, func(t result.Target) bool { return t.Driver == system }); i >= 0 {
		s.target = &run.Targets[i]
	}
	return s
}

// side returns a system's target in a run, with the options that where gives it.
func (r rule) side(run *result.Run, system string, where map[string]string) side {
	e, _ := r.d.Experiment(r.Of)
	cut := e.Cut(r.m.Size)
	s := side{run: run, name: system}
	i := slices.IndexFunc(run.Targets, func(t result.Target) bool {
		if t.Driver != system {
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

// withValue returns conditions with one more.
func withValue(where map[string]string, path, value string) map[string]string {
	all := map[string]string{path: value}
	for k, v := range where {
		all[k] = v
	}
	return all
}

// along returns the pairs of runs at two values of a parameter that are otherwise equal.
func (r rule) along(path, from, to, against string) (pairs [][2]*result.Run, why reason) {
	e, _ := r.d.Experiment(r.Of)
	if here := ours(e.Cut(r.m.Size), path, from); against == "" && here == ours(e.Cut(r.m.Size), path, to) {
		return nil, reason{words: fmt.Sprintf("size %s has %s=%s for both %s and %s", r.m.Size, path, here, from, to), lacking: true}
	}
	first, why := r.points(withValue(r.Where, path, from))
	last, whyLast := r.pointsOf(cmp.Or(against, r.Of), withValue(r.Where, path, to))
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

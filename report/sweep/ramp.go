package sweep

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
)

// ramp is the steps of one query type on one target, as the connections or the rate rise.
type ramp struct {
	target, queryType string
	path              string // the parameter that rises
	steps             []step
}

// step is a value of the parameter with its figures.
type step struct {
	value       string
	rates       []float64 // queries a second of each round; in a ramp of a mixed phase rows of each load
	median, p99 float64   // in seconds; 0: not known, or too few queries
	saturated   bool
}

// rate returns the median rate.
func (s *step) rate() float64 { return stats.Summarize(s.rates).Median.Figure }

// rampPath returns the parameter of a sweep if it is the only one that varies, and raises the load
// from step to step; otherwise it is empty.
func rampPath(runs []*result.Run) string {
	if paths := varyingPaths(runs); len(paths) == 1 && slices.Contains(result.RampPaths(), paths[0]) {
		return paths[0]
	}
	return ""
}

// ofRows reports whether the rates are those of rows written while queries ran.
func (r *ramp) ofRows() bool { return r.path == result.RampRows }

// unit is that of the rates.
func (r *ramp) unit() string {
	if r.ofRows() {
		return "rows/s"
	}
	return "queries/s"
}

// newRamps returns the ramps of all targets and query types that have figures at two steps; nil:
// the sweep is not a ramp.
func newRamps(runs []*result.Run) (list []ramp) {
	path := rampPath(runs)
	if path == "" {
		return nil
	}
	runs = slices.Clone(runs)
	slices.SortStableFunc(runs, func(a, b *result.Run) int {
		return cmp.Compare(chart.Quantity(a.Parameters.Value(path)), chart.Quantity(b.Parameters.Value(path)))
	})
	for _, name := range rank.AllTargets(runs) {
		var targets []*result.Target
		for _, r := range runs {
			if t := rank.FindTarget(r, name); t != nil {
				targets = append(targets, t)
			}
		}
		var types []string
		for _, t := range rank.AllTypes(runs) {
			types = append(types, t.Key)
		}
		if strings.HasPrefix(path, "mixed.") {
			types = rank.MixedTypes(targets...)
		}
		for _, queryType := range types {
			one := ramp{target: name, queryType: queryType, path: path}
			for _, r := range runs {
				if t := rank.FindTarget(r, name); t != nil {
					one.add(t, r.Parameters.Value(path))
				}
			}
			if len(one.steps) > 1 {
				list = append(list, one)
			}
		}
	}
	return list
}

// add adds the figures of a target at a step, if it has any.
func (r *ramp) add(t *result.Target, value string) {
	s := step{value: value}
	times := func(l *result.Latency) {
		if s.median = l.Median; l.Holds(0.99) {
			s.p99 = l.P99
		}
	}
	if !strings.HasPrefix(r.path, "mixed.") {
		q := rank.FindQueries(t, r.queryType)
		if !rank.IsDrawn(q) {
			return
		}
		times(q.Time())
		s.saturated = q.Open != nil && q.Open.Saturated != ""
		for _, of := range t.MeasuredRepeats() {
			if again := of.Type(r.queryType); again != nil && again.PerSecond > 0 {
				s.rates = append(s.rates, again.PerSecond)
			}
		}
	} else if t.Load != nil && t.Load.Mixed != nil && t.Load.HasFigures() {
		m := t.Load.Mixed
		at := slices.IndexFunc(m.Types, func(q result.MixedType) bool { return q.Type == r.queryType })
		if at < 0 || m.Types[at].WithoutFigure() || !m.Types[at].Verdict.OK() {
			return
		}
		times(m.Types[at].Time())
		s.saturated = m.Saturated != ""
		if e := rank.MixedRate(t); r.ofRows() && e.N > 0 {
			s.rates = []float64{e.Median.Figure}
		} else if !r.ofRows() {
			s.rates = []float64{m.Types[at].PerSecond}
		}
	}
	if len(s.rates) > 0 && s.median > 0 {
		r.steps = append(r.steps, s)
	}
}

// fewMore is the gain in the rate that a further step must bring to be worth it.
const fewMore = 1.1

// knee names the step from which more load brings hardly more answers, and how it was found, or why
// the figures show none.
func (r *ramp) knee() (text string, found bool) {
	n := len(r.steps)
	if n < 3 {
		return "no knee: it takes three steps, and there are " + fmt.Sprint(n), false
	}
	last := &r.steps[n-1]
	if r.path != result.RampWorkers {
		kept := slices.IndexFunc(r.steps, func(s step) bool { return s.saturated })
		switch {
		case kept < 0:
			return "no knee: the target kept every rate, up to " + last.value, false
		case kept == 0:
			return "no knee: saturated at the lowest rate, " + r.steps[0].value, false
		}
		if at := slices.IndexFunc(r.steps[kept:], func(s step) bool { return !s.saturated }); at >= 0 {
			return fmt.Sprintf("no knee: saturated at %s, and not at %s", r.steps[kept].value, r.steps[kept+at].value), false
		}
		return fmt.Sprintf("knee at %s=%s: %s; saturated from %s", r.path, r.steps[kept-1].value, r.steps[kept-1].figures(r.unit()), r.steps[kept].value), true
	}
	at, undecided := n-1, false
	for k := range n - 1 {
		flat := true
		for j := k + 1; j < n && flat; j++ {
			i := stats.Compare(r.steps[k].rates, r.steps[j].rates).Interval
			undecided = undecided || i == nil
			flat = i != nil && i.Hi.Bound == stats.Exact && i.Hi.Figure < fewMore
		}
		if flat {
			at = k
			break
		}
	}
	knee := &r.steps[at]
	switch {
	case at == n-1 && undecided:
		return "no knee: too few rounds to tell the rates of the steps apart (--repeats 6)", false
	case at == n-1:
		return fmt.Sprintf("no knee: the rate was not shown to level off up to %s=%s", r.path, last.value), false
	case knee.p99 == 0 || last.p99 == 0:
		return "no knee: too few queries for p99, which needs 100 at each step", false
	case last.p99 <= knee.p99:
		return fmt.Sprintf("no knee: p99 does not rise after %s=%s", r.path, knee.value), false
	}
	if at > 0 {
		c := stats.Compare(r.steps[0].rates, knee.rates)
		if c.P >= stats.Alpha || c.Ratio.Figure <= 1 {
			return "no knee: the rate was not shown to rise", false
		}
	}
	return fmt.Sprintf("knee at %s=%s: %s; more bring less than 10 %% more, and at %s p99 is %s", r.path, knee.value, knee.figures(r.unit()), last.value, format.Duration(last.p99)), true
}

// figures describes the rate and the percentile of a step.
func (s *step) figures(unit string) string {
	text := format.Digits(s.rate()) + " " + unit
	if s.p99 > 0 {
		text += ", p99 " + format.Duration(s.p99)
	}
	return text
}

// mostKnees is the maximum number of texts about ramps in the first lines of a report.
const mostKnees = 6

// rampAnswers are the first lines of a report of a ramp: see kneeLines.
func rampAnswers(ramps []ramp) []doc.Span {
	lines := kneeLines(ramps)
	if len(lines) <= mostKnees {
		return lines
	}
	knees := 0
	for i := range ramps {
		if _, found := ramps[i].knee(); found {
			knees++
		}
	}
	return []doc.Span{doc.Plain(fmt.Sprintf("A knee is named in %d of %d ramps; see the table", knees, len(ramps)))}
}

// kneeLines name the knees of all ramps, or why they have none: a line for each text, with the targets
// and query types of its ramps.
func kneeLines(ramps []ramp) (list []doc.Span) {
	var texts []string
	about := make(map[string][]*ramp)
	for i := range ramps {
		text, _ := ramps[i].knee()
		if about[text] == nil {
			texts = append(texts, text)
		}
		about[text] = append(about[text], &ramps[i])
	}
	for _, text := range texts {
		list = append(list, doc.Plain(rampNames(about[text])+": "+text))
	}
	return list
}

// mostNames is the maximum number of query types of a target that rampNames lists.
const mostNames = 3

// rampNames lists the targets and query types of ramps: a, lastpoint; a and b, 8 query types.
func rampNames(ramps []*ramp) string {
	var targets, names []string
	types := make(map[string][]string) // by target
	for _, r := range ramps {
		if types[r.target] == nil {
			targets = append(targets, r.target)
		}
		types[r.target] = append(types[r.target], r.queryType)
	}
	for i := 0; i < len(targets); {
		of := types[targets[i]]
		end := i + 1
		for end < len(targets) && slices.Equal(types[targets[end]], of) {
			end++
		}
		name := format.List(targets[i:end]) + ", "
		if len(of) > mostNames {
			name += format.Plural(len(of), "query type")
		} else {
			name += format.List(of)
		}
		names = append(names, name)
		i = end
	}
	return strings.Join(names, "; ")
}

// rampTable shows the steps of all ramps.
func rampTable(ramps []ramp) *doc.Table {
	view := &doc.Table{Title: "Ramp of " + ramps[0].path, Columns: []doc.Column{
		{Head: "target"}, {Head: "type", Words: true, Names: true}, {Head: ramps[0].path}, {Head: ramps[0].unit(), Help: "median of the rounds or loads"},
		{Head: "median"}, {Head: "p99", Help: "99 of 100 queries took no longer; of 100 queries or more"}, {Head: "kept up", Words: true, Help: "whether the target kept the rate"},
	}}
	for i := range ramps {
		r := &ramps[i]
		for j := range r.steps {
			s := &r.steps[j]
			p99, kept := doc.None(), doc.None()
			if s.p99 > 0 {
				p99 = doc.Plain(format.Duration(s.p99))
			}
			switch {
			case s.saturated:
				kept = doc.Bad("saturated")
			case r.path != result.RampWorkers:
				kept = doc.Plain("yes")
			}
			view.Rows = append(view.Rows, doc.Row{Cells: []doc.Span{doc.Plain(r.target), doc.Plain(r.queryType), doc.Plain(s.value), doc.Plain(format.Digits(s.rate())), doc.Plain(format.Duration(s.median)), p99, kept}})
		}
	}
	if lines := kneeLines(ramps); len(lines) > mostKnees {
		for _, l := range lines {
			view.Notes = append(view.Notes, doc.Dim(l.Text))
		}
	}
	return view
}

// rampFigure draws, for each query type, p99 over the rate, step by step; the median where a step
// has too few queries.
func rampFigure(ramps []ramp) *chart.Figure {
	var targets, types []string
	for _, r := range ramps {
		if !slices.Contains(targets, r.target) {
			targets = append(targets, r.target)
		}
		if !slices.Contains(types, r.queryType) {
			types = append(types, r.queryType)
		}
	}
	f := &chart.Figure{Legend: chart.NewLegend(targets)}
	for _, queryType := range types {
		name := "p99"
		for _, r := range ramps {
			if r.queryType == queryType && slices.ContainsFunc(r.steps, func(s step) bool { return s.p99 == 0 }) {
				name = "median"
			}
		}
		curves := make([][]chart.Pair, len(targets))
		for _, r := range ramps {
			if r.queryType != queryType {
				continue
			}
			at := slices.Index(targets, r.target)
			for _, s := range r.steps {
				p := chart.Pair{X: s.rate(), Y: s.p99, Hint: fmt.Sprintf("%s, %s=%s: %s", r.target, r.path, s.value, s.figures(r.unit()))}
				if name == "median" {
					p.Y = s.median
				}
				if s.saturated {
					p.Hint += ", saturated"
				}
				curves[at] = append(curves[at], p)
			}
		}
		if c := chart.PairCurves(chart.NewLines(queryType, "", ramps[0].unit(), name), f.Legend, curves); c != nil {
			f.Lines = append(f.Lines, c)
		}
	}
	return f
}

// rampSections show a ramp; nil: the sweep is not a ramp, or has too few figures.
func rampSections(runs []*result.Run) []doc.Section {
	ramps := newRamps(runs)
	if len(ramps) == 0 {
		return nil
	}
	return []doc.Section{{ID: "ramp", Title: "Ramp", Page: true, Figures: []*chart.Figure{rampFigure(ramps)},
		Notes: []doc.Span{doc.Plain("Each curve goes from step to step: to the right while more load brings a higher rate, and only upwards where it brings nothing but longer times.")}},
		{ID: "steps", Name: "Steps", Tables: []*doc.Table{rampTable(ramps)}}}
}

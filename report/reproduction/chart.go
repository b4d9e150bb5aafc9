package reproduction

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/claims"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/sweep"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/reproduce/document"
)

// ladder holds the measurements of an experiment by varied parameter.
type ladder struct {
	of    *Report
	e     *document.Experiment
	runs  []*result.Run
	paths []string // the varied parameters, each by itself
	steps []step
}

// step is a target of a run, at the values of the varied parameters.
type step struct {
	run    *result.Run
	target *result.Target
	system string // of a curve: the target, or the target whose options are varied
	at     result.Parameters
}

// newLadder arranges the runs of an experiment. An option that it varies of one system is a
// parameter as those of runs are.
func newLadder(p *Report, e *document.Experiment) *ladder {
	l := &ladder{of: p, e: e, runs: p.Measured.Runs[e.Name]}
	options := differingOptions(e, l.runs)
	for _, r := range l.runs {
		for i := range r.Targets {
			s := step{run: r, target: &r.Targets[i], system: r.Targets[i].Name, at: slices.Clone(r.Parameters)}
			if s.target.Driver == e.Only && len(options) > 0 {
				s.system = e.Only
				for _, name := range options {
					s.at = append(s.at, result.Parameter{Path: optionPath(e, name), Value: s.target.Options[name]})
				}
			}
			l.steps = append(l.steps, s)
		}
	}
	var points []result.Parameters
	var paths []string
	for _, s := range l.steps {
		points = append(points, s.at)
		for _, one := range s.at {
			if !slices.Contains(paths, one.Path) && slices.ContainsFunc(l.steps, func(other step) bool { return other.at.Value(one.Path) != one.Value }) {
				paths = append(paths, one.Path)
			}
		}
	}
	// The document's parameters go before the ones that only its data need.
	declared := claims.DeclaredParameters(p.Document, e)
	named := slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return !slices.Contains(declared, path) })
	others := slices.DeleteFunc(paths, func(path string) bool { return slices.Contains(declared, path) })
	l.paths = sweep.IndependentPaths(points, slices.Concat(named, others))
	return l
}

func optionPath(e *document.Experiment, name string) string { return "targets." + e.Only + "." + name }

// differingOptions returns the options that differ between the targets of an experiment's one
// system.
func differingOptions(e *document.Experiment, runs []*result.Run) []string {
	var names []string
	first := make(map[string]string)
	for _, r := range runs {
		for i := range r.Targets {
			if r.Targets[i].Driver != e.Only {
				continue
			}
			for name, value := range r.Targets[i].Options {
				if known, seen := first[name]; !seen {
					first[name] = value
				} else if known != value && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	slices.Sort(names)
	return names
}

// value returns a parameter's value, in the document's words if it has some: 18 rows for
// each device, not the time at which the data end.
func (l *ladder) value(path, value string) string {
	printed := value
	for ofDocument, ours := range l.e.Cut(l.of.Measured.Size).For[path] {
		if ours == value && len(l.e.Values[path]) > 0 {
			printed = ofDocument
		}
	}
	for text, known := range l.e.Values[path] {
		if known == printed {
			return text
		}
	}
	return value
}

// name returns the document's name for a parameter, if it also names the values.
func (l *ladder) name(path string) string {
	if len(l.e.Values[path]) > 0 {
		for name, known := range l.e.Axes {
			if known == path {
				return name
			}
		}
	}
	return path
}

// position describes a step by its varied parameters, except one path. It is empty if nothing else was varied.
func (l *ladder) position(s *step, but string) string {
	var words []string
	for _, path := range l.paths {
		if path != but {
			words = append(words, l.name(path)+"="+l.value(path, s.at.Value(path)))
		}
	}
	return strings.Join(words, ", ")
}

// figure returns the measurement of a step.
func (l *ladder) figure(shown *claims.Shown, s *step, query string) (stats.Estimate, string) {
	return shown.Estimate(l.of.Document, l.e, l.of.Measured, s.run, s.target.Name, query)
}

// subjects returns the query types of a figure, or the load.
func (l *ladder) subjects(shown *claims.Shown) []string {
	switch {
	case !shown.Queries:
		return []string{""}
	case len(shown.Types) > 0:
		return shown.Types
	}
	return claims.TypesOf(l.runs)
}

// axes returns charts along the parameters that the document declares, or along all varied
// parameters if it declares none. Each figure has a line per system, and a chart for each
// value of the other varied parameters.
func (l *ladder) axes() []*chart.Figure {
	paths := slices.Clone(l.paths)
	declared := claims.DeclaredParameters(l.of.Document, l.e)
	if slices.ContainsFunc(paths, func(path string) bool { return slices.Contains(declared, path) }) {
		paths = slices.DeleteFunc(paths, func(path string) bool { return !slices.Contains(declared, path) })
	}
	var systems []string
	for _, s := range l.steps {
		if !slices.Contains(systems, s.system) {
			systems = append(systems, s.system)
		}
	}
	var list []*chart.Figure
	for _, path := range paths {
		axis := &chart.Figure{Title: "By " + l.name(path), Legend: chart.NewLegend(systems)}
		for _, shown := range claims.ShownAlong(l.of.Document, l.e, l.runs, path) {
			for _, query := range l.subjects(&shown) {
				axis.Lines = append(axis.Lines, l.charts(path, &shown, query, axis.Legend)...)
			}
		}
		if len(axis.Lines) > 0 {
			list = append(list, axis)
		}
	}
	return list
}

// charts returns the charts of a figure along a parameter, one for each value of the other
// varied parameters. With only one measured value there is nothing to draw.
func (l *ladder) charts(path string, shown *claims.Shown, query string, styles chart.Legend) []*chart.Lines {
	var groups, values []string
	for i := range l.steps {
		if at := l.position(&l.steps[i], path); !slices.Contains(groups, at) {
			groups = append(groups, at)
		}
		if v := l.value(path, l.steps[i].at.Value(path)); !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	x, ok := chart.NewScale(values)
	if !ok {
		return nil
	}
	var list []*chart.Lines
	for _, group := range groups {
		curves := make([]chart.Pointed, len(styles))
		several := false
		for i := range styles {
			curves[i] = chart.Pointed{Style: styles[i], Label: styles[i].Label}
		}
		for i := range l.steps {
			s := &l.steps[i]
			e, _ := l.figure(shown, s, query)
			if e.N == 0 || l.position(s, path) != group {
				continue
			}
			if shown.Name == "mean_ms" { // its axis is one of seconds
				e = toSeconds(e)
			}
			value := l.value(path, s.at.Value(path))
			one := &curves[slices.IndexFunc(styles, func(k chart.Style) bool { return k.Label == s.system })]
			several = several || slices.ContainsFunc(one.Points, func(p chart.Point) bool { return p.Value != value })
			one.Points = append(one.Points, chart.Point{X: x.At[value], Value: value, Estimate: e})
		}
		if !several {
			continue
		}
		title, unit := figureWords(shown), figureWords(shown)
		if shown.Name == "mean_ms" {
			title, unit = "mean service time", "service time"
		}
		if c := chart.Estimates(chart.NewLines(format.Join(", ", query, title), group, l.name(path), unit), curves, x, verticalScale(shown)); c != nil {
			list = append(list, c)
		}
	}
	return list
}

// toSeconds converts an estimate from milliseconds to seconds.
func toSeconds(e stats.Estimate) stats.Estimate {
	e.Median.Figure /= 1000
	if e.Interval != nil {
		in := *e.Interval
		in.Lo.Figure /= 1000
		in.Hi.Figure /= 1000
		e.Interval = &in
	}
	return e
}

// verticalScale returns the scale of a figure in its chart.
func verticalScale(shown *claims.Shown) chart.VerticalScale {
	switch {
	case shown.Unit == compare.Bytes:
		return chart.BytesUp
	case shown.Unit == compare.Seconds, shown.Name == "mean_ms":
		return chart.TimesUp
	}
	return chart.RatesUp
}

// figureWords returns the name of a figure.
func figureWords(shown *claims.Shown) string { return cmp.Or(shown.Words, MetricName(shown.Name)) }

// measuredTable returns a figure of every target at every point if the document does not print it:
// a line for each point, and query type; and the number of figures. It is nil if nothing was
// run.
func (l *ladder) measuredTable(shown *claims.Shown) (t *doc.Table, figures int) {
	t = &doc.Table{Title: l.e.ID + " " + l.e.Name + ", " + figureWords(shown) + ", measured", Terminal: doc.OnRequest, Columns: []doc.Column{{Head: "figure"}}}
	var systems, points []string
	for i := range l.steps {
		s := &l.steps[i]
		if !slices.Contains(systems, s.system) {
			systems = append(systems, s.system)
			t.Columns = append(t.Columns, doc.Column{Head: s.system, Help: "the median over the repeats, and where it lies with 95 %"})
		}
		if at := l.position(s, ""); !slices.Contains(points, at) {
			points = append(points, at)
		}
	}
	missing := make(map[string]string) // by system
	for _, point := range points {
		for _, query := range l.subjects(shown) {
			r := doc.Row{Cells: []doc.Span{doc.Plain(cmp.Or(format.Join(", ", query, point), "all"))}}
			for range systems {
				r.Cells = append(r.Cells, doc.None())
			}
			for i := range l.steps {
				s := &l.steps[i]
				if l.position(s, "") != point {
					continue
				}
				e, why := l.figure(shown, s, query)
				if e.N == 0 {
					if text := format.Join(": ", query, why); !strings.Contains(missing[s.system], text) {
						missing[s.system] = format.Join("; ", missing[s.system], text)
					}
					continue
				}
				r.Cells[1+slices.Index(systems, s.system)] = doc.Plain(ownText(shown.Unit, e))
				figures++
			}
			t.Rows = append(t.Rows, r)
		}
	}
	for _, name := range systems {
		if missing[name] != "" {
			t.Notes = append(t.Notes, doc.Dim("No figure of "+name+": "+missing[name]+"."))
		}
	}
	if len(t.Rows) == 0 {
		return nil, 0
	}
	return t, figures
}

// ownText formats an estimate with its interval.
func ownText(u compare.Unit, e stats.Estimate) string {
	return format.WithInterval(format.ValueText(u, e.Median), e.Interval, func(v stats.Value) string { return format.ValueText(u, v) })
}

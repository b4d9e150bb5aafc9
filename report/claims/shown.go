package claims

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/reproduce/document"
	"github.com/tsmark/tsmark/run/reproduce/printed"
)

// Shown is a figure that a document's tables or claims have of an experiment, as it can be
// shown for every target and point, whether or not the document prints a value there.
type Shown struct {
	Name    string       // as printed figures and rules call it: rows_per_s, disk
	Words   string       // the name in rules; empty: its name is a printed metric
	Unit    compare.Unit // of its values; empty: none, or as a printed metric says
	Queries bool         // it is of query types, not of loads
	Types   []string     // the types that claims cover; nil: all that were run
	rule    bool         // a rule's, not a printed one
}

// ShownOf lists the figures of an experiment: the printed metrics first, then the figures
// that only claims use. If a document has neither, it is the rate of loads, or the mean
// service time of the query types that the runs have.
func ShownOf(d *document.Document, e *document.Experiment, runs []*result.Run) []Shown {
	var list []Shown
	add := func(s Shown) {
		i := slices.IndexFunc(list, s.equals)
		if i < 0 {
			list = append(list, s)
			return
		}
		for _, name := range s.Types {
			if known := &list[i]; len(known.Types) > 0 && !slices.Contains(known.Types, name) {
				known.Types = append(known.Types, name)
			}
		}
	}
	queries := len(TypesOf(runs)) > 0
	loads, ofTypes := metrics()
	for _, name := range e.Printed {
		for _, f := range printed.Figures(d.Number, name) {
			for _, metric := range []string{f.Metric, f.Parameters["of"]} {
				switch {
				case ofWholeRun(metric): // of points that may be smaller it says little
				case slices.Contains(loads, metric):
					add(Shown{Name: metric, Unit: unitOf(metric)})
				case slices.Contains(ofTypes, metric) && queries:
					add(Shown{Name: metric, Queries: true})
				}
			}
		}
	}
	for i := range d.Claims {
		for j := range d.Claims[i].Rules {
			r := &d.Claims[i].Rules[j]
			if r.Of == e.Name && r.Aggregate == nil && r.Input == nil && r.Columns == nil && r.Rows == 0 {
				addRule(add, r, list)
			}
		}
	}
	if !slices.ContainsFunc(list, func(s Shown) bool { return s.Queries == queries }) {
		add(Shown{Name: map[bool]string{true: "mean_ms", false: "rows_per_s"}[queries], Queries: queries})
	}
	return list
}

// decideSame reports whether two are one figure.
func (s Shown) equals(other Shown) bool { return s.Name == other.Name && s.Queries == other.Queries }

// ShownAlong lists the figures that are worth a curve along a parameter: the experiment's
// first figure, and the figures that claims follow along the parameter.
func ShownAlong(d *document.Document, e *document.Experiment, runs []*result.Run, path string) []Shown {
	all := ShownOf(d, e, runs)
	list := all[:1:1]
	for i := range d.Claims {
		for j := range d.Claims[i].Rules {
			r := &d.Claims[i].Rules[j]
			if r.Of != e.Name || !slices.Contains(alongOf(r), path) {
				continue
			}
			var followed []Shown // the one, under the name that the experiment's figures have it
			addRule(func(s Shown) { followed = append(followed, s) }, r, nil)
			for _, s := range followed {
				if i := slices.IndexFunc(all, s.equals); i >= 0 && !slices.ContainsFunc(list, s.equals) {
					list = append(list, all[i])
				}
			}
		}
	}
	return list
}

// DeclaredParameters lists the parameters along which a document shows or claims something of an
// experiment, as paths.
func DeclaredParameters(d *document.Document, e *document.Experiment) []string {
	list := slices.Sorted(maps.Values(e.Axes))
	for i := range d.Claims {
		for j := range d.Claims[i].Rules {
			if r := &d.Claims[i].Rules[j]; r.Of == e.Name {
				list = append(list, alongOf(r)...)
			}
		}
	}
	return list
}

// alongOf returns the parameters along which a rule compares.
func alongOf(r *document.Rule) []string {
	var list []string
	if r.Changes != nil {
		list = append(list, r.Changes.Along)
	}
	if r.Peak != nil {
		list = append(list, r.Peak.Along)
	}
	if r.Lead != nil {
		list = append(list, r.Lead.Along)
	}
	return list
}

// addRule adds the figure of a rule, unless a printed metric of the list says the same.
func addRule(add func(Shown), r *document.Rule, list []Shown) {
	has := func(names ...string) bool {
		return slices.ContainsFunc(list, func(s Shown) bool { return slices.Contains(names, s.Name) })
	}
	queries := len(r.Types) > 0
	switch figure := cmp.Or(r.Figure, map[bool]string{true: string(compare.Mean), false: string(compare.Load)}[queries]); figure {
	case string(compare.Load):
		if !has("rows_per_s", "metrics_per_s") {
			add(Shown{Name: "rows_per_s"})
		}
	case string(compare.Mean):
		if !has("queries_per_s", "mean_ms") {
			add(Shown{Name: "mean_ms", Queries: true})
		}
	case string(compare.Disk):
		if !has(diskSize) {
			add(Shown{Name: diskSize, Unit: compare.Bytes})
		}
	case document.ServerCPU:
		if !queries || !has(cpuTime) {
			add(ruleFigure(figure, r.Types))
		}
	default:
		add(ruleFigure(figure, r.Types))
	}
}

func ruleFigure(name string, types []string) Shown {
	s := Shown{Name: name, Words: name, Queries: len(types) > 0, Types: slices.Clone(types), rule: true, Unit: unitOf(name)}
	if f, ok := figureOf(name); ok {
		s.Words = f.words
	}
	switch name {
	case string(compare.Acked):
		s.Words = "rows/s until acknowledged"
	case string(compare.Median):
		s.Words = "median service time"
	}
	return s
}

// unitOf returns the unit of a printed metric's or a rule's values. It is empty for plain numbers.
func unitOf(name string) compare.Unit {
	switch name {
	case diskSize, document.ServerMemory, document.ServerWritten, document.ReadBytes:
		return compare.Bytes
	case document.ServerCPU, document.ClientCPU, document.ClientUser, document.ClientSystem, string(compare.Median):
		return compare.Seconds
	}
	return ""
}

// Estimate returns the figure of a target's loads or of a query type in a run, as an estimate
// over its repeats. If the figure is missing, N is 0 and the string is the reason.
func (s *Shown) Estimate(d *document.Document, e *document.Experiment, m Measured, run *result.Run, target, query string) (stats.Estimate, string) {
	at := findTarget(run, target)
	if at.target == nil {
		return stats.Estimate{}, "it did not take part"
	}
	x := &lookup{d: d, e: e, m: m}
	var f figured
	switch {
	case s.rule:
		about := rule{Rule: &document.Rule{Of: e.Name, Figure: s.Name}, d: d, m: m}
		if s.Queries {
			about.Types = []string{query}
		}
		f.values, _, f.missing = about.values(at, query)
	case s.Queries:
		f = x.findQuery(at, query, s.Name, false)
	default:
		f = x.findLoads(at, s.Name)
	}
	return stats.Summarize(f.values), f.missing
}

// TypesOf lists the query types that runs have, each once.
func TypesOf(runs []*result.Run) []string {
	var list []string
	for _, run := range runs {
		for i := range run.Targets {
			for _, repeat := range run.Targets[i].MeasuredRepeats() {
				for j := range repeat.Queries {
					if q := &repeat.Queries[j]; !slices.Contains(list, q.Type) {
						list = append(list, q.Type)
					}
				}
			}
		}
	}
	return list
}

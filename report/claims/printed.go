package claims

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/reproduce/document"
	"github.com/tsmark/tsmark/run/reproduce/printed"
)

// Line holds the printed figures of the systems on one line of a document's table, with
// the measured ones beside them.
type Line struct {
	Name   string // the name of the line in its table: lastpoint, 4 workers
	Metric string // as package printed has it: rows_per_s
	Cells  []Cell // one for each system that figures are printed of, in the document's order
	Ratios []Ratio
	// Added are the figures of targets that do not belong to the document's systems, in the
	// order in which they took part. They have no printed counterpart.
	Added []Cell
}

// Cell is a printed figure beside one's own.
type Cell struct {
	Printed printed.Figure
	System  string         // driver; of an added one the target's name
	Own     stats.Estimate // in the unit of the printed one; its N is 0 if it is missing
	Missing string         // why it is missing
	// Verbatim is the same figure with TSBS's own text, not verified; its N is 0 if that was
	// not run.
	Verbatim stats.Estimate
	figure   figured
}

// Times returns the measured figure divided by the best printed one. It is not ok if
// nothing was measured, or if the printed figure is 0.
func (c *Cell) Times() (times float64, ok bool) {
	if c.Own.N == 0 || c.Printed.Best() == 0 {
		return 0, false
	}
	return c.Own.Median.Figure / c.Printed.Best(), true
}

// Ratio is a system's figure divided by another's.
type Ratio struct {
	Of, To string // drivers
	// Printed is the document's own ratio, or nil. Derived is the ratio of its two printed
	// figures, or 0 if it does not print both.
	Printed *printed.Figure
	Derived float64
	Own     stats.Value // its bound is stats.Unknown if it is missing
	// Interval is the 95 % interval; nil: too few repeats.
	Interval *stats.Interval
}

// metrics returns the printed metrics that can be measured: those of loads, and those of a query
// type.
func metrics() (loads, queries []string) {
	return []string{"rows_per_s", "metrics_per_s", "load_s", spaceSaved, diskSize},
		[]string{"queries_per_s", "mean_ms", "client_cpu_percent", "wall_s", "client_user_s", "client_system_s", cpuTime, dataRead}
}

// Metrics without a counterpart elsewhere: how much smaller a database is than its
// input file, in percent of that; bytes on disk; CPU time of the server for each query; megabytes read
// for each query.
const (
	spaceSaved = "space_saved_percent"
	diskSize   = "disk_size"
	cpuTime    = "cpu_time"
	dataRead   = "data_processed_mb"
)

// ofWholeRun reports whether a metric adds up over a whole run, so that only runs as large
// as the document's have it. Ratios of systems are still measured in each size.
func ofWholeRun(metric string) bool {
	return slices.Contains([]string{"load_s", "wall_s", "client_user_s", "client_system_s"}, metric)
}

// measurable reports whether tsmark has a metric.
func measurable(metric string) bool {
	loads, queries := metrics()
	return slices.Contains(loads, metric) || slices.Contains(queries, metric)
}

// Lines lists the printed figures of an experiment, as far as tsmark measures them, in
// the order of the document's tables. Ratios are the document's own; if it prints none, they
// are those of each further system to the first one.
func Lines(d *document.Document, e *document.Experiment, m Measured) []Line {
	var lines []Line
	var first []*printed.Figure // of each line
	line := func(f *printed.Figure, metric string) *Line {
		name := lineName(e, f)
		i := slices.IndexFunc(lines, func(l Line) bool { return l.Name == name && l.Metric == metric })
		if i < 0 {
			i, lines, first = len(lines), append(lines, Line{Name: name, Metric: metric}), append(first, f)
		}
		return &lines[i]
	}
	x := newLookup(d, e, m)
	for _, name := range e.Printed {
		for _, f := range printed.Figures(d.Number, name) {
			if s, known := d.System(f.System); known && measurable(f.Metric) {
				l := line(&f, f.Metric)
				l.Cells = append(l.Cells, x.cell(f, f.Metric, who{driver: s.Driver}))
				continue
			}
			ofName, toName, ok := strings.Cut(f.System, "/")
			of, knownOf := d.System(ofName)
			to, knownTo := d.System(toName)
			if metric := ratioOf(e, &f); ok && knownOf && knownTo && measurable(metric) {
				l := line(&f, metric)
				if slices.ContainsFunc(l.Ratios, func(r Ratio) bool { return r.Of == of.Driver && r.To == to.Driver }) {
					continue // the text repeats the table
				}
				r := Ratio{Of: of.Driver, To: to.Driver, Printed: &f}
				r.measure(x.figure(&f, metric, who{driver: of.Driver}, false), x.figure(&f, metric, who{driver: to.Driver}, false))
				l.Ratios = append(l.Ratios, r)
			}
		}
	}
	added := AddedTargets(d, e, m)
	for i := range lines {
		l := &lines[i]
		for _, name := range added {
			c := x.cell(*first[i], l.Metric, who{target: name})
			c.Printed = printed.Figure{}
			l.Added = append(l.Added, c)
		}
		l.derive(d)
	}
	return lines
}

// AddedTargets returns the names of the targets that took part in an experiment and either do
// not belong to the document's systems or are a further target of one.
func AddedTargets(d *document.Document, e *document.Experiment, m Measured) []string {
	var names []string
	for _, run := range m.Runs[e.Name] {
		seen := make(map[string]bool)
		for i := range run.Targets {
			t := &run.Targets[i]
			known := slices.ContainsFunc(d.Systems, func(s document.System) bool { return s.Driver == t.Driver })
			own := known && (!seen[t.Driver] || e.Only != "") // what Only varies are all of one system
			seen[t.Driver] = true
			if !own && !slices.Contains(names, t.Name) {
				names = append(names, t.Name)
			}
		}
	}
	return names
}

// Measured reports whether anything was measured of a line.
func (l *Line) Measured() bool {
	return slices.ContainsFunc(l.Cells, func(c Cell) bool { return c.Own.N > 0 }) || slices.ContainsFunc(l.Added, func(c Cell) bool { return c.Own.N > 0 }) ||
		slices.ContainsFunc(l.Ratios, func(r Ratio) bool { return r.Own.Bound != stats.Unknown })
}

// ratioOf returns the metric whose ratio is printed, or "" if the figure is not a ratio of two figures.
func ratioOf(e *document.Experiment, f *printed.Figure) string {
	if f.Metric != "ratio" && f.Metric != "ratio_percent" {
		return ""
	}
	for name := range e.Axes { // else it is of many lines of the table
		if f.Parameters[name] == "" {
			return ""
		}
	}
	return f.Parameters["of"]
}

// derive orders the cells by systems, and adds the ratios that the document does not print.
func (l *Line) derive(d *document.Document) {
	place := func(driver string) int {
		return slices.IndexFunc(d.Systems, func(s document.System) bool { return s.Driver == driver })
	}
	slices.SortStableFunc(l.Cells, func(a, b Cell) int { return place(a.System) - place(b.System) })
	printedRatio := len(l.Ratios) > 0
	for i := range l.Ratios {
		r := &l.Ratios[i]
		if x, y := l.cell(r.Of), l.cell(r.To); x != nil && y != nil && y.Printed.Best() != 0 {
			r.Derived = x.Printed.Best() / y.Printed.Best()
		}
	}
	if printedRatio || len(l.Cells) < 2 {
		return
	}
	base := &l.Cells[0]
	for i := 1; i < len(l.Cells); i++ {
		c := &l.Cells[i]
		r := Ratio{Of: c.System, To: base.System}
		if base.Printed.Best() != 0 {
			r.Derived = c.Printed.Best() / base.Printed.Best()
		}
		r.measure(c.figure, base.figure)
		l.Ratios = append(l.Ratios, r)
	}
}

// cell returns the cell of a system, or nil if the document does not print it.
func (l *Line) cell(system string) *Cell {
	i := slices.IndexFunc(l.Cells, func(c Cell) bool { return c.System == system })
	if i < 0 {
		return nil
	}
	return &l.Cells[i]
}

// measure fills in the measured ratio: over the queries that both ran completely, or else over the comparable ones.
func (r *Ratio) measure(of, to figured) {
	x, y := of.values, to.values
	if len(x) == 0 || len(y) == 0 {
		x, y = of.parts, to.parts
	}
	c := stats.Compare(y, x)
	r.Own = c.Ratio
	if c.Interval != nil && c.Interval.Level >= stats.Confidence {
		r.Interval = c.Interval
	}
}

// lineName returns the name of a printed figure's line: the axes of its experiment, and the query.
func lineName(e *document.Experiment, f *printed.Figure) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(f.Parameters)) {
		_, axis := e.Axes[name]
		switch {
		case name == "query", name == "form", name == "operation", axis && (name == "use_case" || name == "dataset"):
			words = append(words, f.Parameters[name])
		case axis:
			words = append(words, withUnit(f.Parameters[name], name))
		}
	}
	return strings.Join(words, ", ")
}

// withUnit returns a number with its unit: 1 worker, 2 workers.
func withUnit(n, of string) string {
	if n == "1" && !strings.Contains(of, "_") { // those are units, as fsync_ms
		of = strings.TrimSuffix(of, "s")
	}
	return n + " " + of
}

// figured is the measurement for a printed figure, in its unit, in each repeat.
type figured struct {
	values  []float64
	parts   []float64 // for comparing systems if one of them did not run as much as printed
	missing string    // why there are no values
}

// lacking returns a missing figure.
func lacking(why string) figured { return figured{missing: why} }

// figureOfPart returns a figure that any part of a run has.
func figureOfPart(values []float64, missing string) figured { return figured{values, values, missing} }

// who is a system, by its driver, or a target by its name.
type who struct{ driver, target string }

// lookup finds the measurements for an experiment's printed figures.
type lookup struct {
	d     *document.Document
	e     *document.Experiment
	m     Measured
	uncut document.Uncut
}

func newLookup(d *document.Document, e *document.Experiment, m Measured) *lookup {
	x := &lookup{d: d, e: e, m: m}
	if e.LeftOut(m.Size) == "" && len(m.Runs[e.Name]) > 0 {
		x.uncut, _ = d.Uncut(e, m.Size) // an experiment that cannot be planned has no whole points
	}
	return x
}

// cell returns a printed figure beside the measured one.
func (x *lookup) cell(f printed.Figure, metric string, w who) Cell {
	c := Cell{Printed: f, System: cmp.Or(w.driver, w.target), figure: x.figure(&f, metric, w, false)}
	c.Own, c.Missing = stats.Summarize(c.figure.values), c.figure.missing
	if _, queries := metrics(); slices.Contains(queries, metric) {
		c.Verbatim = stats.Summarize(x.figure(&f, metric, w, true).values)
	}
	return c
}

// figure finds the measurement for a printed figure. The metric decides where it looks:
// at a load, or at a query type, which the figure must name.
func (x *lookup) figure(f *printed.Figure, metric string, w who, verbatim bool) figured {
	where := make(map[string]string)
	for name, path := range x.e.Axes {
		if value, ok := f.Parameters[name]; ok {
			if known, ok := x.e.Values[path][value]; ok {
				value = known
			}
			where[path] = value
		}
	}
	about := rule{Rule: &document.Rule{Of: x.e.Name}, d: x.d, m: x.m, verbatim: verbatim}
	runs, why := about.points(where)
	if why != (reason{}) {
		return lacking(why.words)
	}
	run := runs[len(runs)-1]
	s := about.side(run, w.driver, where)
	if w.target != "" {
		s = findTarget(run, w.target)
	}
	if s.target == nil {
		if w.target == "" && !x.e.Has(x.m.Size, w.driver) {
			return lacking(fmt.Sprintf("not measured at size %s", x.m.Size))
		}
		return lacking("not given")
	}
	if why := s.target.Uncomparable(); why != "" {
		return lacking(why)
	}
	if loads, _ := metrics(); slices.Contains(loads, metric) {
		return x.findLoads(s, metric)
	}
	query := cmp.Or(f.Parameters["query"], x.e.Query)
	if query == "" {
		return lacking("the document does not name its query type")
	}
	switch {
	case f.Parameters["operation"] == "join":
		return lacking("tsmark has no aggregate of a join")
	case f.Parameters["form"] == "precomputed":
		if query = aggregateType(s.target, query); query == "" {
			return lacking(noAggregate)
		}
	}
	return x.findQuery(s, query, metric, verbatim)
}

// findTarget returns a target of a run by its name.
func findTarget(run *result.Run, name string) side {
	s := side{run: run, name: name}
	if i := slices.IndexFunc(run.Targets, func(t result.Target) bool { return t.Name == name }); i >= 0 {
		s.target = &run.Targets[i]
	}
	return s
}

func (x *lookup) findLoads(s side, metric string) figured {
	if metric == spaceSaved {
		return figureOfPart(percentSaved(s, inputBytes(x.d, s.run, s.target.Driver, "")))
	}
	loads := estimate.Loads(s.target, func(l *result.Load) float64 {
		switch metric {
		case "metrics_per_s":
			return estimate.SettledRate(l) * float64(s.run.Dataset.Metrics) / float64(max(s.run.Dataset.Rows, 1))
		case "load_s":
			return l.Settled
		case diskSize:
			return estimate.Disk(l)
		}
		return estimate.SettledRate(l)
	})
	if len(loads) == 0 {
		if metric == diskSize {
			return lacking(noSize)
		}
		return lacking("no load was verified")
	}
	if _, whole := x.uncut.Has(s.run.Parameters); !whole && ofWholeRun(metric) {
		return figured{parts: loads, missing: fmt.Sprintf("size %s loads less here than the document", x.m.Size)}
	}
	return figureOfPart(loads, "")
}

// noSize is the reason for a missing size on disk.
const noSize = "no load was verified, or the size on disk is unknown or incomplete"

// percentSaved returns how much smaller than its input the database was after each load, in percent.
func percentSaved(s side, input int64) ([]float64, string) {
	list := estimate.Loads(s.target, estimate.Disk)
	switch {
	case input == 0:
		return nil, "the size of the input was not recorded"
	case len(list) == 0:
		return nil, noSize
	}
	for i := range list {
		list[i] = 100 * (1 - list[i]/float64(input))
	}
	return list, ""
}

// findQuery returns a figure of a query type in each round of a run. A rate is the maximum
// rate of workers that never pause: their number divided by the mean service time. Totals
// of a whole run are compared per query if a round was smaller, since a faster target runs
// compareMore queries in a time box.
func (x *lookup) findQuery(s side, query, metric string, verbatim bool) figured {
	if !verbatim && !estimate.Verified(s.target, query) {
		return lacking("not verified, or n/a")
	}
	var rounds []*result.Queries
	for _, r := range s.target.MeasuredRepeats() {
		if q := r.Type(query); q != nil {
			rounds = append(rounds, q)
		}
	}
	if len(rounds) == 0 {
		return lacking("not run")
	}
	const unknown = "queries were cut off, or it was not recorded"
	switch metric {
	case "mean_ms", "queries_per_s":
		workers := float64(max(rounds[len(rounds)-1].Workers, 1))
		if each := means(s, query, metric, workers); len(each) > 0 && !slices.Contains(each, 0) {
			return figureOfPart(each, "")
		}
		return lacking(unknown)
	case dataRead:
		values, _, missing := rule{Rule: &document.Rule{Of: x.e.Name, Types: []string{query}, Figure: document.ReadBytes}, d: x.d, m: x.m}.values(s, query)
		for i := range values {
			values[i] /= 1e6
		}
		return figureOfPart(values, missing)
	case cpuTime:
		about := rule{Rule: &document.Rule{Of: x.e.Name, Types: []string{query}, Figure: document.ServerCPU}, d: x.d, m: x.m, verbatim: verbatim}
		values, _, missing := about.values(s, query)
		return figureOfPart(values, missing)
	}
	var all, each []float64
	for _, q := range rounds {
		v := wholeRun(q, metric)
		all, each = append(all, v), append(each, v/float64(max(q.Executed, 1)))
	}
	if metric == "wall_s" { // the service times of the same queries are more comparable than the time of different ones
		each = means(s, query, "mean_ms", 1)
	}
	if slices.Contains(all, 0) || len(each) == 0 || slices.Contains(each, 0) {
		return lacking(unknown)
	}
	switch count, whole := x.uncut.Has(s.run.Parameters); {
	case !ofWholeRun(metric):
		return figureOfPart(all, "")
	case !whole:
		return figured{parts: each, missing: fmt.Sprintf("size %s has other data or fewer queries here than the document", x.m.Size)}
	case slices.ContainsFunc(rounds, func(q *result.Queries) bool { return q.Executed < int64(count) }):
		return figured{parts: each, missing: fmt.Sprintf("its time box ended before all %d queries", count)}
	}
	return figured{values: all, parts: each}
}

// means returns the mean service time of each round in milliseconds, or the rate of the
// given number of workers that never pause. It is 0 if the round was cut off, since its
// value has only a bound.
func means(s side, query, metric string, workers float64) []float64 {
	return estimate.CommonSample(s.run, s.target, query).PerRound(func(times []float64) float64 {
		mean := stats.Mean(times)
		switch {
		case metric == "mean_ms":
			return mean * 1000
		case mean < 0:
			return 0
		}
		return workers / mean
	})
}

// wholeRun returns a figure of all queries of a round together; 0: unknown.
func wholeRun(q *result.Queries, metric string) float64 {
	if metric == "wall_s" {
		return q.Wall
	}
	c := q.Client
	if c == nil {
		return 0
	}
	v := c.User
	switch metric {
	case "client_system_s":
		v = c.System
	case "client_cpu_percent": // of one core, as time(1) has it
		v = c.CPU / result.Value(c.Wall) * 100
	}
	if !v.IsKnown() {
		return 0
	}
	return float64(v)
}

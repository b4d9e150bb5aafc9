package claims

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/reproduce/document"
	"github.com/tsmark/tsmark/run/reproduce/printed"
)

// Line is what a document prints of the same thing for its systems, as a line of its
// table does, beside what was measured.
type Line struct {
	Name   string // what tells it from the other lines of its table: lastpoint, 4 workers
	Metric string // as package printed has it: rows_per_s
	Cells  []Cell // one for each system that figures are printed of, in the document's order
	Ratios []Ratio
}

// Cell is a printed figure beside one's own.
type Cell struct {
	Printed printed.Figure
	System  string         // driver
	Own     stats.Estimate // in the unit of the printed one; its N is 0 where there is none
	Missing string         // why there is none
	// Verbatim is the same with TSBS's own text, not verified; its N is 0 where that was
	// not run.
	Verbatim stats.Estimate
	values   []float64 // of each repeat
}

// Times is one's own figure divided by the best printed one; 0: there is none.
func (c *Cell) Times() float64 {
	if c.Own.N == 0 || c.Printed.Best() == 0 {
		return 0
	}
	return c.Own.Median.Figure / c.Printed.Best()
}

// Ratio is a system's figure divided by another's.
type Ratio struct {
	Of, To string // drivers
	// Printed is the document's own ratio, nil where it prints none; Derived what its two
	// figures come to, 0 where it does not print both.
	Printed *printed.Figure
	Derived float64
	Own     stats.Value // its bound is stats.Unknown where there is none
	// Interval is where it lies with 95 %; nil: too few repeats.
	Interval *stats.Interval
}

// metrics are the printed metrics that can be measured in any size, and those that only
// the full size has, being of a whole run.
func metrics() (any, full []string) {
	return []string{"rows_per_s", "metrics_per_s", "queries_per_s", "mean_ms", "client_cpu_percent", spaceSaved},
		[]string{"load_s", "wall_s", "client_user_s", "client_system_s"}
}

// spaceSaved is how much smaller a database is than its input file, in percent of that.
const spaceSaved = "space_saved_percent"

// wholeRunOnly reports whether only the full size has a metric. Ratios of systems are
// measured in each size all the same.
func wholeRunOnly(metric string) bool {
	_, full := metrics()
	return slices.Contains(full, metric)
}

// OfWholeRun is why a cell has no figure of one's own in smaller sizes.
const OfWholeRun = "of the whole run, which only full has"

// measurable reports whether tsmark has a metric in some size.
func measurable(metric string) bool {
	each, _ := metrics()
	return slices.Contains(each, metric) || wholeRunOnly(metric)
}

// Lines lists what a document prints of an experiment, as far as tsmark measures it, in
// the order of its tables. Ratios are the document's own, and where it prints none those
// of each further system to the first one.
func Lines(d *document.Document, e *document.Experiment, m Measured) []Line {
	var lines []Line
	line := func(f *printed.Figure, metric string) *Line {
		name := lineName(e, f)
		i := slices.IndexFunc(lines, func(l Line) bool { return l.Name == name && l.Metric == metric })
		if i < 0 {
			i, lines = len(lines), append(lines, Line{Name: name, Metric: metric})
		}
		return &lines[i]
	}
	for _, name := range e.Printed {
		for _, f := range printed.Of(d.Number, name) {
			if s, known := d.System(f.System); known && measurable(f.Metric) {
				c := Cell{Printed: f, System: s.Driver}
				c.values, c.Missing = own(d, e, m, &f, f.Metric, s.Driver, false)
				if f.Parameters["query"] != "" && !(wholeRunOnly(f.Metric) && !e.Whole(m.Size)) {
					verbatim, _ := own(d, e, m, &f, f.Metric, s.Driver, true)
					c.Verbatim = stats.Summarize(verbatim)
				}
				c.Own = stats.Summarize(c.values)
				if wholeRunOnly(f.Metric) && !e.Whole(m.Size) {
					c.Own, c.Missing = stats.Estimate{}, cmp.Or(c.Missing, OfWholeRun)
				}
				l := line(&f, f.Metric)
				l.Cells = append(l.Cells, c)
				continue
			}
			ofName, toName, ok := strings.Cut(f.System, "/")
			of, knownOf := d.System(ofName)
			to, knownTo := d.System(toName)
			if metric := ratioOf(e, &f); ok && knownOf && knownTo && measurable(metric) {
				l := line(&f, metric)
				if slices.ContainsFunc(l.Ratios, func(r Ratio) bool { return r.Of == of.Driver && r.To == to.Driver }) {
					continue // the text repeats what the table has
				}
				r := Ratio{Of: of.Driver, To: to.Driver, Printed: &f}
				ofX, _ := own(d, e, m, &f, metric, of.Driver, false)
				ofY, _ := own(d, e, m, &f, metric, to.Driver, false)
				r.measure(ofX, ofY)
				l.Ratios = append(l.Ratios, r)
			}
		}
	}
	for i := range lines {
		lines[i].derive(d)
	}
	return lines
}

// Measured reports whether anything was measured of a line.
func (l *Line) Measured() bool {
	return slices.ContainsFunc(l.Cells, func(c Cell) bool { return c.Own.N > 0 }) || slices.ContainsFunc(l.Ratios, func(r Ratio) bool { return r.Own.Bound != stats.Unknown })
}

// ratioOf is the metric that a printed ratio is of; empty: it is none of two figures.
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
		r.measure(c.values, base.values)
		l.Ratios = append(l.Ratios, r)
	}
}

// cell is that of a system; nil: none is printed.
func (l *Line) cell(system string) *Cell {
	i := slices.IndexFunc(l.Cells, func(c Cell) bool { return c.System == system })
	if i < 0 {
		return nil
	}
	return &l.Cells[i]
}

// measure fills in one's own ratio.
func (r *Ratio) measure(of, to []float64) {
	c := stats.Compare(to, of)
	r.Own = c.Ratio
	if c.Interval != nil && c.Interval.Level >= stats.Confidence {
		r.Interval = c.Interval
	}
}

// lineName says what a printed figure is of: the axes of its experiment, and the query.
func lineName(e *document.Experiment, f *printed.Figure) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(f.Parameters)) {
		_, axis := e.Axes[name]
		switch {
		case name == "query", axis && (name == "use_case" || name == "dataset"):
			words = append(words, f.Parameters[name])
		case axis:
			words = append(words, counted(f.Parameters[name], name))
		}
	}
	return strings.Join(words, ", ")
}

// counted is a number of what a parameter counts: 1 worker, 2 workers.
func counted(n, of string) string {
	if n == "1" && !strings.Contains(of, "_") { // those are units, as fsync_ms
		of = strings.TrimSuffix(of, "s")
	}
	return n + " " + of
}

// own is what was measured of a printed figure in each repeat, or why nothing was.
func own(d *document.Document, e *document.Experiment, m Measured, f *printed.Figure, metric, system string, verbatim bool) ([]float64, string) {
	where := make(map[string]string)
	for name, path := range e.Axes {
		if value, ok := f.Parameters[name]; ok {
			if known, ok := e.Values[path][value]; ok {
				value = known
			}
			where[path] = value
		}
	}
	about := rule{Rule: &document.Rule{Of: e.Name}, d: d, m: m, verbatim: verbatim}
	runs, why := about.points(where)
	if why.words != "" {
		return nil, why.words
	}
	s := about.side(runs[len(runs)-1], system, where)
	if s.target == nil {
		return nil, "not given"
	}
	if query := f.Parameters["query"]; query != "" {
		return ofQuery(s.run, s.target, query, metric, e.Whole(m.Size), verbatim)
	}
	if metric == spaceSaved {
		return saved(s, inputBytes(d, s.run, system))
	}
	loads := estimate.Loads(s.target, func(l *result.Load) float64 {
		rate := estimate.Settled(l)
		switch metric {
		case "metrics_per_s":
			return rate * float64(s.run.Dataset.Metrics) / float64(s.run.Dataset.Rows)
		case "load_s":
			return l.Settled
		}
		return rate
	})
	if len(loads) == 0 {
		return nil, "no load stands"
	}
	return loads, ""
}

// saved is by how much smaller than its input the database was after each load, in percent.
func saved(s side, input int64) ([]float64, string) {
	list := estimate.Loads(s.target, estimate.Disk)
	switch {
	case input == 0:
		return nil, "the size of the input was not recorded"
	case len(list) == 0:
		return nil, "no load stands, or it tells no size"
	}
	for i := range list {
		list[i] = 100 * (1 - list[i]/float64(input))
	}
	return list, ""
}

// ofQuery is a figure of a query type in each round of a run. A rate is what the workers
// could do without a pause: their number divided by the mean service time. What is of a
// whole run is taken for each query in smaller sizes, whose time box runs more of those
// that are faster.
func ofQuery(run *result.Run, t *result.Target, query, metric string, full, verbatim bool) ([]float64, string) {
	if !verbatim && !estimate.Verified(t, query) {
		return nil, "not verified, or n/a"
	}
	var rounds []*result.Queries
	for _, r := range t.Measured() {
		if q := r.Type(query); q != nil {
			rounds = append(rounds, q)
		}
	}
	if len(rounds) == 0 {
		return nil, "not run"
	}
	workers := float64(max(rounds[len(rounds)-1].Workers, 1))
	var each []float64
	if metric == "wall_s" && !full {
		metric = "mean_ms"
	}
	switch metric {
	case "mean_ms", "queries_per_s":
		each = estimate.Of(run, t, query).Each(func(times []float64) float64 {
			mean := stats.Mean(times)
			switch {
			case metric == "mean_ms":
				return mean * 1000
			case mean < 0:
				return 0 // cut off: the rate is lower than anything known
			}
			return workers / mean
		})
	default:
		for _, q := range rounds {
			v := wholeRun(q, metric)
			if wholeRunOnly(metric) && !full {
				v /= float64(max(q.Executed, 1))
			}
			each = append(each, v)
		}
	}
	if len(each) == 0 || slices.Contains(each, 0) {
		return nil, "queries were cut off, or it was not recorded"
	}
	return each, ""
}

// wholeRun is a figure of all queries of a round together; 0: it is not known.
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
	if !v.Known() {
		return 0
	}
	return float64(v)
}

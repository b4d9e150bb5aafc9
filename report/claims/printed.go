package claims

import (
	"slices"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/reproduce/document"
	"github.com/tsmark/tsmark/run/reproduce/printed"
)

// Cell is a printed figure beside one's own.
type Cell struct {
	Printed printed.Figure
	System  string         // driver
	Own     stats.Estimate // in the unit of the printed one; its N is 0 where there is none
	Missing string         // why there is none
}

// Times is one's own figure divided by the best printed one; 0: there is none.
func (c *Cell) Times() float64 {
	if c.Own.N == 0 || c.Printed.Best() == 0 {
		return 0
	}
	return c.Own.Median.Figure / c.Printed.Best()
}

// rates are the printed metrics that can be measured in any size: a higher one is better.
func rates() []string { return []string{"rows_per_s", "metrics_per_s", "queries_per_s", "mean_ms"} }

// Cells lists the printed figures of an experiment that tsmark measures, each beside what
// was measured. Figures that follow from others, such as ratios and times of a whole run,
// are left out: sizes change these.
func Cells(d *document.Document, e *document.Experiment, m Measured) []Cell {
	var cells []Cell
	for _, name := range e.Printed {
		for _, f := range printed.Of(d.Number, name) {
			s, known := d.System(f.System)
			if !known || !measured(f.Metric) {
				continue
			}
			c := Cell{Printed: f, System: s.Driver}
			c.Own, c.Missing = own(d, e, m, &f, s.Driver)
			cells = append(cells, c)
		}
	}
	return cells
}

// measured reports whether tsmark has a metric in each size, or at least in full.
func measured(metric string) bool { return metric == "load_s" || slices.Contains(rates(), metric) }

// own is what was measured of a printed figure, or why nothing was.
func own(d *document.Document, e *document.Experiment, m Measured, f *printed.Figure, system string) (stats.Estimate, string) {
	if f.Metric == "load_s" && m.Size != document.Full {
		return stats.Estimate{}, "of other rows"
	}
	where := make(map[string]string)
	for name, path := range e.Axes {
		if value, ok := f.Parameters[name]; ok {
			if known, ok := e.Values[path][value]; ok {
				value = known
			}
			where[path] = value
		}
	}
	runs, why := rule{Rule: &document.Rule{Of: e.Name}, d: d, m: m}.points(where)
	if why != "" {
		return stats.Estimate{}, why
	}
	run := runs[len(runs)-1]
	i := slices.IndexFunc(run.Targets, func(t result.Target) bool { return t.Kind == system })
	if i < 0 {
		return stats.Estimate{}, "not given"
	}
	t := &run.Targets[i]
	if query := f.Parameters["query"]; query != "" {
		return ofQuery(run, t, query, f.Metric)
	}
	loads := estimate.Loads(t, func(l *result.Load) float64 {
		rate := estimate.Settled(l)
		switch f.Metric {
		case "metrics_per_s":
			return rate * float64(run.Dataset.Metrics) / float64(run.Dataset.Rows)
		case "load_s":
			return l.Settled
		}
		return rate
	})
	if len(loads) == 0 {
		return stats.Estimate{}, "no load stands"
	}
	return stats.Summarize(loads), ""
}

// ofQuery is a figure of a query type over the rounds of a run. A worker's rate is what it
// could do without a pause: the inverse of the mean service time.
func ofQuery(run *result.Run, t *result.Target, query, metric string) (stats.Estimate, string) {
	if !estimate.Verified(t, query) {
		return stats.Estimate{}, "not verified"
	}
	workers := 1.0
	for _, r := range t.Measured() {
		if q := r.Type(query); q != nil {
			workers = float64(max(q.Workers, 1))
		}
	}
	each := estimate.Of(run, t, query).Each(func(times []float64) float64 {
		mean := stats.Mean(times)
		if metric == "mean_ms" {
			return mean * 1000
		}
		if mean < 0 {
			return 0 // cut off: the rate is lower than anything known
		}
		return workers / mean
	})
	if len(each) == 0 || slices.Contains(each, 0) {
		return stats.Estimate{}, "queries were cut off"
	}
	return stats.Summarize(each), ""
}

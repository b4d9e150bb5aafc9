package sweep

import (
	"slices"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
)

// pointCurve is a target with the values of all parameters but one.
type pointCurve struct {
	label string
	runs  []*result.Run // in the order of their points
	name  string        // of the target
}

// sweepFigures draws the curves of a sweep over each parameter that has several
// values.
func sweepFigures(runs []*result.Run) []*chart.Figure {
	var axes []*chart.Figure
	paths := varyingPaths(runs)
	for _, path := range paths {
		x, ok := chart.NewScale(parameterValues(runs, path))
		if !ok {
			continue
		}
		curves := pointCurves(runs, path, paths)
		labels := make([]string, len(curves))
		for i := range curves {
			labels[i] = curves[i].label
		}
		axis := &chart.Figure{Title: "By " + path, Legend: chart.NewLegend(labels)}
		if !x.Joined {
			if axis.Rows = sizeRows(curves, axis.Legend, parameterValues(runs, path), path); axis.Rows != nil {
				axis.Help = "Bars are bytes on disk for each row: of metrics, for each sample."
			}
		}
		add := func(c *chart.Lines) {
			if c != nil {
				axis.Lines = append(axis.Lines, c)
			}
		}
		add(pointChart(chart.NewLines("Load", "rows settled a second", path, "rows/s"), axis.Legend, curves, x, chart.RatesUp, func(_ *result.Run, t *result.Target) (stats.Estimate, bool) {
			return estimate.Load(t, estimate.SettledRate), rank.SettledRate(t.Load) > 0
		}))
		for _, queryType := range rank.AllTypes(runs) {
			add(pointChart(chart.NewLines(queryType.Key, format.Join("; ", queryType.Value, "median "+timeName(runs)), path, timeName(runs)), axis.Legend, curves, x, chart.TimesUp,
				func(r *result.Run, t *result.Target) (stats.Estimate, bool) {
					q := rank.FindQueries(t, queryType.Key)
					if !rank.IsDrawn(q) {
						return stats.Estimate{}, false
					}
					return estimate.Median(r, t, q), true
				}))
		}
		addMixed(add, axis.Legend, curves, x, path)
		for i, f := range pointFigures() {
			if i == 0 && axis.Rows != nil {
				continue
			}
			add(pointChart(chart.NewLines(f.title, f.help, path, f.unit), axis.Legend, curves, x, f.scale, func(r *result.Run, t *result.Target) (stats.Estimate, bool) {
				v := f.value(r, t)
				if !v.IsKnown() {
					return stats.Estimate{}, false
				}
				return stats.Summarize([]float64{float64(v)}), true
			}))
		}
		if len(axis.Lines) > 0 || axis.Rows != nil {
			axes = append(axes, axis)
		}
	}
	return axes
}

// addMixed adds the charts of mixed phases.
func addMixed(add func(*chart.Lines), l chart.Legend, curves []pointCurve, x chart.Scale, path string) {
	var targets []*result.Target
	for _, c := range curves {
		for _, r := range c.runs {
			targets = append(targets, rank.FindTarget(r, c.name))
		}
	}
	types := rank.MixedTypes(targets...)
	if len(types) > 0 {
		add(pointChart(chart.NewLines("Rows written while queries ran", "", path, "rows/s"), l, curves, x, chart.RatesUp, func(_ *result.Run, t *result.Target) (stats.Estimate, bool) {
			e := rank.MixedRate(t)
			return e, e.N > 0
		}))
	}
	for _, name := range types {
		for _, m := range []compare.Metric{compare.MixedMedian, compare.MixedP99} {
			what := map[compare.Metric]string{compare.MixedMedian: "median", compare.MixedP99: "p99"}[m]
			add(pointChart(chart.NewLines(name+" while rows were written, "+what, "", path, what), l, curves, x, chart.TimesUp, func(_ *result.Run, t *result.Target) (stats.Estimate, bool) {
				e := rank.MixedEstimate(t, name, m)
				return e, e.N > 0
			}))
		}
	}
}

// pointCurves lists the curves over a parameter: one for each target and
// combination of the other parameters among the paths.
func pointCurves(runs []*result.Run, path string, paths []string) []pointCurve {
	var list []pointCurve
	for _, r := range runs {
		for i := range r.Targets {
			if r.Targets[i].Uncomparable() != "" {
				continue
			}
			others := slices.DeleteFunc(slices.Clone(r.Parameters), func(p result.Parameter) bool {
				return p.Path == path || !slices.Contains(paths, p.Path)
			})
			label := format.Join(", ", r.Targets[i].Name, others.String())
			at := slices.IndexFunc(list, func(c pointCurve) bool { return c.label == label })
			if at < 0 {
				at = len(list)
				list = append(list, pointCurve{label: label, name: r.Targets[i].Name})
			}
			list[at].runs = append(list[at].runs, r)
		}
	}
	return list
}

// pointChart draws an estimate over a parameter. It returns nil without figures.
func pointChart(c *chart.Lines, l chart.Legend, curves []pointCurve, x chart.Scale, kind chart.VerticalScale, of func(*result.Run, *result.Target) (stats.Estimate, bool)) *chart.Lines {
	drawn := make([]chart.Pointed, len(curves))
	for i, one := range curves {
		drawn[i] = chart.Pointed{Style: l[i], Label: one.label}
		for _, r := range one.runs {
			if e, ok := of(r, rank.FindTarget(r, one.name)); ok {
				value := r.Parameters.Value(c.X)
				drawn[i].Points = append(drawn[i].Points, chart.Point{X: x.At[value], Value: value, Estimate: e})
			}
		}
	}
	return chart.Estimates(c, drawn, x, kind)
}

// pointFigure is a figure of a target at a point besides rates and times of queries.
type pointFigure struct {
	title, help, unit string
	head              string // of its column
	rank              int    // likewise, as doc.Column's
	scale             chart.VerticalScale
	render            func(float64) string
	value             func(*result.Run, *result.Target) result.Value
}

func pointFigures() []pointFigure {
	return []pointFigure{
		{"Size on disk", "bytes on disk for each row: of metrics, for each sample", "bytes", "disk/row", 3, chart.RatesUp, format.PartialSize,
			func(_ *result.Run, t *result.Target) result.Value { return bytesPerRow(t) }},
		{"Memory", "most resident memory of the server during the first load, a mixed phase included", "bytes", "RSS max", 5, chart.BytesUp, format.PartialSize, memoryOf(estimate.MostMemory)},
		{"Memory of a series", "resident memory that a server which tsmark started gained during its first load, for each series; with few series, mostly caches", "bytes", "RSS/series", 4, chart.RatesUp, format.PartialSize, memoryOf(estimate.MemoryPerSeries)},
		{"First answer", "from the start of the server to the answer of a cold query, median", "first answer", "first answer", 1, chart.TimesUp, format.Duration,
			func(_ *result.Run, t *result.Target) result.Value { return firstAnswer(t) }},
	}
}

// memoryOf omits targets without valid loads.
func memoryOf(of func(*result.Run, *result.Target) result.Value) func(*result.Run, *result.Target) result.Value {
	return func(r *result.Run, t *result.Target) result.Value {
		if t == nil || rank.SettledRate(t.Load) <= 0 {
			return result.Absent()
		}
		return of(r, t)
	}
}

// bytesPerRow returns the bytes on disk for each row of a valid load.
func bytesPerRow(t *result.Target) result.Value {
	if t == nil || rank.SettledRate(t.Load) <= 0 {
		return result.Absent()
	}
	e := estimate.Load(t, estimate.Disk)
	if e.N == 0 {
		return result.Absent()
	}
	return result.BytesPerRow(result.Value(e.Median.Figure), t.Load.AllRows())
}

// firstAnswer returns the median of the times from the start of a server to the answer of a cold query.
func firstAnswer(t *result.Target) result.Value {
	if t == nil {
		return result.Absent()
	}
	var starts []float64
	for i := range t.Queries {
		if rank.HasFigures(&t.Queries[i]) {
			starts = append(starts, t.Queries[i].Starts...)
		}
	}
	if len(starts) == 0 {
		return result.Absent()
	}
	return result.Value(stats.Median(starts))
}

// sizeRows draws the bytes for each row beside values that are words. It returns nil without figures.
func sizeRows(curves []pointCurve, l chart.Legend, values []string, path string) *chart.Rows {
	drawing := &chart.Rows{}
	longest := 0.0
	for _, value := range values {
		row := chart.Row{Label: value}
		for i, c := range curves {
			track := chart.Track{Style: l[i], Solid: true, Text: format.None}
			for _, r := range c.runs {
				if v := bytesPerRow(rank.FindTarget(r, c.name)); r.Parameters.Value(path) == value && v.IsKnown() {
					track.Drawn, track.Bar, track.Text = true, float64(v), format.PartialSize(float64(v))
					longest = max(longest, track.Bar)
				}
			}
			row.Tracks = append(row.Tracks, track)
		}
		drawing.Rows = append(drawing.Rows, row)
	}
	if longest == 0 {
		return nil
	}
	for _, row := range drawing.Rows {
		for i := range row.Tracks {
			row.Tracks[i].Bar /= longest
		}
	}
	return drawing
}

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
		add := func(c *chart.Lines) {
			if c != nil {
				axis.Lines = append(axis.Lines, c)
			}
		}
		add(pointChart(chart.NewLines("Load", "rows settled a second", path, "rows/s"), axis.Legend, curves, x, false, func(_ *result.Run, t *result.Target) (stats.Estimate, bool) {
			return estimate.Load(t, estimate.SettledRate), rank.SettledRate(t.Load) > 0
		}))
		for _, queryType := range rank.AllTypes(runs) {
			add(pointChart(chart.NewLines(queryType.Key, format.Join("; ", queryType.Value, "median "+timeName(runs)), path, timeName(runs)), axis.Legend, curves, x, true,
				func(r *result.Run, t *result.Target) (stats.Estimate, bool) {
					q := rank.FindQueries(t, queryType.Key)
					if !rank.IsDrawn(q) {
						return stats.Estimate{}, false
					}
					return estimate.Median(r, t, q), true
				}))
		}
		addMixed(add, axis.Legend, curves, x, path)
		if len(axis.Lines) > 0 {
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
		add(pointChart(chart.NewLines("Rows written while queries ran", "", path, "rows/s"), l, curves, x, false, func(_ *result.Run, t *result.Target) (stats.Estimate, bool) {
			e := rank.MixedRate(t)
			return e, e.N > 0
		}))
	}
	for _, name := range types {
		for _, m := range []compare.Metric{compare.MixedMedian, compare.MixedP99} {
			what := map[compare.Metric]string{compare.MixedMedian: "median", compare.MixedP99: "p99"}[m]
			add(pointChart(chart.NewLines(name+" while rows were written, "+what, "", path, what), l, curves, x, true, func(_ *result.Run, t *result.Target) (stats.Estimate, bool) {
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
func pointChart(c *chart.Lines, l chart.Legend, curves []pointCurve, x chart.Scale, logarithmic bool, of func(*result.Run, *result.Target) (stats.Estimate, bool)) *chart.Lines {
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
	kind := chart.RatesUp
	if logarithmic {
		kind = chart.TimesUp
	}
	return chart.Estimates(c, drawn, x, kind)
}

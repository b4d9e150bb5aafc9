package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/result"
)

// sweepAxis is the charts over one parameter.
type sweepAxis struct {
	Path   string
	Legend legend
	Charts []*lines
}

// sweptCurve is a target with the values of all parameters but one.
type sweptCurve struct {
	label string
	runs  []*result.Run // in the order of their points
	name  string        // of the target
}

// sweepAxes draws the curves of a sweep over each parameter that has several
// values.
func sweepAxes(runs []*result.Run) []sweepAxis {
	var axes []sweepAxis
	paths := varied(runs)
	for _, path := range paths {
		x, ok := newScale(valuesOf(runs, path))
		if !ok {
			continue
		}
		curves := sweptCurves(runs, path, paths)
		labels := make([]string, len(curves))
		for i := range curves {
			labels[i] = curves[i].label
		}
		axis := sweepAxis{Path: path, Legend: newLegend(labels)}
		add := func(c *lines) {
			if c != nil {
				axis.Charts = append(axis.Charts, c)
			}
		}
		add(sweptChart(newLines("Load", "rows settled a second", path, "rows/s"), axis.Legend, curves, x, false, func(_ *result.Run, t *result.Target) (stats.Estimate, bool) {
			return estimate.Load(t, estimate.Settled), settledRate(t.Load) > 0
		}))
		for _, queryType := range typesAnywhere(runs) {
			add(sweptChart(newLines(queryType.Key, joined("; ", queryType.Value, "median service time"), path, "service time"), axis.Legend, curves, x, true,
				func(r *result.Run, t *result.Target) (stats.Estimate, bool) {
					q := typeOf(t, queryType.Key)
					if !drawn(q) {
						return stats.Estimate{}, false
					}
					return estimate.Median(r, t, q), true
				}))
		}
		if len(axis.Charts) > 0 {
			axes = append(axes, axis)
		}
	}
	return axes
}

// sweptCurves lists the curves over a parameter: one for each target and
// combination of the other parameters among the paths.
func sweptCurves(runs []*result.Run, path string, paths []string) []sweptCurve {
	var list []sweptCurve
	for _, r := range runs {
		for i := range r.Targets {
			if r.Targets[i].Uncomparable() != "" {
				continue
			}
			others := slices.DeleteFunc(slices.Clone(r.Parameters), func(p result.Parameter) bool {
				return p.Path == path || !slices.Contains(paths, p.Path)
			})
			label := joined(", ", r.Targets[i].Name, others.String())
			at := slices.IndexFunc(list, func(c sweptCurve) bool { return c.label == label })
			if at < 0 {
				at = len(list)
				list = append(list, sweptCurve{label: label, name: r.Targets[i].Name})
			}
			list[at].runs = append(list[at].runs, r)
		}
	}
	return list
}

// typesAnywhere lists the query types of all runs with their help.
func typesAnywhere(runs []*result.Run) []fact {
	all := group{}
	for _, r := range runs {
		for i := range r.Targets {
			all.subjects = append(all.subjects, subject{target: &r.Targets[i]})
		}
	}
	return all.types()
}

// scale is where the values of a parameter stand.
type scale struct {
	at     map[string]float64 // from 0 to 1
	ticks  []tick
	joined bool // a line from value to value means something
}

// newScale places positive numbers and durations on a logarithmic axis, since
// people double what they vary, and other values side by side in their order.
// It is not ok with fewer than two values.
func newScale(values []string) (s scale, ok bool) {
	if len(values) < 2 {
		return s, false
	}
	s = scale{at: make(map[string]float64), joined: true}
	numbers := make([]float64, len(values))
	for i, text := range values {
		if numbers[i] = quantity(text); numbers[i] <= 0 {
			s.joined = false
		}
	}
	for i, text := range values {
		s.at[text] = (float64(i) + 0.5) / float64(len(values))
		if s.joined {
			axis := logAxis{slices.Min(numbers), slices.Max(numbers)}
			s.at[text] = 0.04 + 0.92*axis.at(numbers[i])
		}
	}
	slices.SortFunc(values, func(a, b string) int { return cmp.Compare(s.at[a], s.at[b]) })
	const room = 0.035 // for a character
	end := -1.0
	for _, text := range values {
		half := room * float64(len(text)) / 2
		if s.at[text]-half > end {
			s.ticks = append(s.ticks, tick{s.at[text], text})
			end = s.at[text] + half
		}
	}
	return s, true
}

// quantity is the number that a value is, in seconds of a duration; 0: it is
// none above 0.
func quantity(text string) float64 {
	if v, err := strconv.ParseFloat(text, 64); err == nil && v > 0 {
		return v
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return d.Seconds()
	}
	return 0
}

// sweptPoint is an estimate where it is drawn.
type sweptPoint struct {
	x        float64
	value    string
	estimate stats.Estimate
}

// sweptChart draws an estimate over a parameter. Nil where there are no figures.
func sweptChart(c *lines, l legend, curves []sweptCurve, x scale, logarithmic bool, of func(*result.Run, *result.Target) (stats.Estimate, bool)) *lines {
	drawn := make([]pointed, len(curves))
	for i, one := range curves {
		drawn[i] = pointed{style: l[i], label: one.label}
		for _, r := range one.runs {
			if e, ok := of(r, targetNamed(r, one.name)); ok {
				value := valueOf(r, c.X)
				drawn[i].points = append(drawn[i].points, sweptPoint{x.at[value], value, e})
			}
		}
	}
	kind := ratesUp
	if logarithmic {
		kind = timesUp
	}
	return estimates(c, drawn, x, kind)
}

// upward is how figures go up a chart.
type upward int

const (
	ratesUp upward = iota // from 0
	bytesUp               // from 0, in binary units
	timesUp               // seconds, on a logarithmic scale
)

// axis is where figures stand, from 0 to 1, and how they are written.
func (u upward) axis(values []float64) (height func(float64) float64, ticks []tick, text func(float64) string) {
	switch u {
	case timesUp:
		axis := newLogAxis(values)
		return axis.at, axis.ticks(6), duration
	case bytesUp:
		top := roundBytes(slices.Max(values))
		for i := range 5 {
			ticks = append(ticks, tick{float64(i) / 4, axisBytes(top * float64(i) / 4)})
		}
		return func(v float64) float64 { return v / top }, ticks, func(v float64) string { return size(int64(v)) }
	}
	height, ticks = linear(slices.Max(values))
	return height, ticks, digits
}

// pointed is a curve of estimates.
type pointed struct {
	style  style
	label  string
	points []sweptPoint
}

// estimates draws curves over a parameter: a marker at each median, and a bar where it
// lies. Nil where there are no figures, or one is not above 0.
func estimates(c *lines, curves []pointed, x scale, kind upward) *lines {
	var values []float64
	for i := range curves {
		for _, p := range curves[i].points {
			values = append(values, p.estimate.Median.Figure)
			if in := p.estimate.Interval; in != nil {
				values = append(values, in.Lo.Figure, in.Hi.Figure)
			}
		}
		slices.SortStableFunc(curves[i].points, func(a, b sweptPoint) int { return cmp.Compare(a.x, b.x) })
	}
	if len(values) == 0 || slices.Min(values) <= 0 {
		return nil
	}
	height, ticks, text := kind.axis(values)
	c.grid(x.ticks, ticks)
	render := func(v stats.Value) string { return v.Mark() + text(v.Figure) }
	for i, one := range curves {
		// Side by side, so that intervals at one value can be told apart.
		aside := min(3, 20/float64(len(curves))) * (float64(i) - float64(len(curves)-1)/2)
		drawing := curve{Style: one.style}
		var path strings.Builder
		for j, p := range one.points {
			px, py := c.place(p.x, height(p.estimate.Median.Figure))
			px = tenth(px + aside)
			fmt.Fprintf(&path, "%c%g,%g", "ML"[min(j, 1)], px, py)
			hint := fmt.Sprintf("%s, %s=%s: %s", one.label, c.X, p.value, render(p.estimate.Median))
			if in := p.estimate.Interval; in != nil {
				hint += fmt.Sprintf(", %s to %s with %.0f%s%%", render(in.Lo), render(in.Hi), 100*in.Level, unitSpace)
				_, low := c.place(0, height(in.Lo.Figure))
				_, high := c.place(0, height(in.Hi.Figure))
				c.Boxes = append(c.Boxes, box{Style: one.style, X: tenth(px - 1.5), Y: high, Width: 3, Height: max(1, tenth(low-high)), Class: "span full", Hint: hint})
			}
			drawing.Marks = append(drawing.Marks, mark{px, py, hint})
		}
		if x.joined {
			drawing.Path = path.String()
		}
		c.Curves = append(c.Curves, drawing)
	}
	return c
}

// linear is an axis from 0 to a round figure.
func linear(largest float64) (height func(float64) float64, ticks []tick) {
	top := roundUp(largest)
	for i := range 5 {
		ticks = append(ticks, tick{float64(i) / 4, abbreviated(top * float64(i) / 4)})
	}
	return func(v float64) float64 { return v / top }, ticks
}

package history

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/tsmark/tsmark/internal/version"
	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/format"
)

// figure draws each line over the versions. It returns nil without ratios.
func (h *History) figure() *chart.Figure {
	shapes := chart.NewLegend(make([]string, 5))
	const cross = "M-4,-2.5L-2.5,-4L0,-1.5L2.5,-4L4,-2.5L1.5,0L4,2.5L2.5,4L0,1.5L-2.5,4L-4,2.5L-1.5,0z"
	f := &chart.Figure{Legend: chart.Legend{
		{Label: "version", Class: "s0", Shape: shapes[0].Shape},
		{Label: "worse since", Class: "s1", Shape: shapes[2].Shape},
		{Label: "better since", Class: "s2", Shape: shapes[4].Shape},
		{Label: "withheld or n/a", Class: "s6", Shape: cross},
	}}
	for i := range h.Lines {
		if c := h.draw(&h.Lines[i], f.Legend); c != nil {
			f.Lines = append(f.Lines, c)
		}
	}
	if f.Lines == nil {
		return nil
	}
	return f
}

// ratioTicks are the values at which an axis of ratios may have lines.
var ratioTicks = []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 1, 1.02, 1.05, 1.1, 1.2, 1.4, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000}

// ratioAxis returns the axis of ratios, which contains 1 and five per cent around it.
func ratioAxis(values []float64) (axis chart.LogAxis, ticks []chart.Tick) {
	axis = chart.LogAxis{Low: 0.95, High: 1.05}
	for _, v := range values {
		axis.Low, axis.High = min(axis.Low, v), max(axis.High, v)
	}
	room := math.Pow(axis.High/axis.Low, 0.06)
	axis.Low, axis.High = axis.Low/room, axis.High*room
	const closest = 0.09 // of the height, between two labels
	var chosen []float64
	add := func(v float64) {
		at := axis.Place(v)
		if at < 0 || at > 1 {
			return
		}
		for _, other := range chosen {
			if math.Abs(axis.Place(other)-at) < closest {
				return
			}
		}
		chosen = append(chosen, v)
		ticks = append(ticks, chart.Tick{At: at, Label: chart.Short(format.Digits(v)) + "×"})
	}
	add(1)
	for _, v := range ratioTicks {
		add(v)
	}
	return axis, ticks
}

// draw draws a line: a marker at each ratio and a bar for its interval, with the steps and the versions
// without a figure as further markers. It returns nil if fewer than two versions have ratios.
func (h *History) draw(l *Line, legend chart.Legend) *chart.Lines {
	var values []float64
	known := 0
	for i := range l.Points {
		if p := &l.Points[i]; p.Ratio.Bound == stats.Exact {
			known++
			values = append(values, p.Ratio.Figure)
			if p.Interval != nil {
				values = append(values, p.Interval.Lo.Figure, p.Interval.Hi.Figure)
			}
		}
	}
	if known < 2 {
		return nil
	}
	axis, ticks := ratioAxis(values)
	c := chart.NewLines(l.Label(), "", "version", "ratio to the first version")
	c.Grid(h.versionTicks(), ticks)
	curves := make([]chart.Curve, len(legend))
	for i := range curves {
		curves[i].Style = legend[i]
	}
	var path strings.Builder
	last := -1
	for i := range l.Points {
		p, across := &l.Points[i], h.across(i)
		if p.Ratio.Bound != stats.Exact {
			x, y := c.Place(across, 0.03)
			why := p.Missing
			if why == "" {
				why = "not compared with the version before"
			}
			curves[3].Marks = append(curves[3].Marks, chart.Mark{X: x, Y: y, Hint: h.Versions[i].Name + ": " + firstLine(why)})
			continue
		}
		x, y := c.Place(across, axis.Place(p.Ratio.Figure))
		hint := fmt.Sprintf("%s: %s%s", h.Versions[i].Name, format.Ratio(p.Ratio.Figure), brackets(p.Interval))
		if p.Interval != nil && p.From >= 0 {
			c.Interval(legend[0], across, axis.Place(p.Interval.Lo.Figure), axis.Place(p.Interval.Hi.Figure), hint)
		}
		step := 'M'
		if p.From == last && last >= 0 {
			step = 'L'
		}
		fmt.Fprintf(&path, "%c%g,%g", step, x, y)
		last = i
		on := 0
		if p.Change != nil && p.Change.IsStep() {
			if on = 2; l.Worse(p.Change.Ratio) {
				on = 1
			}
			label, room := format.Ratio(p.Change.Ratio.Figure), 36.0
			c.Boxes = append(c.Boxes, chart.Box{Style: legend[on], X: min(x-4, c.Right-room), Y: y - 4, Label: label})
			hint += "; " + l.ChangeText(p.Change.Ratio, p.Change.Interval, " than "+h.Versions[p.From].Name)
		}
		mark := chart.Mark{X: x, Y: y, Hint: hint}
		if p.From >= 0 {
			mark.Link = "#" + partID(p.From, i)
		}
		curves[on].Marks = append(curves[on].Marks, mark)
	}
	curves[0].Path = path.String()
	c.Curves = curves
	return c
}

// across returns the place of a version on the axis, from 0 to 1.
func (h *History) across(version int) float64 {
	return (float64(version) + 0.5) / float64(len(h.Versions))
}

// versionTicks are the labels of the versions for which there is room.
func (h *History) versionTicks() (ticks []chart.Tick) {
	const room = 0.023 // for a character
	end := -1.0
	for i := range h.Versions {
		label := shortName(h.Versions[i].Name)
		at, half := h.across(i), room*float64(len(label))/2
		if at-half > end {
			ticks = append(ticks, chart.Tick{At: at, Label: label})
			end = at + half
		}
	}
	return ticks
}

// shortName returns the version of questdb@9.0.1, and any other name as it is.
func shortName(name string) string {
	system, number := version.Split(name)
	return cmp.Or(number, system)
}

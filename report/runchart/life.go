package runchart

import (
	"math"

	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
)

// Lives draws the lives of a group's targets on one time line, with their events as bands. It
// returns nil without lives.
func Lives(g *rank.Group, legend chart.Legend) *chart.Figure {
	type one struct {
		of    *result.Life
		style chart.Style
	}
	var lives []one
	until := 0.0
	for i, s := range g.Subjects {
		if l := s.Target.Load; l != nil && l.Life != nil && l.Life.Problem() == "" && len(l.Life.Course) > 1 {
			lives = append(lives, one{l.Life, legend[i]})
			until = max(until, l.Life.Course[len(l.Life.Course)-1].At)
		}
	}
	if len(lives) == 0 {
		return nil
	}
	view := &chart.Figure{Legend: legend}
	const axis = "seconds since the life began"
	add := func(title, help, y string, value func(*result.Life, *result.LifePoint) float64, top func(float64) float64, text func(float64) string) {
		var all []chart.Course
		for _, l := range lives {
			c := chart.Course{Style: l.style}
			for i := range l.of.Course {
				if v := value(l.of, &l.of.Course[i]); !math.IsNaN(v) {
					c.At, c.Values = append(c.At, l.of.Course[i].At), append(c.Values, v)
				}
			}
			all = append(all, c)
		}
		drawn := chart.DrawCourses(chart.NewLines(title, help, axis, y), until, all, top, text)
		if drawn == nil {
			return
		}
		for n, l := range lives {
			for i := range l.of.Events {
				if e := &l.of.Events[i]; e.HasFigure() {
					drawn.Boxes = append(drawn.Boxes, eventBox(drawn, e, l.style, until, n, len(lives)))
				}
			}
		}
		view.Lines = append(view.Lines, drawn)
	}
	known := func(v, unknown float64) float64 {
		if v == unknown {
			return math.NaN()
		}
		return v
	}
	add("Response time", "median of the dashboards' queries; ≥: queries were cut off", "median", func(_ *result.Life, p *result.LifePoint) float64 { return known(p.Median, 0) }, chart.RoundUp, axisTime)
	add("Slow queries", "99 of 100 queries took no longer; of fewer, the slowest; ≥: cut off", "p99", func(_ *result.Life, p *result.LifePoint) float64 { return known(p.P99, 0) }, chart.RoundUp, axisTime)
	add("Freshness", "longest time from acknowledgement until a row was visible; ≥: it was not yet", "seconds", func(_ *result.Life, p *result.LifePoint) float64 { return known(p.Freshness, 0) }, chart.RoundUp, axisTime)
	add("Ingest", "rows written a second, without those of events", "rows/s", func(l *result.Life, p *result.LifePoint) float64 { return float64(p.Rows) / l.Interval }, chart.RoundUp, chart.Abbreviate)
	add("Failed queries", "without an answer, in all loads together", "queries", func(_ *result.Life, p *result.LifePoint) float64 { return float64(p.Failed) }, chart.RoundUp, chart.Abbreviate)
	add("Space", "size on disk", "bytes", func(_ *result.Life, p *result.LifePoint) float64 { return known(float64(p.DiskBytes), -1) }, chart.RoundBytes, chart.AxisBytes)
	add("Backlog", "background work that the system had still to do, each in its own unit", "work", func(l *result.Life, p *result.LifePoint) float64 {
		if l.Backlog == "" {
			return math.NaN()
		}
		return known(p.Backlog, -1)
	}, chart.RoundUp, chart.Abbreviate)
	return view
}

// eventBox is the band of an event: in the whole height of the chart, or a part of it for each of
// several targets.
func eventBox(c *chart.Lines, e *result.LifeEvent, style chart.Style, until float64, n, of int) chart.Box {
	from, _ := c.Place(e.Begin/until, 0)
	to, _ := c.Place(min(1, e.End/until), 0)
	height := (c.Bottom - c.Top) / float64(of)
	return chart.Box{
		Style: style, X: from, Y: chart.Tenth(c.Top + float64(n)*height), Width: chart.Tenth(max(2, to-from)), Height: chart.Tenth(height), Class: "band load",
		Hint: style.Label + ", " + e.Do + ": " + format.Digits(e.Begin) + " to " + format.Digits(e.End) + format.UnitSpace + "s",
	}
}

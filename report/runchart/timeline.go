// Package runchart draws a run and the targets of several runs: medians, ratios, percentiles,
// repeats, loads and the time line.
package runchart

import (
	"slices"
	"strings"

	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
)

const timeAxis = "seconds since the start of the run"

// Timeline draws a run. It returns nil if nothing was watched.
func Timeline(r *result.Run) *chart.Figure {
	until := 0.0
	var names []string
	for i := range r.Resources {
		s := &r.Resources[i]
		if n := len(s.At); n > 0 {
			until = max(until, s.At[n-1])
		}
		if !slices.Contains(names, s.Source) {
			names = append(names, s.Source)
		}
	}
	if until == 0 {
		return nil
	}
	// One legend for both, so that no colour has two meanings.
	styles := chart.NewLegend(append(rank.TargetLabels(r), names...))
	view := &chart.Figure{Title: "Time line", Help: "All charts have the same axis of time.", Legend: styles}
	ofTargets, ofSources := styles[:len(r.Targets)], styles[len(r.Targets):]
	add := func(c *chart.Lines) {
		if c != nil {
			view.Lines = append(view.Lines, c)
		}
	}
	add(newSchedule(r, ofTargets, until))
	add(loadCourses(r, ofTargets, until))
	for _, c := range mixedCourses(r, ofTargets, until) {
		add(c)
	}
	for _, f := range ResourceFigures() {
		var all, servers []chart.Course
		for i := range r.Resources {
			s := &r.Resources[i]
			c := ReadCourse(s, f.Metric(s.Source), ofSources[slices.Index(names, s.Source)])
			if all = append(all, c); strings.HasPrefix(s.Source, result.ServerSource("")) && f.Metric(s.Source) == result.RSS {
				servers = append(servers, c)
			}
		}
		// The memory of the host would leave no height for that of servers.
		add(chart.DrawCourses(chart.NewLines("Memory of servers", "resident", timeAxis, f.Y), until, servers, f.Top, f.Text))
		add(chart.DrawCourses(chart.NewLines(f.Title, f.Help, timeAxis, f.Y), until, all, f.Top, f.Text))
	}
	for _, c := range internalCourses(r, names, ofSources, until) {
		add(c)
	}
	return view
}

// resourceFigure is a chart of the resource use of sources.
type resourceFigure struct {
	Title, Help, Y string
	metrics        map[string]result.Metric // by source; "": all others
	Top            func(float64) float64
	Text           func(float64) string
}

// Metric is the metric that a source has in the chart.
func (f *resourceFigure) Metric(source string) result.Metric {
	if m, ok := f.metrics[source]; ok {
		return m
	}
	return f.metrics[""]
}

// ResourceFigures are the charts in their order: a live page has the first three.
func ResourceFigures() []resourceFigure {
	return []resourceFigure{
		{"CPU", "cores at work", "cores", map[string]result.Metric{"": result.CPU}, chart.RoundUp, chart.Abbreviate},
		{"Memory", "in use on the host, resident of processes", "bytes", map[string]result.Metric{result.HostSource: result.MemoryUsed, "": result.RSS}, chart.RoundBytes, chart.AxisBytes},
		{"Disk writes", "bytes written a second", "bytes/s", map[string]result.Metric{"": result.DiskWritten}, chart.RoundBytes, chart.AxisBytes},
		{"Disk reads", "bytes read a second", "bytes/s", map[string]result.Metric{"": result.DiskRead}, chart.RoundBytes, chart.AxisBytes},
		{"Network", "bytes sent a second, by the whole host", "bytes/s", map[string]result.Metric{"": result.NetSent}, chart.RoundBytes, chart.AxisBytes},
		{"Within the host", "bytes sent a second from process to process", "bytes/s", map[string]result.Metric{"": result.Loopback}, chart.RoundBytes, chart.AxisBytes},
	}
}

// internalCourses draws metrics that systems report about themselves, a chart for each
// figure: metrics of the same name in two systems seldom have the same meaning.
func internalCourses(r *result.Run, names []string, styles chart.Legend, until float64) (charts []*chart.Lines) {
	for i := range r.Resources {
		s := &r.Resources[i]
		for _, m := range s.Names() {
			name, ok := m.InternalName()
			if !ok {
				continue
			}
			help, y := "as the system reports it", "state"
			if m.Counter() {
				help, y = "rise a second, as the system reports it", "per second"
			}
			c := ReadCourse(s, m, styles[slices.Index(names, s.Source)])
			charts = append(charts, chart.DrawCourses(chart.NewLines(s.Source+": "+name, help, timeAxis, y), until, []chart.Course{c}, chart.RoundUp, chart.Abbreviate))
		}
	}
	return charts
}

// ReadCourse is how a metric went: a gauge's readings, a counter's rise a second
// between readings.
func ReadCourse(r *result.Resources, m result.Metric, s chart.Style) chart.Course {
	c := chart.Course{Style: s}
	before, known := 0, false
	for i, v := range r.Metrics[m] {
		switch {
		case !v.IsKnown() || r.At[i] < 0:
			continue
		case !m.Counter():
			c.At, c.Values = append(c.At, r.At[i]), append(c.Values, float64(v))
		case known && r.At[i]-r.At[before] > r.Period/10:
			c.At = append(c.At, r.At[i])
			c.Values = append(c.Values, float64(v-r.Metrics[m][before])/(r.At[i]-r.At[before]))
		case known:
			continue // too close to distinguish
		}
		before, known = i, true
	}
	return c
}

// mixedCourses draws how the times of queries went while rows were written, a chart for each query type.
func mixedCourses(r *result.Run, styles chart.Legend, until float64) (charts []*chart.Lines) {
	var targets []*result.Target
	for i := range r.Targets {
		targets = append(targets, &r.Targets[i])
	}
	for _, queryType := range rank.MixedTypes(targets...) {
		var all []chart.Course
		for i, t := range targets {
			for _, m := range t.MeasuredRepeats() {
				if !m.Load.HasFigures() || m.Load.Mixed == nil || m.Load.Mixed.Writes.To == 0 {
					continue
				}
				c := chart.Course{Style: styles[i]}
				for _, q := range m.Load.Mixed.Types {
					if q.Type != queryType || q.WithoutFigure() {
						continue
					}
					for _, p := range q.Course {
						c.At, c.Values = append(c.At, m.Load.Mixed.Writes.From+p.At), append(c.Values, p.Mean)
					}
				}
				all = append(all, c)
			}
		}
		charts = append(charts, chart.DrawCourses(chart.NewLines(queryType+" while rows were written", "mean time of the queries in each reporting period", timeAxis, "mean"), until, all, chart.RoundUp, axisTime))
	}
	return charts
}

// axisTime renders seconds for an axis.
func axisTime(seconds float64) string { return chart.Short(format.Duration(seconds)) }

// loadCourses draws the rates of the loads at their times on the time line.
func loadCourses(r *result.Run, styles chart.Legend, until float64) *chart.Lines {
	var all []chart.Course
	for i := range r.Targets {
		for _, m := range r.Targets[i].Repeats {
			if rank.SettledRate(m.Load) > 0 && m.Load.To > 0 {
				all = append(all, rateCourse(m.Load, m.Load.From, styles[i]))
				if of := m.Load.Mixed; of != nil {
					all = append(all, rateCourse(&of.Writes, of.Writes.From, styles[i]))
				}
			}
		}
	}
	return chart.DrawCourses(chart.NewLines("Load", "rows handed over a second", timeAxis, "rows/s"), until, all, chart.RoundUp, chart.Abbreviate)
}

// newSchedule draws the times of all measurements, a line for each target. It returns nil if
// they are unknown.
func newSchedule(r *result.Run, styles chart.Legend, until float64) *chart.Lines {
	c := chart.NewLines("What ran when", "loads are filled, query types outlined", timeAxis, "target")
	known := false
	row := (c.Bottom - c.Top) / float64(max(1, len(r.Targets)))
	for i := range r.Targets {
		t := &r.Targets[i]
		top := c.Top + float64(i)*row
		label := t.Label()
		for _, m := range rank.Measurements(t) {
			for _, span := range m.Cells {
				if span.To <= span.From {
					continue
				}
				known = true
				from, _ := c.Place(span.From/until, 0)
				to, _ := c.Place(min(1, span.To/until), 0)
				kind := "span"
				if m.Rows > 0 {
					kind = "span full"
				}
				c.Boxes = append(c.Boxes, chart.Box{Style: styles[i], X: from, Y: chart.Tenth(top + row*0.35), Width: chart.Tenth(max(1, to-from)), Height: chart.Tenth(min(40, row*0.5)),
					Class: kind, Hint: t.Name + ", " + m.Name + ": " + format.Digits(span.From) + " to " + format.Digits(span.To) + format.UnitSpace + "s"})
			}
		}
		c.Boxes = append(c.Boxes, chart.Box{Style: styles[i], X: c.Left, Y: chart.Tenth(top + row*0.35), Label: label})
	}
	if !known {
		return nil
	}
	c.Grid(chart.SecondTicks(until), nil)
	return c
}

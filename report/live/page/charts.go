package page

import (
	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/runchart"
	"github.com/tsmark/tsmark/result"
)

const liveAxis = "seconds ago"

// charts returns the charts of the last seconds, with one legend for all.
func (l *State) charts() (chart.Legend, []*chart.Lines) {
	var names []string
	servers := make(map[string]int) // places of their targets, by source
	for i, c := range l.Courses {
		names, servers[result.ServerSource(c.Name)] = append(names, c.Label), i
	}
	for i := range l.Resources {
		if _, isServer := servers[l.Resources[i].Source]; !isServer {
			servers[l.Resources[i].Source], names = len(names), append(names, l.Resources[i].Source)
		}
	}
	styles := chart.NewLegend(names)
	until := min(max(l.Now.Sub(l.Began).Seconds(), 30), Window)
	c := liveCharts{until: until, state: l, styles: styles}
	const each = "in each second; not yet verified"
	c.add("Rows", "accepted "+each, "rows/s", chart.RoundUp, chart.Abbreviate, c.courses(true, "", "", func(s *Second) float64 { return float64(s.Rows) })...)
	c.add("Queries", "answered "+each, "queries/s", chart.RoundUp, chart.Abbreviate, c.courses(false, "", "", func(s *Second) float64 { return float64(s.Queries) })...)
	for _, t := range []struct {
		title string
		load  bool
		of    func(*Second) *Latency
	}{{"Time of a batch", true, func(s *Second) *Latency { return &s.Batches }}, {"Time of a query", false, func(s *Second) *Latency { return &s.Query }}} {
		c.addLatencies(t.title, "solid: median, dashed: 99th percentile; ended "+each,
			append(c.courses(t.load, " median", "", func(s *Second) float64 { return t.of(s).P50 }), c.courses(t.load, " 99th percentile", "4 3", func(s *Second) float64 { return t.of(s).P99 })...)...)
	}
	for _, f := range runchart.ResourceFigures()[:3] {
		var all []chart.Course
		for i := range l.Resources {
			s := &l.Resources[i]
			read := runchart.ReadCourse(s, f.Metric(s.Source), styles[servers[s.Source]])
			drawn := chart.Course{Style: read.Style}
			for j, at := range read.At {
				if at += until - l.ResourcesNow; at >= 0 {
					drawn.At, drawn.Values = append(drawn.At, at), append(drawn.Values, read.Values[j])
				}
			}
			all = append(all, drawn)
		}
		c.add(f.Title, f.Help, f.Y, f.Top, f.Text, all...)
	}
	if len(c.list) == 0 {
		return nil, nil
	}
	return styles, c.list
}

// courses returns a figure of loads or of queries over the seconds, a course for each target. What a
// hint says behind the target's name, and the pattern of the line, distinguish figures of one chart.
// Rates, whose hints have nothing behind the name, are 0 in seconds of a phase in which nothing ended.
func (l *liveCharts) courses(load bool, what, dash string, of func(*Second) float64) []chart.Course {
	list := make([]chart.Course, len(l.state.Courses))
	for n := range list {
		drawn, seconds, before, last := &list[n], l.state.Courses[n].Seconds, -1, -1
		drawn.Style = l.styles[n]
		drawn.Style.Label, drawn.Style.Dash = drawn.Style.Label+what, dash
		for i := range seconds {
			ago := l.state.Newest.Seconds() + float64(len(seconds)-1-i)
			phase, v := l.state.phaseAt(n, load, ago), of(&seconds[i])
			if ago > l.until || v <= 0 && (what != "" || phase < 0) {
				continue
			}
			// Another database was measured in between, or seconds had too few queries for a percentile.
			if phase != before || dash != "" && i > last+1 {
				drawn.Starts = append(drawn.Starts, len(drawn.At))
			}
			before, last = phase, i
			drawn.At, drawn.Values = append(drawn.At, l.until-ago), append(drawn.Values, v)
		}
	}
	return list
}

// phaseAt returns the place of the target's phase with the second that ended some seconds ago; -1:
// none.
func (l *State) phaseAt(course int, load bool, ago float64) int {
	for i, p := range l.Phases {
		if p.Course == course && p.Load == load && ago < p.From.Seconds() && ago+1 > p.To.Seconds() {
			return i
		}
	}
	return -1
}

// liveCharts are charts of the seconds before now.
type liveCharts struct {
	until  float64 // seconds
	state  *State
	styles chart.Legend
	list   []*chart.Lines
}

func (l *liveCharts) add(title, help, y string, top func(float64) float64, text func(float64) string, all ...chart.Course) {
	if c := chart.DrawCourses(chart.NewLines(title, help, liveAxis, y), l.until, all, top, text); c != nil {
		l.list = append(l.list, l.ago(c))
	}
}

// addLatencies draws times, which differ by orders of magnitude from one query type to
// the next.
func (l *liveCharts) addLatencies(title, help string, all ...chart.Course) {
	var values []float64
	for _, c := range all {
		values = append(values, c.Values...)
	}
	if len(values) < 2 {
		return
	}
	c, axis := chart.NewLines(title, help, liveAxis, "time, logarithmic"), chart.NewLogAxis(values)
	c.Grid(chart.SecondTicks(l.until), axis.Ticks(6))
	c.Draw(l.until, all, axis.Place, format.Duration)
	l.list = append(l.list, l.ago(c))
}

// bandLabel is the width that the name of a phase needs.
const bandLabel = 44

// ago labels the time axis from now backwards, and shows the phases as bands.
func (l *liveCharts) ago(c *chart.Lines) *chart.Lines {
	c.XTicks = nil
	ticks := chart.SecondTicks(l.until)
	var bands []chart.Box
	for _, p := range l.state.Phases {
		from, _ := c.Place(max(0, 1-p.From.Seconds()/l.until), 0)
		to, _ := c.Place(max(0, 1-p.To.Seconds()/l.until), 0)
		band := chart.Box{Style: l.styles[p.Course], X: from, Y: c.Top, Width: chart.Tenth(to - from), Height: c.Bottom - c.Top, Class: "band", Label: "queries"}
		if p.Load {
			band.Class, band.Label = "band load", "load"
		}
		band.Hint = band.Style.Label + ", " + band.Label
		if band.Width < bandLabel {
			band.Label = ""
		}
		if to > c.Left {
			bands = append(bands, band)
		}
	}
	c.Boxes = append(bands, c.Boxes...)
	for i := range ticks {
		ticks[i].At = 1 - ticks[i].At
	}
	c.Grid(ticks, nil)
	return c
}

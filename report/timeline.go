package report

import (
	"math"
	"slices"

	"github.com/tsmark/tsmark/result"
)

// timeline is what a run did and used, in charts with one axis of time.
type timeline struct {
	Legend legend
	Charts []*lines
}

const timeAxis = "seconds since the start of the run"

func targetNames(r *result.Run) []string {
	names := make([]string, len(r.Targets))
	for i := range r.Targets {
		names[i] = r.Targets[i].Label()
	}
	return names
}

// newTimeline draws a run; nil where nothing was watched.
func newTimeline(r *result.Run) *timeline {
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
	styles := newLegend(append(targetNames(r), names...))
	view := &timeline{Legend: styles}
	ofTargets, ofSources := styles[:len(r.Targets)], styles[len(r.Targets):]
	add := func(c *lines) {
		if c != nil {
			view.Charts = append(view.Charts, c)
		}
	}
	add(newSchedule(r, ofTargets, until))
	add(loadCourses(r, ofTargets, until))
	for _, f := range resourceFigures() {
		var all []course
		for i := range r.Resources {
			s := &r.Resources[i]
			all = append(all, courseOf(s, f.of(s.Source), ofSources[slices.Index(names, s.Source)]))
		}
		add(newCourses(newLines(f.title, f.help, timeAxis, f.y), until, all, f.top, f.text))
	}
	for _, c := range internalCourses(r, names, ofSources, until) {
		add(c)
	}
	return view
}

// resourceFigure is a chart of what sources used.
type resourceFigure struct {
	title, help, y string
	metrics        map[string]result.Metric // by source; "": all others
	top            func(float64) float64
	text           func(float64) string
}

// of is the metric that a source has in the chart.
func (f *resourceFigure) of(source string) result.Metric {
	if m, ok := f.metrics[source]; ok {
		return m
	}
	return f.metrics[""]
}

// resourceFigures are the charts in their order: a live page has the first three.
func resourceFigures() []resourceFigure {
	return []resourceFigure{
		{"CPU", "cores at work", "cores", map[string]result.Metric{"": result.CPU}, roundUp, abbreviated},
		{"Memory", "in use on the host, resident of processes", "bytes", map[string]result.Metric{result.HostSource: result.MemoryUsed, "": result.RSS}, roundBytes, axisBytes},
		{"Disk writes", "bytes written a second", "bytes/s", map[string]result.Metric{"": result.DiskWritten}, roundBytes, axisBytes},
		{"Disk reads", "bytes read a second", "bytes/s", map[string]result.Metric{"": result.DiskRead}, roundBytes, axisBytes},
		{"Network", "bytes sent a second, by the whole host", "bytes/s", map[string]result.Metric{"": result.NetSent}, roundBytes, axisBytes},
		{"Within the host", "bytes sent a second from process to process", "bytes/s", map[string]result.Metric{"": result.Loopback}, roundBytes, axisBytes},
	}
}

// internalCourses draws what systems tell of themselves, a chart for each
// figure: what has the same name in two systems is seldom the same.
func internalCourses(r *result.Run, names []string, styles legend, until float64) (charts []*lines) {
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
			c := courseOf(s, m, styles[slices.Index(names, s.Source)])
			charts = append(charts, newCourses(newLines(s.Source+": "+name, help, timeAxis, y), until, []course{c}, roundUp, abbreviated))
		}
	}
	return charts
}

// courseOf is how a metric went: a gauge's readings, a counter's rise a second
// between readings.
func courseOf(r *result.Resources, m result.Metric, s style) course {
	c := course{style: s}
	before, known := 0, false
	for i, v := range r.Metrics[m] {
		switch {
		case !v.Known() || r.At[i] < 0:
			continue
		case !m.Counter():
			c.at, c.values = append(c.at, r.At[i]), append(c.values, float64(v))
		case known && r.At[i]-r.At[before] > r.Period/10:
			c.at = append(c.at, r.At[i])
			c.values = append(c.values, float64(v-r.Metrics[m][before])/(r.At[i]-r.At[before]))
		case known:
			continue // too close to tell
		}
		before, known = i, true
	}
	return c
}

// loadCourses draws the rates of the loads where they stand on the time line.
func loadCourses(r *result.Run, styles legend, until float64) *lines {
	var all []course
	for i := range r.Targets {
		for _, m := range r.Targets[i].Repeats {
			if settledRate(m.Load) > 0 && m.Load.To > 0 {
				all = append(all, rateCourse(m.Load, m.Load.From, styles[i]))
			}
		}
	}
	return newCourses(newLines("Load", "rows handed over a second", timeAxis, "rows/s"), until, all, roundUp, abbreviated)
}

// newSchedule draws what was measured when, a line for each target; nil where
// nobody knows.
func newSchedule(r *result.Run, styles legend, until float64) *lines {
	c := newLines("What ran when", "loads are filled, query types outlined", timeAxis, "target")
	known := false
	row := (c.Bottom - c.Top) / float64(max(1, len(r.Targets)))
	for i := range r.Targets {
		t := &r.Targets[i]
		top := c.Top + float64(i)*row
		label := t.Label()
		for _, m := range measurements(t) {
			for _, span := range m.Cells {
				if span.To <= span.From {
					continue
				}
				known = true
				from, _ := c.place(span.From/until, 0)
				to, _ := c.place(min(1, span.To/until), 0)
				kind := "span"
				if m.Rows > 0 {
					kind = "span full"
				}
				c.Boxes = append(c.Boxes, box{Style: styles[i], X: from, Y: tenth(top + row*0.35), Width: tenth(max(1, to-from)), Height: tenth(min(40, row*0.5)),
					Class: kind, Hint: t.Name + ", " + m.Name + ": " + digits(span.From) + " to " + digits(span.To) + unitSpace + "s"})
			}
		}
		c.Boxes = append(c.Boxes, box{Style: styles[i], X: c.Left, Y: tenth(top + row*0.35), Label: label})
	}
	if !known {
		return nil
	}
	c.grid(seconds(until), nil)
	return c
}

// roundBytes is roundUp in binary units.
func roundBytes(v float64) float64 {
	unit := 1.0
	for v/unit >= 1024 {
		unit *= 1024
	}
	return math.Ceil(roundUp(v/unit)) * unit
}

func axisBytes(v float64) string { return short(size(int64(v))) }

package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/result"
)

// Charts are computed here and drawn as SVG by the page's template, which
// escapes every name and figure.

// legend is how the charts of a group show its subjects: by colour and, for
// those who cannot tell colours apart and for printers, by shape.
type legend []style

type style struct {
	Label string
	Class string // colour, of the style sheet
	Shape string // marker, an SVG path around 0,0
	Dash  string // pattern of its line; empty: solid
}

func newLegend(subjects []subject) legend {
	shapes := []string{
		"M-4,0a4,4 0 1,0 8,0a4,4 0 1,0 -8,0z", // circle
		"M-3.6,-3.6h7.2v7.2h-7.2z",            // square
		"M0,-4.8L4.6,3.4H-4.6z",               // triangle
		"M0,-5L5,0L0,5L-5,0z",                 // diamond
		"M0,4.8L4.6,-3.4H-4.6z",               // triangle, upside down
	}
	dashes := []string{"", "6 3", "2 2", "8 3 2 3", "10 4"}
	const colors = 7
	l := make(legend, len(subjects))
	for i, s := range subjects {
		l[i] = style{s.Label, fmt.Sprintf("s%d", i%colors), shapes[i%len(shapes)], dashes[i%len(dashes)]}
	}
	return l
}

// tick is a labelled line of a grid.
type tick struct {
	At    float64
	Label string
}

// logAxis places positive values on a logarithmic axis from 0 to 1.
type logAxis struct{ low, high float64 }

// newLogAxis returns an axis around the values, ending on round ones.
func newLogAxis(values []float64) logAxis {
	low, high := slices.Min(values), slices.Max(values)
	return logAxis{roundDown(low * 0.9), roundUp(high * 1.1)}
}

// roundDown returns the largest 1, 2 or 5 times a power of ten up to v.
func roundDown(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{5, 2} {
		if f*power <= v {
			return f * power
		}
	}
	return power
}

func roundUp(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, f := range []float64{1, 2, 5} {
		if f*power >= v {
			return f * power
		}
	}
	return 10 * power
}

func (a logAxis) at(v float64) float64 {
	return math.Log(v/a.low) / math.Log(a.high/a.low)
}

// ticks returns at most n lines at round durations: powers of ten, and their
// double and fivefold where there is room.
func (a logAxis) ticks(n int) []tick {
	for _, factors := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		var list []tick
		for power := math.Pow(10, math.Floor(math.Log10(a.low))); power <= a.high; power *= 10 {
			for _, f := range factors {
				if v := f * power; v >= a.low*0.999 && v <= a.high*1.001 {
					list = append(list, tick{a.at(v), short(duration(v))})
				}
			}
		}
		if len(list) <= n || len(factors) == 1 {
			return list
		}
	}
	return nil
}

// short drops decimals that say nothing: 1.00 ms is 1 ms.
func short(figure string) string {
	value, unit, spaced := strings.Cut(figure, unitSpace)
	if strings.Contains(value, ".") {
		value = strings.TrimRight(strings.TrimRight(value, "0"), ".")
	}
	if spaced {
		value += unitSpace + unit
	}
	return value
}

// ranges is a chart of medians with their tails, a row for each query type and
// a lane for each subject. Positions are per cent of the width, so that it
// fills any screen with text of one size.
type ranges struct {
	Ticks []rangeTick
	Rows  []rangeRow
}

type rangeTick struct {
	X, Label string
	Class    string // minor: its label may go where there is little room
}

type rangeRow struct {
	Label, Help string
	Height      int // pixels
	Lanes       []lane
}

// lane is one subject's figures, or the word for why it has none.
type lane struct {
	Style            style
	Y                int
	Median, P95, P99 string // position; empty: nothing is drawn
	Bar              string // width of the bar, which ends at the median
	Text             string
	Tone             tone
	Hint             string
}

const laneHeight = 22 // pixels, a line of text in the style sheet

// newRanges draws the figures of a group that stand; nil where none does.
func newRanges(g *group, l legend) *ranges {
	var values []float64
	for _, s := range g.subjects {
		for i := range s.target.Queries {
			if q := &s.target.Queries[i]; drawn(q) {
				values = append(values, q.Service.Median, q.Service.P99)
			}
		}
	}
	if len(values) == 0 {
		return nil
	}
	axis := newLogAxis(values)
	chart := &ranges{}
	for i, t := range axis.ticks(8) {
		chart.Ticks = append(chart.Ticks, rangeTick{percent(t.At), t.Label, []string{"", "minor"}[i%2]})
	}
	for _, t := range g.types() {
		r := rangeRow{Label: t.Key, Help: t.Value, Height: laneHeight * len(g.subjects)}
		compared := compareType(g, t.Key)
		for i, s := range g.subjects {
			q := s.queries(t.Key)
			figure := compared.Cells[1+2*i]
			n := lane{Style: l[i], Y: i*laneHeight + laneHeight/2, Text: figure.Text, Tone: figure.Tone}
			switch q.Standing() {
			case result.Empty:
				n.Text = "empty"
			case result.Unverified:
				n.Text += " unverified"
			}
			if drawn(q) {
				n.Bar = percent(axis.at(q.Service.Median))
				n.Median, n.P95, n.P99 = n.Bar, percent(axis.at(q.Service.P95)), percent(axis.at(q.Service.P99))
				n.Hint = fmt.Sprintf("%s, %s: median %s, p95 %s, p99 %s", t.Key, s.Label,
					duration(q.Service.Median), duration(q.Service.P95), duration(q.Service.P99))
			}
			r.Lanes = append(r.Lanes, n)
		}
		chart.Rows = append(chart.Rows, r)
	}
	return chart
}

// drawn reports whether charts show the figures of a type. Empty answers are
// left out: they would look like the fastest.
func drawn(q *result.Queries) bool {
	s := q.Standing()
	return (s == result.Verified || s == result.Unverified) && q.Service.Median > 0
}

func percent(v float64) string { return fmt.Sprintf("%.2f%%", v*100) }

// bars compares the loads of a group, figure by figure.
type bars []barRow

type barRow struct {
	Label, Help string
	Lanes       []bar
}

type bar struct {
	Style style
	Width string // per cent of the longest of the row; empty: nothing is drawn
	Text  string
}

// newBars draws the loads that stand; nil where none does.
func newBars(g *group, l legend) bars {
	rate := func(of func(*result.Load) float64) func(*result.Load) (float64, string) {
		return func(load *result.Load) (float64, string) {
			seconds := of(load)
			if seconds <= 0 {
				return 0, "n/a"
			}
			return float64(load.Rows) / seconds, digits(float64(load.Rows) / seconds)
		}
	}
	var chart bars
	for _, figure := range []struct {
		label, help string
		of          func(*result.Load) (float64, string)
	}{
		{"Rows/s sent", "until the last row was handed over", rate(func(l *result.Load) float64 { return l.Sent })},
		{"Rows/s acknowledged", "until the last row was acknowledged", rate(func(l *result.Load) float64 { return l.Acked })},
		{"Rows/s settled", "until all rows were visible and background work idle", rate(func(l *result.Load) float64 { return l.Settled })},
		{"Bytes on disk", "after settling; less is better", func(l *result.Load) (float64, string) {
			if l.DiskBytes < 0 {
				return 0, "not known"
			}
			return float64(l.DiskBytes), size(l.DiskBytes)
		}},
	} {
		r := barRow{Label: figure.label, Help: figure.help}
		longest := 0.0
		for _, s := range g.subjects {
			if settledRate(s.target.Load) > 0 {
				v, _ := figure.of(s.target.Load)
				longest = max(longest, v)
			}
		}
		for i, s := range g.subjects {
			lane := bar{Style: l[i], Text: none}
			switch {
			case s.target.Load != nil && s.target.Load.Withheld != "":
				lane.Text = "withheld"
			case settledRate(s.target.Load) > 0:
				var v float64
				if v, lane.Text = figure.of(s.target.Load); v > 0 {
					lane.Width = percent(v / longest)
				}
			}
			r.Lanes = append(r.Lanes, lane)
		}
		if longest > 0 {
			chart = append(chart, r)
		}
	}
	return chart
}

// lines is a chart of one curve for each subject, in the units of its viewBox.
type lines struct {
	Title, Help      string
	X, Y             string // what the axes show
	Left, Right      float64
	Top, Bottom      float64
	Width, Height    float64
	XTicks, YTicks   []tick
	Curves           []curve
	XLabelY, YLabelX float64 // where the axes' labels stand
}

type curve struct {
	Style style
	Path  string
	Marks []mark
}

type mark struct {
	X, Y float64
	Hint string
}

// newLines returns an empty chart that is still readable at the width of a
// phone.
func newLines(title, help, x, y string) *lines {
	return &lines{
		Title: title, Help: help, X: x, Y: y,
		Width: 360, Height: 230, Left: 52, Right: 350, Top: 10, Bottom: 188,
		XLabelY: 222, YLabelX: 12,
	}
}

// place turns positions from 0 to 1 into coordinates.
func (c *lines) place(x, y float64) (float64, float64) {
	return tenth(c.Left + x*(c.Right-c.Left)), tenth(c.Bottom - y*(c.Bottom-c.Top))
}

func tenth(v float64) float64 { return math.Round(v*10) / 10 }

func (c *lines) grid(xs, ys []tick) {
	for _, t := range xs {
		t.At, _ = c.place(t.At, 0)
		c.XTicks = append(c.XTicks, t)
	}
	for _, t := range ys {
		_, t.At = c.place(0, t.At)
		c.YTicks = append(c.YTicks, t)
	}
}

// curvePoints is enough that no corner shows.
const curvePoints = 120

// percentileCurve returns the points of a histogram's curve, or the few that
// the summary knows where there is no readable histogram.
func percentileCurve(l *result.Latency) []measure.Point {
	if hist, err := measure.Decode(l.Histogram); err == nil && hist.Count() > 0 {
		return hist.Curve(curvePoints)
	}
	return []measure.Point{
		{Quantile: 0, Seconds: l.Min}, {Quantile: 0.5, Seconds: l.Median}, {Quantile: 0.9, Seconds: l.P90},
		{Quantile: 0.95, Seconds: l.P95}, {Quantile: 0.99, Seconds: l.P99}, {Quantile: 0.999, Seconds: l.P999},
	}
}

// nines is a quantile's place on an axis that gives each further nine the same
// room.
func nines(quantile float64) float64 { return -math.Log10(1 - quantile) }

// newPercentiles draws the percentile curves of a query type; nil where no
// subject has figures.
func newPercentiles(g *group, l legend, queryType fact) *lines {
	type subjectCurve struct {
		style  style
		label  string
		points []measure.Point
		figure *measure.Summary
	}
	var all []subjectCurve
	var values []float64
	help := queryType.Value
	last := nines(0.99)
	for i, s := range g.subjects {
		q := s.queries(queryType.Key)
		if !drawn(q) {
			continue
		}
		points := slices.DeleteFunc(percentileCurve(&q.Service), func(p measure.Point) bool { return p.Seconds <= 0 })
		if len(points) == 0 {
			continue
		}
		if q.AtLeast > 0 {
			help = joined("; ", help, s.Label+" took at least as long as shown: some queries were cut off")
		}
		all = append(all, subjectCurve{l[i], s.Label, points, &q.Service.Summary})
		end := points[len(points)-1]
		values = append(values, points[0].Seconds, end.Seconds)
		last = max(last, nines(end.Quantile))
	}
	if len(all) == 0 {
		return nil
	}
	axis := newLogAxis(values)
	c := newLines(queryType.Key, help, "percentile", "service time")
	var xs []tick
	for _, t := range []tick{{0, "0"}, {0.5, "50"}, {0.9, "90"}, {0.99, "99"}, {0.999, "99.9"}, {0.9999, "99.99"}, {0.99999, "99.999"}, {0.999999, "99.9999"}} {
		if at := nines(t.At); at <= last {
			xs = append(xs, tick{at / last, t.Label})
		}
	}
	c.grid(xs, axis.ticks(6))
	for _, s := range all {
		drawing := curve{Style: s.style}
		var path strings.Builder
		for i, p := range s.points {
			x, y := c.place(nines(p.Quantile)/last, axis.at(p.Seconds))
			fmt.Fprintf(&path, "%c%g,%g", "ML"[min(i, 1)], x, y)
		}
		drawing.Path = path.String()
		for _, m := range []struct {
			quantile, seconds float64
			name              string
		}{
			{0.5, s.figure.Median, "median"}, {0.9, s.figure.P90, "p90"}, {0.99, s.figure.P99, "p99"}, {0.999, s.figure.P999, "p99.9"},
		} {
			if at := nines(m.quantile); at <= last && m.seconds > 0 {
				x, y := c.place(at/last, axis.at(m.seconds))
				drawing.Marks = append(drawing.Marks, mark{x, y, s.label + " " + m.name + " " + duration(m.seconds)})
			}
		}
		c.Curves = append(c.Curves, drawing)
	}
	return c
}

// newRates draws the progress of the loads of a group; nil where all were too
// short to have one.
func newRates(g *group, l legend) *lines {
	type period struct{ at, rate float64 }
	all := make([][]period, len(g.subjects))
	longest, fastest, most := 0.0, 0.0, 0
	for i, s := range g.subjects {
		if settledRate(s.target.Load) == 0 {
			continue
		}
		before := 0.0
		for _, p := range s.target.Load.Rates {
			if p.At > before {
				all[i] = append(all[i], period{p.At, float64(p.Rows) / (p.At - before)})
				longest, fastest = max(longest, p.At), max(fastest, float64(p.Rows)/(p.At-before))
			}
			before = p.At
		}
		most = max(most, len(all[i]))
	}
	if most < 2 {
		return nil // a load within one period has no course
	}
	c := newLines("Progress", "rows handed over a second, in each reporting period", "seconds since the start", "rows/s")
	top := roundUp(fastest)
	var ys []tick
	for i := range 5 {
		ys = append(ys, tick{float64(i) / 4, abbreviated(top * float64(i) / 4)})
	}
	var xs []tick
	step := roundUp(longest / 6)
	for at := 0.0; at <= longest*1.001; at += step {
		xs = append(xs, tick{at / longest, short(digits(at))})
	}
	c.grid(xs, ys)
	for i, periods := range all {
		if len(periods) == 0 {
			continue
		}
		drawing := curve{Style: l[i]}
		var path strings.Builder
		for j, p := range periods {
			x, y := c.place(p.at/longest, p.rate/top)
			fmt.Fprintf(&path, "%c%g,%g", "ML"[min(j, 1)], x, y)
			// So many marks as the eye can take.
			if j%max(1, len(periods)/8) == 0 {
				drawing.Marks = append(drawing.Marks, mark{x, y, g.subjects[i].Label + " " + digits(p.rate) + " rows/s"})
			}
		}
		drawing.Path = path.String()
		c.Curves = append(c.Curves, drawing)
	}
	return c
}

// abbreviated renders a large number for an axis: 1.5M.
func abbreviated(v float64) string {
	u := unit{"", 1}
	for _, larger := range []unit{{"k", 1e3}, {"M", 1e6}, {"G", 1e9}} {
		if v >= larger.size {
			u = larger
		}
	}
	return short(digits(v/u.size)) + u.name
}

package trend

import (
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/format"
)

// drawing draws each figure over the runs.
func drawing(t *Trend) *chart.Figure {
	figure := &chart.Figure{Legend: chart.NewLegend([]string{t.subject()}), Help: "Markers are figures of runs, pale bars their intervals as far as they fit, vertical lines are steps. Axes do not begin at 0."}
	for i := range t.Figures {
		if c := t.draw(&t.Figures[i], figure.Legend[0]); c != nil {
			figure.Lines = append(figure.Lines, c)
		}
	}
	return figure
}

// draw draws a figure; nil: fewer than two runs have it.
func (t *Trend) draw(f *Figure, style chart.Style) *chart.Lines {
	low, high, known := 0.0, 0.0, 0
	for _, p := range f.Points {
		if p.Value == 0 {
			continue
		}
		if known == 0 {
			low, high = p.Value, p.Value
		}
		low, high = min(low, p.Value), max(high, p.Value)
		known++
	}
	if known < 2 {
		return nil
	}
	const least = 0.02 // of the figure, which fill the height at least
	margin := max((high-low)/8, least*high/2)
	low, high = max(0, low-margin), high+margin
	c := chart.NewLines(f.name(), "", "run", string(f.Unit))
	height := func(v float64) float64 { return min(max((v-low)/(high-low), 0), 1) }
	across := func(run int) float64 { return 0.03 + 0.94*(float64(run)+0.5)/float64(len(t.Runs)) }
	var xs, ys []chart.Tick
	for i := range 5 {
		v := low + (high-low)*float64(i)/4
		ys = append(ys, chart.Tick{At: float64(i) / 4, Label: chart.Short(f.text(v))})
	}
	const dates = 5
	for i := 0; i < len(t.Runs); i += max(1, (len(t.Runs)+dates-1)/dates) {
		xs = append(xs, chart.Tick{At: across(i), Label: t.Runs[i].Started.UTC().Format("01-02")})
	}
	c.Grid(xs, ys)
	for i := range f.Steps {
		s := &f.Steps[i]
		x, _ := c.Place((across(s.First-1)+across(s.First))/2, 0)
		c.Boxes = append(c.Boxes, chart.Box{Style: style, X: x, Y: c.Top, Width: 1, Height: c.Bottom - c.Top, Class: "span full", Label: signedPercent(change(s.Ratio)), Hint: t.describe(f, s)})
	}
	curve := chart.Curve{Style: style}
	var path strings.Builder
	joined := false
	for run, p := range f.Points {
		if p.Value == 0 {
			joined = false
			continue
		}
		x, y := c.Place(across(run), height(p.Value))
		fmt.Fprintf(&path, "%c%g,%g", "ML"[btoi(joined && !f.stepAt(run))], x, y)
		joined = true
		hint := format.Join(", ", t.Runs[run].ID, t.Runs[run].System) + ": " + f.text(p.Value)
		if p.Low > 0 {
			hint += ", " + f.text(p.Low) + " to " + f.text(p.High)
			c.Interval(style, across(run), height(p.Low), height(p.High), hint)
		}
		curve.Marks = append(curve.Marks, chart.Mark{X: x, Y: y, Hint: hint})
	}
	curve.Path = path.String()
	c.Curves = append(c.Curves, curve)
	return c
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// stepAt reports whether a run is the first one after a step.
func (f *Figure) stepAt(run int) bool {
	for i := range f.Steps {
		if f.Steps[i].First == run {
			return true
		}
	}
	return false
}

package runchart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
)

// Dots draws a dot for each repeat of a query type, or of the loads for
// loadTitle, as a multiple of the median of the repeats on a logarithmic axis,
// so that drift is visible however far apart the subjects are. The interval of the
// median is drawn beside the dots. Dots returns nil if nothing was repeated.
func Dots(g *rank.Group, l chart.Legend, queryType doc.Fact) *chart.Lines {
	help := format.Join("; ", queryType.Value, "as a multiple of the subject's own median")
	c := chart.NewLines(queryType.Key, help, "repeat", "multiple of the median")
	c.Right -= 12 * float64(len(g.Subjects)) // room for the intervals
	type sample struct {
		style     chart.Style
		label     string
		multiples []float64
		interval  *stats.Interval
		median    float64
	}
	var all []sample
	most, extreme := 0, 1.0 // the largest multiple of the median, or of its inverse
	for i, s := range g.Subjects {
		figures := estimate.Loads(s.Target, estimate.SettledRate)
		if queryType.Key != LoadTitle {
			if !g.Draws(i, s.Queries(queryType.Key)) {
				continue
			}
			figures = g.Samples(queryType.Key)[i].Medians()
		}
		if len(figures) < 2 || slices.Min(figures) <= 0 { // less than 0: cut off
			continue
		}
		e := stats.Summarize(figures)
		one := sample{style: l[i], label: s.Label, multiples: nil, interval: e.Interval, median: e.Median.Figure}
		for _, v := range figures {
			one.multiples = append(one.multiples, v/one.median)
			extreme = max(extreme, v/one.median, one.median/v)
		}
		most = max(most, len(figures))
		all = append(all, one)
	}
	if most < 2 {
		return nil
	}
	top := 1 + chart.RoundUp(extreme-1) // 1.05, 1.2, 3: as far up as down
	if extreme == 1 {
		top = 1.01 // all alike
	}
	height := func(multiple float64) float64 { return 0.5 + math.Log(multiple)/math.Log(top)/2 }
	var xs, ys []chart.Tick
	for i := range most {
		if every := (most + 11) / 12; i%every == 0 {
			xs = append(xs, chart.Tick{At: (float64(i) + 0.5) / float64(most), Label: format.Count(int64(i + 1))})
		}
	}
	for _, t := range []chart.Tick{{At: top, Label: "×"}, {At: 1 + (top-1)/2, Label: "×"}, {At: 1 / (1 + (top-1)/2), Label: "÷"}, {At: 1 / top, Label: "÷"}} {
		ys = append(ys, chart.Tick{At: height(t.At), Label: t.Label + chart.Short(format.Digits(max(t.At, 1/t.At)))})
	}
	ys = append(ys, chart.Tick{At: height(1), Label: "median"})
	c.Grid(xs, ys)
	for n, s := range all {
		drawing := chart.Curve{Style: s.style}
		var path strings.Builder
		for i, p := range s.multiples {
			x, y := c.Place((float64(i)+0.5)/float64(most), height(p))
			fmt.Fprintf(&path, "%c%g,%g", "ML"[min(i, 1)], x, y)
			drawing.Marks = append(drawing.Marks, chart.Mark{X: x, Y: y, Hint: fmt.Sprintf("%s, repeat %d: %+.1f%s%%", s.label, i+1, 100*(p-1), format.UnitSpace)})
		}
		drawing.Path = path.String()
		c.Curves = append(c.Curves, drawing)
		_, low := c.Place(0, height(s.interval.Lo.Figure/s.median))
		_, high := c.Place(0, height(s.interval.Hi.Figure/s.median))
		c.Boxes = append(c.Boxes, chart.Box{Style: s.style, X: c.Right + 4 + 12*float64(n), Y: high, Width: 6, Height: max(1, chart.Tenth(low-high)), Class: "span full",
			Hint: fmt.Sprintf("%s: the median lies here with %.0f%s%%", s.label, 100*s.interval.Level, format.UnitSpace)})
	}
	return c
}

// LoadTitle names the dots of the loads.
const LoadTitle = "Load, settled rows/s"

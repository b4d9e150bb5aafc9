package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
)

// newDots draws a dot for each repeat of a query type, or of the loads for an
// empty one, as its distance from the median of the repeats: so drift is seen
// however far apart the subjects are. Beside the dots stands the interval of
// the median. Nil where nobody repeated.
func newDots(g *group, l legend, queryType fact) *lines {
	help := joined("; ", queryType.Value, "distance from the subject's own median")
	c := newLines(queryType.Key, help, "repeat", "per cent")
	c.Right -= 12 * float64(len(g.subjects)) // room for the intervals
	type sample struct {
		style    style
		label    string
		percent  []float64
		interval *stats.Interval
		median   float64
	}
	var all []sample
	most, extreme := 0, 1.0
	for i, s := range g.subjects {
		figures := loadRates(s.target)
		if queryType.Key != loadTitle {
			if !drawn(s.queries(queryType.Key)) {
				continue
			}
			figures = medians(s.target, queryType.Key)
		}
		if len(figures) < 2 || slices.Min(figures) <= 0 { // less than 0: cut off
			continue
		}
		e := stats.Summarize(figures)
		one := sample{l[i], s.Label, nil, e.Interval, e.Median.Figure}
		for _, v := range figures {
			one.percent = append(one.percent, 100*(v/one.median-1))
			extreme = max(extreme, math.Abs(100*(v/one.median-1)))
		}
		most = max(most, len(figures))
		all = append(all, one)
	}
	if most < 2 {
		return nil
	}
	top := roundUp(extreme)
	height := func(percent float64) float64 { return 0.5 + percent/top/2 }
	var xs, ys []tick
	for i := range most {
		if every := (most + 11) / 12; i%every == 0 {
			xs = append(xs, tick{(float64(i) + 0.5) / float64(most), count(int64(i + 1))})
		}
	}
	for _, part := range []float64{-1, -0.5, 0, 0.5, 1} {
		label := fmt.Sprintf("%+g%s%%", part*top, unitSpace)
		if part == 0 {
			label = "0" + unitSpace + "%"
		}
		ys = append(ys, tick{height(part * top), label})
	}
	c.grid(xs, ys)
	for n, s := range all {
		drawing := curve{Style: s.style}
		var path strings.Builder
		for i, p := range s.percent {
			x, y := c.place((float64(i)+0.5)/float64(most), height(p))
			fmt.Fprintf(&path, "%c%g,%g", "ML"[min(i, 1)], x, y)
			drawing.Marks = append(drawing.Marks, mark{x, y, fmt.Sprintf("%s, repeat %d: %+.1f%s%%", s.label, i+1, p, unitSpace)})
		}
		drawing.Path = path.String()
		c.Curves = append(c.Curves, drawing)
		_, low := c.place(0, height(100*(s.interval.Lo.Figure/s.median-1)))
		_, high := c.place(0, height(100*(s.interval.Hi.Figure/s.median-1)))
		c.Boxes = append(c.Boxes, box{Style: s.style, X: c.Right + 4 + 12*float64(n), Y: high, Width: 6, Height: max(1, tenth(low-high)), Class: "span full",
			Hint: fmt.Sprintf("%s: the median lies here with %.0f%s%%", s.label, 100*s.interval.Level, unitSpace)})
	}
	return c
}

// loadTitle names the dots of the loads.
const loadTitle = "Load, settled rows/s"

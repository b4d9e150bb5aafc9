package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/estimate"
)

// newDots draws a dot for each repeat of a query type, or of the loads for
// loadTitle, as a multiple of the median of the repeats on a logarithmic axis:
// so drift is seen however far apart the subjects are. Beside the dots stands
// the interval of the median. Nil where nobody repeated.
func newDots(g *group, l legend, queryType fact) *lines {
	help := joined("; ", queryType.Value, "as a multiple of the subject's own median")
	c := newLines(queryType.Key, help, "repeat", "multiple of the median")
	c.Right -= 12 * float64(len(g.subjects)) // room for the intervals
	type sample struct {
		style     style
		label     string
		multiples []float64
		interval  *stats.Interval
		median    float64
	}
	var all []sample
	most, extreme := 0, 1.0 // the largest multiple, or how many times smaller than the median
	for i, s := range g.subjects {
		figures := estimate.Loads(s.target, estimate.Settled)
		if queryType.Key != loadTitle {
			if !g.draws(i, s.queries(queryType.Key)) {
				continue
			}
			figures = g.samples(queryType.Key)[i].Medians()
		}
		if len(figures) < 2 || slices.Min(figures) <= 0 { // less than 0: cut off
			continue
		}
		e := stats.Summarize(figures)
		one := sample{l[i], s.Label, nil, e.Interval, e.Median.Figure}
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
	top := 1 + roundUp(extreme-1) // 1.05, 1.2, 3: as far up as down
	if extreme == 1 {
		top = 1.01 // all alike
	}
	height := func(multiple float64) float64 { return 0.5 + math.Log(multiple)/math.Log(top)/2 }
	var xs, ys []tick
	for i := range most {
		if every := (most + 11) / 12; i%every == 0 {
			xs = append(xs, tick{(float64(i) + 0.5) / float64(most), count(int64(i + 1))})
		}
	}
	for _, t := range []tick{{top, "×"}, {1 + (top-1)/2, "×"}, {1 / (1 + (top-1)/2), "÷"}, {1 / top, "÷"}} {
		ys = append(ys, tick{height(t.At), t.Label + short(digits(max(t.At, 1/t.At)))})
	}
	ys = append(ys, tick{height(1), "median"})
	c.grid(xs, ys)
	for n, s := range all {
		drawing := curve{Style: s.style}
		var path strings.Builder
		for i, p := range s.multiples {
			x, y := c.place((float64(i)+0.5)/float64(most), height(p))
			fmt.Fprintf(&path, "%c%g,%g", "ML"[min(i, 1)], x, y)
			drawing.Marks = append(drawing.Marks, mark{x, y, fmt.Sprintf("%s, repeat %d: %+.1f%s%%", s.label, i+1, 100*(p-1), unitSpace)})
		}
		drawing.Path = path.String()
		c.Curves = append(c.Curves, drawing)
		_, low := c.place(0, height(s.interval.Lo.Figure/s.median))
		_, high := c.place(0, height(s.interval.Hi.Figure/s.median))
		c.Boxes = append(c.Boxes, box{Style: s.style, X: c.Right + 4 + 12*float64(n), Y: high, Width: 6, Height: max(1, tenth(low-high)), Class: "span full",
			Hint: fmt.Sprintf("%s: the median lies here with %.0f%s%%", s.label, 100*s.interval.Level, unitSpace)})
	}
	return c
}

// loadTitle names the dots of the loads.
const loadTitle = "Load, settled rows/s"

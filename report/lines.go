package report

import (
	"fmt"
	"math"
	"strings"
)

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

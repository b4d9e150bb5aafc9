package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Figure is charts with one legend.
type Figure struct {
	Title, Help string
	Legend      Legend
	Rows        *Rows // nil: none
	Lines       []*Lines
}

// Lines is a chart of one curve for each subject, in the units of its viewBox.
type Lines struct {
	Title, Help      string
	X, Y             string // names of the axes
	Left, Right      float64
	Top, Bottom      float64
	Width, Height    float64
	XTicks, YTicks   []Tick
	Boxes            []Box
	Curves           []Curve
	XLabelY, YLabelX float64 // positions of the axes' labels
}

// Curve is a line with marks, in the coordinates of its chart.
type Curve struct {
	Style Style
	Path  string
	Marks []Mark
}

// Box is a span of time, or an interval.
type Box struct {
	Style               Style
	X, Y, Width, Height float64
	Class               string // of the style sheet
	Label, Hint         string // Label is above the line
}

// Mark is a marker of a curve; readers see its hint when they point at it.
type Mark struct {
	X, Y float64
	Hint string
	Link string // address of a place in the page; empty: none
}

// NewLines returns an empty chart that is still readable at the width of a
// phone.
func NewLines(title, help, x, y string) *Lines {
	return &Lines{
		Title: title, Help: help, X: x, Y: y,
		Width: 360, Height: 230, Left: 52, Right: 350, Top: 10, Bottom: 188,
		XLabelY: 222, YLabelX: 12,
	}
}

// Place turns positions from 0 to 1 into coordinates.
func (c *Lines) Place(x, y float64) (float64, float64) {
	return Tenth(c.Left + x*(c.Right-c.Left)), Tenth(c.Bottom - y*(c.Bottom-c.Top))
}

// Tenth rounds a coordinate to a tenth.
func Tenth(v float64) float64 { return math.Round(v*10) / 10 }

// Grid adds ticks, whose positions are from 0 to 1.
func (c *Lines) Grid(xs, ys []Tick) {
	for _, t := range xs {
		t.At, _ = c.Place(t.At, 0)
		c.XTicks = append(c.XTicks, t)
	}
	for _, t := range ys {
		_, t.At = c.Place(0, t.At)
		c.YTicks = append(c.YTicks, t)
	}
}

// Interval adds the bar of an interval. Positions are from 0 to 1.
func (c *Lines) Interval(style Style, x, low, high float64, hint string) {
	across, bottom := c.Place(x, low)
	_, top := c.Place(x, high)
	c.Boxes = append(c.Boxes, Box{Style: style, X: Tenth(across - 1.5), Y: top, Width: 3, Height: max(1, Tenth(bottom-top)), Class: "bar", Hint: hint})
}

// Pair is a point of two figures: X from 0, Y in seconds above 0.
type Pair struct {
	X, Y float64
	High float64 // upper end of a bar that begins at Y; 0: none
	Hint string
}

// PairCurves draws curves of times over another figure, each through its points in order, with the
// style of the same index. It returns nil without points.
func PairCurves(c *Lines, l Legend, curves [][]Pair) *Lines {
	most, values := 0.0, []float64(nil)
	for _, one := range curves {
		for _, p := range one {
			most, values = max(most, p.X), append(values, p.Y, max(p.Y, p.High))
		}
	}
	if len(values) == 0 || most <= 0 || slices.Min(values) <= 0 {
		return nil
	}
	axis, right := NewLogAxis(values), RoundUp(most)
	across := func(x float64) float64 { return 0.02 + 0.96*x/right }
	var xs []Tick
	for n := range 5 {
		x := right * float64(n) / 4
		xs = append(xs, Tick{across(x), Abbreviate(x)})
	}
	c.Grid(xs, axis.Ticks(6))
	for i, one := range curves {
		curve := Curve{Style: l[i]}
		var path strings.Builder
		for j, p := range one {
			x, y := c.Place(across(p.X), axis.Place(p.Y))
			fmt.Fprintf(&path, "%c%g,%g", "ML"[min(j, 1)], x, y)
			curve.Marks = append(curve.Marks, Mark{X: x, Y: y, Hint: p.Hint})
			if p.High > p.Y {
				_, high := c.Place(0, axis.Place(p.High))
				c.Boxes = append(c.Boxes, Box{Style: l[i], X: Tenth(x - 1.5), Y: high, Width: 3, Height: max(1, Tenth(y-high)), Class: "span full", Hint: p.Hint})
			}
		}
		curve.Path = path.String()
		if len(one) > 0 {
			c.Curves = append(c.Curves, curve)
		}
	}
	return c
}

package chart

import "math"

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

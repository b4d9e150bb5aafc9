package report

import "math"

// lines is a chart of one curve for each subject, in the units of its viewBox.
type lines struct {
	Title, Help      string
	X, Y             string // what the axes show
	Left, Right      float64
	Top, Bottom      float64
	Width, Height    float64
	XTicks, YTicks   []tick
	Boxes            []box
	Curves           []curve
	XLabelY, YLabelX float64 // where the axes' labels stand
}

type curve struct {
	Style style
	Path  string
	Marks []mark
}

// box is a span of time, or an interval.
type box struct {
	Style               style
	X, Y, Width, Height float64
	Class               string // of the style sheet
	Label, Hint         string // Label stands above it
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

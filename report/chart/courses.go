package chart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/report/format"
)

// Course is how a figure of a subject went.
type Course struct {
	Style  Style
	At     []float64 // seconds
	Values []float64 // below 0: a lower bound, for DrawCourses only
	Starts []int     // places of the values that no line leads to, besides the first
}

// apart is the minimum distance between marks of a curve, in units of its chart.
const apart = 26

// DrawCourses draws figures over time, from 0 to until and from 0 up. It returns nil if no
// figure has two points.
func DrawCourses(c *Lines, until float64, all []Course, top func(float64) float64, text func(float64) string) *Lines {
	largest, most := 0.0, 0
	for _, s := range all {
		for _, v := range s.Values {
			largest = max(largest, math.Abs(v))
		}
		most = max(most, len(s.Values))
	}
	if most < 2 || largest == 0 || until <= 0 {
		return nil
	}
	highest := top(largest)
	c.Grid(SecondTicks(until), quarters(highest, text))
	c.Draw(until, all, func(v float64) float64 { return math.Abs(v) / highest }, func(v float64) string {
		if v < 0 {
			return "≥ " + text(-v)
		}
		return text(v)
	})
	return c
}

// Draw draws figures over time, each at its height from 0 to 1.
func (c *Lines) Draw(until float64, all []Course, height func(float64) float64, text func(float64) string) {
	for _, s := range all {
		if len(s.Values) == 0 {
			continue
		}
		drawing := Curve{Style: s.Style}
		var path strings.Builder
		for j, v := range s.Values {
			x, y := c.Place(s.At[j]/until, height(v))
			step := 'L'
			if j == 0 || slices.Contains(s.Starts, j) {
				step = 'M'
			}
			fmt.Fprintf(&path, "%c%g,%g", step, x, y)
			// Marks that are closer together are indistinguishable.
			if n := len(drawing.Marks); n == 0 || x-drawing.Marks[n-1].X >= apart {
				drawing.Marks = append(drawing.Marks, Mark{X: x, Y: y, Hint: s.Style.Label + " " + text(v)})
			}
		}
		drawing.Path = path.String()
		c.Curves = append(c.Curves, drawing)
	}
}

// SecondTicks are ticks of a time axis.
func SecondTicks(until float64) []Tick {
	var list []Tick
	step := RoundUp(until / 6)
	for i := 0; float64(i)*step <= until*1.001; i++ {
		at := float64(i) * step
		list = append(list, Tick{at / until, Short(format.Digits(at))})
	}
	return list
}

// quarters are the ticks of an axis from 0 to top.
func quarters(top float64, text func(float64) string) []Tick {
	var list []Tick
	for i := range 5 {
		list = append(list, Tick{float64(i) / 4, text(top * float64(i) / 4)})
	}
	return list
}

// RoundBytes is RoundUp in binary units.
func RoundBytes(v float64) float64 {
	unit := 1.0
	for v/unit >= 1024 {
		unit *= 1024
	}
	return math.Ceil(RoundUp(v/unit)) * unit
}

// AxisBytes renders a size for an axis.
func AxisBytes(v float64) string { return Short(format.Size(int64(v))) }

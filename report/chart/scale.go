package chart

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/format"
)

// Scale has the positions of a parameter's values.
type Scale struct {
	At     map[string]float64 // from 0 to 1
	Ticks  []Tick
	Joined bool // a line from value to value means something
}

// NewScale places positive numbers and durations on a logarithmic axis, since
// parameters are usually doubled, and other values side by side in their order.
// It is not ok with fewer than two values.
func NewScale(values []string) (s Scale, ok bool) {
	if len(values) < 2 {
		return s, false
	}
	s = Scale{At: make(map[string]float64), Joined: true}
	numbers := make([]float64, len(values))
	for i, text := range values {
		if numbers[i] = Quantity(text); numbers[i] <= 0 {
			s.Joined = false
		}
	}
	for i, text := range values {
		s.At[text] = (float64(i) + 0.5) / float64(len(values))
		if s.Joined {
			axis := LogAxis{slices.Min(numbers), slices.Max(numbers)}
			s.At[text] = 0.04 + 0.92*axis.Place(numbers[i])
		}
	}
	slices.SortFunc(values, func(a, b string) int { return cmp.Compare(s.At[a], s.At[b]) })
	const room = 0.035 // for a character
	end := -1.0
	for _, text := range values {
		half := room * float64(len(text)) / 2
		if s.At[text]-half > end {
			s.Ticks = append(s.Ticks, Tick{s.At[text], text})
			end = s.At[text] + half
		}
	}
	return s, true
}

// Quantity returns a value as a number: a duration in seconds, a rate per second. It is 0 if the
// value is not a positive number.
func Quantity(text string) float64 {
	if v, err := strconv.ParseFloat(strings.TrimSuffix(text, "/s"), 64); err == nil && v > 0 {
		return v
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return d.Seconds()
	}
	return 0
}

// Point is an estimate with its position in the drawing.
type Point struct {
	X        float64
	Value    string
	Estimate stats.Estimate
}

// VerticalScale is how figures go up a chart.
type VerticalScale int

const (
	RatesUp VerticalScale = iota // from 0
	BytesUp                      // from 0, in binary units
	TimesUp                      // seconds, on a logarithmic scale
)

// axis returns the positions of figures, from 0 to 1, and their format.
func (u VerticalScale) axis(values []float64) (height func(float64) float64, ticks []Tick, text func(float64) string) {
	switch u {
	case TimesUp:
		axis := NewLogAxis(values)
		return axis.Place, axis.Ticks(6), format.Duration
	case BytesUp:
		top := RoundBytes(slices.Max(values))
		return func(v float64) float64 { return v / top }, quarters(top, AxisBytes), func(v float64) string { return format.Size(int64(v)) }
	}
	top := RoundUp(slices.Max(values))
	return func(v float64) float64 { return v / top }, quarters(top, Abbreviate), format.Digits
}

// Pointed is a curve of estimates.
type Pointed struct {
	Style  Style
	Label  string
	Points []Point
}

// Estimates draws curves over a parameter: a marker at each median, and a bar for its
// interval. It returns nil without figures, or if one is not above 0.
func Estimates(c *Lines, curves []Pointed, x Scale, kind VerticalScale) *Lines {
	var values []float64
	for i := range curves {
		for _, p := range curves[i].Points {
			values = append(values, p.Estimate.Median.Figure)
			if in := p.Estimate.Interval; in != nil {
				values = append(values, in.Lo.Figure, in.Hi.Figure)
			}
		}
		slices.SortStableFunc(curves[i].Points, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
	}
	if len(values) == 0 || slices.Min(values) <= 0 {
		return nil
	}
	height, ticks, text := kind.axis(values)
	c.Grid(x.Ticks, ticks)
	render := func(v stats.Value) string { return v.Mark() + text(v.Figure) }
	for i, one := range curves {
		// Side by side, so that intervals at one value are distinguishable.
		aside := min(3, 20/float64(len(curves))) * (float64(i) - float64(len(curves)-1)/2)
		drawing := Curve{Style: one.Style}
		var path strings.Builder
		for j, p := range one.Points {
			px, py := c.Place(p.X, height(p.Estimate.Median.Figure))
			px = Tenth(px + aside)
			fmt.Fprintf(&path, "%c%g,%g", "ML"[min(j, 1)], px, py)
			hint := fmt.Sprintf("%s, %s=%s: %s", one.Label, c.X, p.Value, render(p.Estimate.Median))
			if in := p.Estimate.Interval; in != nil {
				hint += fmt.Sprintf(", %s to %s with %.0f%s%%", render(in.Lo), render(in.Hi), 100*in.Level, format.UnitSpace)
				_, low := c.Place(0, height(in.Lo.Figure))
				_, high := c.Place(0, height(in.Hi.Figure))
				c.Boxes = append(c.Boxes, Box{Style: one.Style, X: Tenth(px - 1.5), Y: high, Width: 3, Height: max(1, Tenth(low-high)), Class: "span full", Hint: hint})
			}
			drawing.Marks = append(drawing.Marks, Mark{X: px, Y: py, Hint: hint})
		}
		if x.Joined {
			drawing.Path = path.String()
		}
		c.Curves = append(c.Curves, drawing)
	}
	return c
}

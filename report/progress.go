package report

import (
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/result"
)

// course is how a figure of a subject went.
type course struct {
	style  style
	at     []float64 // seconds
	values []float64
}

// apart is how far marks of a curve stand from each other, in units of its chart.
const apart = 26

// newCourses draws figures over time, from 0 to until and from 0 up; nil where
// none has two points.
func newCourses(c *lines, until float64, all []course, top func(float64) float64, text func(float64) string) *lines {
	largest, most := 0.0, 0
	for _, s := range all {
		for _, v := range s.values {
			largest = max(largest, v)
		}
		most = max(most, len(s.values))
	}
	if most < 2 || largest == 0 {
		return nil
	}
	highest := top(largest)
	var ys []tick
	for i := range 5 {
		ys = append(ys, tick{float64(i) / 4, text(highest * float64(i) / 4)})
	}
	c.grid(seconds(until), ys)
	c.draw(until, all, func(v float64) float64 { return v / highest }, text)
	return c
}

// draw draws figures over time, each at its height from 0 to 1.
func (c *lines) draw(until float64, all []course, height func(float64) float64, text func(float64) string) {
	for _, s := range all {
		if len(s.values) == 0 {
			continue
		}
		drawing := curve{Style: s.style}
		var path strings.Builder
		for j, v := range s.values {
			x, y := c.place(s.at[j]/until, height(v))
			fmt.Fprintf(&path, "%c%g,%g", "ML"[min(j, 1)], x, y)
			// So many marks as the eye can take.
			if n := len(drawing.Marks); n == 0 || x-drawing.Marks[n-1].X >= apart {
				drawing.Marks = append(drawing.Marks, mark{x, y, s.style.Label + " " + text(v)})
			}
		}
		drawing.Path = path.String()
		c.Curves = append(c.Curves, drawing)
	}
}

// seconds are ticks of a time axis.
func seconds(until float64) []tick {
	var list []tick
	step := roundUp(until / 6)
	for i := 0; float64(i)*step <= until*1.001; i++ {
		at := float64(i) * step
		list = append(list, tick{at / until, short(digits(at))})
	}
	return list
}

// rateCourse is the progress of a load whose clock began at a moment.
func rateCourse(l *result.Load, began float64, s style) course {
	c := course{style: s}
	before := 0.0
	for _, p := range l.Rates {
		if p.At > before {
			c.at, c.values = append(c.at, began+p.At), append(c.values, float64(p.Rows)/(p.At-before))
		}
		before = p.At
	}
	return c
}

// newRates draws the progress of the loads of a group; nil where all were too
// short to have one.
func newRates(g *group, l legend) *lines {
	var all []course
	longest := 0.0
	for i, s := range g.subjects {
		if settledRate(s.target.Load) == 0 {
			continue
		}
		c := rateCourse(s.target.Load, 0, l[i])
		if n := len(c.at); n > 0 {
			longest = max(longest, c.at[n-1])
		}
		all = append(all, c)
	}
	c := newLines("Progress", "rows handed over a second, in each reporting period", "seconds since the start", "rows/s")
	return newCourses(c, longest, all, roundUp, abbreviated)
}

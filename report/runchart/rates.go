package runchart

import (
	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
)

// rateCourse draws the progress of a load whose clock began at began.
func rateCourse(l *result.Load, began float64, s chart.Style) chart.Course {
	c := chart.Course{Style: s}
	before := 0.0
	for _, p := range l.Rates {
		if p.At > before {
			c.At, c.Values = append(c.At, began+p.At), append(c.Values, float64(p.Rows)/(p.At-before))
		}
		before = p.At
	}
	return c
}

// Rates draws the progress of the loads of a group. It returns nil if all were too
// short to have one.
func Rates(g *rank.Group, l chart.Legend) *chart.Lines {
	var all []chart.Course
	longest := 0.0
	for i, s := range g.Subjects {
		if rank.SettledRate(s.Target.Load) == 0 {
			continue
		}
		c := rateCourse(s.Target.Load, 0, l[i])
		if n := len(c.At); n > 0 {
			longest = max(longest, c.At[n-1])
		}
		all = append(all, c)
	}
	c := chart.NewLines("Progress", "rows handed over a second, in each reporting period", "seconds since the start", "rows/s")
	return chart.DrawCourses(c, longest, all, chart.RoundUp, chart.Abbreviate)
}

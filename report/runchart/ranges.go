package runchart

import (
	"fmt"

	"github.com/tsmark/tsmark/report/cell"
	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
)

// Ranges draws the figures of a group that stand; nil where none does.
func Ranges(g *rank.Group, l chart.Legend) *chart.Ranges {
	var values []float64
	for n, s := range g.Subjects {
		for i := range s.Target.Queries {
			q := &s.Target.Queries[i]
			if e := g.RankType(q.Type).Estimates[n]; g.Draws(n, q) && e.Median.Figure > 0 {
				values = append(values, e.Median.Figure)
				if q.Service.Holds(0.99) {
					values = append(values, q.Service.P99)
				}
			}
		}
	}
	if len(values) == 0 {
		return nil
	}
	axis := chart.NewLogAxis(values)
	drawing := &chart.Ranges{}
	for i, t := range axis.Ticks(8) {
		drawing.Ticks = append(drawing.Ticks, chart.RangeTick{X: format.CSSPercent(t.At), Label: t.Label, Class: []string{"", "minor"}[i%2]})
	}
	for _, t := range g.Types() {
		r := chart.RangeRow{Label: t.Key, Help: t.Value, Height: chart.LaneHeight * len(g.Subjects)}
		compared, estimates := rank.CompareType(g, t.Key), g.RankType(t.Key).Estimates
		for i, s := range g.Subjects {
			q := s.Queries(t.Key)
			figure := compared.Cells[1+2*i]
			n := chart.Lane{Style: l[i], Y: i*chart.LaneHeight + chart.LaneHeight/2, Text: figure.Text, Tone: figure.Tone}
			switch q.Outcome() {
			case result.Empty:
				n.Text = "empty"
			case result.Unverified:
				n.Text += " unverified"
			}
			if e := estimates[i]; g.Draws(i, q) && e.Median.Figure > 0 {
				n.Bar = format.CSSPercent(axis.At(e.Median.Figure))
				n.Median = n.Bar
				n.Hint = fmt.Sprintf("%s, %s: median %s", t.Key, s.Label, format.MedianText(e))
				if e.Interval != nil {
					n.Hint += " (" + cell.Interval(e, format.Duration).Text + ")"
				}
				for _, p := range []struct {
					name              string
					quantile, seconds float64
					at                *string
				}{{"p95", 0.95, q.Service.P95, &n.P95}, {"p99", 0.99, q.Service.P99, &n.P99}} {
					if q.Service.Holds(p.quantile) {
						*p.at = format.CSSPercent(max(0, axis.At(p.seconds)))
						n.Hint += ", " + p.name + " " + format.Duration(p.seconds)
					}
				}
			}
			r.Lanes = append(r.Lanes, n)
		}
		drawing.Rows = append(drawing.Rows, r)
	}
	return drawing
}

package runchart

import (
	"fmt"

	"github.com/tsmark/tsmark/report/cell"
	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
)

// Ranges draws the valid figures of a group. It returns nil without valid figures.
func Ranges(g *rank.Group, l chart.Legend) *chart.Rows {
	var values []float64
	for n, s := range g.Subjects {
		for i := range s.Target.Queries {
			q := &s.Target.Queries[i]
			if e := g.RankType(q.Type).Estimates[n]; g.Draws(n, q) && e.Median.Figure > 0 {
				values = append(values, e.Median.Figure)
				if q.Time().Holds(0.95) {
					values = append(values, q.Time().P95)
				}
				if q.Time().Holds(0.99) {
					values = append(values, q.Time().P99)
				}
			}
		}
	}
	if len(values) == 0 {
		return nil
	}
	axis := chart.NewLogAxis(values)
	drawing := &chart.Rows{Unit: "median"}
	for i, t := range axis.Ticks(8) {
		drawing.Ticks = append(drawing.Ticks, chart.RowTick{At: t.At, Label: t.Label, Minor: i%2 == 1})
	}
	for _, t := range g.Types() {
		r := chart.Row{Label: t.Key, Help: t.Value}
		compared, estimates := rank.TypeRow(g, t.Key), g.RankType(t.Key).Estimates
		for i, s := range g.Subjects {
			q := s.Queries(t.Key)
			figure := compared.Cells[1+2*i]
			n := chart.Track{Style: l[i], Text: figure.Text, Tone: figure.Tone}
			switch q.Outcome() {
			case result.Empty:
				n.Text = "empty"
			case result.Unverified:
				n.Text += " unverified"
			}
			if e := estimates[i]; g.Draws(i, q) && e.Median.Figure > 0 {
				at := axis.Place(e.Median.Figure)
				n.Drawn, n.Bar, n.Marker, n.At = true, at, true, at
				n.Hint = fmt.Sprintf("%s, %s: median %s", t.Key, s.Label, format.MedianText(e))
				if e.Interval != nil {
					n.Hint += " (" + cell.Interval(e, format.Duration).Text + ")"
				}
				if q.Time().Holds(0.99) {
					n.Strokes = append(n.Strokes, chart.Stroke{Class: "whisker", From: at, To: max(0, axis.Place(q.Time().P99))})
				}
				for _, p := range []struct {
					name, class       string
					quantile, seconds float64
					half              int
				}{{"p95", "notch", 0.95, q.Time().P95, 4}, {"p99", "notch end", 0.99, q.Time().P99, 6}} {
					if q.Time().Holds(p.quantile) {
						at := max(0, axis.Place(p.seconds))
						n.Strokes = append(n.Strokes, chart.Stroke{Class: p.class, From: at, To: at, Half: p.half})
						n.Hint += ", " + p.name + " " + format.Duration(p.seconds)
					}
				}
			}
			r.Tracks = append(r.Tracks, n)
		}
		drawing.Rows = append(drawing.Rows, r)
	}
	return drawing
}

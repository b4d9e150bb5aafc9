package runchart

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
)

// curvePoints is enough points for a smooth curve.
const curvePoints = 120

// PercentileCurve returns the points of a histogram's curve, or the few of
// the summary if there is no readable histogram.
func PercentileCurve(l *result.Latency) []measure.Point {
	if hist, err := measure.Decode(l.Histogram); err == nil && hist.Count() > 0 {
		return hist.Curve(curvePoints)
	}
	points := []measure.Point{{Quantile: 0, Seconds: l.Min}, {Quantile: 0.5, Seconds: l.Median}}
	for _, p := range measure.Percentiles() {
		if l.Holds(p.Quantile) {
			points = append(points, measure.Point{Quantile: p.Quantile, Seconds: p.Of(&l.Summary)})
		}
	}
	return points
}

// nines returns a quantile's place on an axis that gives each further nine the same
// room.
func nines(quantile float64) float64 { return -math.Log10(1 - quantile) }

// latencyOf is which times of a query type are drawn.
type latencyOf struct {
	name, suffix string
	of           func(*result.Queries) *result.Latency // nil: not recorded
}

// DrawnTimes are the latencies that the page draws as curves.
func DrawnTimes() []latencyOf {
	return []latencyOf{
		{"service time", "", func(q *result.Queries) *result.Latency { return &q.Service }},
		{"response time", ", response", func(q *result.Queries) *result.Latency {
			if q.Open == nil {
				return nil
			}
			return &q.Open.Response
		}},
	}
}

// Percentiles draws the percentile curves of a query type. It returns nil if no
// subject has figures.
func Percentiles(g *rank.Group, l chart.Legend, queryType doc.Fact, time latencyOf) *chart.Lines {
	type subjectCurve struct {
		style  chart.Style
		label  string
		points []measure.Point
		figure *measure.Summary
	}
	var all []subjectCurve
	var values []float64
	help := queryType.Value
	last := nines(0.99)
	for i, s := range g.Subjects {
		q := s.Queries(queryType.Key)
		if !g.Draws(i, q) {
			continue
		}
		times := time.of(q)
		if times == nil {
			continue
		}
		points := slices.DeleteFunc(PercentileCurve(times), func(p measure.Point) bool { return p.Seconds <= 0 })
		if len(points) == 0 {
			continue
		}
		if q.AtLeast > 0 {
			help = format.Join("; ", help, s.Label+" took at least as long as shown: some queries were cut off")
		}
		all = append(all, subjectCurve{style: l[i], label: s.Label, points: points, figure: &times.Summary})
		end := points[len(points)-1]
		values = append(values, points[0].Seconds, end.Seconds)
		last = max(last, nines(end.Quantile))
	}
	if len(all) == 0 {
		return nil
	}
	axis := chart.NewLogAxis(values)
	c := chart.NewLines(queryType.Key+time.suffix, help, "percentile", time.name)
	var xs []chart.Tick
	for _, t := range []chart.Tick{{At: 0, Label: "0"}, {At: 0.5, Label: "50"}, {At: 0.9, Label: "90"}, {At: 0.99, Label: "99"}, {At: 0.999, Label: "99.9"}, {At: 0.9999, Label: "99.99"}, {At: 0.99999, Label: "99.999"}, {At: 0.999999, Label: "99.9999"}} {
		if at := nines(t.At); at <= last {
			xs = append(xs, chart.Tick{At: at / last, Label: t.Label})
		}
	}
	c.Grid(xs, axis.Ticks(6))
	for _, s := range all {
		drawing := chart.Curve{Style: s.style}
		var path strings.Builder
		for i, p := range s.points {
			x, y := c.Place(nines(p.Quantile)/last, axis.Place(p.Seconds))
			fmt.Fprintf(&path, "%c%g,%g", "ML"[min(i, 1)], x, y)
		}
		drawing.Path = path.String()
		for _, m := range []struct {
			quantile, seconds float64
			name              string
		}{
			{0.9, s.figure.P90, "p90"}, {0.99, s.figure.P99, "p99"}, {0.999, s.figure.P999, "p99.9"},
		} {
			if at := nines(m.quantile); s.figure.Holds(m.quantile) && m.seconds > 0 {
				x, y := c.Place(at/last, axis.Place(m.seconds))
				drawing.Marks = append(drawing.Marks, chart.Mark{X: x, Y: y, Hint: s.label + " " + m.name + " " + format.Duration(m.seconds)})
			}
		}
		c.Curves = append(c.Curves, drawing)
	}
	return c
}

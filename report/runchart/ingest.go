package runchart

import (
	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
)

// Ingest draws the median of a query type over the rows written a second: alone, after the load, and
// while rows were written, there with a bar up to the 99th percentile. It returns nil unless the
// type ran while rows were written.
func Ingest(g *rank.Group, l chart.Legend, queryType string) *chart.Lines {
	curves := make([][]chart.Pair, len(g.Subjects))
	mixed := false
	for i, s := range g.Subjects {
		if q := s.Queries(queryType); g.Draws(i, q) {
			if e := g.RankType(queryType).Estimates[i]; e.N > 0 && e.Median.Bound == stats.Exact && q.ReasonUncompared() == "" {
				curves[i] = append(curves[i], chart.Pair{Y: e.Median.Figure, Hint: s.Label + " alone: median " + format.MedianText(e)})
			}
		}
		e, rate := rank.MixedEstimate(s.Target, queryType, compare.MixedMedian), rank.MixedRate(s.Target)
		if e.N == 0 || rate.N == 0 || e.Median.Bound != stats.Exact || s.Target.Uncomparable() != "" && len(g.Subjects) > 1 {
			continue
		}
		mixed = true
		p := chart.Pair{X: rate.Median.Figure, Y: e.Median.Figure, Hint: s.Label + " at " + format.Digits(rate.Median.Figure) + " rows/s: median " + format.MedianText(e)}
		if p99 := rank.MixedEstimate(s.Target, queryType, compare.MixedP99); p99.N > 0 {
			p.High = p99.Median.Figure
			p.Hint += ", p99 " + format.MedianText(p99)
		}
		curves[i] = append(curves[i], p)
	}
	if !mixed {
		return nil
	}
	return chart.PairCurves(chart.NewLines(queryType, "", "rows written a second", "median"), l, curves)
}

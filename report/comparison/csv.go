package comparison

import (
	"io"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/write"
)

// line is a figure of two targets.
type line struct {
	target *compare.Target
	figure *compare.Figure
}

// writeCSV writes a line per figure, that of all query types first: all metrics, those
// that the tables leave out too.
func writeCSV(w io.Writer, c *compare.Comparison) error {
	var lines []line
	for i := range c.Targets {
		target := &c.Targets[i]
		for _, first := range []bool{true, false} {
			for j := range target.Figures {
				if f := &target.Figures[j]; first == (f.Metric == compare.GeoMean) {
					lines = append(lines, line{target, f})
				}
			}
		}
	}
	return write.WriteCSV(w, Columns(), lines)
}

// Column is a figure of the CSV of a comparison.
type Column write.Column[line]

// Columns are the figures of a comparison as CSV.
func Columns() []Column {
	type figure = *compare.Figure
	of := func(value func(f figure) any) func(line) any { return func(l line) any { return value(l.figure) } }
	a, b := func(l line) *stats.Estimate { return &l.figure.A }, func(l line) *stats.Estimate { return &l.figure.B }
	side := func(name, who string, estimate func(line) *stats.Estimate) []Column {
		known := func(value func(*stats.Estimate) any) func(line) any {
			return func(l line) any {
				if e := estimate(l); e.N > 0 {
					return value(e)
				}
				return nil
			}
		}
		return []Column{
			{name, "as unit says", "median of " + who, known(func(e *stats.Estimate) any { return e.Median })},
			{name + "_bound", "", "at least or at most, where queries were cut off", known(func(e *stats.Estimate) any { return string(e.Median.Bound) })},
			{name + "_n", "", "rounds or loads of " + who, known(func(e *stats.Estimate) any { return e.N })},
			{name + "_cv", "", "their coefficient of variation", known(func(e *stats.Estimate) any { return unless(e.CV < 0, e.CV) })},
		}
	}
	interval := func(value func(*stats.Interval) any) func(line) any {
		return func(l line) any {
			if l.figure.Interval == nil {
				return nil
			}
			return value(l.figure.Interval)
		}
	}
	list := []Column{
		{"target_a", "", "target of side A", func(l line) any { return l.target.A.Name }},
		{"target_b", "", "target of side B", func(l line) any { return l.target.B.Name }},
		{"subject", "", "query type, all types or load", of(func(f figure) any { return f.Subject })},
		{"metric", "", "metric, as in --fail-if", of(func(f figure) any { return string(f.Metric) })},
		{"unit", "", "unit of a and b", of(func(f figure) any { return string(f.Unit) })},
		{"better", "", "higher or lower", of(func(f figure) any { return string(f.Better) })},
	}
	list = append(append(list, side("a", "A", a)...), side("b", "B", b)...)
	return append(list, []Column{
		{"ratio", "", "B divided by A", of(func(f figure) any { return f.Ratio })},
		{"ratio_bound", "", "at least or at most, where queries were cut off", of(func(f figure) any { return string(f.Ratio.Bound) })},
		{"interval_low", "", "lower end of the interval of the ratio", interval(func(i *stats.Interval) any { return i.Lo })},
		{"interval_high", "", "upper end of the interval of the ratio", interval(func(i *stats.Interval) any { return i.Hi })},
		{"interval_level", "", "confidence level of the interval", interval(func(i *stats.Interval) any { return i.Level })},
		{"p", "", "p-value", of(func(f figure) any { return unless(!f.Decidable(), f.P) })},
		{"p_corrected", "", "p-value, corrected by Holm", of(func(f figure) any { return unless(!f.Decidable(), f.Adjusted) })},
		{"queries", "", "different queries that both sides answered", of(func(f figure) any { return unless(f.Queries == 0, f.Queries) })},
		{"verdict", "", "verdict on B against A", of(func(f figure) any { return string(f.Verdict) })},
		{"why", "", "why there is no verdict", of(func(f figure) any { return f.Why })},
		{"noisy_a", "", "what disturbed the measurement of A", of(func(f figure) any { return f.NoisyA })},
		{"noisy_b", "", "what disturbed the measurement of B", of(func(f figure) any { return f.NoisyB })},
		{"types", "", "query types that the figure is over", of(func(f figure) any { return unless(f.Types == 0, f.Types) })},
	}...)
}

// unless returns value, or nil if absent.
func unless(absent bool, value any) any {
	if absent {
		return nil
	}
	return value
}

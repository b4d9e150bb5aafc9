// Package cell renders figures as cells of tables. A figure that does not exist is a dash.
package cell

import (
	"fmt"
	"math"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/result"
)

// Rate renders a rate with its unit, or a dash if it is not above 0.
func Rate(rate float64, unit string) doc.Span {
	if rate <= 0 {
		return doc.None()
	}
	return doc.Plain(format.Digits(rate) + format.UnitSpace + unit)
}

// Latencies renders the median and the 99th percentile.
func Latencies(l *result.Latency) []doc.Span {
	return []doc.Span{doc.Plain(Latency(l, 0.5, l.Median)), doc.Plain(Latency(l, 0.99, l.P99))}
}

// Median renders the median of an estimate, if there is one.
func Median(e stats.Estimate, render func(float64) string) doc.Span {
	if e.N == 0 {
		return doc.None()
	}
	return doc.Plain(render(e.Median.Figure))
}

// PausedOperations renders the number of operations during which tsmark was paused, or a dash for none.
func PausedOperations(n int64) doc.Span {
	if n == 0 {
		return doc.None()
	}
	return doc.Bad(format.Count(n))
}

// Share renders a part of all cores.
func Share(v result.Value) doc.Span {
	return Figure(v, func(share float64) string { return fmt.Sprintf("%.1f%s%%", 100*share, format.UnitSpace) })
}

// Delay renders a time in seconds, or a dash if it is not known.
func Delay(v result.Value) doc.Span { return Figure(v, format.Duration) }

// Positive renders a value, or a dash if it is not known yet.
func Positive(v float64, render func(float64) string) doc.Span {
	if v <= 0 {
		return doc.None()
	}
	return doc.Plain(render(v))
}

// Latency renders a quantile of a histogram, or a dash if there are too few
// durations for it: see measure.Holds.
func Latency(l *result.Latency, quantile, seconds float64) string {
	if !l.Holds(quantile) {
		return format.None
	}
	return format.Duration(seconds)
}

// ValueIfRecorded renders a figure, or says that it was not recorded.
func ValueIfRecorded(v result.Value, render func(float64) string) doc.Span {
	if !v.IsKnown() {
		return doc.Dim("not recorded")
	}
	return doc.Plain(render(float64(v)))
}

// Interval renders where an estimate lies.
func Interval(e stats.Estimate, render func(float64) string) doc.Span {
	return IntervalOf(e.Interval, render)
}

// IntervalOf renders an interval, if there is one.
func IntervalOf(in *stats.Interval, render func(float64) string) doc.Span {
	if in == nil {
		return doc.None()
	}
	end := func(v stats.Value) string {
		if v.Bound == stats.Unknown {
			return v.Mark()
		}
		return v.Mark() + render(v.Figure)
	}
	return doc.Plain(end(in.Lo) + "–" + end(in.Hi))
}

// IntervalHelp describes the intervals of n rounds or loads.
func IntervalHelp(of string, n int) string {
	if n < 2 {
		return "where the median " + of + " lies, by the queries of one round, with 95 %, or less where there are too few"
	}
	return fmt.Sprintf("where the median %s over %d lies, with %s %%", of, n, format.Digits(100*level(n)))
}

// level is the confidence that order statistics of n repeats allow.
func level(repeats int) float64 {
	e := stats.Summarize(make([]float64, repeats))
	if e.Interval == nil {
		return 0
	}
	return e.Interval.Level
}

// Spread renders the distance to the farther end of an estimate's interval, or "" without an interval.
func Spread(e stats.Estimate) string {
	if e.Interval == nil || e.Median.Bound != stats.Exact {
		return ""
	}
	if e.Interval.Lo.Bound != stats.Exact || e.Interval.Hi.Bound != stats.Exact {
		return ""
	}
	m := e.Median.Figure
	return fmt.Sprintf(" ±%.0f%s%%", math.Ceil(100*max(e.Interval.Hi.Figure-m, m-e.Interval.Lo.Figure)/m), format.UnitSpace)
}

// Figure renders a reading, or a dash if it could not be read.
func Figure(v result.Value, render func(float64) string) doc.Span {
	if !v.IsKnown() {
		return doc.None()
	}
	return doc.Plain(render(float64(v)))
}

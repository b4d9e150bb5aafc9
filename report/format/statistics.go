package format

import (
	"fmt"
	"math"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
)

// ValueText renders a figure, which may be only a bound or unknown.
func ValueText(u compare.Unit, v stats.Value) string {
	if v.Bound == stats.Unknown {
		return v.Mark()
	}
	switch u {
	case compare.Seconds:
		return v.Mark() + Duration(v.Figure)
	case compare.Bytes:
		return v.Mark() + Size(int64(v.Figure))
	case compare.Share:
		return v.Mark() + Percent(v.Figure)
	}
	return v.Mark() + Digits(v.Figure)
}

func VariationText(cv float64, n int) string {
	if cv < 0 || n < 2 {
		return None
	}
	return fmt.Sprintf("%.1f%s%%", 100*cv, UnitSpace)
}

// Times renders a ratio to a tenth of a per cent: small differences matter
// here.
func Times(v stats.Value) string {
	if v.Bound == stats.Unknown {
		return v.Mark()
	}
	switch abs := math.Abs(v.Figure); {
	case abs >= 10:
		return v.Mark() + Digits(v.Figure)
	case abs < 0.1:
		return v.Mark() + fmt.Sprintf("%.3g", v.Figure)
	}
	return v.Mark() + fmt.Sprintf("%.3f", v.Figure)
}

func IntervalText(i *stats.Interval) string {
	if i == nil {
		return None
	}
	text := Times(i.Lo) + " to " + Times(i.Hi)
	if level := LevelText(i); level != "" {
		text += " (" + strings.TrimPrefix(level, ", ") + ")"
	}
	return text
}

// Probability renders a p-value.
func Probability(p float64) string {
	if p < 0.001 {
		return "<0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

// Inverse is a ratio the other way round.
func Inverse(v stats.Value) stats.Value {
	switch v.Bound {
	case stats.AtLeast:
		v.Bound = stats.AtMost
	case stats.AtMost:
		v.Bound = stats.AtLeast
	case stats.Unknown:
		return v
	}
	if v.Figure == 0 {
		return stats.Value{Bound: stats.Unknown}
	}
	v.Figure = 1 / v.Figure
	return v
}

// LevelText returns the level of an interval if it is unusual.
func LevelText(i *stats.Interval) string {
	const careful = 0.99 // of one that was widened for many comparisons: see compare.Figure
	switch {
	case i.Level < stats.Confidence:
		return fmt.Sprintf(", %.0f%s%%", 100*i.Level, UnitSpace)
	case i.Level >= careful:
		return fmt.Sprintf(", %.4g%s%%", 100*i.Level, UnitSpace)
	}
	return ""
}

// WithInterval is a figure with its interval in brackets.
func WithInterval(text string, i *stats.Interval, render func(stats.Value) string) string {
	if i == nil || i.Level < stats.Confidence {
		return text
	}
	return fmt.Sprintf("%s (%s to %s)", text, render(i.Lo), render(i.Hi))
}

// MedianText renders an estimate in seconds.
func MedianText(e stats.Estimate) string {
	if e.N == 0 || e.Median.Bound == stats.Unknown {
		return None
	}
	return e.Median.Mark() + Duration(e.Median.Figure)
}

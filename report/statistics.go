package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
)

// valueText renders what is known of a figure.
func valueText(u compare.Unit, v stats.Value) string {
	if v.Bound == stats.Unknown {
		return v.Mark()
	}
	switch u {
	case compare.Seconds:
		return v.Mark() + duration(v.Figure)
	case compare.Bytes:
		return v.Mark() + size(int64(v.Figure))
	}
	return v.Mark() + digits(v.Figure)
}

func variationText(cv float64, n int) string {
	if cv < 0 || n < 2 {
		return none
	}
	return fmt.Sprintf("%.1f%s%%", 100*cv, unitSpace)
}

// times renders a ratio to a tenth of a per cent: small differences matter
// here.
func times(v stats.Value) string {
	if v.Bound == stats.Unknown {
		return v.Mark()
	}
	switch abs := math.Abs(v.Figure); {
	case abs >= 10:
		return v.Mark() + digits(v.Figure)
	case abs < 0.1:
		return v.Mark() + fmt.Sprintf("%.3g", v.Figure)
	}
	return v.Mark() + fmt.Sprintf("%.3f", v.Figure)
}

func intervalText(i *stats.Interval) string {
	if i == nil {
		return none
	}
	text := times(i.Lo) + " to " + times(i.Hi)
	if level := levelText(i); level != "" {
		text += " (" + strings.TrimPrefix(level, ", ") + ")"
	}
	return text
}

// probability renders a p-value.
func probability(p float64) string {
	if p < 0.001 {
		return "<0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

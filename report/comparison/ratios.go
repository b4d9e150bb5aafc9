package comparison

import (
	"fmt"
	"math"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
)

// verdictLegend returns the styles of ratios by verdict.
func verdictLegend() chart.Legend {
	return chart.Legend{verdictStyle(compare.Faster), verdictStyle(compare.Slower), verdictStyle(compare.NoDifference), verdictStyle("")}
}

// verdictStyle returns the style of a verdict: colour and shape.
func verdictStyle(v compare.Verdict) chart.Style {
	shapes := chart.NewLegend([]string{"", "", "", ""})
	switch v {
	case compare.Faster, compare.Smaller, compare.Fewer:
		return chart.Style{Label: "B is better", Class: "s2", Shape: shapes[0].Shape, Dash: ""}
	case compare.Slower, compare.Larger, compare.More:
		return chart.Style{Label: "B is worse", Class: "s1", Shape: shapes[2].Shape, Dash: ""}
	case compare.NoDifference:
		return chart.Style{Label: "no difference", Class: "s6", Shape: shapes[1].Shape, Dash: ""}
	}
	return chart.Style{Label: "no verdict", Class: "s6", Shape: shapes[3].Shape, Dash: ""}
}

// NewRatios draws the figures that both sides have, or returns nil if they share none. The table below
// the drawing has the others.
func NewRatios(figures []*compare.Figure) *chart.Rows {
	widest := math.Log(1.05) // both ways
	spread := func(v stats.Value) {
		if v.Bound != stats.Unknown && v.Figure > 0 {
			widest = max(widest, math.Abs(math.Log(v.Figure)))
		}
	}
	var shared []*compare.Figure
	for _, f := range figures {
		if f.Verdict == compare.NotCompared || f.Ratio.Bound == stats.Unknown {
			continue
		}
		shared = append(shared, f)
		spread(f.Ratio)
		if f.Interval != nil {
			spread(f.Interval.Lo)
			spread(f.Interval.Hi)
		}
	}
	if shared == nil {
		return nil
	}
	top := 1 + chart.RoundUp(math.Exp(widest)-1)
	at := func(ratio float64) float64 { return min(max(0.5+math.Log(ratio)/math.Log(top)/2, 0), 1) }
	drawing := &chart.Rows{Unit: "B/A"}
	for _, t := range []struct {
		ratio float64
		label string
		minor bool
	}{{1 / top, "÷", false}, {1 / math.Sqrt(top), "÷", true}, {1, "A = B", false}, {math.Sqrt(top), "×", true}, {top, "×", false}} {
		if t.ratio != 1 {
			t.label += chart.Short(format.Digits(max(t.ratio, 1/t.ratio)))
		}
		drawing.Ticks = append(drawing.Ticks, chart.RowTick{At: at(t.ratio), Label: t.label, Minor: t.minor})
	}
	for _, f := range shared {
		drawing.Rows = append(drawing.Rows, chart.Row{Label: rank.Label(f), Tracks: []chart.Track{newRatioTrack(f, at)}})
	}
	return drawing
}

func newRatioTrack(f *compare.Figure, at func(float64) float64) chart.Track {
	l := chart.Track{Style: verdictStyle(f.Verdict), Text: format.Times(f.Ratio), Tone: format.ToneDim, Drawn: true, Marker: true, At: at(f.Ratio.Figure)}
	switch f.Verdict {
	case compare.Faster, compare.Smaller, compare.Fewer:
		l.Tone = format.ToneBest
	case compare.Slower, compare.Larger, compare.More:
		l.Tone = format.ToneBad
	}
	l.Hint = fmt.Sprintf("%s: B/A %s, %s", rank.Label(f), l.Text, f.Verdict)
	if f.Interval == nil {
		return l
	}
	l.Hint = fmt.Sprintf("%s: B/A %s (%s), %s", rank.Label(f), l.Text, format.IntervalText(f.Interval), f.Verdict)
	from, to := 0.0, 1.0 // an unknown end goes on to the edge
	if lo := f.Interval.Lo; lo.Bound == stats.Exact || lo.Bound == stats.AtLeast {
		from = at(lo.Figure)
	}
	if hi := f.Interval.Hi; hi.Bound == stats.Exact || hi.Bound == stats.AtMost {
		to = at(hi.Figure)
	}
	l.Strokes = []chart.Stroke{{Class: "whisker", From: from, To: to}, {Class: "notch", From: from, To: from, Half: 5}, {Class: "notch", From: to, To: to, Half: 5}}
	return l
}

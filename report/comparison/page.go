package comparison

import (
	"fmt"
	"io"
	"math"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/write"
)

// comparisonPage is what the template compare.html shows.
type comparisonPage struct {
	Head    write.Head
	Answers []*doc.ComparisonHeadline
	Parties []doc.Fact
	Notes   []string
	Help    []string
	Legend  chart.Legend
	Targets []comparisonTarget
}

type comparisonTarget struct {
	Name     string
	Facts    []doc.Fact
	Notes    []string
	Sections []comparisonSection
}

// comparisonSection is a table, and its ratios drawn.
type comparisonSection struct {
	Table  *doc.Table
	Ratios *chart.Ratios // nil: there are none
}

func writeComparisonHTML(w io.Writer, c *compare.Comparison) error {
	t, err := write.Templates("compare.html")
	if err != nil {
		return err
	}
	p := comparisonPage{Head: write.Head{Title: "tsmark comparison"}, Parties: partyFacts(c), Notes: c.Notes, Help: comparisonHelp()}
	p.Answers = Headlines(c)
	for _, h := range p.Answers {
		var about []string
		for _, a := range h.Answers[1:] {
			about = append(about, a.Text)
		}
		p.Head.Say(h.Answers[0].Text, append(about, h.Basis...)...)
	}
	for _, v := range []compare.Verdict{compare.Faster, compare.Slower, compare.NoDifference} {
		p.Legend = append(p.Legend, verdictStyle(v))
	}
	for i := range c.Targets {
		target := &c.Targets[i]
		view := comparisonTarget{Name: target.B.Name, Notes: target.Notes, Facts: []doc.Fact{
			{Key: "A", Value: rank.AboutSubject(&target.A)}, {Key: "B", Value: rank.AboutSubject(&target.B)},
		}}
		for _, part := range comparisonParts(target) {
			view.Sections = append(view.Sections, comparisonSection{part.table, NewRatios(part.figures)})
		}
		p.Targets = append(p.Targets, view)
	}
	return t.Execute(w, p)
}

// verdictStyle is how a verdict is drawn: by colour and by shape.
func verdictStyle(v compare.Verdict) chart.Style {
	shapes := chart.NewLegend([]string{"", "", ""})
	switch v {
	case compare.Faster, compare.Smaller:
		return chart.Style{Label: "B is better", Class: "s2", Shape: shapes[0].Shape, Dash: ""}
	case compare.Slower, compare.Larger:
		return chart.Style{Label: "B is worse", Class: "s1", Shape: shapes[2].Shape, Dash: ""}
	}
	return chart.Style{Label: "no difference shown, or no verdict", Class: "s6", Shape: shapes[1].Shape, Dash: ""}
}

// NewRatios draws the figures that both sides have; nil where there is none.
func NewRatios(figures []*compare.Figure) *chart.Ratios {
	widest := math.Log(1.05) // both ways
	spread := func(v stats.Value) {
		if v.Bound != stats.Unknown && v.Figure > 0 {
			widest = max(widest, math.Abs(math.Log(v.Figure)))
		}
	}
	drawn := false
	for _, f := range figures {
		if f.Verdict == compare.NotCompared || f.Ratio.Bound == stats.Unknown {
			continue
		}
		drawn = true
		spread(f.Ratio)
		if f.Interval != nil {
			spread(f.Interval.Lo)
			spread(f.Interval.Hi)
		}
	}
	if !drawn {
		return nil
	}
	top := 1 + chart.RoundUp(math.Exp(widest)-1)
	at := func(ratio float64) string {
		return format.CSSPercent(min(max(0.5+math.Log(ratio)/math.Log(top)/2, 0), 1))
	}
	drawing := &chart.Ratios{}
	for _, t := range []struct {
		ratio        float64
		label, class string
	}{{1 / top, "÷", ""}, {1 / math.Sqrt(top), "÷", "minor"}, {1, "A = B", ""}, {math.Sqrt(top), "×", "minor"}, {top, "×", ""}} {
		if t.ratio != 1 {
			t.label += chart.Short(format.Digits(max(t.ratio, 1/t.ratio)))
		}
		drawing.Ticks = append(drawing.Ticks, chart.RangeTick{X: at(t.ratio), Label: t.label, Class: t.class})
	}
	for _, f := range figures {
		drawing.Rows = append(drawing.Rows, newRatioRow(f, at))
	}
	return drawing
}

func newRatioRow(f *compare.Figure, at func(float64) string) chart.RatioRow {
	r := chart.RatioRow{Label: rank.Label(f), Style: verdictStyle(f.Verdict), Text: string(f.Verdict), Tone: doc.ToneDim}
	if f.Verdict == compare.NotCompared || f.Ratio.Bound == stats.Unknown {
		return r
	}
	r.Dot, r.Text = at(f.Ratio.Figure), format.Times(f.Ratio)
	switch f.Verdict {
	case compare.Faster, compare.Smaller:
		r.Tone = doc.ToneBest
	case compare.Slower, compare.Larger:
		r.Tone = doc.ToneBad
	}
	r.Hint = fmt.Sprintf("%s: B/A %s, %s", r.Label, r.Text, f.Verdict)
	if f.Interval == nil {
		return r
	}
	r.Hint = fmt.Sprintf("%s: B/A %s (%s), %s", r.Label, r.Text, format.IntervalText(f.Interval), f.Verdict)
	// What is not known goes on to the edge.
	r.From, r.To = "0%", "100%"
	if lo := f.Interval.Lo; lo.Bound == stats.Exact || lo.Bound == stats.AtLeast {
		r.From = at(lo.Figure)
	}
	if hi := f.Interval.Hi; hi.Bound == stats.Exact || hi.Bound == stats.AtMost {
		r.To = at(hi.Figure)
	}
	return r
}

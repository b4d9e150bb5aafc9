package report

import (
	"fmt"
	"html/template"
	"io"
	"math"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
)

// comparisonPage is what the template compare.html shows.
type comparisonPage struct {
	Head    pageHead
	Answers []*comparisonHeadline
	Parties []fact
	Notes   []string
	Help    []string
	Legend  legend
	Targets []comparisonTarget
}

type comparisonTarget struct {
	Name     string
	Facts    []fact
	Notes    []string
	Sections []comparisonSection
}

// comparisonSection is a table, and its ratios drawn.
type comparisonSection struct {
	Table  *table
	Ratios *ratios // nil: there are none
}

func writeComparisonHTML(w io.Writer, c *compare.Comparison) error {
	t, err := pageTemplates("compare.html")
	if err != nil {
		return err
	}
	p := comparisonPage{Head: pageHead{Title: "tsmark comparison"}, Parties: partyFacts(c), Notes: c.Notes, Help: comparisonHelp()}
	p.Answers = comparisonHeadlines(c)
	for _, h := range p.Answers {
		var about []string
		for _, a := range h.Answers[1:] {
			about = append(about, a.Text)
		}
		p.Head.say(h.Answers[0].Text, append(about, h.Basis...)...)
	}
	for _, v := range []compare.Verdict{compare.Faster, compare.Slower, compare.NoDifference} {
		p.Legend = append(p.Legend, verdictStyle(v))
	}
	for i := range c.Targets {
		target := &c.Targets[i]
		view := comparisonTarget{Name: target.B.Name, Notes: target.Notes, Facts: []fact{
			{"A", aboutSubject(&target.A)}, {"B", aboutSubject(&target.B)},
		}}
		for _, part := range comparisonParts(target) {
			view.Sections = append(view.Sections, comparisonSection{part.table, newRatios(part.figures)})
		}
		p.Targets = append(p.Targets, view)
	}
	return t.Execute(w, p)
}

// pageTemplates reads a page with the parts that all pages share.
func pageTemplates(name string) (*template.Template, error) {
	return template.New(name).Funcs(template.FuncMap{
		"count":   count,
		"size":    size,
		"percent": percent, // of a share
		"odd":     func(n int) bool { return n%2 == 1 },
		// A remark spans all columns but the first.
		"spanned": func(columns []column) int { return len(columns) - 1 },
	}).ParseFS(pageFiles, name, "parts.html", "style.css")
}

// ratios is a chart of ratios with their intervals on a logarithmic axis, whose
// middle is no change. Positions are per cent of the width.
type ratios struct {
	Ticks []rangeTick
	Rows  []ratioRow
}

type ratioRow struct {
	Label         string
	Style         style
	Dot, From, To string // position; empty: nothing is drawn
	Text          string
	Tone          tone
	Hint          string
}

// verdictStyle is how a verdict is drawn: by colour and by shape.
func verdictStyle(v compare.Verdict) style {
	shapes := newLegend([]string{"", "", ""})
	switch v {
	case compare.Faster, compare.Smaller:
		return style{"B is better", "s2", shapes[0].Shape, ""}
	case compare.Slower, compare.Larger:
		return style{"B is worse", "s1", shapes[2].Shape, ""}
	}
	return style{"no difference shown, or no verdict", "s6", shapes[1].Shape, ""}
}

// newRatios draws the figures that both sides have; nil where there is none.
func newRatios(figures []*compare.Figure) *ratios {
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
	top := 1 + roundUp(math.Exp(widest)-1)
	at := func(ratio float64) string { return percent(min(max(0.5+math.Log(ratio)/math.Log(top)/2, 0), 1)) }
	chart := &ratios{}
	for _, t := range []struct {
		ratio        float64
		label, class string
	}{{1 / top, "÷", ""}, {1 / math.Sqrt(top), "÷", "minor"}, {1, "A = B", ""}, {math.Sqrt(top), "×", "minor"}, {top, "×", ""}} {
		if t.ratio != 1 {
			t.label += short(digits(max(t.ratio, 1/t.ratio)))
		}
		chart.Ticks = append(chart.Ticks, rangeTick{at(t.ratio), t.label, t.class})
	}
	for _, f := range figures {
		chart.Rows = append(chart.Rows, newRatioRow(f, at))
	}
	return chart
}

func newRatioRow(f *compare.Figure, at func(float64) string) ratioRow {
	r := ratioRow{Label: label(f), Style: verdictStyle(f.Verdict), Text: string(f.Verdict), Tone: toneDim}
	if f.Verdict == compare.NotCompared || f.Ratio.Bound == stats.Unknown {
		return r
	}
	r.Dot, r.Text = at(f.Ratio.Figure), times(f.Ratio)
	switch f.Verdict {
	case compare.Faster, compare.Smaller:
		r.Tone = toneBest
	case compare.Slower, compare.Larger:
		r.Tone = toneBad
	}
	r.Hint = fmt.Sprintf("%s: B/A %s, %s", r.Label, r.Text, f.Verdict)
	if f.Interval == nil {
		return r
	}
	r.Hint = fmt.Sprintf("%s: B/A %s (%s), %s", r.Label, r.Text, intervalText(f.Interval), f.Verdict)
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

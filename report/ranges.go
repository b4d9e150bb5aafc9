package report

import (
	"fmt"

	"github.com/tsmark/tsmark/result"
)

// ranges is a chart of medians with their tails, a row for each query type and
// a lane for each subject. Positions are per cent of the width, so that it
// fills any screen with text of one size.
type ranges struct {
	Ticks []rangeTick
	Rows  []rangeRow
}

type rangeTick struct {
	X, Label string
	Class    string // minor: its label may go where there is little room
}

type rangeRow struct {
	Label, Help string
	Height      int // pixels
	Lanes       []lane
}

// lane is one subject's figures, or the word for why it has none.
type lane struct {
	Style            style
	Y                int
	Median, P95, P99 string // position; empty: nothing is drawn
	Bar              string // width of the bar, which ends at the median
	Text             string
	Tone             tone
	Hint             string
}

const laneHeight = 22 // pixels, a line of text in the style sheet

// newRanges draws the figures of a group that stand; nil where none does.
func newRanges(g *group, l legend) *ranges {
	var values []float64
	for n, s := range g.subjects {
		for i := range s.target.Queries {
			q := &s.target.Queries[i]
			if e := g.rankType(q.Type).Estimates[n]; g.draws(n, q) && e.Median.Figure > 0 {
				values = append(values, e.Median.Figure)
				if q.Service.Holds(0.99) {
					values = append(values, q.Service.P99)
				}
			}
		}
	}
	if len(values) == 0 {
		return nil
	}
	axis := newLogAxis(values)
	chart := &ranges{}
	for i, t := range axis.ticks(8) {
		chart.Ticks = append(chart.Ticks, rangeTick{percent(t.At), t.Label, []string{"", "minor"}[i%2]})
	}
	for _, t := range g.types() {
		r := rangeRow{Label: t.Key, Help: t.Value, Height: laneHeight * len(g.subjects)}
		compared, estimates := compareType(g, t.Key), g.rankType(t.Key).Estimates
		for i, s := range g.subjects {
			q := s.queries(t.Key)
			figure := compared.Cells[1+2*i]
			n := lane{Style: l[i], Y: i*laneHeight + laneHeight/2, Text: figure.Text, Tone: figure.Tone}
			switch q.Outcome() {
			case result.Empty:
				n.Text = "empty"
			case result.Unverified:
				n.Text += " unverified"
			}
			if e := estimates[i]; g.draws(i, q) && e.Median.Figure > 0 {
				n.Bar = percent(axis.at(e.Median.Figure))
				n.Median = n.Bar
				n.Hint = fmt.Sprintf("%s, %s: median %s", t.Key, s.Label, medianText(e))
				if e.Interval != nil {
					n.Hint += " (" + interval(e, duration).Text + ")"
				}
				for _, p := range []struct {
					name              string
					quantile, seconds float64
					at                *string
				}{{"p95", 0.95, q.Service.P95, &n.P95}, {"p99", 0.99, q.Service.P99, &n.P99}} {
					if q.Service.Holds(p.quantile) {
						*p.at = percent(max(0, axis.at(p.seconds)))
						n.Hint += ", " + p.name + " " + duration(p.seconds)
					}
				}
			}
			r.Lanes = append(r.Lanes, n)
		}
		chart.Rows = append(chart.Rows, r)
	}
	return chart
}

// drawn reports whether charts show the figures of a type. Empty answers are
// left out: they would look like the fastest. So are TSBS's texts, which do not ask
// what their neighbours are asked.
func drawn(q *result.Queries) bool {
	s := q.Outcome()
	return (s == result.Verified || s == result.Unverified && q.Texts == "") && q.Service.Median > 0
}

// draws reports whether charts of the group show the figures of a type of a subject: drawn
// beside others, a stand-in would be compared with them.
func (g *group) draws(i int, q *result.Queries) bool {
	return drawn(q) && (len(g.subjects) == 1 || g.subjects[i].target.Uncomparable() == "")
}

func percent(v float64) string { return fmt.Sprintf("%.2f%%", v*100) }

package runchart

import (
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/result"
)

// Relative draws a group's ratios. It returns nil if no two subjects are compared.
func Relative(g *rank.Group, h *doc.Headline, l chart.Legend) *chart.Rows {
	if h == nil || h.Queries == nil && h.Loads == nil {
		return nil
	}
	drawing := &chart.Rows{Axis: "times the fastest, logarithmic: shorter is better"}
	most := 1.0
	type mark struct {
		track  *chart.Track
		times  float64
		within *stats.Interval
	}
	var marks []mark
	for _, s := range []*doc.Ranking{h.Queries, h.Loads} {
		if s == nil || s == h.Queries && len(g.Types()) == 1 { // which has a row of its own
			continue
		}
		r := chart.Row{Label: "All query types", Help: s.Help, Overall: true, Tracks: make([]chart.Track, len(s.Places))}
		if s == h.Loads {
			r.Label = "Load"
		}
		for n, p := range s.Places {
			r.Tracks[n] = chart.Track{Solid: true, Style: l[p.Subject], Text: p.Text, Beside: strings.TrimPrefix(p.Within, " "), Tone: p.Tone, Pale: p.Tone == format.ToneDim, Hint: r.Label + ", " + p.Label + ": " + strings.TrimPrefix(p.Text, rank.ChanceMark) + p.Within}
			marks = append(marks, mark{track: &r.Tracks[n], times: p.Times, within: p.Interval})
		}
		drawing.Rows = append(drawing.Rows, r)
	}
	for _, t := range g.Types() {
		ranked, cells := g.RankType(t.Key), rank.TypeRow(g, t.Key).Cells[1:]
		r := chart.Row{Label: t.Key, Help: t.Value, Tracks: make([]chart.Track, len(g.Subjects))}
		for i, s := range g.Subjects {
			figure, times := cells[2*i], cells[2*i+1]
			n := &r.Tracks[i]
			*n = chart.Track{Solid: true, Style: l[i], Text: times.Text, Tone: times.Tone, Beside: figure.Text, Hint: format.Join(", ", t.Key, s.Label+": "+figure.Text, strings.TrimPrefix(times.Text, rank.ChanceMark))}
			if n.Text == "" {
				n.Text, n.Tone, n.Beside = figure.Text, figure.Tone, ""
			}
			if s.Queries(t.Key).Outcome() != result.Verified || ranked.Reference < 0 {
				continue
			}
			switch f := ranked.Figures[i]; {
			case i == ranked.Reference:
				n.Pale = !ranked.Sole
				marks = append(marks, mark{track: n, times: 1, within: nil})
			case f != nil && f.Ratio.Bound != stats.Unknown:
				n.Pale = !f.Significant()
				within := f.Interval
				if f.Method != compare.AcrossRepeats {
					within = nil
				}
				marks = append(marks, mark{track: n, times: f.Ratio.Figure, within: within})
			}
		}
		drawing.Rows = append(drawing.Rows, r)
	}
	for _, m := range marks {
		most = max(most, m.times)
		if m.within != nil && m.within.Hi.Bound == stats.Exact {
			most = max(most, m.within.Hi.Figure)
		}
	}
	axis := chart.LogAxis{Low: 1, High: max(2, chart.RoundUp(most))}
	place := func(times float64) float64 { return min(1, max(0, axis.Place(times))) }
	for _, m := range marks {
		m.track.Drawn, m.track.Bar = true, place(m.times)
		if m.within != nil && m.within.Lo.Bound == stats.Exact && m.within.Hi.Bound == stats.Exact {
			m.track.Strokes = []chart.Stroke{{Class: "interval", From: place(m.within.Lo.Figure), To: place(m.within.Hi.Figure)}}
		}
	}
	drawing.Ticks = chart.TimesTicks(axis)
	return drawing
}

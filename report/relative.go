package report

import (
	"math"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/result"
)

// relative is a chart of how many times the best each subject takes: a row for
// all query types together, for the loads, and for each type. The axis is
// logarithmic and begins at 1×.
type relative struct {
	Ticks []tick
	Rows  []relativeRow
}

type relativeRow struct {
	Label, Help string
	Overall     bool
	Height      int // pixels
	Lanes       []relativeLane
}

// relativeLane is one subject's bar, or the word for why it has none.
type relativeLane struct {
	Style  style
	Y      int // of its middle
	Drawn  bool
	Bar    float64 // its length, from 0 to 1
	Within bool    // there is an interval, from Lo to Hi
	Lo, Hi float64
	Chance bool // not shown to differ from the best
	Text   string
	Tone   tone
	Beside string // the figure itself
	Hint   string
}

// newRelative draws a group's ratios; nil where no two subjects are compared.
func newRelative(g *group, h *headline, l legend) *relative {
	if h == nil || h.Queries == nil && h.Loads == nil {
		return nil
	}
	chart := &relative{}
	most := 1.0
	type mark struct {
		lane   *relativeLane
		times  float64
		within *stats.Interval
	}
	var marks []mark
	for _, s := range []*standings{h.Queries, h.Loads} {
		if s == nil || s == h.Queries && len(g.types()) == 1 { // which has a row of its own
			continue
		}
		r := relativeRow{Label: "All query types", Help: s.Help, Overall: true, Lanes: make([]relativeLane, len(s.Places))}
		if s == h.Loads {
			r.Label = "Load"
		}
		for n, p := range s.Places {
			r.Lanes[n] = relativeLane{Style: l[p.Subject], Text: p.Text, Tone: p.Tone, Chance: p.Tone == toneDim, Hint: r.Label + ", " + p.Label + ": " + p.Text}
			marks = append(marks, mark{&r.Lanes[n], p.Times, p.Interval})
		}
		chart.Rows = append(chart.Rows, r)
	}
	for _, t := range g.types() {
		ranked, cells := g.rankType(t.Key), compareType(g, t.Key).Cells[1:]
		r := relativeRow{Label: t.Key, Help: t.Value, Lanes: make([]relativeLane, len(g.subjects))}
		for i, s := range g.subjects {
			figure, times := cells[2*i], cells[2*i+1]
			n := &r.Lanes[i]
			*n = relativeLane{Style: l[i], Text: times.Text, Tone: times.Tone, Beside: figure.Text, Hint: joined(", ", t.Key, s.Label+": "+figure.Text, times.Text)}
			if n.Text == "" {
				n.Text, n.Tone, n.Beside = figure.Text, figure.Tone, ""
			}
			if s.queries(t.Key).Outcome() != result.Verified || ranked.Reference < 0 {
				continue
			}
			switch f := ranked.Figures[i]; {
			case i == ranked.Reference:
				n.Chance = !ranked.Sole
				marks = append(marks, mark{n, 1, nil})
			case f != nil && f.Ratio.Bound != stats.Unknown:
				n.Chance = !f.Significant()
				within := f.Interval
				if f.Method != compare.AcrossRepeats {
					within = nil
				}
				marks = append(marks, mark{n, f.Ratio.Figure, within})
			}
		}
		chart.Rows = append(chart.Rows, r)
	}
	for _, m := range marks {
		most = max(most, m.times)
		if m.within != nil && m.within.Hi.Bound == stats.Exact {
			most = max(most, m.within.Hi.Figure)
		}
	}
	axis := logAxis{1, max(2, roundUp(most))}
	place := func(times float64) float64 { return min(1, max(0, axis.at(times))) }
	for _, m := range marks {
		m.lane.Drawn, m.lane.Bar = true, place(m.times)
		if m.within != nil && m.within.Lo.Bound == stats.Exact && m.within.Hi.Bound == stats.Exact {
			m.lane.Within, m.lane.Lo, m.lane.Hi = true, place(m.within.Lo.Figure), place(m.within.Hi.Figure)
		}
	}
	for i := range chart.Rows {
		r := &chart.Rows[i]
		r.Height = laneHeight * len(r.Lanes)
		for n := range r.Lanes {
			r.Lanes[n].Y = n*laneHeight + laneHeight/2
		}
	}
	chart.Ticks = timesTicks(axis)
	return chart
}

// timesTicks are at 1, 2, 5, 10 and so on, or at powers of ten on a long axis.
func timesTicks(axis logAxis) []tick {
	factors := []float64{1, 2, 5}
	if axis.high > 1000 {
		factors = factors[:1]
	}
	var ticks []tick
	for power := 1.0; power <= axis.high; power *= 10 {
		for _, f := range factors {
			if v := f * power; v <= axis.high*1.001 && !math.IsInf(v, 0) {
				ticks = append(ticks, tick{axis.at(v), count(int64(v)) + "×"})
			}
		}
	}
	return ticks
}

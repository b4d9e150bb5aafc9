package report

import (
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/result"
)

// bars compares the loads of a group, figure by figure.
type bars []barRow

type barRow struct {
	Label, Help string
	Lanes       []bar
}

type bar struct {
	Style style
	Width string // per cent of the longest of the row; empty: nothing is drawn
	Text  string
}

// newBars draws the loads that stand; nil where none does.
func newBars(g *group, l legend) bars {
	rate := func(of func(*result.Load) float64) func(*result.Target) (float64, string) {
		return func(t *result.Target) (float64, string) {
			e := estimate.Load(t, of)
			if e.N == 0 {
				return 0, "n/a"
			}
			return e.Median.Figure, digits(e.Median.Figure)
		}
	}
	var chart bars
	for _, figure := range []struct {
		label, help string
		of          func(*result.Target) (float64, string)
	}{
		{"Rows/s sent", "until the last row was handed over", rate(estimate.Sent)},
		{"Rows/s acknowledged", "until the last row was acknowledged", rate(estimate.Acked)},
		{"Rows/s settled", "until all rows were visible and background work idle", rate(estimate.Settled)},
		{"Bytes on disk", "after settling; less is better", func(t *result.Target) (float64, string) {
			e := estimate.Load(t, estimate.Disk)
			if e.N == 0 {
				if t.Load.DiskPending != "" {
					return 0, incomplete
				}
				return 0, "not known"
			}
			return e.Median.Figure, size(int64(e.Median.Figure))
		}},
	} {
		r := barRow{Label: figure.label, Help: figure.help}
		longest := 0.0
		for _, s := range g.subjects {
			if settledRate(s.target.Load) > 0 {
				v, _ := figure.of(s.target)
				longest = max(longest, v)
			}
		}
		for i, s := range g.subjects {
			lane := bar{Style: l[i], Text: none}
			switch {
			case s.target.Load != nil && !s.target.Load.Stands():
				lane.Text = s.target.Load.Word()
			case settledRate(s.target.Load) > 0:
				var v float64
				if v, lane.Text = figure.of(s.target); v > 0 {
					lane.Width = percent(v / longest)
				}
			}
			r.Lanes = append(r.Lanes, lane)
		}
		if longest > 0 {
			chart = append(chart, r)
		}
	}
	return chart
}

package report

import (
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
	rate := func(of func(*result.Load) float64) func(*result.Load) (float64, string) {
		return func(load *result.Load) (float64, string) {
			seconds := of(load)
			if seconds <= 0 {
				return 0, "n/a"
			}
			return float64(load.Rows) / seconds, digits(float64(load.Rows) / seconds)
		}
	}
	var chart bars
	for _, figure := range []struct {
		label, help string
		of          func(*result.Load) (float64, string)
	}{
		{"Rows/s sent", "until the last row was handed over", rate(func(l *result.Load) float64 { return l.Sent })},
		{"Rows/s acknowledged", "until the last row was acknowledged", rate(func(l *result.Load) float64 { return l.Acked })},
		{"Rows/s settled", "until all rows were visible and background work idle", rate(func(l *result.Load) float64 { return l.Settled })},
		{"Bytes on disk", "after settling; less is better", func(l *result.Load) (float64, string) {
			if l.DiskBytes < 0 {
				return 0, "not known"
			}
			return float64(l.DiskBytes), size(l.DiskBytes)
		}},
	} {
		r := barRow{Label: figure.label, Help: figure.help}
		longest := 0.0
		for _, s := range g.subjects {
			if settledRate(s.target.Load) > 0 {
				v, _ := figure.of(s.target.Load)
				longest = max(longest, v)
			}
		}
		for i, s := range g.subjects {
			lane := bar{Style: l[i], Text: none}
			switch {
			case s.target.Load != nil && s.target.Load.Withheld != "":
				lane.Text = "withheld"
			case settledRate(s.target.Load) > 0:
				var v float64
				if v, lane.Text = figure.of(s.target.Load); v > 0 {
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

package runchart

import (
	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
	"github.com/tsmark/tsmark/report/tables"
	"github.com/tsmark/tsmark/result"
)

// Bars draws the valid loads. It returns nil without valid loads.
func Bars(g *rank.Group, l chart.Legend) *chart.Rows {
	rate := func(of func(*result.Load) float64) func(*result.Target) (float64, string) {
		return func(t *result.Target) (float64, string) {
			e := estimate.Load(t, of)
			if e.N == 0 {
				return 0, "n/a"
			}
			return e.Median.Figure, format.Digits(e.Median.Figure)
		}
	}
	drawing := &chart.Rows{}
	for _, figure := range []struct {
		label, help string
		of          func(*result.Target) (float64, string)
	}{
		{"Rows/s sent", "until the last row was handed over", rate(estimate.SentRate)},
		{"Rows/s acknowledged", "until the last row was acknowledged", rate(estimate.AckedRate)},
		{"Rows/s settled", "until all rows were visible and background work idle", rate(estimate.SettledRate)},
		{"Bytes on disk", "after settling; less is better", func(t *result.Target) (float64, string) {
			e := estimate.Load(t, estimate.Disk)
			if e.N == 0 {
				if t.Load.DiskPending != "" {
					return 0, tables.Incomplete
				}
				return 0, "not known"
			}
			return e.Median.Figure, format.Size(int64(e.Median.Figure))
		}},
	} {
		r := chart.Row{Label: figure.label, Help: figure.help}
		longest := 0.0
		for _, s := range g.Subjects {
			if rank.SettledRate(s.Target.Load) > 0 {
				v, _ := figure.of(s.Target)
				longest = max(longest, v)
			}
		}
		for i, s := range g.Subjects {
			track := chart.Track{Style: l[i], Solid: true, Text: format.None}
			switch {
			case s.Target.Load != nil && !s.Target.Load.HasFigures():
				track.Text = s.Target.Load.Word()
			case rank.SettledRate(s.Target.Load) > 0:
				var v float64
				if v, track.Text = figure.of(s.Target); v > 0 {
					track.Drawn, track.Bar = true, v/longest
				}
			}
			r.Tracks = append(r.Tracks, track)
		}
		if longest > 0 {
			drawing.Rows = append(drawing.Rows, r)
		}
	}
	if len(drawing.Rows) == 0 {
		return nil
	}
	return drawing
}

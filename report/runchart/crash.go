package runchart

import (
	"cmp"
	"slices"

	"github.com/tsmark/tsmark/report/chart"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
)

// leastSizes is the number of sizes of the data from which recovery is drawn.
const leastSizes = 3

// Recovery draws how long targets took after crashes until they had every acknowledged row again, over the size of
// their data: in bytes, or in rows if a size is unknown. It returns nil unless a target recovered at three sizes.
func Recovery(g *rank.Group, l chart.Legend) *chart.Lines {
	inBytes := true
	for _, s := range g.Subjects {
		for _, r := range slices.Concat(estimate.RestartRounds(s.Target)...) {
			inBytes = inBytes && r.Bytes >= 0
		}
	}
	axis, drawn := "rows before the crash", false
	if inBytes {
		axis = "bytes on disk before the crash"
	}
	curves := make([][]chart.Pair, len(g.Subjects))
	for i, s := range g.Subjects {
		sizes := make(map[int64]bool)
		for _, r := range slices.Concat(estimate.RestartRounds(s.Target)...) {
			if !r.Intact() || r.Complete <= 0 {
				continue
			}
			size, text := r.Stored, format.CountOf(r.Stored, "row", "rows")
			if inBytes {
				size, text = r.Bytes, format.Size(r.Bytes)
			}
			sizes[size] = true
			curves[i] = append(curves[i], chart.Pair{X: float64(size), Y: r.Complete, Hint: s.Label + ", " + rank.CrashName(r.Kind) + " at " + text + ": complete after " + format.Duration(r.Complete)})
		}
		slices.SortStableFunc(curves[i], func(a, b chart.Pair) int { return cmp.Compare(a.X, b.X) })
		drawn = drawn || len(sizes) >= leastSizes
	}
	if !drawn {
		return nil
	}
	return chart.PairCurves(chart.NewLines("Until complete", "", axis, "time"), l, curves)
}

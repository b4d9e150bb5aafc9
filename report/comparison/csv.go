package comparison

import (
	"io"
	"strconv"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/write"
)

// writeCSV writes a line per figure, that of all query types first: all
// metrics, those that the tables leave out too. Seconds, rows a second and bytes, as unit says; empty
// where there is no figure.
func writeCSV(w io.Writer, c *compare.Comparison) error {
	out := write.NewCSV(w)
	if err := out.Write([]string{
		"target_a", "target_b", "subject", "metric", "unit", "better", "a", "a_bound", "a_n", "a_cv", "b", "b_bound", "b_n", "b_cv",
		"ratio", "ratio_bound", "interval_low", "interval_high", "interval_level", "p", "p_corrected", "queries", "verdict", "why", "noisy_a", "noisy_b", "types",
	}); err != nil {
		return err
	}
	for i := range c.Targets {
		target := &c.Targets[i]
		for _, first := range []bool{true, false} {
			for j := range target.Figures {
				f := &target.Figures[j]
				if first != (f.Metric == compare.GeoMean) {
					continue
				}
				if err := out.Write(comparisonLine(target, f)); err != nil {
					return err
				}
			}
		}
	}
	out.Flush()
	return out.Error()
}

func comparisonLine(target *compare.Target, f *compare.Figure) []string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 9, 64) }
	known := func(v stats.Value) string {
		if v.Bound == stats.Unknown {
			return ""
		}
		return number(v.Figure)
	}
	line := []string{target.A.Name, target.B.Name, f.Subject, string(f.Metric), string(f.Unit), string(f.Better)}
	for _, side := range []*stats.Estimate{&f.A, &f.B} {
		if side.N == 0 {
			line = append(line, "", "", "", "")
			continue
		}
		cv := ""
		if side.CV >= 0 {
			cv = number(side.CV)
		}
		line = append(line, known(side.Median), string(side.Median.Bound), strconv.Itoa(side.N), cv)
	}
	line = append(line, known(f.Ratio), string(f.Ratio.Bound))
	if x := f.Interval; x != nil {
		line = append(line, known(x.Lo), known(x.Hi), number(x.Level))
	} else {
		line = append(line, "", "", "")
	}
	if f.Decidable() {
		line = append(line, number(f.P), number(f.Adjusted))
	} else {
		line = append(line, "", "")
	}
	some := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	return append(line, some(f.Queries), string(f.Verdict), f.Why, f.NoisyA, f.NoisyB, some(f.Types))
}

package report

import (
	"fmt"
	"math"

	"github.com/tsmark/tsmark/compare"
	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/result"
)

// repeats says how much one can conclude from so many runs.
func repeats(runs []*result.Run) string {
	switch {
	case len(runs) == 0:
		return ""
	case len(runs) > 1:
		return plural(len(runs), "run") + ", each shown by itself; tsmark compare says which differences are more than chance"
	}
	loads, asked, measured := 0, 0, false
	for i := range runs[0].Targets {
		t := &runs[0].Targets[i]
		loads = max(loads, len(loadRates(t)))
		measured = measured || t.Load != nil
		for _, q := range t.Queries {
			measured = measured || q.Asked > 0
			asked = max(asked, len(medians(t, q.Type)))
		}
	}
	switch {
	case !measured:
		return "nothing was measured"
	case loads < 2 && asked < 2:
		return "one repeat: no confidence interval"
	case loads == 1:
		return fmt.Sprintf("%s of the questions, one load", plural(asked, "repeat"))
	case loads == 0:
		return fmt.Sprintf("%s of the questions", plural(asked, "repeat"))
	}
	return fmt.Sprintf("%s of the load, %d of the questions", plural(loads, "repeat"), asked)
}

// medians returns the median service time of a type in each repeat, over the
// questions that all repeats got to.
func medians(t *result.Target, queryType string) []float64 {
	var each [][]float64
	for i := range t.Repeats {
		if q := t.Repeats[i].Type(queryType); q != nil && q.Asked > 0 {
			each = append(each, q.Each)
		}
	}
	if len(each) == 0 {
		return nil
	}
	var list []float64
	for _, times := range compare.Common(each...) {
		if len(times) > 0 {
			list = append(list, stats.Median(times))
		}
	}
	return list
}

// loadRates returns the settled rows a second of each load that stands.
func loadRates(t *result.Target) []float64 {
	var list []float64
	for _, r := range t.Repeats {
		if rate := settledRate(r.Load); rate > 0 {
			list = append(list, rate)
		}
	}
	return list
}

// interval renders where the median of repeats lies; none of fewer than two.
func interval(repeats []float64, render func(float64) string) cell {
	e := stats.Summarize(repeats)
	if e.Interval == nil {
		return cell{none, dim}
	}
	return cell{Text: render(e.Interval.Lo.Figure) + "–" + render(e.Interval.Hi.Figure)}
}

// intervalHelp says what an interval of so many repeats is.
func intervalHelp(of string, repeats int) string {
	return fmt.Sprintf("where the median %s over the repeats lies, with %s %%", of, digits(100*level(repeats)))
}

// level is the confidence that order statistics of so many repeats allow.
func level(repeats int) float64 {
	e := stats.Summarize(make([]float64, repeats))
	if e.Interval == nil {
		return 0
	}
	return e.Interval.Level
}

// pair compares two subjects; nil where nothing can be compared.
func (g *group) pair(a, b int) *compare.Comparison {
	key := [2]int{a, b}
	c, known := g.pairs[key]
	if !known {
		side := func(s *subject) compare.Side {
			return compare.Side{Runs: []*result.Run{s.run}, Target: s.target.Name}
		}
		c, _ = compare.Runs(side(&g.subjects[a]), side(&g.subjects[b]), compare.Options{})
		if g.pairs == nil {
			g.pairs = make(map[[2]int]*compare.Comparison)
		}
		g.pairs[key] = c
	}
	return c
}

// figure returns how a figure of one subject compares with another's; nil where
// it cannot.
func (g *group) figure(a, b int, what string, metric compare.Metric) *compare.Figure {
	c := g.pair(a, b)
	if c == nil {
		return nil
	}
	for i := range c.Targets[0].Figures {
		if f := &c.Targets[0].Figures[i]; f.Subject == what && f.Metric == metric {
			return f
		}
	}
	return nil
}

// chance reports whether what two subjects differ by in a type, or in
// compare.LoadSubject, may be chance: repeats were made, and no difference was
// shown.
func (g *group) chance(a, b int, what string) bool {
	metric := compare.Median
	if what == compare.LoadSubject {
		metric = compare.Load
	}
	f := g.figure(a, b, what, metric)
	return f != nil && f.Verdict == compare.NoDifference
}

// chanceMark stands before a ratio that may be chance.
const chanceMark = "~"

// doubted marks a ratio that may be chance.
func doubted(cells []cell) []cell {
	cells[1].Text = chanceMark + cells[1].Text
	return cells
}

// indexOfBest returns which figure is the best: the smallest, but for those
// that are not finite.
func indexOfBest(figures []float64) int {
	at, smallest := -1, math.Inf(1)
	for i, f := range figures {
		if f < smallest {
			at, smallest = i, f
		}
	}
	return at
}

package rank

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/result"
)

// MixedTypes lists the query types that ran on targets while rows were written, in their order.
func MixedTypes(targets ...*result.Target) []string {
	var names []string
	for _, t := range targets {
		if t.Load == nil || t.Load.Mixed == nil {
			continue
		}
		for _, q := range t.Load.Mixed.Types {
			if !slices.Contains(names, q.Type) {
				names = append(names, q.Type)
			}
		}
	}
	return names
}

// MixedTypes lists those of the group.
func (g *Group) MixedTypes() []string {
	var targets []*result.Target
	for _, s := range g.Subjects {
		targets = append(targets, s.Target)
	}
	return MixedTypes(targets...)
}

// MixedEstimate is the estimate of a query type while rows were written, over the loads of a
// target; its N is 0 where a load lacks the figure.
func MixedEstimate(t *result.Target, queryType string, metric compare.Metric) stats.Estimate {
	return mixedEstimate(t, func(l *result.Load) float64 {
		seconds, _ := compare.MixedTime(l, queryType, metric)
		return seconds
	})
}

// MixedRate is the estimate of the rows written a second while queries ran.
func MixedRate(t *result.Target) stats.Estimate {
	return mixedEstimate(t, func(l *result.Load) float64 {
		if l.Mixed == nil {
			return 0
		}
		w := &l.Mixed.Writes
		return result.PerSecond(w.Rows, cmp.Or(w.Acked, w.Sent))
	})
}

func mixedEstimate(t *result.Target, of func(*result.Load) float64) stats.Estimate {
	var list []float64
	for _, r := range t.MeasuredRepeats() {
		if r.Load == nil {
			continue
		}
		v := of(r.Load)
		if v == 0 || !r.Load.HasFigures() || r.Load.Unverified != "" {
			return stats.Estimate{}
		}
		list = append(list, v)
	}
	if len(list) == 0 {
		return stats.Estimate{}
	}
	return stats.Summarize(list)
}

// RankMixed ranks a query type by its median while rows were written.
func (g *Group) RankMixed(queryType string) Ranking {
	return g.remember(compare.MixedSubject+" "+queryType, func() Ranking {
		estimates := make([]stats.Estimate, len(g.Subjects))
		for i, s := range g.Subjects {
			estimates[i] = MixedEstimate(s.Target, queryType, compare.MixedMedian)
		}
		return g.rank(queryType, compare.MixedMedian, estimates, func(i int) (compared, best bool) {
			known := g.ReasonUnranked(i) == "" && estimates[i].N > 0
			return known, known && estimates[i].Median.Bound == stats.Exact
		})
	})
}

// MixedCells are a subject's cells of a query type while rows were written: the median, the 99th
// percentile, and the median as a multiple of the best one.
func (g *Group) MixedCells(i int, queryType string) []doc.Span {
	t, ranked := g.Subjects[i].Target, g.RankMixed(queryType)
	if e := ranked.Estimates[i]; e.N > 0 {
		times := g.placeOf(i, &ranked)
		cells := []doc.Span{doc.WithTone(format.MedianText(e), winner(times)), doc.None(), times}
		if p99 := MixedEstimate(t, queryType, compare.MixedP99); p99.N > 0 {
			cells[1] = doc.Plain(format.MedianText(p99))
		}
		return cells
	}
	if t.Load == nil || t.Load.Mixed == nil {
		return []doc.Span{doc.None(), doc.None(), {}}
	}
	_, missing := compare.MixedTime(t.Load, queryType, compare.MixedMedian)
	if missing == "" {
		missing = "not verified"
	}
	word, _, _ := strings.Cut(missing, ":")
	cells := []doc.Span{doc.None(), doc.None(), doc.Dim(word)}
	if word != "n/a" && word != "not run" {
		cells[2].Tone = format.ToneBad
	}
	return cells
}

// mixedNotes describe the queries of each target while rows were written, the saturated targets
// first.
func (g *Group) mixedNotes() (list []doc.Span) {
	var parts []string
	for i := range g.Subjects {
		t := g.Subjects[i].Target
		if t.Load == nil || t.Load.Mixed == nil || !t.Load.HasFigures() || t.Failure != "" || t.Uncomparable() != "" {
			continue
		}
		m := t.Load.Mixed
		if m.Saturated != "" {
			list = append(list, doc.Bad(g.Subjects[i].Label+" is saturated while rows are written: "+strings.TrimPrefix(m.Saturated, "saturated: ")))
			continue
		}
		parts = append(parts, g.Subjects[i].Label+" "+mixedSummary(t))
	}
	if len(parts) > 0 {
		list = append(list, doc.Plain("While rows were written: "+strings.Join(parts, "; ")))
	}
	return list
}

// mixedSummary describes the queries of a target while rows were written: the range of their 99th
// percentiles, or else of their medians.
func mixedSummary(t *result.Target) string {
	var medians, p99s []float64
	verified, run := 0, 0
	types := MixedTypes(t)
	for i := range t.Load.Mixed.Types {
		q := &t.Load.Mixed.Types[i]
		if q.Unsupported == "" {
			run++
		}
		if !q.WithoutFigure() && q.Verdict.OK() {
			verified++
		}
		if e := MixedEstimate(t, q.Type, compare.MixedMedian); e.N > 0 {
			medians = append(medians, e.Median.Figure)
		}
		if e := MixedEstimate(t, q.Type, compare.MixedP99); e.N > 0 {
			p99s = append(p99s, e.Median.Figure)
		}
	}
	name, shown, few := "p99 ", p99s, ""
	if n := len(medians) - len(p99s); n > 0 {
		name, shown = "median ", medians
		few = fmt.Sprintf(", too few queries for p99 in %d of them", n)
		if len(types) == 1 {
			few = ", too few queries for p99"
		}
	}
	text := "no comparable figure"
	if len(shown) > 0 {
		text = name + format.Duration(slices.Min(shown))
		if len(shown) > 1 {
			text += " to " + format.Duration(slices.Max(shown))
		}
		if len(types) > 1 {
			text += " over " + format.Plural(len(shown), "query type")
		} else {
			text += " of " + types[0]
		}
	}
	text += few + fmt.Sprintf(", %d of %d verified", verified, run)
	if e := MixedRate(t); e.N > 0 {
		text += ", at " + format.Digits(e.Median.Figure) + " rows/s"
	}
	return text
}

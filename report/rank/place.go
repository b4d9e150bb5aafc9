package rank

import (
	"strings"

	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/result"
)

// WithheldTone returns the tone of the reason for a withheld load.
func WithheldTone(l *result.Load) format.Tone {
	if l.UnsupportedReason() != "" {
		return format.ToneDim
	}
	return format.ToneBad
}

// LoadRow sets the settled rates of the loads beside each other. It is false if no subject has
// one.
func LoadRow(g *Group) (doc.Row, bool) {
	ranked := g.RankLoads()
	cells := []doc.Span{doc.Plain("load, settled rows/s")}
	found := false
	for i, s := range g.Subjects {
		switch e := &ranked.Estimates[i]; {
		case s.Target.Load != nil && !s.Target.Load.HasFigures():
			cells = append(cells, doc.WithTone(s.Target.Load.Word(), WithheldTone(s.Target.Load)), doc.Span{})
		case e.N == 0:
			cells = append(cells, doc.None(), doc.Span{})
		default:
			found = true
			figure, times := doc.Plain(format.Digits(e.Median.Figure)), g.placeOf(i, &ranked)
			figure.Tone = winner(times)
			figure.Text += Marks(s.Target, compare.LoadSubject)
			cells = append(cells, figure, times)
		}
	}
	return doc.Row{Cells: cells}, found
}

// placeOf returns the cell beside a subject's figure: its place in a ranking, or that it is
// not ranked.
func (g *Group) placeOf(i int, ranked *Ranking) doc.Span {
	if g.ReasonUnranked(i) != "" {
		return doc.Dim(NotRanked)
	}
	return ranked.ratioCell(i)
}

// NotRanked is shown beside figures of a target that has no place in the ranking.
const NotRanked = string(compare.NotRanked)

// winner returns the tone of a figure from the cell beside it.
func winner(times doc.Span) format.Tone {
	switch {
	case times.Tone == format.ToneBest:
		return format.ToneBest
	case times.Text == NotRanked:
		return format.ToneDim
	}
	return format.TonePlain
}

// TypeRow sets the medians over the queries that all verified targets
// answered beside each other: a target that got further in its time box is
// not judged by other queries.
func TypeRow(g *Group, queryType string) doc.Row {
	ranked := g.RankType(queryType)
	cells := []doc.Span{doc.Plain(queryType)}
	for i, s := range g.Subjects {
		median := format.MedianText(ranked.Estimates[i])
		switch s.Queries(queryType).Outcome() {
		case result.NotRun:
			cells = append(cells, doc.None(), doc.Span{})
		case result.Unsupported:
			cells = append(cells, doc.Dim("n/a"), doc.Span{})
		case result.Withheld, result.Failed:
			word, _ := s.Queries(queryType).MissingFigure()
			cells = append(cells, doc.Bad(word), doc.Span{})
		case result.Empty:
			cells = append(cells, doc.Dim(median), doc.Dim("empty"))
		case result.Unverified:
			if q := s.Queries(queryType); q.Texts != "" { // its text is not equivalent to the other targets'
				cells = append(cells, doc.Dim(q.TextName()), doc.Dim(q.Verdict.String()))
				continue
			}
			cells = append(cells, doc.Dim(median), doc.Dim("not verified"))
		case result.Verified:
			if s.Queries(queryType).TooSlow() {
				cells = append(cells, doc.Dim(median), doc.Dim("too slow"))
				continue
			}
			if word, _, no := strings.Cut(s.Queries(queryType).ReasonUncompared(), ":"); no {
				cells = append(cells, doc.Dim(median), doc.Bad(word))
				continue
			}
			figure, times := doc.Plain(median), g.placeOf(i, &ranked)
			figure.Tone = winner(times)
			figure.Text += Marks(s.Target, queryType)
			cells = append(cells, figure, times)
		}
	}
	return doc.Row{Cells: cells}
}

// CommonCell shows the number of different queries of a type that are compared.
func CommonCell(g *Group, queryType string) doc.Span {
	most, verified := 0, 0
	for i, sample := range g.Samples(queryType) {
		if estimate.Verified(g.Subjects[i].Target, queryType) {
			verified++
			most = max(most, sample.Queries())
		}
	}
	if verified < 2 {
		return doc.None()
	}
	return doc.Plain(format.Count(int64(most)))
}

// OrientPair adds a pair so that its ratio is 1 or more: where the rounds show no
// difference, the pairs of rounds may say otherwise than the medians.
func (g *Group) OrientPair(add func(string, int, int, *compare.Figure), label string, reference, other int, f *compare.Figure) {
	if f.Ratio.Figure < 1 {
		if back := g.Figure(other, reference, f.Subject, f.Metric); back != nil {
			reference, other, f = other, reference, back
		}
	}
	add(label, reference, other, f)
}

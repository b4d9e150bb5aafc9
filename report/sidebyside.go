package report

import (
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/result"
)

// comparison sets medians side by side; nil where there is nothing to compare.
func comparison(g *group) *table {
	if len(g.subjects) < 2 {
		return nil
	}
	view := &table{Title: "Comparison: median service time, and how many times the best", Columns: []column{{Head: "type"}}}
	for _, s := range g.subjects {
		view.Columns = append(view.Columns, column{Head: s.Label}, column{Head: "×best", Help: s.Label + " as a multiple of the best", Follows: true})
	}
	view.Columns = append(view.Columns, column{Head: "common", Help: "queries that all verified targets have a time of", Rank: 1})
	if r, ok := compareLoads(g); ok {
		r.Cells = append(r.Cells, spanNone())
		view.Rows = append(view.Rows, r)
	}
	for _, t := range g.types() {
		r := compareType(g, t.Key)
		r.Cells = append(r.Cells, commonCell(g, t.Key))
		view.Rows = append(view.Rows, r)
	}
	if len(view.Rows) == 0 {
		return nil
	}
	view.Notes = []span{
		spanDim("Medians over the rounds, of each round's queries that all verified targets answered, which in a time box are its first ones; × is the quotient of the medians."),
		spanDim("Only verified figures take part; an empty answer, or one cut off by a limit, wins nothing."),
	}
	view.Notes = append(view.Notes, verifiedBy(g)...)
	view.Notes = append(view.Notes, g.turns()...)
	view.Notes = append(view.Notes, markNotes(view.Rows)...)
	marked := func(find func(string) bool) bool {
		return slices.ContainsFunc(view.Rows, func(r row) bool {
			return slices.ContainsFunc(r.Cells, func(c span) bool { return find(c.Text) })
		})
	}
	if marked(func(text string) bool { return text == tie || strings.HasPrefix(text, chanceMark) }) {
		view.Notes = append(view.Notes, spanDim(tieNote))
	}
	if marked(func(text string) bool { return text == oneRound || text == oneLoad }) {
		view.Notes = append(view.Notes, spanDim("1 round, 1 load: no verdict, since nothing shows what differs from one to the next."))
	}
	return view
}

// verifiedBy says of which types it is not the oracle that knows the answers.
func verifiedBy(g *group) (list []span) {
	for _, by := range []struct{ word, says string }{
		{result.ByReference, "the answers matched those of a reference text in DuckDB"},
		{result.ByAgreement, "the answers of different systems are the same; whether they are right nobody knows"},
	} {
		var types []string
		for _, t := range g.types() {
			if slices.ContainsFunc(g.subjects, func(s subject) bool {
				q := s.queries(t.Key)
				return q != nil && q.VerifiedBy() == by.word
			}) {
				types = append(types, t.Key)
			}
		}
		if len(types) > 0 {
			list = append(list, spanDim(strings.Join(types, ", ")+": verified by "+by.word+": "+by.says+"."))
		}
	}
	return list
}

const (
	oneRound = "1 round"
	oneLoad  = "1 load"
	tieNote  = "tie and ~: not shown to differ (Mann-Whitney over rounds or loads, corrected by Holm for the number of figures of two targets, 5 %), which does not prove that they are equal."
)

func compareLoads(g *group) (row, bool) {
	ranked := g.rankLoads()
	cells := []span{spanPlain("load, settled rows/s")}
	found := false
	for i, s := range g.subjects {
		switch e := &ranked.Estimates[i]; {
		case s.target.Load != nil && !s.target.Load.Stands():
			cells = append(cells, spanToned(s.target.Load.Word(), standingTone(s.target.Load)), span{})
		case e.N == 0:
			cells = append(cells, spanNone(), span{})
		default:
			found = true
			figure, times := spanPlain(digits(e.Median.Figure)), g.placeOf(i, &ranked)
			figure.Tone = winner(times)
			figure.Text += marksOf(s.target, compare.LoadSubject)
			cells = append(cells, figure, times)
		}
	}
	return row{Cells: cells}, found
}

// placeOf is the cell beside a subject's figure: its place in a ranking, or that it has
// none.
func (g *group) placeOf(i int, ranked *ranking) span {
	if g.unranked(i) != "" {
		return spanDim(notRanked)
	}
	return ranked.beside(i)
}

// notRanked stands beside figures of a target that has no place beside others.
const notRanked = string(compare.NotRanked)

// winner is the tone of a figure, given the cell beside it.
func winner(times span) tone {
	switch {
	case times.Tone == toneBest:
		return toneBest
	case times.Text == notRanked:
		return toneDim
	}
	return tonePlain
}

// compareType sets the medians over the queries that all verified targets
// answered beside each other: a target that got further in its time box is
// not judged by other queries.
func compareType(g *group, queryType string) row {
	ranked := g.rankType(queryType)
	cells := []span{spanPlain(queryType)}
	for i, s := range g.subjects {
		median := medianText(ranked.Estimates[i])
		switch s.queries(queryType).Outcome() {
		case result.NotRun:
			cells = append(cells, spanNone(), span{})
		case result.Unsupported:
			cells = append(cells, spanDim("n/a"), span{})
		case result.Withheld, result.Failed:
			word, _ := s.queries(queryType).MissingFigure()
			cells = append(cells, spanBad(word), span{})
		case result.Empty:
			cells = append(cells, spanDim(median), spanDim("empty"))
		case result.Unverified:
			if q := s.queries(queryType); q.Texts != "" { // of another question than its neighbours'
				cells = append(cells, spanDim(q.TextName()), spanDim(q.Verdict.String()))
				continue
			}
			cells = append(cells, spanDim(median), spanDim("not verified"))
		case result.Verified:
			if s.queries(queryType).TooSlow() {
				cells = append(cells, spanDim(median), spanDim("too slow"))
				continue
			}
			figure, times := spanPlain(median), g.placeOf(i, &ranked)
			figure.Tone = winner(times)
			figure.Text += marksOf(s.target, queryType)
			cells = append(cells, figure, times)
		}
	}
	return row{Cells: cells}
}

// commonCell is how many different queries of a type are compared.
func commonCell(g *group, queryType string) span {
	most, verified := 0, 0
	for i, sample := range g.samples(queryType) {
		if estimate.Verified(g.subjects[i].target, queryType) {
			verified++
			most = max(most, sample.Queries())
		}
	}
	if verified < 2 {
		return spanNone()
	}
	return spanPlain(count(int64(most)))
}

// medianText renders an estimate in seconds.
func medianText(e stats.Estimate) string {
	if e.N == 0 || e.Median.Bound == stats.Unknown {
		return none
	}
	return e.Median.Mark() + duration(e.Median.Figure)
}

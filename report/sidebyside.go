package report

import (
	"math"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/compare"
	"github.com/tsmark/tsmark/measure/stats"
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
	if r, ok := compareLoads(g); ok {
		view.Rows = append(view.Rows, r)
	}
	for _, t := range g.types() {
		view.Rows = append(view.Rows, compareType(g, t.Key))
	}
	if len(view.Rows) == 0 {
		return nil
	}
	view.Notes = []note{
		{"Medians over the questions that all verified targets answered, which in a time box are the first ones.", dim},
		{"Only verified figures take part; an empty answer, or one cut off by a limit, wins nothing.", dim},
	}
	marked := func(r row) bool {
		return slices.ContainsFunc(r.Cells, func(c cell) bool { return strings.HasSuffix(c.Text, boundMark) })
	}
	if slices.ContainsFunc(view.Rows, marked) {
		view.Notes = append(view.Notes, note{boundNote, dim})
	}
	for _, r := range view.Rows {
		if slices.ContainsFunc(r.Cells, func(c cell) bool { return strings.HasPrefix(c.Text, chanceMark) }) {
			view.Notes = append(view.Notes, note{chanceMark + " may be chance: the repeats show no difference (Mann-Whitney, corrected by Holm for the number of types, 5 %).", dim})
			break
		}
	}
	return view
}

func compareLoads(g *group) (row, bool) {
	rates := make([]float64, len(g.subjects))
	compared, fastest := 0, 0.0
	for i, s := range g.subjects {
		if rates[i] = settledRate(s.target.Load); rates[i] > 0 {
			compared++
			fastest = max(fastest, rates[i])
		}
	}
	cells := []cell{{Text: "load, settled rows/s"}}
	for i, s := range g.subjects {
		switch {
		case s.target.Load != nil && s.target.Load.Withheld != "":
			cells = append(cells, cell{"withheld", bad}, cell{})
		case rates[i] == 0:
			cells = append(cells, cell{none, dim}, cell{})
		default:
			two := beside(digits(rates[i]), "", fastest/rates[i], compared)
			if clientBounds(s.target)[compare.LoadSubject] != "" {
				two[0].Text += boundMark
			}
			if at := slices.Index(rates, fastest); at != i && g.chance(at, i, compare.LoadSubject) {
				two = doubted(two)
			}
			cells = append(cells, two...)
		}
	}
	return row{Cells: cells}, compared > 0
}

// compareType sets the medians over the questions that all verified targets
// answered beside each other: a target that got further in its time box is
// not judged by other questions.
func compareType(g *group, queryType string) row {
	at, compared, medians := g.fastest(queryType)
	fastest := math.Inf(1)
	if at >= 0 {
		fastest = medians[at]
	}
	cells := []cell{{Text: queryType}}
	for i, s := range g.subjects {
		q := s.queries(queryType)
		switch q.Standing() {
		case result.NotAsked:
			cells = append(cells, cell{none, dim}, cell{})
		case result.Unsupported:
			cells = append(cells, cell{"n/a", dim}, cell{})
		case result.Withheld:
			cells = append(cells, cell{"withheld", bad}, cell{})
		case result.Empty:
			cells = append(cells, cell{duration(q.Service.Median), dim}, cell{"empty", dim})
		case result.Unverified:
			cells = append(cells, cell{duration(q.Service.Median), dim}, cell{"not verified", dim})
		case result.Verified:
			bound := ""
			if q.AtLeast > 0 {
				bound = "≥"
			}
			two := beside(duration(medians[i]), bound, medians[i]/fastest, compared)
			if clientBounds(s.target)[queryType] != "" {
				two[0].Text += boundMark
			}
			if at >= 0 && at != i && g.chance(at, i, queryType) {
				two = doubted(two)
			}
			cells = append(cells, two...)
		}
	}
	return row{Cells: cells}
}

// fastest returns which subject wins a type, -1 where none does, how many are
// compared, and the medians of all.
func (g *group) fastest(queryType string) (at, compared int, medians []float64) {
	medians = commonMedians(g, queryType)
	candidates := make([]float64, len(medians))
	for i, s := range g.subjects {
		candidates[i] = math.Inf(1)
		if q := s.queries(queryType); q.Standing() == result.Verified {
			compared++
			if q.AtLeast == 0 {
				candidates[i] = medians[i]
			}
		}
	}
	return indexOfBest(candidates), compared, medians
}

// commonMedians returns each subject's median service time of a type over the
// questions that all verified ones answered or were cut off at; over its own
// where there are no such questions.
func commonMedians(g *group, queryType string) []float64 {
	medians := make([]float64, len(g.subjects))
	var each [][]float64
	for _, s := range g.subjects {
		if q := s.queries(queryType); q.Standing() == result.Verified {
			each = append(each, q.Each)
		}
	}
	common := compare.Common(each...)
	for i, s := range g.subjects {
		q := s.queries(queryType)
		var times []float64
		if q.Standing() == result.Verified {
			times, common = common[0], common[1:]
		}
		switch {
		case len(times) > 0:
			medians[i] = math.Abs(stats.Median(times))
		case q != nil:
			medians[i] = q.Service.Median
		}
	}
	return medians
}

// beside returns the two cells of a figure among several: the figure, and
// how many times the best it is. A bound is put before both, and keeps the
// figure from being the best.
func beside(figure, bound string, times float64, compared int) []cell {
	switch {
	case compared < 2 || times == 0: // nothing to set it against
		return []cell{{Text: bound + figure}, {}}
	case bound == "" && times == 1:
		return []cell{{figure, best}, {ratio(1), best}}
	}
	return []cell{{Text: bound + figure}, {Text: bound + ratio(times)}}
}

package report

import (
	"math"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/compare"
	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/result"
)

// subject is a target in a run, as one of several that are compared.
type subject struct {
	Label  string
	run    *result.Run
	target *result.Target
}

// queries returns what the subject recorded of a type; nil where it did not.
func (s *subject) queries(queryType string) *result.Queries {
	for i := range s.target.Queries {
		if s.target.Queries[i].Type == queryType {
			return &s.target.Queries[i]
		}
	}
	return nil
}

// group is the subjects that were given the same dataset: only those may be
// compared.
type group struct {
	dataset  *result.Dataset
	subjects []subject
	pairs    map[[2]int]*compare.Comparison // of subjects, as far as they were needed
}

// groups sorts the targets of all runs by dataset, in order of appearance.
func groups(runs []*result.Run) []group {
	var list []group
	for i, r := range runs {
		at := slices.IndexFunc(list, func(g group) bool { return result.SameDataset(g.dataset, &r.Dataset) })
		if at < 0 {
			at = len(list)
			list = append(list, group{dataset: &r.Dataset})
		}
		for j := range r.Targets {
			label := r.Targets[j].Name
			if len(runs) > 1 {
				label += " @" + shortID(runs, i)
			}
			list[at].subjects = append(list[at].subjects, subject{label, r, &r.Targets[j]})
		}
	}
	return list
}

// shortID is the random part of a run's ID where that is enough to tell it
// from the other runs, else all of it.
func shortID(runs []*result.Run, i int) string {
	short := func(r *result.Run) string { return r.ID[strings.LastIndexByte(r.ID, '-')+1:] }
	for j, other := range runs {
		if j != i && short(other) == short(runs[i]) {
			return runs[i].ID
		}
	}
	return short(runs[i])
}

// types lists the query types of all subjects in the order asked, with their
// help.
func (g *group) types() []fact {
	var list []fact
	for _, s := range g.subjects {
		for _, q := range s.target.Queries {
			if !slices.ContainsFunc(list, func(f fact) bool { return f.Key == q.Type }) {
				list = append(list, fact{q.Type, q.Help})
			}
		}
	}
	return list
}

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
	medians := commonMedians(g, queryType)
	candidates := make([]float64, len(medians)) // for the best
	compared := 0
	for i, s := range g.subjects {
		candidates[i] = math.Inf(1)
		if q := s.queries(queryType); q.Standing() == result.Verified {
			compared++
			if q.AtLeast == 0 {
				candidates[i] = medians[i]
			}
		}
	}
	at, fastest := indexOfBest(candidates), math.Inf(1)
	if at >= 0 {
		fastest = candidates[at]
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

package report

import (
	"strconv"

	"github.com/tsmark/tsmark/report/compare"
)

// winnersTable says who was shown to be faster than whom, and where the ratio
// of the two lies; nil where there were too few rounds to say so.
func winnersTable(g *group) *table {
	view := &table{Title: "Who was faster, by how much", Columns: []column{
		{Head: "type"}, {Head: "verdict", Words: true},
		{Head: "ratio of", Words: true},
		{Head: "times", Help: "the quotient of the two medians over the rounds"},
		{Head: "interval", Help: "where this ratio lies, with 95 % if nothing else is said"},
		{Head: "p", Help: "Mann-Whitney over the rounds, corrected by Holm for the number of figures of two targets"},
	}}
	add := func(label string, reference, other int, f *compare.Figure) {
		if f == nil || f.Interval == nil || f.Method != compare.AcrossRepeats || f.MissingA != "" || f.MissingB != "" {
			return
		}
		verdict := spanDim(tie)
		switch {
		case f.Significant():
			verdict = spanBest(g.subjects[reference].Label + " faster")
		case f.Verdict == compare.CannotTell:
			verdict = spanDim("no verdict: " + noVerdict(f))
		}
		p := spanNone()
		if f.Decidable() {
			p = spanPlain(probability(f.Adjusted))
		}
		mark := func(s *subject) string { return s.Label + marksOf(s.target, f.Subject) }
		view.Rows = append(view.Rows, row{Cells: []span{spanPlain(label), verdict,
			spanPlain(mark(&g.subjects[other]) + " ÷ " + mark(&g.subjects[reference])),
			spanPlain(times(f.Ratio)), spanPlain(intervalText(f.Interval)), p}})
	}
	types := 0
	for _, t := range g.types() {
		ranked := g.rankType(t.Key)
		if ranked.Reference < 0 {
			continue
		}
		types++
		for i := range g.subjects {
			if f := ranked.Figures[i]; f != nil {
				g.oriented(add, t.Key, ranked.Reference, i, f)
			}
		}
	}
	if all := g.rankOverall(); types > 1 {
		for i, f := range all.Figures {
			if f != nil {
				g.oriented(add, geometricMean+strconv.Itoa(f.Types), all.Reference, i, f)
			}
		}
	}
	if len(view.Rows) == 0 {
		return nil
	}
	view.Notes = append(view.Notes, g.turns()...)
	view.Notes = append(view.Notes, spanDim(coversNote))
	return view
}

// oriented adds a pair so that its ratio is 1 or more: where the rounds show no
// difference, the pairs of rounds may say otherwise than the medians.
func (g *group) oriented(add func(string, int, int, *compare.Figure), label string, reference, other int, f *compare.Figure) {
	if f.Ratio.Figure < 1 {
		if back := g.figure(other, reference, f.Subject, f.Metric); back != nil {
			reference, other, f = other, reference, back
		}
	}
	add(label, reference, other, f)
}

// geometricMean begins the label of rows about all types together.
const geometricMean = "geometric mean of "

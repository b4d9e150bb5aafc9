package comparison

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/report/rank"
)

// fewNames is the maximum number of figures that a line names.
const fewNames = 3

// foldedTables returns the tables of a target with nothing but figures that differ, and lines: one for each
// table without such figures, and those about all.
func foldedTables(target *compare.Target) (tables []*doc.Table, lines []doc.Span) {
	var all []*compare.Figure
	for _, p := range parts(target) {
		figures := p.figures(target)
		all = append(all, figures...)
		view := newTable(p.title)
		for _, f := range figures {
			switch f.Verdict {
			case compare.NotCompared, compare.NoVerdict, compare.NoDifference:
			default:
				view.Rows = append(view.Rows, NewRow(f))
			}
		}
		others := sumUp(figures)
		switch {
		case len(view.Rows) == 0 && others != "":
			lines = append(lines, doc.Dim(p.title+": "+others))
		case len(view.Rows) > 0:
			if others != "" {
				view.Notes = append(view.Notes, doc.Dim("Further figures: "+others))
			}
			view.Notes = append(view.Notes, rank.MarkNotes(view.Rows)...)
			tables = append(tables, view)
		}
	}
	lines = append(lines, noises(all)...)
	for _, n := range target.Notes {
		lines = append(lines, doc.Dim(n))
	}
	return tables, lines
}

// sumUp returns why figures show no difference, each reason once; empty: all differ.
func sumUp(figures []*compare.Figure) string {
	var reasons []string
	of := make(map[string][]string)
	for _, f := range figures {
		reason := string(f.Verdict)
		switch f.Verdict {
		case compare.NoDifference:
		case compare.NoVerdict:
			reason += ": " + rank.ShortCause(f)
		case compare.NotCompared:
			why, _, _ := strings.Cut(f.Why, ": ")
			reason += ": " + why
		default:
			continue
		}
		if !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
		of[reason] = append(of[reason], rank.Label(f))
	}
	for i, reason := range reasons {
		names := of[reason]
		which := strings.Join(names, ", ")
		if len(names) > fewNames {
			which = fmt.Sprintf("%d of %s", len(names), format.Plural(len(figures), "figure"))
		}
		reasons[i] = reason + " (" + which + ")"
	}
	return strings.Join(reasons, "; ")
}

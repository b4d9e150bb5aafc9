// Package rank compares targets with one dataset: the best in each
// figure, the differences that were shown, and caveats about the measurements behind
// them.
package rank

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/measure/stats"
	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/report/format"
	"github.com/tsmark/tsmark/result"
)

// Subject is a target in a run, as one of several that are compared.
type Subject struct {
	Label  string // for people
	Name   string // for programs: the target's own name, and its run's if there are several
	Run    *result.Run
	Target *result.Target
}

// isExcluded reports whether the subject is not ranked in figures of queries: it
// failed, or is a stand-in.
func (s *Subject) isExcluded() bool { return s.Target.Failure != "" || s.Target.Uncomparable() != "" }

// Queries returns the recorded queries of a type of the subject, or nil.
func (s *Subject) Queries(queryType string) *result.Queries { return FindQueries(s.Target, queryType) }

// Group is the subjects that were given the same dataset: only those may be
// compared.
type Group struct {
	Dataset  *result.Dataset
	Subjects []Subject
	// The fields below are computed on demand.
	pairs   map[[2]int]*compare.Comparison // of subjects
	sampled map[string][]estimate.Sample   // of subjects, by type
	judged  map[string]Ranking             // by type, or compare.LoadSubject
}

// Groups sorts the targets of all runs by dataset, in order of appearance.
func Groups(runs []*result.Run) []Group {
	var list []Group
	for i, r := range runs {
		at := slices.IndexFunc(list, func(g Group) bool { return result.SameDataset(g.Dataset, &r.Dataset) })
		if at < 0 {
			at = len(list)
			list = append(list, Group{Dataset: &r.Dataset})
		}
		for j := range r.Targets {
			label, name := r.Targets[j].Label(), r.Targets[j].Name
			if len(runs) > 1 {
				name += " @" + ShortID(runs, i)
				label += " @" + ShortID(runs, i)
				if r.NotMeasuredHere() != "" {
					label += " (imported)"
				}
			}
			list[at].Subjects = append(list[at].Subjects, Subject{label, name, r, &r.Targets[j]})
		}
	}
	return list
}

// NewGroup is the targets of one run.
func NewGroup(r *result.Run) *Group { return &Groups([]*result.Run{r})[0] }

// ShortID returns the random part of a run's ID if that distinguishes it
// from the other runs, otherwise the whole ID.
func ShortID(runs []*result.Run, i int) string {
	short := func(r *result.Run) string { return r.ID[strings.LastIndexByte(r.ID, '-')+1:] }
	for j, other := range runs {
		if j != i && short(other) == short(runs[i]) {
			return runs[i].ID
		}
	}
	return short(runs[i])
}

// Labels are the subjects' names.
func (g *Group) Labels() []string {
	list := make([]string, len(g.Subjects))
	for i := range g.Subjects {
		list[i] = g.Subjects[i].Label
	}
	return list
}

// Types lists the query types of all subjects in the order run, with their
// help.
func (g *Group) Types() []doc.Fact {
	var list []doc.Fact
	for _, s := range g.Subjects {
		for _, q := range s.Target.Queries {
			if !slices.ContainsFunc(list, func(f doc.Fact) bool { return f.Key == q.Type }) {
				list = append(list, doc.Fact{Key: q.Type, Value: q.Help})
			}
		}
	}
	return list
}

// Names are the ids of the group's runs.
func (g *Group) Names(runs []*result.Run) string {
	var ids []string
	for _, r := range runs {
		if result.SameDataset(g.Dataset, &r.Dataset) {
			ids = append(ids, format.Join(" ", r.ID, r.Name))
		}
	}
	return strings.Join(ids, ", ")
}

// IsDrawn reports whether charts show the figures of a type. Empty answers are
// left out: they would look like the fastest. So are TSBS's texts, which are not the
// same query on every target.
func IsDrawn(q *result.Queries) bool {
	s := q.Outcome()
	return (s == result.Verified || s == result.Unverified && q.Texts == "") && q.Service.Median > 0
}

// Draws reports whether charts of the group show the figures of a type of a subject: drawn
// beside others, a stand-in would be compared with them.
func (g *Group) Draws(i int, q *result.Queries) bool {
	return IsDrawn(q) && (len(g.Subjects) == 1 || g.Subjects[i].Target.Uncomparable() == "")
}

// MissingVerdict returns why a ranking has no verdict on any of its figures. It is empty if it
// has one on some.
func (r *Ranking) MissingVerdict() (why string) {
	for _, f := range r.Figures {
		if f != nil && f.Verdict != compare.NoVerdict {
			return ""
		}
		if f != nil {
			why = NoVerdict(f)
		}
	}
	return why
}

// RankPoints compares all points with the one of least cost only: with every pair, a
// sweep of a hundred points would take minutes. A cost of 0 is ignored.
func (g *Group) RankPoints(what string, metric compare.Metric, cost func(*Subject) float64) Ranking {
	out := Ranking{Reference: -1, Figures: make([]*compare.Figure, len(g.Subjects)), Sole: true}
	costs := make([]float64, len(g.Subjects))
	for i := range g.Subjects {
		if costs[i] = cost(&g.Subjects[i]); costs[i] > 0 && (out.Reference < 0 || costs[i] < costs[out.Reference]) {
			out.Reference = i
		}
	}
	for i := range g.Subjects {
		if i == out.Reference || costs[i] == 0 {
			continue
		}
		a, b := out.Reference, i
		if metric == compare.Load { // more rows a second are better
			a, b = b, a
		}
		c, _ := compare.Runs(g.side(a), g.side(b), compare.Options{AnyTerms: true})
		if f := FindFigure(c, what, metric); f != nil && f.MissingA == "" && f.MissingB == "" && f.Ratio.Bound != stats.Unknown {
			out.Figures[i] = f
		}
		out.Sole = out.Sole && out.Figures[i] != nil && out.Figures[i].Significant() && out.Figures[i].Ratio.Figure > 1
	}
	return out
}

// OrderNotes describe the order of the runs' targets. They are empty for
// one target, or if the order is unknown.
func OrderNotes(runs ...*result.Run) []doc.Span {
	var list []doc.Span
	for _, r := range runs {
		parts := make([]string, len(r.Targets)) // there are not more
		for i := range r.Targets {
			t := &r.Targets[i]
			if t.Group != nil && t.Group.Number > 0 && t.Group.Number <= len(parts) { // which an imported run may claim otherwise
				at := &parts[t.Group.Number-1]
				*at = format.Join(", ", *at, t.Name)
			}
		}
		if parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" }); len(parts) > 1 {
			list = append(list, doc.Dim(fmt.Sprintf("Targets that share a place were measured one after the other: %s. Only targets within a group were shuffled, so ratios between groups include any change of the machine in between.",
				strings.Join(parts, "; then "))))
		}
		if r.OrderSeed != "" && len(r.Targets) > 1 {
			list = append(list, doc.Dim("The targets ran in random order, chosen by seed "+r.OrderSeed+"."))
		}
	}
	return list
}

// OrderNotes is that of the subjects' runs.
func (g *Group) OrderNotes() []doc.Span {
	var runs []*result.Run
	for _, s := range g.Subjects {
		if !slices.Contains(runs, s.Run) {
			runs = append(runs, s.Run)
		}
	}
	return OrderNotes(runs...)
}

package report

import (
	"slices"
	"strings"

	"github.com/tsmark/tsmark/report/compare"
	"github.com/tsmark/tsmark/report/estimate"
	"github.com/tsmark/tsmark/result"
)

// subject is a target in a run, as one of several that are compared.
type subject struct {
	Label  string // for people
	name   string // for programs: the target's own, and its run's where there are several
	run    *result.Run
	target *result.Target
}

// apart reports whether the subject has no place beside others in figures of queries: it
// failed, or is a stand-in.
func (s *subject) apart() bool { return s.target.Failure != "" || s.target.Uncomparable() != "" }

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
	// What follows is known as far as it was needed.
	pairs   map[[2]int]*compare.Comparison // of subjects
	sampled map[string][]estimate.Sample   // of subjects, by type
	judged  map[string]ranking             // by type, or compare.LoadSubject
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
			label, name := r.Targets[j].Label(), r.Targets[j].Name
			if len(runs) > 1 {
				name += " @" + shortID(runs, i)
				label += " @" + shortID(runs, i)
				if r.NotMeasuredHere() != "" {
					label += " (imported)"
				}
			}
			list[at].subjects = append(list[at].subjects, subject{label, name, r, &r.Targets[j]})
		}
	}
	return list
}

// groupOf is the targets of one run.
func groupOf(r *result.Run) *group { return &groups([]*result.Run{r})[0] }

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

// labels are the subjects' names.
func (g *group) labels() []string {
	list := make([]string, len(g.subjects))
	for i := range g.subjects {
		list[i] = g.subjects[i].Label
	}
	return list
}

// types lists the query types of all subjects in the order run, with their
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

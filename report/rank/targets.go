package rank

import (
	"slices"

	"github.com/tsmark/tsmark/report/doc"
	"github.com/tsmark/tsmark/result"
)

// AllTypes lists the query types of all runs with their help.
func AllTypes(runs []*result.Run) []doc.Fact {
	all := Group{}
	for _, r := range runs {
		for i := range r.Targets {
			all.Subjects = append(all.Subjects, Subject{Target: &r.Targets[i]})
		}
	}
	return all.Types()
}

// FindTarget returns the target with the name in a run, or nil.
func FindTarget(r *result.Run, name string) *result.Target {
	for i := range r.Targets {
		if r.Targets[i].Name == name {
			return &r.Targets[i]
		}
	}
	return nil
}

// FindQueries returns the recorded queries of a type of a target, or nil.
func FindQueries(t *result.Target, queryType string) *result.Queries {
	for i := range t.Queries {
		if t.Queries[i].Type == queryType {
			return &t.Queries[i]
		}
	}
	return nil
}

// AllTargets lists the names of all targets in order of appearance.
func AllTargets(runs []*result.Run) []string {
	var names []string
	for _, r := range runs {
		for i := range r.Targets {
			if name := r.Targets[i].Name; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// CommonTypes lists the query types for which every target of every run that
// ran any query has a verified figure that no limit cut off.
func CommonTypes(runs []*result.Run) []string {
	var list []string
	first := true
	for _, r := range runs {
		for i := range r.Targets {
			if len(r.Targets[i].Queries) == 0 {
				continue // it failed, or only loaded
			}
			var here []string
			for j := range r.Targets[i].Queries {
				if q := &r.Targets[i].Queries[j]; q.Outcome() == result.Verified && q.AtLeast == 0 && q.ReasonUncompared() == "" {
					here = append(here, q.Type)
				}
			}
			if first {
				list, first = here, false
			}
			list = slices.DeleteFunc(list, func(name string) bool { return !slices.Contains(here, name) })
		}
	}
	return list
}

// TargetLabels lists the labels of a run's targets in their order.
func TargetLabels(r *result.Run) []string {
	labels := make([]string, len(r.Targets))
	for i := range r.Targets {
		labels[i] = r.Targets[i].Label()
	}
	return labels
}

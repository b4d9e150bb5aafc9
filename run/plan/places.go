package plan

import (
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/result"
)

// placeOf returns the place of a target's data if other targets of the run may share it. A target
// whose server tsmark starts does not share its place.
func placeOf(kind *driver.Driver, options driver.Options, start string) string {
	if kind.Place == nil || start != "" {
		return ""
	}
	return kind.Place(options)
}

// placeProblem says why a target cannot share its place with an earlier one; empty: it can, or does
// not share it.
func (p *Plan) placeProblem(kind *driver.Driver, embedded bool, place string, onlyLoad bool) string {
	if place == "" || !p.Steps.Load {
		return ""
	}
	for i := range p.Targets {
		switch first := &p.Targets[i]; {
		case first.Place != place:
		case embedded && kind.Name != first.Driver.Name:
			return fmt.Sprintf("%s is the path of target %s, too; give each its own path", place, first.Name)
		case onlyLoad:
			return fmt.Sprintf("%s already holds the data of target %s, which would be overwritten; load one of them, or give each its own place", place, first.Name)
		}
	}
	return ""
}

// Groups divides the indexes of a run's targets into groups. Targets that share a place are in
// separate groups, because the dataset of one replaces the other's. The groups are loaded, checked
// and queried one after the other. There is a single group if no place is shared, or if nothing is
// loaded.
func (p *Plan) Groups() [][]int {
	var groups [][]int
	there := make(map[string]int) // targets by place
	for i := range p.Targets {
		group := 0
		if place := p.Targets[i].Place; place != "" && p.Steps.Load {
			group = there[place]
			there[place]++
		}
		if group == len(groups) {
			groups = append(groups, nil)
		}
		groups[group] = append(groups[group], i)
	}
	return groups
}

// Sharers lists the other targets that share the place of a target.
func (p *Plan) Sharers(t *Target) []string {
	var names []string
	for i := range p.Targets {
		if o := &p.Targets[i]; o.Name != t.Name && o.Place != "" && o.Place == t.Place {
			names = append(names, o.Name)
		}
	}
	return names
}

// GroupOf returns the record of a target's group; nil: there is only one group.
func (p *Plan) GroupOf(index int) *result.TargetGroup {
	groups := p.Groups()
	if len(groups) == 1 {
		return nil
	}
	own := &p.Targets[index]
	t := &result.TargetGroup{Count: len(groups), Shares: p.Sharers(own)}
	t.Number = 1 + slices.IndexFunc(groups, func(group []int) bool { return slices.Contains(group, index) })
	if len(t.Shares) > 0 {
		t.Place = p.Secrets.Text(own.Place)
	}
	return t
}

// SamePlace reports whether two targets are the same or share a place.
func (p *Plan) SamePlace(t *Target, other string) bool {
	return t.Name == other || slices.Contains(p.Sharers(t), other)
}

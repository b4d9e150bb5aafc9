package plan

import (
	"fmt"
	"slices"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/result"
)

// placeOf is where a target keeps its data, for those that others of the run may
// keep theirs in. One that tsmark starts a server for has it to itself.
func placeOf(kind *driver.Driver, options driver.Options, start string) string {
	if kind.Place == nil || start != "" {
		return ""
	}
	return kind.Place(options)
}

// placeProblem says why a target cannot share its place with an earlier one; empty: it
// can, or does not.
func (p *Plan) placeProblem(kind *driver.Driver, embedded bool, place string, onlyLoad bool) string {
	if place == "" || !p.Steps.Load {
		return ""
	}
	for i := range p.Targets {
		switch first := &p.Targets[i]; {
		case first.Place != place:
		case embedded && kind.Name != first.Driver.Name:
			return fmt.Sprintf("%s is where target %s is loaded; give each its own path", place, first.Name)
		case onlyLoad:
			return fmt.Sprintf("%s is where target %s is loaded, of which nothing would be left; load one of them, or give each a place of its own", place, first.Name)
		}
	}
	return ""
}

// Groups divides the targets of a run, by their index: of those that share a
// place each has a part of its own, since the dataset of one takes the place of
// the other's. The parts are loaded, checked and queried one after the other.
// All is one part where nothing is shared, or nothing loaded.
func (p *Plan) Groups() [][]int {
	var parts [][]int
	there := make(map[string]int) // targets by place
	for i := range p.Targets {
		part := 0
		if place := p.Targets[i].Place; place != "" && p.Steps.Load {
			part = there[place]
			there[place]++
		}
		if part == len(parts) {
			parts = append(parts, nil)
		}
		parts[part] = append(parts[part], i)
	}
	return parts
}

// Sharers lists the other targets that share the place of one.
func (p *Plan) Sharers(t *Target) []string {
	var names []string
	for i := range p.Targets {
		if o := &p.Targets[i]; o.Name != t.Name && o.Place != "" && o.Place == t.Place {
			names = append(names, o.Name)
		}
	}
	return names
}

// GroupOf is what a run records of a target's part; nil: there is but one.
func (p *Plan) GroupOf(index int) *result.RunPart {
	parts := p.Groups()
	if len(parts) == 1 {
		return nil
	}
	own := &p.Targets[index]
	t := &result.RunPart{Parts: len(parts), Shares: p.Sharers(own)}
	t.Part = 1 + slices.IndexFunc(parts, func(part []int) bool { return slices.Contains(part, index) })
	if len(t.Shares) > 0 {
		t.Place = p.Secrets.Text(own.Place)
	}
	return t
}

// SamePlace reports whether a target is one that shares the place of another, or
// is that one.
func (p *Plan) SamePlace(t *Target, other string) bool {
	return t.Name == other || slices.Contains(p.Sharers(t), other)
}

package runner

import (
	"fmt"
	"slices"
	"strings"

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

// shared says why a target cannot share its place with an earlier one; empty: it
// can, or does not.
func (p *Plan) shared(kind *driver.Driver, embedded bool, place string, onlyLoad bool) string {
	if place == "" || !p.steps.Load {
		return ""
	}
	for i := range p.targets {
		switch first := &p.targets[i]; {
		case first.shares != place:
		case embedded && kind.Name != first.driver.Name:
			return fmt.Sprintf("%s is where target %s is loaded; give each its own path", place, first.name)
		case onlyLoad:
			return fmt.Sprintf("%s is where target %s is loaded, of which nothing would be left; load one of them, or give each a place of its own", place, first.name)
		}
	}
	return ""
}

// parts divides the targets of a run, by their index: of those that share a
// place each has a part of its own, since the dataset of one takes the place of
// the other's. The parts are loaded, checked and queried one after the other.
// All is one part where nothing is shared, or nothing loaded.
func (p *Plan) parts() [][]int {
	var parts [][]int
	there := make(map[string]int) // targets by place
	for i := range p.targets {
		part := 0
		if place := p.targets[i].shares; place != "" && p.steps.Load {
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

// sharing lists the other targets that share the place of one.
func (p *Plan) sharing(t *plannedTarget) []string {
	var names []string
	for i := range p.targets {
		if o := &p.targets[i]; o.name != t.name && o.shares != "" && o.shares == t.shares {
			names = append(names, o.name)
		}
	}
	return names
}

// turnOf is what a run records of a target's part; nil: there is but one.
func (p *Plan) turnOf(index int) *result.RunPart {
	parts := p.parts()
	if len(parts) == 1 {
		return nil
	}
	own := &p.targets[index]
	t := &result.RunPart{Parts: len(parts), Shares: p.sharing(own)}
	t.Part = 1 + slices.IndexFunc(parts, func(part []int) bool { return slices.Contains(part, index) })
	if len(t.Shares) > 0 {
		t.Place = p.secrets.Text(own.shares)
	}
	return t
}

// together reports whether a target is one that shares the place of another, or
// is that one.
func (p *Plan) together(t *plannedTarget, other string) bool {
	return t.name == other || slices.Contains(p.sharing(t), other)
}

// announce shows that a part of the run begins.
func (x *execution) announce(part int) {
	parts := x.plan.parts()
	var named []string
	for _, i := range parts[part-1] {
		said := x.plan.targets[i].name
		if t := x.record.doc.Targets[i].RunPart; len(t.Shares) > 0 {
			said += fmt.Sprintf(", which shares %s with %s", t.Place, strings.Join(t.Shares, ", "))
		}
		named = append(named, said)
	}
	x.record.display.Start(fmt.Sprintf("part %d of %d", part, len(parts)), "", 0).Finish(strings.Join(named, "; "))
}

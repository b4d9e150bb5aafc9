package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/result"
)

// turns says in which order the targets of the runs took their turns; empty: where there
// is one target, or it is not known.
func turns(runs ...*result.Run) []span {
	var list []span
	for _, r := range runs {
		parts := make([]string, len(r.Targets)) // there are not more
		for i := range r.Targets {
			t := &r.Targets[i]
			if t.Turn != nil && t.Turn.Part > 0 && t.Turn.Part <= len(parts) { // which an imported run may claim otherwise
				at := &parts[t.Turn.Part-1]
				*at = joined(", ", *at, t.Name)
			}
		}
		if parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" }); len(parts) > 1 {
			list = append(list, spanDim(fmt.Sprintf("Targets that share a place were measured one after the other: %s. Only the turns of one part were shuffled: ratios between parts include any change of the machine in between.",
				strings.Join(parts, "; then "))))
		}
		if r.OrderSeed != "" && len(r.Targets) > 1 {
			list = append(list, spanDim("The targets took their turns in random order, chosen by the seed "+r.OrderSeed+"."))
		}
	}
	return list
}

// turns is that of the subjects' runs.
func (g *group) turns() []span {
	var runs []*result.Run
	for _, s := range g.subjects {
		if !slices.Contains(runs, s.run) {
			runs = append(runs, s.run)
		}
	}
	return turns(runs...)
}

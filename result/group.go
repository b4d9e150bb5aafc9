package result

import (
	"fmt"
	"strings"
)

// TargetGroup is one of the groups of targets that a run loads and queries one after another. Targets
// that share a place, such as a database, are in separate groups, because the dataset of one replaces
// the other's. Only the rounds of the targets of one group are interleaved, so only these are equally
// affected by a drift of the machine.
type TargetGroup struct {
	Number int `json:"number"` // from 1
	Count  int `json:"count"`  // number of groups
	// Place is the shared resource, and Shares are the other targets that use it; empty: nothing is
	// shared.
	Place  string   `json:"place,omitempty"`
	Shares []string `json:"shares,omitempty"` // see Place
}

// String describes the group and the reason; empty for nil.
func (g *TargetGroup) String() string {
	if g == nil {
		return ""
	}
	text := fmt.Sprintf("loaded and queried in group %d of %d", g.Number, g.Count)
	if len(g.Shares) > 0 {
		text += fmt.Sprintf(", since it shares %s with %s", g.Place, strings.Join(g.Shares, ", "))
	}
	return text
}

// InDifferentGroups reports whether two targets of one run were measured in different groups of it,
// so that their rounds were not interleaved.
func InDifferentGroups(a, b *Target) bool {
	return a.Group != nil && b.Group != nil && a.Group.Number != b.Group.Number
}

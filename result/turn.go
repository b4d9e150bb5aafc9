package result

import (
	"fmt"
	"strings"
)

// RunPart is which part of a run a target was loaded and queried in. Of targets
// that share a place, such as a database, each is in a part of its own: the
// dataset of one takes the place of the other's. What drifts on the machine is
// shared by the targets of a part alone, whose rounds are interleaved.
type RunPart struct {
	Part  int `json:"part"`  // from 1
	Parts int `json:"parts"` // number of parts
	// Place is what the target shares, and Shares with which other targets;
	// empty: nothing, and with none.
	Place  string   `json:"place,omitempty"`
	Shares []string `json:"shares,omitempty"` // see Place
}

// String says in which part, and why; empty for nil.
func (t *RunPart) String() string {
	if t == nil {
		return ""
	}
	text := fmt.Sprintf("loaded and queried in part %d of %d of the run", t.Part, t.Parts)
	if len(t.Shares) > 0 {
		text += fmt.Sprintf(", since it shares %s with %s", t.Place, strings.Join(t.Shares, ", "))
	}
	return text
}

// InDifferentParts reports whether two targets of one run were measured in different parts
// of it, so that their rounds were not interleaved.
func InDifferentParts(a, b *Target) bool {
	return a.RunPart != nil && b.RunPart != nil && a.RunPart.Part != b.RunPart.Part
}

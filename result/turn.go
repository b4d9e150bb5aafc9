package result

import (
	"fmt"
	"strings"
)

// RunPart is the part of a run in which a target was loaded and queried. Targets that share a
// place, such as a database, are measured in separate parts, because the dataset of one replaces
// the other's. Machine drift affects only the targets of a part equally, because their rounds are
// interleaved.
type RunPart struct {
	Part  int `json:"part"`  // from 1
	Parts int `json:"parts"` // number of parts
	// Place is the shared resource, and Shares are the other targets that use it; empty: nothing is
	// shared.
	Place  string   `json:"place,omitempty"`
	Shares []string `json:"shares,omitempty"` // see Place
}

// String describes the part and the reason; empty for nil.
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

// InDifferentParts reports whether two targets of one run were measured in different parts of it,
// so that their rounds were not interleaved.
func InDifferentParts(a, b *Target) bool {
	return a.RunPart != nil && b.RunPart != nil && a.RunPart.Part != b.RunPart.Part
}

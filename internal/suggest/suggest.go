// Package suggest offers the closest known names for a mistyped one.
package suggest

import (
	"sort"
	"strings"

	"github.com/agext/levenshtein"
)

// Among returns the tail of an error message: `; did you mean "a" or "b"?` for
// the known names closest to the given one, or `; known: a, b, …` where none
// is close.
func Among(name string, known []string) string {
	type candidate struct {
		name     string
		distance int
	}
	var near []candidate
	for _, k := range known {
		d := levenshtein.Distance(strings.ToLower(name), strings.ToLower(k), nil)
		if d <= max(2, len(k)/3) || len(name) > 2 && strings.HasPrefix(k, name) {
			near = append(near, candidate{k, d})
		}
	}
	if len(near) == 0 {
		if len(known) == 0 {
			return "; there are none"
		}
		return "; known: " + strings.Join(known, ", ")
	}
	sort.SliceStable(near, func(i, j int) bool { return near[i].distance < near[j].distance })
	near = near[:min(3, len(near))]
	quoted := make([]string, len(near))
	for i, c := range near {
		quoted[i] = `"` + c.name + `"`
	}
	return "; did you mean " + strings.Join(quoted, " or ") + "?"
}

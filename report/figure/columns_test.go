package figure

import (
	"slices"
	"testing"
)

// Each figure of the CSV has a description in the source of the documentation.
func TestColumnsAreDescribed(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range slices.Concat(Columns(), EventColumns(), AgentColumns()) {
		if c.Doc == "" || seen[c.Name] {
			t.Errorf("column %q has no description, or is there twice", c.Name)
		}
		seen[c.Name] = true
	}
}

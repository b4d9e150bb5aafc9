package run

import (
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/run/experiment"
)

// listPoints writes the points of a sweep as comments of YAML.
func listPoints(points []experiment.Point) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %d runs:\n", len(points))
	for i, p := range points {
		var names []string
		for _, t := range p.Experiment.Targets {
			names = append(names, t.Name)
		}
		fmt.Fprintf(&b, "# %d. %s; targets %s\n", i+1, p.Parameters, strings.Join(names, ", "))
	}
	return b.String()
}

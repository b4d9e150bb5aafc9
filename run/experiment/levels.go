package experiment

import (
	"fmt"

	"github.com/tsmark/tsmark/result"
)

// AllLevels is the value of Target.Durability that stands for all levels that the driver offers.
const AllLevels = "all"

// SplitLevels returns the experiment with a target for each level of durability in place of a target
// with AllLevels. levels returns the names of the levels that the driver of a target offers; the
// target remains as it is if the driver offers no level.
func (e *Experiment) SplitLevels(levels func(*Target) []string) *Experiment {
	x := expander{checker: checker{experiment: e}}
	wanted, most := make(map[int][]string), 0
	for i := range e.Targets {
		if e.Targets[i].Durability == AllLevels {
			wanted[i] = levels(&e.Targets[i])
			if len(wanted[i]) == 0 {
				wanted[i] = []string{""}
			}
			most = max(most, len(wanted[i]))
		}
	}
	if most == 0 {
		return e
	}
	var options []choice
	for n := range most {
		for i := range e.Targets {
			if names := wanted[i]; names != nil {
				options = append(options, choice{
					Parameter: result.Parameter{Path: "durability", Value: names[min(n, len(names)-1)]}, key: key{target: i, option: "durability"},
					origin: e.origin(fmt.Sprintf("targets[%d]", i)),
				})
			}
		}
		options = append(options, choice{key: key{target: -1}})
	}
	naming := make([]func(string) bool, len(e.Targets))
	for i := range naming {
		naming[i] = func(string) bool { return len(wanted[i]) > 1 }
	}
	split := x.point(nil, options, naming).Experiment
	split.Matrix, split.Exclude, split.Include = e.Matrix, e.Exclude, e.Include
	return split
}

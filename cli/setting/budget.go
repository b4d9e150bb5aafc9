package setting

import (
	"slices"
	"time"

	"github.com/tsmark/tsmark/cli/catalog"
	"github.com/tsmark/tsmark/run/experiment"
)

// DefaultBudget returns the default budget of an experiment's queries: servers get more time.
func DefaultBudget(c catalog.Catalog, e *experiment.Experiment) time.Duration {
	if slices.ContainsFunc(e.Targets, func(t experiment.Target) bool { return c.CheckRemote(t.Driver) == nil }) {
		return experiment.ServerBudget
	}
	return experiment.EmbeddedBudget
}

package plan

import (
	"fmt"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/run/experiment"
)

// CheckAgents says why the given number of agents cannot share the plan; nil: they can. A
// runner checks it too; this function lets callers check before they wait for agents.
func (p *Plan) CheckAgents(agents int) error {
	e := p.Experiment
	const shared = "with agents"
	for i := range p.Targets {
		t := &p.Targets[i]
		path := fmt.Sprintf("targets[%d]", i)
		switch {
		case t.Caps.Embedded && !t.Caps.Discards:
			return e.Problem(path, "%s is in this process, where agents cannot reach it; choose a server, or run without agents", t.Name)
		case p.Steps.Load && t.Caps.InOrder > 0 && t.Caps.InOrder < driver.InSeries:
			return e.Problem(path, "%s takes rows in the order of their times only, which one process sees to; load without agents", t.Name)
		case t.Caps.OneConnection:
			return e.Problem(path, "%s takes one connection at a time; run without agents", t.Name)
		case p.Steps.Load && t.Workers < agents:
			return e.Problem(e.WorkersPath(i), "%d is less than the number of agents, %d, and each agent needs at least one; raise it", t.Workers, agents)
		}
	}
	switch {
	case p.Steps.Load && e.Load.File != "":
		return e.Problem("load.file", "%s rows are generated, or read as own data: use the workload file, or load without agents", shared)
	case p.Steps.Query && e.Queries.Workers < agents:
		return e.Problem("queries.workers", "%d is less than the number of agents, %d, and each agent needs at least one; raise it", e.Queries.Workers, agents)
	case p.Steps.Load && e.Load.Columns == experiment.ColumnsAppear:
		return e.Problem("load.columns", "%s all columns are there from the start; leave it out, or load without agents", shared)
	case e.Life.Enabled():
		return e.Problem("life", "happens in one process; leave it out, or run without agents")
	case e.Crash.Enabled():
		return e.Problem("crash.count", "happens in one process; leave it out, or run without agents")
	case p.Steps.Load && e.Mixed.Enabled() && p.Settings.Queriers < agents:
		path := "queries.workers"
		if e.Mixed.Queriers > 0 {
			path = "mixed.queriers"
		}
		return e.Problem(path, "%d is less than the number of agents, %d, and each agent needs at least one; raise it", p.Settings.Queriers, agents)
	case p.Steps.Query && e.Queries.Until != "":
		return e.Problem("queries.until", "looks at the times of one process, and agents cannot share it; set the time box or the number of queries")
	case p.Steps.Query && e.Queries.Cache == experiment.CacheCold:
		return e.Problem("queries.cache", "cold caches need one process; run without agents")
	}
	return nil
}

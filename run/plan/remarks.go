package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// Remark is information about a plan for the user before it is executed.
type Remark struct{ About, Text string }

// refusalProblem is the problem of a target that cannot hold the dataset, at the position of the
// setting to change.
func (p *Plan) refusalProblem(target string, r *driver.Refusal) error {
	if r.Setting == "" {
		return p.Experiment.Problem(target, "%s", r.Problem)
	}
	return p.Experiment.SpecProblem(&workload.SpecError{Setting: r.Setting, Problem: r.Problem})
}

// checkConnections returns an error if the experiment needs several connections to a target that
// accepts only one, and remarks if only some of them can write.
func (p *Plan) checkConnections(target int, caps *driver.Caps) error {
	e := p.Experiment
	name, workers := e.Targets[target].Name, e.LoadOf(target).Workers
	if most := caps.MaxWriters; p.Steps.Load && most > 0 && workers > most {
		p.Remarks = append(p.Remarks, Remark{"target " + name, fmt.Sprintf("%d of its %d workers can write at once, and the others wait their turn", most, workers)})
	}
	if !caps.OneConnection {
		return nil
	}
	for _, c := range []struct {
		wanted bool
		path   string
	}{
		{p.Steps.Load && workers > 1, e.WorkersPath(target)},
		{p.Steps.Query && e.Queries.Workers > 1, "queries.workers"},
		{p.Steps.Load && e.Mixed.Enabled(), "mixed.loaded"},
		{p.Steps.Load && e.Life.Enabled(), "life"},
	} {
		if c.wanted {
			return e.Problem(c.path, "target %s takes one connection at a time, and a second one would wait for ever; have one worker, and neither a mixed phase nor a life", name)
		}
	}
	return nil
}

// schema returns the schema of the experiment's dataset.
func (p *Plan) schema(w workload.Workload) (*series.Schema, error) {
	d, err := w.Dataset(p.Experiment.Workload)
	if err != nil {
		return nil, p.Experiment.SpecProblem(err)
	}
	return d.Schema(), nil
}

// checkSteps returns an error for a step that no target has, and remarks on targets that skip one.
func (p *Plan) checkSteps() error {
	if !p.Steps.Load {
		return nil
	}
	for _, wanted := range p.Experiment.Load.After {
		var known, without []string
		for _, t := range p.Targets {
			var names []string
			for _, step := range t.Caps.Steps {
				names = append(names, step.Name)
			}
			known = append(known, names...)
			if !slices.Contains(names, wanted) {
				without = append(without, t.Name)
			}
		}
		switch len(without) {
		case 0:
		case len(p.Targets):
			slices.Sort(known)
			return p.Experiment.Problem("load.after", "no target has a step %q%s", wanted, suggest.Names(wanted, slices.Compact(known)))
		default:
			p.Remarks = append(p.Remarks, Remark{"step " + wanted, "left out for " + strings.Join(without, ", ") + ", without such a step"})
		}
	}
	return nil
}

// Package runner executes experiments: it loads, settles, counts, checks and
// asks, target by target, and stores each piece as it is finished.
package runner

import (
	"errors"
	"fmt"

	"github.com/tsmark/tsmark/experiment"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/target"
	"github.com/tsmark/tsmark/workload"
)

// Catalog is what experiments can name.
type Catalog struct {
	Workload func(name string) (workload.Workload, error) // its error offers the closest names
	Kind     func(name string) (target.Kind, error)       // likewise
}

// Plan is an experiment whose every name has been found and every value
// checked. Making one touches nothing: what is wrong with an experiment shows
// before anything starts.
type Plan struct {
	experiment *experiment.Experiment
	workload   workload.Workload
	targets    []plannedTarget
	types      []workload.QueryType
}

type plannedTarget struct {
	name    string
	kind    target.Kind
	options target.Options
}

// NewPlan checks the experiment. Its error is a *experiment.Problem, or
// several joined, that name what to mend and where it was written.
func NewPlan(e *experiment.Experiment, c Catalog) (*Plan, error) {
	if err := e.Check(); err != nil {
		return nil, err
	}
	p := &Plan{experiment: e}
	var problems []error
	var err error
	if p.workload, err = c.Workload(e.Workload.Name); err != nil {
		return nil, e.Problem("workload.name", "%s", err)
	}
	if err := p.workload.Check(e.Workload); err != nil {
		problems = append(problems, specProblem(e, err))
	}
	for i, t := range e.Targets {
		path := fmt.Sprintf("targets[%d]", i)
		kind, err := c.Kind(t.Kind)
		if err != nil {
			problems = append(problems, e.Problem(path+".kind", "%s", err))
			continue
		}
		options, err := kind.Resolve(t.Options)
		if err != nil {
			problems = append(problems, e.Problem(path+".options", "%s", err))
			continue
		}
		p.targets = append(p.targets, plannedTarget{name: t.Name, kind: kind, options: options})
	}
	if p.types, err = chosenTypes(e, p.workload); err != nil {
		problems = append(problems, err)
	}
	return p, errors.Join(problems...)
}

// specProblem tells where the user wrote the setting that a workload rejects.
func specProblem(e *experiment.Experiment, err error) error {
	var bad *workload.SpecError
	if !errors.As(err, &bad) {
		return err
	}
	problem := e.Problem("workload."+bad.Setting, "%s", bad.Problem)
	if problem.Origin == (experiment.Origin{}) {
		return bad // a default: its name alone says more than a path
	}
	return problem
}

// chosenTypes returns the query types that the experiment names.
func chosenTypes(e *experiment.Experiment, w workload.Workload) ([]workload.QueryType, error) {
	if e.Queries.All() {
		return w.QueryTypes(), nil
	}
	var chosen []workload.QueryType
	var problems []error
	for i, name := range e.Queries.Types {
		// Queries knows the names and says what is close to a wrong one.
		if _, err := w.Queries(e.Workload, name, 0); err != nil && !isSpecError(err) {
			problems = append(problems, e.Problem(fmt.Sprintf("queries.types[%d]", i), "%s", err))
			continue
		}
		for _, t := range w.QueryTypes() {
			if t.Name == name {
				chosen = append(chosen, t)
			}
		}
	}
	return chosen, errors.Join(problems...)
}

func isSpecError(err error) bool {
	var bad *workload.SpecError
	return errors.As(err, &bad)
}

// questions is the queries of one type.
type questions struct {
	kind     workload.QueryType
	queries  []query.Query
	verified int // the first so many have their answers checked
}

// draw draws the queries of all chosen types. A type that cannot be asked of
// the dataset is a problem with the dataset's specification.
func (p *Plan) draw(spec workload.Spec) ([]questions, error) {
	q := &p.experiment.Queries
	n := q.Count
	if q.MaxQueries > 0 {
		n = min(n, q.MaxQueries)
	}
	drawn := make([]questions, len(p.types))
	for i, t := range p.types {
		queries, err := p.workload.Queries(spec, t.Name, n)
		if err != nil {
			return nil, specProblem(p.experiment, err)
		}
		drawn[i] = questions{kind: t, queries: queries, verified: min(q.Verify, n)}
	}
	return drawn, nil
}

// Package reproduce decides what to run of a published document: which experiments, on which
// systems, and which of them have complete runs already.
package reproduce

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/monitor/process"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/reproduce/document"
	"github.com/tsmark/tsmark/run/store"
)

// Request says which experiments of a document to run, and on which systems.
type Request struct {
	Document    *document.Document // with the chosen claims only
	Size        document.Size
	Experiments []string            // names or numbers of the chosen ones; empty: all
	ForClaims   bool                // run only experiments that the claims need
	Verbatim    bool                // run TSBS's own texts beside equal queries
	Again       bool                // run complete experiments too
	Targets     []experiment.Target // of all experiments
	StandIns    []experiment.Target // run for correctness only: see Edition.Correctness
	Origins     []string            // what defines the first of the targets, for errors
	Catalog     plan.Catalog
	Ended       func(*document.Experiment, *result.Run) bool // reports whether a run has all the results that it will have
	Note        func(text string)                            // tells the user what differs from the document, or runs again
}

// Edition is one way to run an experiment: with equal queries, or with TSBS's own texts.
type Edition struct {
	Of         *document.Experiment // the document's experiment, by which it is chosen and claims name it
	Experiment *document.Experiment
	Verbatim   bool
	// Correctness runs stand-ins for systems alone, once, in size smoke: their answers are verified,
	// and their figures are not compared.
	Correctness bool
	File        *experiment.Experiment // as a file of tsmark's; nil: it will not run
	Sweep       *plan.Sweep            // its plan
	Runs        []*result.Run          // the complete ones
	// Trial is the experiment and the setting of a sensitivity trial: load batch-half; empty: it is not one.
	Trial string
}

// MustRun reports whether an edition should run, and is not complete.
func (e *Edition) MustRun() bool { return e.File != nil && len(e.Runs) == 0 }

// Editions lists all editions of a document, in its order.
func Editions(d *document.Document) []Edition {
	var list []Edition
	for i := range d.Experiments {
		e := &d.Experiments[i]
		list = append(list, Edition{Of: e, Experiment: e})
		if verbatim, ok := e.Verbatim(); ok {
			list = append(list, Edition{Of: e, Experiment: &verbatim, Verbatim: true})
		}
		correctness := *e
		correctness.Name += "-correctness"
		list = append(list, Edition{Of: e, Experiment: &correctness, Correctness: true})
	}
	return list
}

// Plan returns all editions of the document, with plans of the ones to run. So an error in a
// target is reported before the first of them runs.
func (r *Request) Plan() ([]Edition, error) {
	list := Editions(r.Document)
	steps, _ := plan.StepsOf("run")
	for i := range list {
		edition := &list[i]
		if edition.Correctness {
			if err := r.planCorrectness(edition); err != nil {
				return nil, err
			}
			continue
		}
		if !r.chooses(edition) || len(r.Document.Takes(edition.Experiment, r.Size, r.Targets)) == 0 {
			continue // or the system that it is about is not among the targets
		}
		file, err := r.Document.Make(edition.Experiment, r.Size, slices.Clone(r.Targets))
		if err != nil {
			return nil, err
		}
		file.Load.Replace = true // existing data of tsmark's from the previous point
		if why := removeLimited(file); why != "" && !edition.Verbatim {
			r.Note(fmt.Sprintf("experiment %s: points that limit the memory of servers are not run: %s", edition.Experiment.Name, why))
		}
		for j, t := range file.Targets {
			at := slices.IndexFunc(r.Targets, func(g experiment.Target) bool {
				return g.Name == t.Name || edition.Experiment.Only != "" && g.Driver == t.Driver
			})
			if at < len(r.Origins) {
				file.FromFlag(fmt.Sprintf("targets[%d]", j), r.Origins[at])
			}
		}
		if edition.Sweep, err = plan.NewSweep(file, r.Catalog, steps); err != nil {
			return nil, r.firstError(file, err)
		}
		edition.File = file
	}
	return list, nil
}

// planCorrectness plans one run of the stand-ins: the first point of the experiment in size smoke,
// with one worker, because PGlite accepts one connection.
func (r *Request) planCorrectness(edition *Edition) error {
	targets := r.Document.Takes(edition.Experiment, document.Smoke, r.StandIns)
	if !r.chooses(edition) || len(targets) == 0 || edition.Of.LeftOut(document.Smoke) != "" {
		return nil
	}
	file, err := r.Document.Make(edition.Experiment, document.Smoke, targets)
	if err != nil {
		return err
	}
	points, err := file.Expand()
	if err != nil || points[0].Experiment.Mixed.Enabled() {
		return err
	}
	file = points[0].Experiment
	file.Name, file.Targets, file.ServerMemory = r.runName(edition), file.Targets[:1], ""
	file.Load.Workers, file.Load.Repeats, file.Load.Replace, file.Queries.Workers, file.Queries.Repeats = 1, 1, true, 1, 1
	steps, _ := plan.StepsOf("run")
	if edition.Sweep, err = plan.NewSweep(file, r.Catalog, steps); err != nil {
		return err
	}
	edition.File = file
	return nil
}

// runName returns the name of the runs of an edition.
func (r *Request) runName(edition *Edition) string {
	if edition.Correctness {
		return r.Document.RunName(edition.Experiment, document.Smoke)
	}
	return r.Document.RunName(edition.Experiment, r.Size)
}

// chooses reports whether an edition should run: its experiment was chosen, or a chosen claim
// needs it, or nothing was chosen. TSBS's texts run only on request.
func (r *Request) chooses(edition *Edition) bool {
	e := edition.Of
	named := func(name string) bool { return e.Name == name || strings.EqualFold(e.ID, name) }
	if e.LeftOut(r.Size) != "" || edition.Verbatim && !r.Verbatim || len(r.Experiments) > 0 && !slices.ContainsFunc(r.Experiments, named) {
		return false
	}
	return !r.ForClaims || slices.ContainsFunc(r.Document.Claims, func(c document.Claim) bool {
		return slices.ContainsFunc(c.Rules, func(rule document.Rule) bool { return rule.Of == e.Name })
	})
}

// removeLimited removes the points with servers of little memory from an experiment if the memory
// of some servers cannot be limited, and returns the reason. It is empty if nothing was removed.
func removeLimited(file *experiment.Experiment) string {
	limited := func(c experiment.Combination) bool {
		return slices.ContainsFunc(c, func(set result.Parameter) bool {
			return set.Path == experiment.MemoryPath && !experiment.LimitsNothing(set)
		})
	}
	if !slices.ContainsFunc(file.Include, limited) {
		return ""
	}
	var why string
	if i := slices.IndexFunc(file.Targets, func(t experiment.Target) bool { return t.Start == "" }); i >= 0 {
		why = file.Targets[i].Name + " is not a server that tsmark starts"
	} else if err := process.CanLimitMemory(); err != nil {
		why = err.Error()
	}
	if why != "" {
		file.Include, file.ServerMemory = slices.DeleteFunc(file.Include, limited), ""
	}
	return why
}

// firstError returns the error of an experiment without its matrix, which has every target once.
// If there is no such error, it returns the error of the matrix.
func (r *Request) firstError(file *experiment.Experiment, err error) error {
	single := *file
	single.Matrix, single.Exclude, single.Include = nil, nil, nil
	steps, _ := plan.StepsOf("run")
	if _, first := plan.NewPlan(&single, r.Catalog, steps); first != nil {
		return first
	}
	return err
}

// Find looks for complete runs of an edition in the results. If the edition should run, they must
// have every requested system; otherwise a note says that the edition runs again.
func (r *Request) Find(ctx context.Context, kept *store.Store, edition *Edition) error {
	var requested *experiment.Experiment
	if edition.File != nil {
		if r.Again {
			return nil
		}
		var err error
		if requested, err = edition.Sweep.Public(); err != nil {
			return err
		}
	}
	runs, difference, err := r.findComplete(ctx, kept, edition, requested)
	if edition.Runs = runs; len(runs) == 0 && difference != "" {
		r.Note(fmt.Sprintf("experiment %s was run %s: it runs again", edition.Experiment.Name, difference))
	}
	return err
}

// Package plan prepares a run before anything is touched: the targets with their options, the
// queries, the order of the jobs, user-provided texts, and all checks that are possible in advance.
package plan

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/driver/kit/protocol"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/internal/secret"
	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/compatible"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/run/verify"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/ownqueries"
)

// suggestKey adds to the error about an unknown option the key of targets that may have been meant.
func suggestKey(kind *driver.Driver, err error) error {
	unknown := (*option.Error)(nil)
	if !errors.As(err, &unknown) || slices.ContainsFunc(kind.Options, func(o driver.Option) bool { return o.Name == unknown.Name }) {
		return err
	}
	if near := suggest.NamesOr(unknown.Name, experiment.TargetKeys(), ""); near != "" {
		return fmt.Errorf("%s has no option %q%s", kind.Name, unknown.Name, near)
	}
	return err
}

// VerifyConfig is the configuration for queries whose answers are compared off the clock.
func (p *Plan) VerifyConfig(planned *Target) verify.Config {
	settings := &p.Experiment.Queries
	workers := settings.Workers
	if planned.Caps.Embedded {
		workers = max(workers, min(runtime.NumCPU(), 4)) // off the clock more connections do no harm
	}
	return verify.Config{Workers: workers, Timeout: settings.Timeout, Semantics: planned.Driver.Semantics}
}

// Plan is an experiment with all names resolved and all values checked. Creating one touches
// nothing: errors in an experiment are found before anything starts.
type Plan struct {
	Experiment *experiment.Experiment
	Catalog    Catalog
	Steps      Steps
	Compares   bool // the loaded data is queried, or would be if there were queries
	Targets    []Target
	Settings   settings
	Aggregate  *Aggregate // nil: none is created
	Remarks    []Remark
	Secrets    *secret.Redactor
	Place      result.Place // place of its run in a sweep
	Earlier    []string     // IDs of the earlier runs of that sweep, or of the run to repeat: their data may be replaced
	OrderSeed  string       // see KeepOrder; empty: random in each run
	QuerySeed  int64        // see KeepQueries; 0: the experiment's, or random in each run
}

// Steps selects the parts of an experiment to execute.
type Steps struct {
	Load   bool // otherwise the targets must already hold a complete dataset, which is then the workload
	Verify bool // compare answers with the oracle's
	Query  bool // measure queries; only with Verify
}

// StepsOf returns the steps of the command that has the name.
func StepsOf(command string) (s Steps, ok bool) {
	switch command {
	case "run":
		return Steps{Load: true, Verify: true, Query: true}, true
	case "load":
		return Steps{Load: true}, true
	case "query":
		return Steps{Verify: true, Query: true}, true
	case "verify":
		return Steps{Verify: true}, true
	}
	return Steps{}, false
}

// NewPlan checks the parts of the experiment that the steps use. Its error is a
// *experiment.Problem, or several joined, that name the value to fix and its position.
func NewPlan(e *experiment.Experiment, c Catalog, steps Steps) (*Plan, error) {
	p := &Plan{Experiment: e, Catalog: c, Steps: steps, Compares: steps.Query, Secrets: newRedactor(e, c)}
	if err := p.check(); err != nil {
		return nil, p.Secrets.Error(err)
	}
	return p, nil
}

// check resolves the names and checks the values.
func (p *Plan) check() error {
	e, c, steps := p.Experiment, p.Catalog, p.Steps
	if err := e.Check(); err != nil {
		return err
	}
	var err error
	if p.Settings, err = readSettings(e, c.Pulse); err != nil {
		return err
	}
	if err := p.checkSections(); err != nil {
		return err
	}
	if e.Queries.Verbatim() && steps.Verify && !steps.Query {
		return e.Problem("queries.query-texts", "of TSBS's texts nobody knows the right answers; leave it out to verify tsmark's")
	}
	onlyLoad := steps.Load && !steps.Verify
	if e.Adopt {
		if onlyLoad {
			return e.Problem("adopt", "has tsmark query what somebody else loaded, and this only loads; use tsmark run, query or verify")
		}
		steps.Load = false
		p.Steps = steps
	}
	if len(e.Queries.Types) == 0 {
		if !steps.Load {
			return e.Problem("queries.types", "is empty; name query types, or %s or %s", experiment.CoreTypes, experiment.AllTypes)
		}
		steps.Verify, steps.Query = false, false
		p.Steps = steps
	}
	if e.Life.Enabled() {
		if !steps.Load || !steps.Verify {
			return e.Problem("life", "is for tsmark run: it follows a load and verifies answers; omit it for this command")
		}
		steps.Query = false // its dashboards run the queries
		p.Steps = steps
	}
	if e.Crash.Enabled() {
		if !steps.Load {
			return e.Problem("crash.count", "is for tsmark run: it follows a load; omit it for this command")
		}
		steps.Verify, steps.Query = false, false // the contents are compared
		p.Steps = steps
	}
	if len(e.Queries.Types) > 0 && e.Queries.Types[0] == experiment.ComplianceTypes { // their times mean nothing to any user
		steps.Query = false
		p.Steps, p.Compares = steps, false
	}
	var problems []error
	var schema *series.Schema // nil: the dataset is already loaded
	var values series.Values  // likewise
	if steps.Load || e.Adopt {
		w, types, err := p.Dataset(e.Workload)
		if err == nil {
			values = w.Describe(e.Workload).Values
			schema, err = p.schema(w)
		}
		if err == nil {
			err = p.materialize(w, schema)
		}
		if err == nil {
			err = p.checkDrawable(w, types)
		}
		if err == nil {
			err = p.checkLife(schema)
		}
		problems = append(problems, err)
	}
	for i, t := range e.Targets {
		path := fmt.Sprintf("targets[%d]", i)
		kind, err := compatible.Lookup(c.Driver, &t)
		if err != nil {
			var problem error = e.Problem(path+".driver", "%s", err)
			if errors.Is(err, driver.ErrUnreachable) {
				problem = &UnreachedError{problem}
			}
			problems = append(problems, problem)
			continue
		}
		if kind.Missing != "" {
			problems = append(problems, e.Problem(path+".driver", "%s cannot be measured: %s", kind.Name, kind.Missing))
			continue
		}
		if t, err = startByScript(&kind, t); err != nil {
			at := path + ".server"
			if t.Version != "" {
				at = path + ".version"
			}
			problems = append(problems, e.Problem(at, "%s", err))
			continue
		}
		var script string
		if t, script, err = c.locateScripts(t); err != nil {
			problems = append(problems, e.Problem(path, "%s", err))
			continue
		}
		if t, err = c.revealSecrets(&kind, t); err != nil {
			problems = append(problems, e.Problem(path, "%s", err))
			continue
		}
		ports := takePorts(t)
		chosen, err := kind.Choose(t.Profile, t.Durability, t.Options)
		if err != nil {
			problems = append(problems, e.Problem(path, "%s", err))
			continue
		}
		options, err := kind.Resolve(chosen)
		if err != nil {
			problems = append(problems, e.Problem(path+".options", "%s", suggestKey(&kind, err)))
			continue
		}
		if problem := startProblem(&kind, t); problem != "" {
			problems = append(problems, e.Problem(path+".start", "%s", problem))
			continue
		}
		caps := kind.Caps(options)
		if e.Crash.Enabled() && caps.Language == "" {
			problems = append(problems, e.Problem(path, "%s has no answers that tsmark can read, so nobody knows what a crash loses; leave it out", t.Name))
		}
		if caps.Discards && p.Steps.Verify {
			problems = append(problems, e.Problem(path, "%s has no answers that tsmark can read; leave it out, or measure loading alone, by tsmark load", t.Name))
		}
		problems = append(problems, p.checkConnections(i, &caps))
		if refusal := caps.Refuse(t.Name, schema, values); refusal != nil {
			problems = append(problems, p.refusalProblem(path, refusal))
		}
		if e.Adopt && schema != nil {
			if err := checkAdopt(&kind, schema, options); err != nil {
				problems = append(problems, e.Problem(path, "%s", err))
			}
		}
		place := placeOf(&kind, options, t.Start)
		if problem := p.placeProblem(&kind, caps.Embedded, place, onlyLoad); problem != "" {
			problems = append(problems, e.Problem(path, "%s", problem))
		}
		kind = protocol.Driver(limit.Driver(kind, e.Timeouts.Limits()))
		shown := p.hideSecrets(&kind, options)
		p.Targets = append(p.Targets, Target{
			Name: t.Name, Driver: kind, Options: options, Caps: caps, Shown: shown, Changes: kind.Changes(shown),
			Profile: t.Profile, Durability: t.Durability, Restart: t.Restart, Exporter: t.Exporter, Metrics: t.Metrics,
			Workers: e.LoadOf(i).Workers, BatchSize: e.LoadOf(i).BatchSize,
			Twin: t.Twin, Start: t.Start, Script: script, Server: t.Server, Idle: cmp.Or(t.Idle, experiment.IdlePause), StartFor: cmp.Or(t.StartFor, experiment.ForRun), Memory: p.Settings.memory, ports: ports, Place: place,
		})
		if problem := p.Targets[len(p.Targets)-1].CrashProblem(); problem != "" && e.Crash.Enabled() {
			problems = append(problems, e.Problem(path, "%s %s", t.Name, problem))
		}
	}
	problems = append(problems, p.checkTexts()...)
	if len(p.Targets) == len(e.Targets) { // otherwise steps of unknown targets would seem to be missing
		problems = append(problems, p.checkSteps())
	}
	return errors.Join(problems...)
}

// checkTexts returns the problems with the systems named by own queries.
func (p *Plan) checkTexts() (problems []error) {
	known := ownqueries.Languages()
	for _, t := range p.Targets {
		known = append(known, t.Driver.Name)
	}
	for i, own := range p.Experiment.Queries.Own {
		for _, of := range slices.Sorted(maps.Keys(own.Texts)) {
			if _, err := p.Catalog.Driver(of); err != nil && !slices.Contains(known, of) {
				problems = append(problems, p.Experiment.Problem(fmt.Sprintf("queries.own[%d].texts.%s", i, of),
					"there is neither a driver nor a language %q%s", of, suggest.Names(of, known)))
			}
		}
	}
	return problems
}

// checkDrawable returns an error if the dataset is too small for some of the query types, and says
// how to run the others.
func (p *Plan) checkDrawable(w workload.Workload, types []workload.QueryType) error {
	var first error
	var names, rest []string
	for _, t := range types {
		if _, err := p.Draw(w, []workload.QueryType{t}, p.Experiment.Workload, 0, ""); err == nil {
			rest = append(rest, t.Name)
		} else {
			first = cmp.Or(first, err)
			names = append(names, experiment.Without+t.Name)
		}
	}
	if first == nil || len(rest) == 0 {
		return first
	}
	if q := &p.Experiment.Queries; q.TypeName(0) == "" { // a word that selects several
		rest = append(slices.Clone(q.Types), names...)
	}
	return fmt.Errorf("%w, as in --query-type '%s'", first, strings.Join(rest, ","))
}

// checkLife returns an error if an event names a tag that the dataset lacks.
func (p *Plan) checkLife(s *series.Schema) error {
	var known []string
	for _, t := range s.Tables {
		for _, tag := range t.Tags {
			known = append(known, tag.Key)
		}
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for i, event := range p.Experiment.Life.Events {
		if event.Tag != "" && !slices.Contains(known, event.Tag) {
			return p.Experiment.Problem(fmt.Sprintf("life.events[%d].tag", i), "no table has a tag %q%s", event.Tag, suggest.Names(event.Tag, known))
		}
	}
	return nil
}

// checkSections returns an error if settings belong to an unknown workload.
func (p *Plan) checkSections() error {
	e := p.Experiment
	for section, settings := range map[string]workload.Settings{"workload": e.Workload.Settings, "queries": e.Queries.Settings} {
		for _, key := range slices.Sorted(maps.Keys(settings)) {
			name, _, _ := strings.Cut(key, ".")
			if _, err := p.Catalog.Workload(name); err != nil {
				return e.Problem(section+"."+name, "%s", err)
			}
		}
	}
	return nil
}

// Dataset finds the workload of a specification and checks it and the selected query types.
func (p *Plan) Dataset(spec workload.Spec) (workload.Workload, []workload.QueryType, error) {
	w, err := p.Catalog.Workload(spec.Name)
	if err != nil {
		return nil, nil, p.Experiment.Problem("workload.name", "%s", err)
	}
	if _, ok := w.(workload.Surveyed); ok && p.Experiment.Load.File != "" {
		return nil, nil, p.Experiment.Problem("load.file", "is for a generated dataset; name files with rows of your own in workload.own.files")
	}
	if err := w.Check(spec); err != nil {
		return nil, nil, p.Experiment.SpecProblem(err)
	}
	if !p.Steps.Verify {
		return w, nil, nil
	}
	if w, err = p.Experiment.Extend(w, spec); err != nil {
		return nil, nil, p.Experiment.SpecProblem(err)
	}
	types, err := p.chosenTypes(w)
	return w, types, err
}

// chosenTypes returns the query types that the experiment selects.
func (p *Plan) chosenTypes(w workload.Workload) ([]workload.QueryType, error) {
	e := p.Experiment
	var problems []error
	for i := range e.Queries.Types {
		name := e.Queries.TypeName(i)
		if name == "" {
			continue
		}
		// Queries knows the names and suggests similar ones.
		if _, err := w.Queries(e.Workload, name, 0); err != nil && !isSpecError(err) {
			problems = append(problems, e.Problem(fmt.Sprintf("queries.types[%d]", i), "%s", err))
		}
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	all := w.QueryTypes()
	names := make([]string, len(all))
	for i, t := range all {
		names[i] = t.Name
	}
	byWord := len(e.Queries.Types) > 0 && e.Queries.TypeName(0) == ""
	var chosen []workload.QueryType
	for _, name := range e.Queries.Choose(all) {
		var bad *workload.SpecError
		if _, err := w.Queries(e.Workload, name, 0); byWord && errors.As(err, &bad) && bad.Absent {
			// The user did not name this type.
			if r := (Remark{"type " + name, "left out: " + bad.Problem}); !slices.Contains(p.Remarks, r) {
				p.Remarks = append(p.Remarks, r)
			}
			continue
		}
		chosen = append(chosen, all[slices.Index(names, name)])
	}
	if len(chosen) == 0 && e.Queries.Types[0] == experiment.ComplianceTypes {
		return nil, e.Problem("queries.types[0]", "workload %s has no %s types; choose others, or the workload metrics", w.Name(), experiment.ComplianceTypes)
	}
	return chosen, nil
}

func isSpecError(err error) bool {
	var bad *workload.SpecError
	return errors.As(err, &bad)
}

// Package runner executes experiments: it loads, settles, counts, checks and
// runs, target by target, and stores each piece as it is finished.
package runner

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/engine/pulse"
	"github.com/tsmark/tsmark/internal/secret"
	"github.com/tsmark/tsmark/internal/suggest"
	"github.com/tsmark/tsmark/oracle"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/ownqueries"
)

// Catalog is what experiments can name.
type Catalog struct {
	Workload func(name string) (workload.Workload, error) // its error offers the closest names
	Driver   func(name string) (driver.Driver, error)     // likewise
	// Environ is the environment, as os.Environ lists it, from which secret
	// options are taken that an experiment does not give: see SecretVariable.
	Environ []string
	// Servers makes the folder with the scripts that start servers, which targets
	// name as experiment.Servers. Nil: there are none.
	Servers func() (string, error)
	// Pulse begins what notices during a measurement that this process stands still; nil:
	// nothing does.
	Pulse func() *pulse.Pulse
	// SampleRows is how many whole rows of a dataset are read back after a load; 0:
	// oracle.SampleRows. Tests of small datasets need fewer.
	SampleRows int
	// CalibrationTime is how long each of the two halves of a calibration takes; 0: a second.
	// Tests, whose figures nobody reads, need less.
	CalibrationTime time.Duration
}

// calibrationTime returns how long each of the two halves of a calibration takes.
func (c *Catalog) calibrationTime() time.Duration { return cmp.Or(c.CalibrationTime, time.Second) }

// Plan is an experiment whose every name has been found and every value
// checked. Making one touches nothing: what is wrong with an experiment shows
// before anything starts.
type Plan struct {
	experiment *experiment.Experiment
	catalog    Catalog
	steps      Steps
	compares   bool // what is loaded is queried, or would be if there were queries
	targets    []plannedTarget
	settings   settings
	aggregate  *aggregated // nil: none is made
	remarks    []Remark
	secrets    *secret.Redactor
	place      result.Place // of its run in a sweep
	earlier    []string     // ids of the runs of that sweep before it
	orderSeed  string       // see KeepOrder; empty: each run draws one
	querySeed  int64        // see KeepQueries; 0: the experiment's, or each run draws one
}

// Steps is which parts of an experiment are executed.
type Steps struct {
	Load   bool // otherwise the targets must hold a complete dataset already, and theirs is the workload
	Verify bool // compare answers with the oracle's
	Query  bool // measure queries; only with Verify
}

type plannedTarget struct {
	name                string
	driver              driver.Driver
	options             driver.Options
	caps                driver.Caps       // with these options
	shown               map[string]string // options without secrets
	changes             []driver.Change   // likewise
	profile, durability string            // names of sets of options; empty: none
	restart             string            // command that restarts its server; empty: none
	start, idle         string            // command that runs its server, and what becomes of that between turns; empty: it runs already
	startFor            string            // what that server is started for
	memory              int64             // bytes that it may use; 0: as many as there are
	shares              string            // place that targets of the run may share; empty: it has one of its own
	ports               map[string]int    // options that are ports of that server, by how far they are from its first
	twin                string            // the target that it is once more; empty: none
	exporter, metrics   string            // addresses of what its host and server tell of themselves; empty: none
}

// NewPlan checks what the steps need of the experiment. Its error is a
// *experiment.Problem, or several joined, that name what to fix and where it
// was written.
func NewPlan(e *experiment.Experiment, c Catalog, steps Steps) (*Plan, error) {
	p := &Plan{experiment: e, catalog: c, steps: steps, compares: steps.Query, secrets: newRedactor(e, c)}
	if err := p.check(); err != nil {
		return nil, p.secrets.Error(err)
	}
	return p, nil
}

// check finds the names and checks the values.
func (p *Plan) check() error {
	e, c, steps := p.experiment, p.catalog, p.steps
	if err := e.Check(); err != nil {
		return err
	}
	var err error
	if p.settings, err = readSettings(e, c.Pulse); err != nil {
		return err
	}
	if err := p.sections(); err != nil {
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
		p.steps = steps
	}
	if len(e.Queries.Types) == 0 {
		if !steps.Load {
			return e.Problem("queries.types", "is empty; name query types, or %s or %s", experiment.CoreTypes, experiment.AllTypes)
		}
		steps.Verify, steps.Query = false, false
		p.steps = steps
	}
	var problems []error
	var schema *series.Schema // nil: the dataset is loaded already
	var values series.Values  // likewise
	if steps.Load || e.Adopt {
		w, types, err := p.dataset(e.Workload)
		if err == nil {
			values = w.Describe(e.Workload).Values
			schema, err = p.schema(w)
		}
		if err == nil {
			err = p.materialize(w, schema)
		}
		if err == nil {
			err = p.drawable(w, types)
		}
		problems = append(problems, err)
	}
	for i, t := range e.Targets {
		path := fmt.Sprintf("targets[%d]", i)
		kind, err := c.Driver(t.Driver)
		if err != nil {
			problems = append(problems, e.Problem(path+".driver", "%s", err))
			continue
		}
		if kind.Missing != "" {
			problems = append(problems, e.Problem(path+".driver", "%s cannot be measured: %s", kind.Name, kind.Missing))
			continue
		}
		if t, err = c.located(t); err != nil {
			problems = append(problems, e.Problem(path, "%s", err))
			continue
		}
		if t, err = c.complete(&kind, t); err != nil {
			problems = append(problems, e.Problem(path, "%s", err))
			continue
		}
		ports := furtherPorts(t)
		chosen, err := kind.Choose(t.Profile, t.Durability, t.Options)
		if err != nil {
			problems = append(problems, e.Problem(path, "%s", err))
			continue
		}
		options, err := kind.Resolve(chosen)
		if err != nil {
			problems = append(problems, e.Problem(path+".options", "%s", err))
			continue
		}
		if problem := startable(&kind, t); problem != "" {
			problems = append(problems, e.Problem(path+".start", "%s", problem))
			continue
		}
		caps := kind.Caps(options)
		if caps.Discards && p.steps.Verify {
			problems = append(problems, e.Problem(path, "%s keeps nothing, so that it has no answers; leave it out, or measure loading alone, by tsmark load", t.Name))
		}
		problems = append(problems, p.connections(t.Name, &caps))
		if refusal := caps.Refuse(t.Name, schema, values); refusal != nil {
			problems = append(problems, p.refused(path, refusal))
		}
		if e.Adopt && schema != nil {
			if err := adopts(&kind, schema, options); err != nil {
				problems = append(problems, e.Problem(path, "%s", err))
			}
		}
		place := placeOf(&kind, options, t.Start)
		if problem := p.shared(&kind, caps.Embedded, place, onlyLoad); problem != "" {
			problems = append(problems, e.Problem(path, "%s", problem))
		}
		kind = limit.Driver(kind, e.Timeouts.Limits())
		shown := p.withoutSecrets(&kind, options)
		p.targets = append(p.targets, plannedTarget{
			name: t.Name, driver: kind, options: options, caps: caps, shown: shown, changes: kind.Changes(shown),
			profile: t.Profile, durability: t.Durability, restart: t.Restart, exporter: t.Exporter, metrics: t.Metrics,
			twin: t.Twin, start: t.Start, idle: cmp.Or(t.Idle, experiment.IdlePause), startFor: cmp.Or(t.StartFor, experiment.ForRun), memory: p.settings.memory, ports: ports, shares: place,
		})
	}
	problems = append(problems, p.textsFor()...)
	if len(p.targets) == len(e.Targets) { // else steps of those that are not known are missed
		problems = append(problems, p.afterLoad())
	}
	return errors.Join(problems...)
}

// textsFor returns the problems with whom texts of own queries are for.
func (p *Plan) textsFor() (problems []error) {
	known := ownqueries.Languages()
	for _, t := range p.targets {
		known = append(known, t.driver.Name)
	}
	for i, own := range p.experiment.Queries.Own {
		for _, of := range slices.Sorted(maps.Keys(own.Texts)) {
			if _, err := p.catalog.Driver(of); err != nil && !slices.Contains(known, of) {
				problems = append(problems, p.experiment.Problem(fmt.Sprintf("queries.own[%d].texts.%s", i, of),
					"there is neither a driver nor a language %q%s", of, suggest.Names(of, known)))
			}
		}
	}
	return problems
}

// drawable returns an error where the dataset is too small for some of the query
// types, and says how to run the others.
func (p *Plan) drawable(w workload.Workload, types []workload.QueryType) error {
	var first error
	var names, rest []string
	for _, t := range types {
		if _, err := p.draw(w, []workload.QueryType{t}, p.experiment.Workload, 0, ""); err == nil {
			rest = append(rest, t.Name)
		} else {
			first = cmp.Or(first, err)
			names = append(names, experiment.Without+t.Name)
		}
	}
	if first == nil || len(rest) == 0 {
		return first
	}
	if q := &p.experiment.Queries; q.Named(0) == "" { // a word for several
		rest = append(slices.Clone(q.Types), names...)
	}
	return fmt.Errorf("%w, as in --query-type '%s'", first, strings.Join(rest, ","))
}

// sections returns an error where settings are of a workload that there is not.
func (p *Plan) sections() error {
	e := p.experiment
	for section, settings := range map[string]workload.Settings{"workload": e.Workload.Settings, "queries": e.Queries.Settings} {
		for _, key := range slices.Sorted(maps.Keys(settings)) {
			name, _, _ := strings.Cut(key, ".")
			if _, err := p.catalog.Workload(name); err != nil {
				return e.Problem(section+"."+name, "%s", err)
			}
		}
	}
	return nil
}

// dataset finds the workload of a specification and checks it and the query
// types to be run.
func (p *Plan) dataset(spec workload.Spec) (workload.Workload, []workload.QueryType, error) {
	w, err := p.catalog.Workload(spec.Name)
	if err != nil {
		return nil, nil, p.experiment.Problem("workload.name", "%s", err)
	}
	if _, ok := w.(workload.Surveyed); ok && p.experiment.Load.File != "" {
		return nil, nil, p.experiment.Problem("load.file", "is for a generated dataset; name files with rows of your own in workload.own.files")
	}
	if err := w.Check(spec); err != nil {
		return nil, nil, p.specProblem(err)
	}
	if !p.steps.Verify {
		return w, nil, nil
	}
	if w, err = p.experiment.Extend(w, spec); err != nil {
		return nil, nil, p.specProblem(err)
	}
	types, err := p.chosenTypes(w)
	return w, types, err
}

// specProblem tells where the user wrote the setting that a workload rejects.
func (p *Plan) specProblem(err error) error {
	var bad *workload.SpecError
	if !errors.As(err, &bad) {
		return err
	}
	path := "workload." + bad.Setting
	if bad.OfQueries {
		path = "queries." + bad.Setting
	}
	problem := p.experiment.Problem(path, "%s", bad.Problem)
	if problem.Origin == (experiment.Origin{}) {
		return bad // a default: its name alone says more than a path
	}
	return problem
}

// chosenTypes returns the query types that the experiment names.
func (p *Plan) chosenTypes(w workload.Workload) ([]workload.QueryType, error) {
	e := p.experiment
	var problems []error
	for i := range e.Queries.Types {
		name := e.Queries.Named(i)
		if name == "" {
			continue
		}
		// Queries knows the names and says what is close to a wrong one.
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
	var chosen []workload.QueryType
	for _, name := range e.Queries.Choose(all) {
		chosen = append(chosen, all[slices.Index(names, name)])
	}
	return chosen, nil
}

func isSpecError(err error) bool {
	var bad *workload.SpecError
	return errors.As(err, &bad)
}

// typeQueries is the queries of one type. They are drawn anew when they are
// needed, and never held all at once: a million of them take more memory than all
// the rest of a run.
type typeQueries struct {
	queryType workload.QueryType
	written   *ownqueries.Query     // texts that stand for the queries; nil: they have a meaning
	from      *query.Materialized   // that the queries are answered from; nil: rows
	all       iter.Seq[query.Query] // that can be measured, in their order, the same each time
	early     []query.Query         // whose answers are checked before anything is measured
	seed      int64                 // that drew them; 0: the dataset's
	record    result.QuerySet
	blocks    blocks
	// spare are queries to warm up with. They are none of those that are measured,
	// unless the type has no others.
	spare []query.Query

	expected [views]expectations // by how a target holds the dataset
}

// maxEvaluated bounds the different queries of types whose answers can only be
// counted by making them: they are then run in turn. Most such types of TSBS
// have four different queries or one.
const maxEvaluated = 100

// Queries that are drawn beside those that are measured, behind them in the same
// sequence: so many are compared before, and the others warm connections up.
const (
	earlyQueries = 2
	spareQueries = 64
)

// draw draws the first n queries of each type. A type that cannot be run of the
// dataset is a problem with the dataset's specification. The seed chooses what
// is checked before anything is measured.
func (p *Plan) draw(w workload.Workload, types []workload.QueryType, spec workload.Spec, n int, seed string) ([]typeQueries, error) {
	types = p.withAggregate(types)
	drawn := make([]typeQueries, len(types))
	for i, t := range types {
		more := 0
		if n > 0 && p.steps.Query {
			more = earlyQueries + spareQueries
		}
		q := typeQueries{queryType: t, written: p.written(t.Name)}
		if _, aggregate := result.RawType(t.Name); aggregate {
			q.from = &p.aggregate.Materialized
		}
		var chosen []int
		if !p.steps.Query {
			chosen = choose(seed, t.Name, n, p.experiment.Queries.Verify)
		}
		behind, err := p.divide(&q, w, spec, n, more, chosen)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			if q.record.Definition, err = p.definition(w, t.Name, spec); err != nil {
				return nil, err
			}
		}
		if p.steps.Query {
			chosen = choose(seed, t.Name, len(behind), earlyQueries)
			for at, other := range behind {
				if slices.Contains(chosen, at) {
					q.early = append(q.early, other)
				} else {
					q.spare = append(q.spare, other)
				}
			}
			if len(q.spare) == 0 {
				q.spare = q.early
			}
		}
		drawn[i] = q
	}
	return drawn, nil
}

// divide draws the queries of a type, and does as typeQueries.divide. A type that has so
// few different queries that each repeat runs the same is drawn by the dataset's seed:
// none of them can be new to a server that has answered the type before, and of two runs
// that drew more of one query and fewer of another the figures would differ.
func (p *Plan) divide(q *typeQueries, w workload.Workload, spec workload.Spec, n, more int, chosen []int) (behind []query.Query, err error) {
	for {
		queries, err := p.drawType(w, q.queryType.Name, spec, n, more)
		if err != nil {
			return nil, err
		}
		if q.all, err = p.drawType(w, q.queryType.Name, spec, n, 0); err != nil {
			return nil, err
		}
		behind, err := q.divide(queries, n, p.experiment.QueryRepeats(), chosen)
		if q.seed = spec.QuerySeed; err != nil || !q.blocks.repeated || q.seed == 0 {
			return behind, err
		}
		spec.QuerySeed, q.early = 0, nil
	}
}

// definition is QuerySet.Definition of a type.
func (p *Plan) definition(w workload.Workload, name string, spec workload.Spec) (string, error) {
	spec.QuerySeed = 0
	queries, err := p.drawType(w, name, spec, result.DefinitionCount, 0)
	if err != nil {
		return "", err
	}
	f := query.NewFingerprint()
	for q := range queries {
		if err := f.Add(&q); err != nil {
			return "", err
		}
	}
	return f.String(), nil
}

// divide takes the first n queries and those behind them: it records them,
// divides them among repeats, and has those checked early that are at the places
// chosen, which ascend. It returns what is behind them, as divider.divide does.
func (q *typeQueries) divide(queries iter.Seq[query.Query], n, repeats int, chosen []int) (behind []query.Query, err error) {
	all, divided := query.NewFingerprint(), newDivider(n, repeats)
	place := 0
	var one query.Query // one for all: what is given on moves to the heap
	for one = range queries {
		if place >= n {
			behind = append(behind, one)
			continue
		}
		if err := all.Add(&one); err != nil {
			return nil, err
		}
		divided.add(&one)
		if len(chosen) > 0 && chosen[0] == place {
			q.early, chosen = append(q.early, one), chosen[1:]
		}
		place++
	}
	q.record = result.QuerySet{Type: q.queryType.Name, Count: place, Fingerprint: all.String()}
	q.blocks, behind = divided.divide(behind)
	return behind, nil
}

// drawType draws the first n queries of a type, and more behind them.
func (p *Plan) drawType(w workload.Workload, name string, spec workload.Spec, n, more int) (iter.Seq[query.Query], error) {
	spec.QuerySettings = p.experiment.Queries.Settings
	rows, aggregate := result.RawType(name)
	align := p.experiment.Queries.AlignWindows || p.isAggregated(rows)
	queries, err := p.experiment.Queries.Windows.Draw(w, spec, rows, n+more, align)
	if err != nil {
		return nil, p.specProblem(err)
	}
	if aggregate {
		queries = named(queries, name)
	}
	for q := range queries {
		if _, text := q.WrittenText(); !text && !oracle.Countable(&q) {
			return inTurn(queries, n), nil
		}
		break
	}
	return queries, nil
}

// inTurn is a sequence in which of the first n queries only maxEvaluated are
// different.
func inTurn(queries iter.Seq[query.Query], n int) iter.Seq[query.Query] {
	return func(yield func(query.Query) bool) {
		var evaluated []query.Query
		place := 0
		for q := range queries {
			switch {
			case place >= n:
			case place < maxEvaluated:
				evaluated = append(evaluated, q)
			default:
				q = evaluated[place%maxEvaluated]
			}
			if !yield(q) {
				return
			}
			place++
		}
	}
}

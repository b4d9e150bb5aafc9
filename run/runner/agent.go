package runner

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/engine"
	"github.com/tsmark/tsmark/engine/pace"
	"github.com/tsmark/tsmark/measure/oplog"
	"github.com/tsmark/tsmark/monitor"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/run/allow"
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// job of a part: what an agent does.
const (
	partLoad      = "load"
	partMixed     = "mixed"
	partRest      = "rest" // the rows that a mixed phase had no time for
	partQueries   = "queries"
	partCalibrate = "calibrate"
)

// part is an agent's part of a phase, as it travels.
type part struct {
	Job        string        `json:"job"`
	Experiment string        `json:"experiment"` // of one target and without secrets, as YAML
	Spec       workload.Spec `json:"spec"`
	Steps      Steps         `json:"steps"`
	// Environ are entries of an environment that have the target's secrets; Wanted are
	// the variables that the agent's own environment must have, where they do not travel.
	Environ []string `json:"environ,omitempty"`
	Wanted  []string `json:"wanted,omitempty"`
	// Fingerprint and Queries are those of the dataset and of a type's queries, which the
	// agent draws itself.
	Fingerprint string         `json:"fingerprint"`
	Queries     string         `json:"queries,omitempty"`
	Seed        string         `json:"seed,omitempty"`       // result.Run.CheckSeed
	QuerySeed   int64          `json:"query_seed,omitempty"` // result.Run.QuerySeed
	Share       workload.Share `json:"share"`

	// Of a load with a mixed phase: the dataset's first rows are loaded before it, and of
	// each share so many of those behind them were handed over in it.
	Mixed    bool              `json:"mixed,omitempty"`
	Before   int64             `json:"before,omitempty"`
	Handed   []int64           `json:"handed,omitempty"`
	Lateness time.Duration     `json:"lateness,omitempty"` // of the dataset
	Types    map[string]string `json:"types,omitempty"`    // Queries of each type

	// Of queries.
	Type     string        `json:"type,omitempty"`
	Repeat   int           `json:"repeat,omitempty"`
	Expected []int64       `json:"expected,omitempty"` // rows of the answers of the repeat's queries, as runsOf has them
	Capture  bool          `json:"capture,omitempty"`  // answers are taken
	Counts   bool          `json:"counts,omitempty"`   // and the rows of all others counted
	Begun    int64         `json:"begun,omitempty"`    // engine.Capture's
	WarmUp   bool          `json:"warm_up,omitempty"`
	Warm     time.Duration `json:"warm,omitempty"` // engine.WarmUp's
	Rate     string        `json:"rate,omitempty"` // of a try of a search
	TimeBox  time.Duration `json:"time_box,omitempty"`
}

// runsOf puts numbers together that are equal: each number, and how often it follows.
func runsOf(numbers []int64) (list []int64) {
	for _, n := range numbers {
		if last := len(list) - 2; last >= 0 && list[last] == n {
			list[last+1]++
			continue
		}
		list = append(list, n, 1)
	}
	return list
}

// partResult is what an agent tells of its part beside its operations.
type partResult struct {
	Start       time.Duration       `json:"start"` // of the phase, since the start of the log of operations
	Done        int64               `json:"done"`  // rows, or queries, as Link.Progress counts them
	Load        *result.Load        `json:"load,omitempty"`
	Given       int64               `json:"given,omitempty"` // rows of the share that were read
	Mixed       *result.Mixed       `json:"mixed,omitempty"`
	Journal     []byte              `json:"journal,omitempty"` // of the mixed phase, as writeJournal has it
	Queries     *result.Queries     `json:"queries,omitempty"`
	Taken       []byte              `json:"taken,omitempty"` // answers, as writeAnswers has them
	Calibration *result.Calibration `json:"calibration,omitempty"`
	Client      *result.Client      `json:"client,omitempty"`
	Noise       *result.Noise       `json:"noise,omitempty"`

	agent   string
	share   workload.Share
	answers []engine.Answered // that Taken has
	journal engine.Journal    // that Journal has
}

// Agent does parts of the phases of runs, one after the other, for the Runner of another
// process, which has it among its Agents.
type Agent struct {
	Catalog Catalog // what experiments can name, and this machine's environment
	// Allow returns an error unless the agent may do what a part needs; nil: it may load
	// targets that discard rows, and nothing else.
	Allow func(allow.Needs) error

	prepared *preparedPart // of the last part
}

// preparedPart is what parts of a run have in common.
type preparedPart struct {
	from    preparedFrom
	subject *subject
}

// preparedFrom is what of a part its subject depends on.
type preparedFrom struct {
	experiment, spec, seed, environ string
	querySeed                       int64
}

// Do does a part: body is as a Runner made it. What it writes are the operations, by the
// format of package oplog, and behind them what else the Runner needs to know. An error
// that concerns only what is measured is part of that.
func (a *Agent) Do(ctx context.Context, body []byte, link Link) error {
	var p part
	if err := json.Unmarshal(body, &p); err != nil {
		return fmt.Errorf("reading the part of a phase: %w", err)
	}
	if err := p.possible(); err != nil {
		return err
	}
	s, err := a.prepare(&p)
	if err != nil {
		return err
	}
	return s.plan.secrets.Error((&onePart{part: &p, subject: s, planned: &s.plan.targets[0], link: link}).do(ctx))
}

// prepare makes the plan, the dataset and the queries of a part.
func (a *Agent) prepare(p *part) (*subject, error) {
	spec, err := json.Marshal(p.Spec)
	if err != nil {
		return nil, err
	}
	from := preparedFrom{experiment: p.Experiment, spec: string(spec), seed: p.Seed, environ: strings.Join(p.Environ, "\x00"), querySeed: p.QuerySeed}
	if last := a.prepared; last != nil && last.from == from {
		return last.subject, nil
	}
	e, err := experiment.Parse("the coordinator's experiment", []byte(p.Experiment))
	if err != nil {
		return nil, err
	}
	if err := a.permitted(p, e); err != nil {
		return nil, err
	}
	catalog := a.Catalog
	catalog.Servers = nil
	for _, name := range p.Wanted {
		if _, ok := catalog.variable(name); !ok {
			return nil, fmt.Errorf("%s is not set on this agent, and secrets are sent only where nobody else can read them: set it where the agent starts, or let agents join with a token and, from other machines, by TLS", name)
		}
	}
	catalog.Environ = append(slices.Clone(p.Environ), catalog.Environ...)
	plan, err := NewPlan(e, catalog, p.Steps)
	if err != nil {
		return nil, err
	}
	if err := a.reachable(&plan.targets[0]); err != nil {
		return nil, plan.secrets.Error(err)
	}
	s := &subject{plan: plan, display: noDisplay{}, record: &result.Dataset{}}
	if err := s.prepare(p.Spec, p.Seed, p.QuerySeed); err != nil {
		return nil, plan.secrets.Error(err)
	}
	if s.record.Fingerprint != p.Fingerprint {
		return nil, fmt.Errorf("the dataset is %s here and %s at the coordinator: the files, or the programs, differ", s.record.Fingerprint, p.Fingerprint)
	}
	a.prepared = &preparedPart{from, s}
	return s, nil
}

// noDisplay shows nothing.
type noDisplay struct{}

func (noDisplay) Start(string, string, int64) Task { return noDisplay{} }
func (noDisplay) Overall(Overall)                  {}
func (noDisplay) Add(int64)                        {}
func (noDisplay) Finish(string)                    {}
func (noDisplay) Fail(string)                      {}

// onePart is a part on its way.
type onePart struct {
	part    *part
	subject *subject
	planned *plannedTarget
	link    Link

	db      driver.DB
	log     *oplog.Writer
	began   time.Time // when the log did
	done    atomic.Int64
	client  *monitor.Client // nil: it has not started
	witness *monitor.Witness
	out     partResult
}

func (o *onePart) do(ctx context.Context) error {
	if o.part.Job == partCalibrate {
		if err := o.calibrate(ctx); err != nil {
			return err
		}
		return o.finish(nil)
	}
	var err error
	if o.db, err = o.planned.open(ctx, driver.Env{Create: o.planned.caps.Discards}); err != nil {
		return err
	}
	defer o.db.Close() // what was acknowledged does not depend on it
	o.began = time.Now()
	if o.log, err = oplog.NewWriter(o.link, oplog.Header{Start: o.began}); err != nil {
		return err
	}
	server, err := findServer(ctx, o.subject.plan.experiment.Timeouts.Limits(), o.db)
	if err != nil {
		return fmt.Errorf("finding out where the server of target %s runs: %w", o.planned.name, err)
	}
	o.witness = monitor.NewWitness(ctx, server.source())
	switch o.part.Job {
	case partLoad, partRest:
		err = o.load(ctx)
	case partMixed:
		err = o.mix(ctx)
	default:
		err = o.query(ctx)
	}
	if o.client != nil {
		used := o.client.End(ctx)
		o.out.Client, o.out.Noise = &used, o.witness.End(ctx, o.subject.plan.settings.quiet)
	}
	return errors.Join(err, o.finish(o.log))
}

// start is the engine.Start of the part.
func (o *onePart) start(ctx context.Context) (time.Time, error) {
	at, err := o.link.Ready(ctx)
	if err == nil {
		o.out.Start = at.Sub(o.began)
		o.client = monitor.BeginClient(ctx)
		o.witness.Begin(ctx)
	}
	return at, err
}

func (o *onePart) progress(n int) { o.link.Progress(o.done.Add(int64(n))) }

// finish writes what is known beside the operations, behind their log; nil: there is none.
func (o *onePart) finish(log *oplog.Writer) error {
	if log != nil {
		if err := log.Close(); err != nil {
			return fmt.Errorf("writing the operations: %w", err)
		}
	}
	o.out.Done = o.done.Load()
	text, err := json.Marshal(&o.out)
	if err != nil {
		return fmt.Errorf("writing the figures of a part: %w", err)
	}
	_, err = o.link.Write(binary.LittleEndian.AppendUint64(text, uint64(len(text))))
	return err
}

// loadConfig is what a load of the share is like.
func (o *onePart) loadConfig() (engine.LoadConfig, *counted) {
	config := o.subject.plan.settings.load
	config.Workers = o.part.Share.CountOf(config.Workers)
	rows := &counted{Dataset: o.subject.sharedRows(o.part.Share)}
	switch {
	case o.part.Job == partRest:
		rest := o.subject.rowsOf(o.part.Share, workload.SkipRows(o.subject.dataset, o.part.Before))
		rows.Dataset = workload.SkipRows(rest, o.part.Handed[o.part.Share.Index])
	case o.part.Mixed:
		rows.Dataset = o.subject.rowsOf(o.part.Share, workload.LimitRows(o.subject.dataset, o.part.Before))
	}
	if config.Workers > 1 {
		config.Owner = o.subject.ownerOf(o.part.Share)
	}
	return config, rows
}

// join gets the target ready for one of several processes that write to it.
func (o *onePart) join(ctx context.Context) error {
	if err := joinable(o.db, o.planned); err != nil {
		return err
	}
	if err := o.db.Join(ctx, o.subject.dataset.Schema()); err != nil {
		return fmt.Errorf("getting ready to write: %w", err)
	}
	return nil
}

func (o *onePart) load(ctx context.Context) error {
	if err := o.join(ctx); err != nil {
		return err
	}
	config, rows := o.loadConfig()
	config.Log, config.Start, config.InOrder = o.log.Section(oplog.Cell{Kind: oplog.Load, Workers: config.Workers}), o.start, o.planned.caps.InOrder
	var err error
	o.out.Load, err = engine.Send(ctx, config, rows, o.db, o.progress)
	o.out.Given = rows.given.Load()
	o.out.Load.Rates = nil
	return err
}

func (o *onePart) calibrate(ctx context.Context) error {
	config, rows := o.loadConfig()
	span := o.subject.plan.catalog.calibrationTime()
	config.Period = span
	// A run that only queries may have fewer workers for loads than there are agents, and the
	// other way round.
	config.Workers = max(1, config.Workers)
	queryWorkers := max(1, o.part.Share.CountOf(o.subject.plan.experiment.Queries.Workers))
	if _, err := o.link.Ready(ctx); err != nil {
		return err
	}
	found, err := engine.Calibrate(ctx, config, queryWorkers, rows, span)
	o.out.Calibration = &found
	return err
}

func (o *onePart) query(ctx context.Context) error {
	q := o.subject.queriesOf(o.part.Type)
	if q == nil {
		return fmt.Errorf("there are no queries of type %s", o.part.Type)
	}
	if err := o.sameQueries(q, o.part.Queries); err != nil {
		return err
	}
	if o.part.Repeat < 1 || o.part.Repeat > q.blocks.repeats {
		return fmt.Errorf("the coordinator sent repeat %d, and there are %d", o.part.Repeat, q.blocks.repeats)
	}
	first, _ := q.blocks.of(o.part.Repeat)
	counted := make([]int64, first, q.blocks.count)
	for run := range slices.Chunk(o.part.Expected, 2) {
		if run[1] > int64(q.blocks.count-len(counted)) {
			return fmt.Errorf("the coordinator sent answers to more than the %d queries that there are", q.blocks.count)
		}
		for range run[1] {
			counted = append(counted, run[0])
		}
	}
	q.expected[o.subject.viewOf(o.planned)].counted = counted
	queries := o.subject.rendered(o.planned, q, o.part.Repeat, o.db)
	defer queries.close()

	cfg := o.subject.plan.settings.query
	cfg.Client = !o.planned.caps.Embedded
	cfg.First, cfg.Least, cfg.Share, cfg.Start, cfg.Workers = first, q.blocks.least(o.part.Repeat), o.part.Share, o.start, o.part.Share.CountOf(cfg.Workers)
	cfg.TimeBox, cfg.WarmUp.Time = o.part.TimeBox, o.part.Warm
	cfg.Capture = new(engine.Capture)
	if o.part.Capture {
		cfg.Capture = o.subject.plan.capture(q, o.part.Seed, o.part.Repeat, o.part.Counts)
		cfg.Capture.Begun = o.part.Begun
	}
	if o.part.WarmUp {
		var err error
		if cfg.WarmUp.Queries, err = o.subject.warmUps(ctx, o.planned, q, o.part.Repeat, o.db); err != nil {
			return err
		}
	}
	cell := oplog.Cell{Kind: oplog.Query, Type: o.part.Type, Workers: cfg.Workers, Queries: queries.Len(), First: first}
	s := o.subject.plan.settings
	if s.open != nil {
		open := *s.open
		open.Queue = o.part.Share.CountOf(open.Queue)
		if s.open, s.keep = &open, nil; o.part.Rate != "" {
			var err error
			if open.Schedule, err = pace.Parse(o.part.Rate); err != nil {
				return err
			}
		}
		cell.Schedule = open.Schedule.String()
	}
	cfg.Log = o.log.Section(cell)
	var err error
	o.out.Queries, err = s.Measure(ctx, o.db, cfg, queries, o.progress)
	o.out.Queries.Each = nil
	if answers := cfg.Capture.Answers(); len(answers) > 0 {
		var text bytes.Buffer
		err = errors.Join(err, writeAnswers(&text, answers))
		o.out.Taken = text.Bytes()
	}
	return err
}

// mix writes the part's share of the rows while its share of the queries is run.
func (o *onePart) mix(ctx context.Context) error {
	for i := range o.subject.queries {
		if err := o.sameQueries(&o.subject.queries[i], o.part.Types[o.subject.queries[i].queryType.Name]); err != nil {
			return err
		}
	}
	if err := o.join(ctx); err != nil {
		return err
	}
	config := o.subject.plan.settings.mixed
	config.Part = engine.MixedPart{Share: o.part.Share, Own: o.subject.ownedBy(o.part.Share), Peers: o.link}
	config.Workers, config.Queriers, config.Queue = o.part.Share.CountOf(config.Workers), o.part.Share.CountOf(config.Queriers), o.part.Share.CountOf(config.Queue)
	if config.Workers > 1 {
		config.Owner = o.subject.ownerOf(o.part.Share)
	}
	config.Loaded, config.Lateness, config.Start = o.part.Before, o.part.Lateness, o.subject.record.Spec.Start
	config.LoadConfig.Start = o.start
	config.Seed = mixedSeed(o.part.Seed, o.planned.name, o.part.Repeat)
	written := oplog.Cell{Kind: oplog.Load, Part: oplog.Mixed, Workers: config.Workers, Schedule: o.subject.plan.experiment.Mixed.RowRate}
	config.Log = o.log.Section(written)
	types, err := o.subject.mixedQueries(written, config.Queriers, func(c oplog.Cell) (*oplog.Section, error) { return o.log.Section(c), nil })
	if err != nil {
		return err
	}
	var journal *engine.Journal
	o.out.Mixed, journal, err = engine.RunMixed(ctx, config, o.subject.dataset, o.db, o.planned.driver.Renderer(o.planned.options), types, o.progress)
	o.out.Mixed.Writes.Rates = nil
	var text bytes.Buffer
	if damaged := writeJournal(&text, journal); err == nil {
		err = damaged
	}
	o.out.Journal = text.Bytes()
	return err
}

// sameQueries returns an error where the queries of a type have another fingerprint than
// at the coordinator.
func (o *onePart) sameQueries(q *typeQueries, there string) error {
	if q.record.Fingerprint != there {
		return fmt.Errorf("the queries of %s are %s here and %s at the coordinator: the programs, or the processors, differ", q.queryType.Name, q.record.Fingerprint, there)
	}
	return nil
}

// sharedRows is the rows of a share.
func (s *subject) sharedRows(share workload.Share) workload.Dataset {
	if _, divided := s.dataset.(workload.Divided); divided || s.owner == nil {
		return share.Dataset(s.dataset)
	}
	return s.rowsOf(share, s.dataset)
}

// rowsOf is the rows of a share, of some rows of the dataset.
func (s *subject) rowsOf(share workload.Share, rows workload.Dataset) workload.Dataset {
	return ownRows{rows, s.ownedBy(share)}
}

// ownerOf says which of the workers of a share writes a batch; nil: whoever is free.
func (s *subject) ownerOf(share workload.Share) func(*series.Batch) int {
	if s.owner == nil {
		return nil
	}
	first, _ := share.Range(s.plan.settings.load.Workers)
	return func(b *series.Batch) int { return s.owner(b) - first }
}

// ownedBy returns what leaves the rows of a share of a pass over the dataset: those of
// its writers where each has series of its own.
func (s *subject) ownedBy(share workload.Share) func(workload.Reader) workload.Reader {
	if s.owner == nil || share.Single() {
		return share.Reader
	}
	first, end := share.Range(s.plan.settings.load.Workers)
	return func(r workload.Reader) workload.Reader {
		return ownReader{r, func(b *series.Batch) bool { w := s.owner(b); return first <= w && w < end }}
	}
}

// ownRows is what is left of the rows of a dataset.
type ownRows struct {
	workload.Dataset
	own func(workload.Reader) workload.Reader
}

// Open implements workload.Dataset.
func (o ownRows) Open() workload.Reader { return o.own(o.Dataset.Open()) }

// ownReader leaves the batches of some writers, of a dataset whose batches have rows of
// one each.
type ownReader struct {
	workload.Reader
	own func(*series.Batch) bool
}

// Next implements workload.Reader.
func (r ownReader) Next(b *series.Batch, max int) error {
	for {
		if err := r.Reader.Next(b, max); err != nil || r.own(b) {
			return err
		}
	}
}

// partFor is what a part of a phase on a target has in common with every other one.
func (m *team) partFor(job string, planned *plannedTarget) (part, error) {
	p := part{Job: job, Spec: m.subject.record.Spec, Steps: m.plan.steps, Fingerprint: m.subject.record.Fingerprint, Seed: m.record.doc.CheckSeed, QuerySeed: m.record.doc.QuerySeed}
	p.Spec.QuerySettings = nil
	e := m.plan.openly(m.plan.experiment)
	e.Adopt = false
	e.Workload, e.Load.Limit = m.subject.record.Spec, m.subject.record.Spec.Limit
	at := slices.IndexFunc(e.Targets, func(t experiment.Target) bool { return t.Name == planned.name })
	t := experiment.Target{Name: planned.name, Driver: e.Targets[at].Driver, Options: make(experiment.Options)}
	for _, o := range planned.driver.Options {
		value := planned.options[o.Name]
		if value == o.Default {
			continue
		}
		shown := m.plan.secrets.Text(value)
		if !o.Secret {
			t.Options[o.Name] = shown // where it hides something, that is taken from the environment
		}
		switch {
		case !o.Secret && shown == value:
		case m.agents.Private():
			p.Environ = append(p.Environ, SecretVariable(t.Name, o.Name)+"="+value)
		default:
			p.Wanted = append(p.Wanted, SecretVariable(t.Name, o.Name))
		}
	}
	e.Targets = []experiment.Target{t}
	yaml, err := experiment.Marshal(e)
	p.Experiment = string(yaml)
	return p, err
}

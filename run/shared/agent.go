package shared

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
	"github.com/tsmark/tsmark/run/plan"
	"github.com/tsmark/tsmark/run/record"
	"github.com/tsmark/tsmark/run/subject"
	"github.com/tsmark/tsmark/run/watch"
	"github.com/tsmark/tsmark/workload"
)

// Jobs of a part.
const (
	jobLoad      = "load"
	jobMixed     = "mixed"
	jobRest      = "rest" // the rows that a mixed phase had no time for
	jobQueries   = "queries"
	jobCalibrate = "calibrate"
)

// assignment is an agent's part of a phase, in serialized form.
type assignment struct {
	Job        string        `json:"job"`
	Experiment string        `json:"experiment"` // with one target and without secrets, as YAML
	Spec       workload.Spec `json:"spec"`
	Steps      plan.Steps    `json:"steps"`
	// Environ are environment entries with the target's secrets; Wanted are variables that the
	// agent's own environment must provide, if secrets are not sent.
	Environ []string `json:"environ,omitempty"`
	Wanted  []string `json:"wanted,omitempty"`
	// Fingerprint and Queries are the fingerprints of the dataset and of a type's queries, which
	// the agent generates itself.
	Fingerprint string         `json:"fingerprint"`
	Queries     string         `json:"queries,omitempty"`
	Seed        string         `json:"seed,omitempty"`       // result.Run.CheckSeed
	QuerySeed   int64          `json:"query_seed,omitempty"` // result.Run.QuerySeed
	Share       workload.Share `json:"share"`

	// For a load with a mixed phase: the number of the dataset's first rows that are loaded before
	// it, and for each share the number of rows that the phase then handed over.
	Mixed    bool              `json:"mixed,omitempty"`
	Before   int64             `json:"before,omitempty"`
	Handed   []int64           `json:"handed,omitempty"`
	Lateness time.Duration     `json:"lateness,omitempty"` // of the dataset
	Types    map[string]string `json:"types,omitempty"`    // Queries of each type
	// RowRate and QueryRate are the rates of a mixed phase that the coordinator chose; empty: those
	// of the experiment.
	RowRate   string `json:"row_rate,omitempty"`
	QueryRate string `json:"query_rate,omitempty"`

	// For queries.
	Type     string        `json:"type,omitempty"`
	Repeat   int           `json:"repeat,omitempty"`
	Expected []int64       `json:"expected,omitempty"` // rows of the answers to the repeat's queries, as encoded by runsOf
	Capture  bool          `json:"capture,omitempty"`  // answers are recorded
	Counts   bool          `json:"counts,omitempty"`   // and the rows of all others counted
	Begun    int64         `json:"begun,omitempty"`    // engine.Capture's
	WarmUp   bool          `json:"warm_up,omitempty"`
	Warm     time.Duration `json:"warm,omitempty"` // engine.WarmUp's
	Rate     string        `json:"rate,omitempty"` // of a try of a search
	TimeBox  time.Duration `json:"time_box,omitempty"`
}

// runsOf run-length encodes numbers: each number, and its count.
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

// shareResult is an agent's result for its part, apart from the operations.
type shareResult struct {
	Start       time.Duration       `json:"start"` // of the phase, since the start of the log of operations
	Done        int64               `json:"done"`  // rows, or queries, as Link.Progress counts them
	Load        *result.Load        `json:"load,omitempty"`
	RowsRead    int64               `json:"rows_read,omitempty"` // rows of the share that were read
	Mixed       *result.Mixed       `json:"mixed,omitempty"`
	Journal     []byte              `json:"journal,omitempty"` // of the mixed phase, as encoded by writeJournal
	Queries     *result.Queries     `json:"queries,omitempty"`
	Taken       []byte              `json:"taken,omitempty"` // answers, as encoded by record.WriteAnswers
	Calibration *result.Calibration `json:"calibration,omitempty"`
	Client      *result.Client      `json:"client,omitempty"`
	Noise       *result.Noise       `json:"noise,omitempty"`

	agent   string
	share   workload.Share
	answers []engine.Answered // decoded from Taken
	journal engine.Journal    // decoded from Journal
}

// Agent executes parts of the phases of runs, one after the other, for a Runner in another process
// that has it among its Agents.
type Agent struct {
	Catalog plan.Catalog // names for experiments, and this machine's environment
	// Allow returns an error unless the agent permits the needs of a part; nil: only targets that
	// discard rows are permitted.
	Allow func(allow.Needs) error

	prepared *preparedSubject // of the last part
}

// preparedSubject is the shared state of a run's parts.
type preparedSubject struct {
	from    preparedFrom
	subject *subject.Subject
}

// preparedFrom is the input that determines a part's subject.
type preparedFrom struct {
	experiment, spec, seed, environ string
	querySeed                       int64
}

// Do executes a part; body comes from a Runner. It writes the operations in the format of package
// oplog, followed by the other results for the Runner. An error of the measurement itself is part
// of these results.
func (a *Agent) Do(ctx context.Context, body []byte, link Link) error {
	var p assignment
	if err := json.Unmarshal(body, &p); err != nil {
		return fmt.Errorf("reading the part of a phase: %w", err)
	}
	if err := p.checkFigures(); err != nil {
		return err
	}
	s, err := a.prepare(&p)
	if err != nil {
		return err
	}
	return s.Plan.Secrets.Error((&work{assignment: &p, subject: s, planned: &s.Plan.Targets[0], link: link}).do(ctx))
}

// prepare creates the plan, the dataset and the queries of a part.
func (a *Agent) prepare(p *assignment) (*subject.Subject, error) {
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
	if err := a.checkPermitted(p, e); err != nil {
		return nil, err
	}
	catalog := a.Catalog
	catalog.Servers = nil
	for _, name := range p.Wanted {
		if _, ok := catalog.Variable(name); !ok {
			return nil, fmt.Errorf("%s is not set on this agent, and secrets are sent only where nobody else can read them: set it where the agent starts, or let agents join with a token and, from other machines, by TLS", name)
		}
	}
	catalog.Environ = append(slices.Clone(p.Environ), catalog.Environ...)
	plan, err := plan.NewPlan(e, catalog, p.Steps)
	if err != nil {
		return nil, err
	}
	if err := a.checkReachable(&plan.Targets[0]); err != nil {
		return nil, plan.Secrets.Error(err)
	}
	s := &subject.Subject{Plan: plan, Display: record.NoDisplay{}, Record: &result.Dataset{}}
	if err := s.Prepare(p.Spec, p.Seed, p.QuerySeed); err != nil {
		return nil, plan.Secrets.Error(err)
	}
	if s.Record.Fingerprint != p.Fingerprint {
		return nil, fmt.Errorf("the dataset is %s here and %s at the coordinator: the files, or the programs, differ", s.Record.Fingerprint, p.Fingerprint)
	}
	a.prepared = &preparedSubject{from, s}
	return s, nil
}

// work is a part in progress.
type work struct {
	assignment *assignment
	subject    *subject.Subject
	planned    *plan.Target
	link       Link

	db      driver.DB
	log     *oplog.Writer
	began   time.Time // start of the log
	done    atomic.Int64
	client  *monitor.Client // nil: not started
	witness *monitor.Witness
	out     shareResult
}

func (o *work) do(ctx context.Context) error {
	if o.assignment.Job == jobCalibrate {
		if err := o.calibrate(ctx); err != nil {
			return err
		}
		return o.finish(nil)
	}
	var err error
	if o.db, err = o.planned.Open(ctx, driver.Env{Create: o.planned.Caps.Discards}); err != nil {
		return err
	}
	defer o.db.Close() // acknowledged data does not depend on it
	o.began = time.Now()
	if o.log, err = oplog.NewWriter(o.link, oplog.Header{Start: o.began}); err != nil {
		return err
	}
	server, err := watch.FindServer(ctx, o.subject.Plan.Experiment.Timeouts.Limits(), o.db)
	if err != nil {
		return fmt.Errorf("finding out where the server of target %s runs: %w", o.planned.Name, err)
	}
	o.witness = monitor.NewWitness(ctx, server.Source())
	switch o.assignment.Job {
	case jobLoad, jobRest:
		err = o.load(ctx)
	case jobMixed:
		err = o.mix(ctx)
	default:
		err = o.query(ctx)
	}
	if o.client != nil {
		used := o.client.End(ctx)
		o.out.Client, o.out.Noise = &used, o.witness.End(ctx, o.subject.Plan.Settings.Quiet)
	}
	return errors.Join(err, o.finish(o.log))
}

// start returns the engine.Start of the part.
func (o *work) start(ctx context.Context) (time.Time, error) {
	at, err := o.link.Ready(ctx)
	if err == nil {
		o.out.Start = at.Sub(o.began)
		o.client = monitor.BeginClient(ctx)
		o.witness.Begin(ctx)
	}
	return at, err
}

func (o *work) progress(n int) { o.link.Progress(o.done.Add(int64(n))) }

// finish writes the results after the log of operations; nil: no log.
func (o *work) finish(log *oplog.Writer) error {
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

// loadConfig returns the configuration for loading the share.
func (o *work) loadConfig() (engine.LoadConfig, *subject.CountedRows) {
	config := o.subject.Plan.LoadConfig(o.planned)
	config.Workers = o.assignment.Share.CountOf(config.Workers)
	rows := &subject.CountedRows{Dataset: o.subject.ShareRows(o.assignment.Share)}
	switch {
	case o.assignment.Job == jobRest:
		rest := o.subject.FilterRows(o.assignment.Share, workload.SkipRows(o.subject.Dataset, o.assignment.Before))
		rows.Dataset = workload.SkipRows(rest, o.assignment.Handed[o.assignment.Share.Index])
	case o.assignment.Mixed:
		rows.Dataset = o.subject.FilterRows(o.assignment.Share, workload.LimitRows(o.subject.Dataset, o.assignment.Before))
	}
	if config.Workers > 1 {
		config.Owner = o.subject.ShareOwner(o.assignment.Share)
	}
	return config, rows
}

// join prepares the target for one of several processes that write to it.
func (o *work) join(ctx context.Context) error {
	if err := CheckJoinable(o.db, o.planned); err != nil {
		return err
	}
	if err := o.db.Join(ctx, o.subject.Dataset.Schema()); err != nil {
		return fmt.Errorf("getting ready to write: %w", err)
	}
	return nil
}

func (o *work) load(ctx context.Context) error {
	if err := o.join(ctx); err != nil {
		return err
	}
	config, rows := o.loadConfig()
	config.Log, config.Start, config.InOrder = o.log.Section(oplog.Cell{Kind: oplog.Load, Workers: config.Workers}), o.start, o.planned.Caps.InOrder
	var err error
	o.out.Load, err = engine.Send(ctx, config, rows, o.db, o.progress)
	o.out.RowsRead = rows.RowsRead.Load()
	o.out.Load.Rates = nil
	return err
}

func (o *work) calibrate(ctx context.Context) error {
	config, rows := o.loadConfig()
	span := o.subject.Plan.Catalog.CalibrationSpan()
	config.Period = span
	// A run without loads may have fewer load workers than agents, and a run without queries fewer
	// query workers.
	config.Workers = max(1, config.Workers)
	queryWorkers := max(1, o.assignment.Share.CountOf(o.subject.Plan.Experiment.Queries.Workers))
	if _, err := o.link.Ready(ctx); err != nil {
		return err
	}
	found, err := engine.Calibrate(ctx, config, queryWorkers, rows, span)
	o.out.Calibration = &found
	return err
}

func (o *work) query(ctx context.Context) error {
	q := o.subject.QueriesOf(o.assignment.Type)
	if q == nil {
		return fmt.Errorf("there are no queries of type %s", o.assignment.Type)
	}
	if err := o.sameQueries(q, o.assignment.Queries); err != nil {
		return err
	}
	most := q.Blocks.Repeats
	if o.subject.Plan.Experiment.Queries.Time > 0 {
		most = experiment.MostRounds
	}
	if o.assignment.Repeat < 1 || o.assignment.Repeat > most {
		return fmt.Errorf("the coordinator sent repeat %d, and there are %d", o.assignment.Repeat, most)
	}
	first, _ := q.Blocks.Range(o.assignment.Repeat)
	counted := make([]int64, first, q.Blocks.Count)
	for run := range slices.Chunk(o.assignment.Expected, 2) {
		if run[1] > int64(q.Blocks.Count-len(counted)) {
			return fmt.Errorf("the coordinator sent answers to more than the %d queries that there are", q.Blocks.Count)
		}
		for range run[1] {
			counted = append(counted, run[0])
		}
	}
	q.Expected[o.subject.ViewOf(o.planned)].Counted = map[string][]int64{o.planned.Driver.Semantics: counted}
	queries := o.subject.OpenSource(o.planned, q, o.assignment.Repeat, o.db)
	defer queries.Close()

	cfg := o.subject.Plan.Settings.Query
	cfg.Client = !o.planned.Caps.Embedded
	cfg.First, cfg.Least, cfg.Share, cfg.Start, cfg.Workers = first, q.Blocks.LeastQueries(o.assignment.Repeat), o.assignment.Share, o.start, o.assignment.Share.CountOf(cfg.Workers)
	cfg.TimeBox, cfg.WarmUp.Time = o.assignment.TimeBox, o.assignment.Warm
	cfg.Capture = new(engine.Capture)
	if o.assignment.Capture {
		cfg.Capture = o.subject.Plan.Capture(q, o.assignment.Seed, o.assignment.Repeat, o.assignment.Counts)
		cfg.Capture.Begun = o.assignment.Begun
	}
	if o.assignment.WarmUp {
		var err error
		if cfg.WarmUp.Queries, err = o.subject.WarmUps(ctx, o.planned, q, o.assignment.Repeat, o.db); err != nil {
			return err
		}
	}
	cell := oplog.Cell{Kind: oplog.Query, Type: o.assignment.Type, Workers: cfg.Workers, Queries: queries.Len(), First: first}
	s := o.subject.Plan.Settings
	if s.Open != nil {
		open := *s.Open
		open.Queue = o.assignment.Share.CountOf(open.Queue)
		if s.Open, s.Objective = &open, nil; o.assignment.Rate != "" {
			var err error
			if open.Schedule, err = pace.Parse(o.assignment.Rate); err != nil {
				return err
			}
		}
		cell.Schedule = open.Schedule.String()
	}
	cfg.Log = o.log.Section(cell)
	var err error
	if s.Open == nil {
		o.out.Queries, err = engine.Query(ctx, cfg, o.db, queries, o.progress)
	} else {
		o.out.Queries, err = s.QueryOpen(ctx, o.db, cfg, queries, o.progress)
	}
	o.out.Queries.Each = nil
	if answers := cfg.Capture.Answers(); len(answers) > 0 {
		var text bytes.Buffer
		err = errors.Join(err, record.WriteAnswers(&text, answers))
		o.out.Taken = text.Bytes()
	}
	return err
}

// mix writes the part's share of the rows while its share of the queries runs.
func (o *work) mix(ctx context.Context) error {
	for i := range o.subject.Queries {
		if err := o.sameQueries(&o.subject.Queries[i], o.assignment.Types[o.subject.Queries[i].Type.Name]); err != nil {
			return err
		}
	}
	if err := o.join(ctx); err != nil {
		return err
	}
	config := o.subject.Plan.MixedConfig(o.planned)
	config.Part = engine.MixedPart{Share: o.assignment.Share, Own: o.subject.ShareFilter(o.assignment.Share), Peers: o.link}
	config.Workers, config.Queriers, config.Queue = o.assignment.Share.CountOf(config.Workers), o.assignment.Share.CountOf(config.Queriers), o.assignment.Share.CountOf(config.Queue)
	if config.Workers > 1 {
		config.Owner = o.subject.ShareOwner(o.assignment.Share)
	}
	for _, chosen := range []struct {
		rate string
		as   *pace.Schedule
	}{{o.assignment.RowRate, &config.RowRate}, {o.assignment.QueryRate, &config.QueryRate}} {
		if chosen.rate == "" {
			continue
		}
		var err error
		if *chosen.as, err = pace.Parse(chosen.rate); err != nil {
			return fmt.Errorf("the coordinator sent a rate: %w", err)
		}
	}
	config.Loaded, config.Lateness, config.Start = o.assignment.Before, o.assignment.Lateness, o.subject.Record.Spec.Start
	config.LoadConfig.Start = o.start
	config.Seed = subject.MixedSeed(o.assignment.Seed, o.planned.Name, o.assignment.Repeat)
	rowRate, queryRate := config.Schedules()
	written := oplog.Cell{Kind: oplog.Load, Part: oplog.Mixed, Workers: config.Workers, Schedule: rowRate}
	config.Log = o.log.Section(written)
	types, err := o.subject.MixedQueries(written, config.Queriers, queryRate, func(c oplog.Cell) (*oplog.Section, error) { return o.log.Section(c), nil })
	if err != nil {
		return err
	}
	var journal *engine.Journal
	o.out.Mixed, journal, err = engine.RunMixed(ctx, config, o.subject.Dataset, o.db, o.planned.Driver.Renderer(o.planned.Options), types, o.progress)
	o.out.Mixed.Writes.Rates = nil
	var text bytes.Buffer
	if damaged := writeJournal(&text, journal); err == nil {
		err = damaged
	}
	o.out.Journal = text.Bytes()
	return err
}

// sameQueries returns an error if the queries of a type have another fingerprint than the
// coordinator's.
func (o *work) sameQueries(q *plan.TypeQueries, there string) error {
	if q.Set.Fingerprint != there {
		return fmt.Errorf("the queries of %s are %s here and %s at the coordinator: the programs, or the processors, differ", q.Type.Name, q.Set.Fingerprint, there)
	}
	return nil
}

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
	"github.com/tsmark/tsmark/run/experiment"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/workload"
)

// job of a part: what an agent does.
const (
	partLoad      = "load"
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
	Seed        string         `json:"seed,omitempty"` // result.Run.CheckSeed
	Share       workload.Share `json:"share"`

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
	Queries     *result.Queries     `json:"queries,omitempty"`
	Taken       []byte              `json:"taken,omitempty"` // answers, as writeAnswers has them
	Calibration *result.Calibration `json:"calibration,omitempty"`
	Client      *result.Client      `json:"client,omitempty"`
	Noise       *result.Noise       `json:"noise,omitempty"`
}

// Agent does parts of the phases of runs, one after the other, for the Runner of another
// process, which has it among its Agents.
type Agent struct {
	Catalog Catalog // what experiments can name, and this machine's environment

	prepared *preparedPart // of the last part
}

// preparedPart is what parts of a run have in common.
type preparedPart struct {
	experiment, spec, seed, environ string
	subject                         *subject
}

// Do does a part: body is as a Runner made it. What it writes are the operations, by the
// format of package oplog, and behind them what else the Runner needs to know. An error
// that concerns only what is measured is part of that.
func (a *Agent) Do(ctx context.Context, body []byte, link Link) error {
	var p part
	if err := json.Unmarshal(body, &p); err != nil {
		return fmt.Errorf("reading the part of a phase: %w", err)
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
	key := preparedPart{experiment: p.Experiment, spec: string(spec), seed: p.Seed, environ: strings.Join(p.Environ, "\x00")}
	if last := a.prepared; last != nil && last.experiment == key.experiment && last.spec == key.spec && last.seed == key.seed && last.environ == key.environ {
		return last.subject, nil
	}
	e, err := experiment.Parse("the coordinator's experiment", []byte(p.Experiment))
	if err != nil {
		return nil, err
	}
	catalog := a.Catalog
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
	s := &subject{plan: plan, display: noDisplay{}, record: &result.Dataset{}}
	if err := s.prepare(p.Spec, p.Seed); err != nil {
		return nil, plan.secrets.Error(err)
	}
	if s.record.Fingerprint != p.Fingerprint {
		return nil, fmt.Errorf("the dataset is %s here and %s at the coordinator: the files, or the programs, differ", s.record.Fingerprint, p.Fingerprint)
	}
	key.subject, a.prepared = s, &key
	return s, nil
}

// noDisplay shows nothing.
type noDisplay struct{}

func (noDisplay) Start(string, string, int64) Task { return noDisplay{} }
func (noDisplay) Overall(Overall)                  {}
func (noDisplay) Add(int64)                        {}
func (noDisplay) Done(string)                      {}
func (noDisplay) Fail(string)                      {}

// onePart is a part on its way.
type onePart struct {
	*part
	*subject
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
	if o.Job == partCalibrate {
		if err := o.calibrate(ctx); err != nil {
			return err
		}
		return o.finish(nil)
	}
	var err error
	if o.db, err = open(ctx, o.planned, driver.Env{Create: o.planned.caps.Discards}); err != nil {
		return err
	}
	defer o.db.Close() // what was acknowledged does not depend on it
	o.began = time.Now()
	if o.log, err = oplog.NewWriter(o.link, oplog.Header{Start: o.began}); err != nil {
		return err
	}
	server, err := findServer(ctx, o.plan.experiment.Timeouts.Limits(), o.db)
	if err != nil {
		return fmt.Errorf("finding out where the server of target %s runs: %w", o.planned.name, err)
	}
	o.witness = monitor.NewWitness(ctx, server.source())
	if o.Job == partLoad {
		err = o.load(ctx)
	} else {
		err = o.query(ctx)
	}
	if o.client != nil {
		used := o.client.End(ctx)
		o.out.Client, o.out.Noise = &used, o.witness.End(ctx, o.plan.settings.quiet)
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
	config := o.plan.settings.load
	config.Workers = o.Share.Of(config.Workers)
	rows := &counted{}
	rows.Dataset, config.Owner = o.sharedRows(o.Share)
	return config, rows
}

func (o *onePart) load(ctx context.Context) error {
	to, ok := driver.As[driver.Joiner](o.db)
	if !ok {
		return joinable(o.db, o.planned)
	}
	if err := to.Join(ctx, o.dataset.Schema()); err != nil {
		return fmt.Errorf("getting ready to write: %w", err)
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
	config.Period = calibrationTime
	// A run that only queries may have fewer workers for loads than there are agents, and the
	// other way round.
	config.Workers = max(1, config.Workers)
	queryWorkers := max(1, o.Share.Of(o.plan.experiment.Queries.Workers))
	if _, err := o.link.Ready(ctx); err != nil {
		return err
	}
	found, err := engine.Calibrate(ctx, config, queryWorkers, rows, calibrationTime)
	o.out.Calibration = &found
	return err
}

func (o *onePart) query(ctx context.Context) error {
	q := o.queriesOf(o.Type)
	if q == nil {
		return fmt.Errorf("there are no queries of type %s", o.Type)
	}
	if q.record.Fingerprint != o.Queries {
		return fmt.Errorf("the queries of %s are %s here and %s at the coordinator: the programs, or the processors, differ", o.Type, q.record.Fingerprint, o.Queries)
	}
	first, _ := q.of(o.Repeat)
	counted := make([]int64, first, q.count)
	for run := range slices.Chunk(o.Expected, 2) {
		for range run[1] {
			counted = append(counted, run[0])
		}
	}
	q.expected[o.viewOf(o.planned)].counted = counted
	queries := o.rendered(o.planned, q, o.Repeat)
	defer queries.close()

	cfg := o.plan.settings.query
	cfg.First, cfg.Least, cfg.Share, cfg.Start, cfg.Workers = first, q.least(o.Repeat), o.Share, o.start, o.Share.Of(cfg.Workers)
	cfg.TimeBox, cfg.WarmUp.Time = o.TimeBox, o.Warm
	cfg.Capture = new(engine.Capture)
	if o.Capture {
		cfg.Capture = o.plan.capture(q, o.Seed, o.Repeat, o.Counts)
		cfg.Capture.Begun = o.Begun
	}
	if o.WarmUp {
		var err error
		if cfg.WarmUp.Queries, err = o.warmUps(o.planned, q, o.Repeat); err != nil {
			return err
		}
	}
	cell := oplog.Cell{Kind: oplog.Query, Type: o.Type, Workers: cfg.Workers, Queries: queries.Len(), First: first}
	s := o.plan.settings
	if s.open != nil {
		open := *s.open
		open.Queue = o.Share.Of(open.Queue)
		if s.open, s.keep = &open, nil; o.Rate != "" {
			var err error
			if open.Schedule, err = pace.Parse(o.Rate); err != nil {
				return err
			}
		}
		cell.Schedule = open.Schedule.String()
	}
	cfg.Log = o.log.Section(cell)
	var err error
	o.out.Queries, err = s.run(ctx, o.db, cfg, queries, o.progress)
	o.out.Queries.Each = nil
	if answers := cfg.Capture.Answers(); len(answers) > 0 {
		var text bytes.Buffer
		err = errors.Join(err, writeAnswers(&text, answers))
		o.out.Taken = text.Bytes()
	}
	return err
}

// sharedRows is the rows of a share, and which of its workers writes a batch; nil: whoever
// is free.
func (s *subject) sharedRows(share workload.Share) (workload.Dataset, func(*series.Batch) int) {
	if s.owner == nil {
		return share.Dataset(s.dataset), nil
	}
	first, end := share.Range(s.plan.settings.load.Workers)
	d := s.dataset
	if divided, ok := d.(workload.Divided); ok {
		d = divided.Share(share)
	} else if !share.Whole() {
		d = ownBatches{d, func(b *series.Batch) bool { w := s.owner(b); return first <= w && w < end }}
	}
	return d, func(b *series.Batch) int { return s.owner(b) - first }
}

// ownBatches is the batches of some writers, of a dataset whose batches have rows of one
// each.
type ownBatches struct {
	workload.Dataset
	own func(*series.Batch) bool
}

// Open implements workload.Dataset.
func (o ownBatches) Open() workload.Reader { return ownReader{o.Dataset.Open(), o.own} }

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
func (x *stage) partFor(job string, planned *plannedTarget) (part, error) {
	p := part{Job: job, Spec: x.record.Spec, Steps: x.plan.steps, Fingerprint: x.record.Fingerprint, Seed: x.run.CheckSeed}
	p.Spec.QuerySettings = nil
	e := x.plan.openly(x.plan.experiment)
	e.Adopt = false
	e.Workload, e.Load.Limit = x.record.Spec, x.record.Spec.Limit
	at := slices.IndexFunc(e.Targets, func(t experiment.Target) bool { return t.Name == planned.name })
	t := experiment.Target{Name: planned.name, Kind: e.Targets[at].Kind, Options: make(experiment.Options)}
	for _, o := range planned.driver.Options {
		value := planned.options[o.Name]
		if value == o.Default {
			continue
		}
		shown := x.plan.secrets.Text(value)
		if !o.Secret {
			t.Options[o.Name] = shown // where it hides something, that is taken from the environment
		}
		switch {
		case !o.Secret && shown == value:
		case x.Agents.Private():
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

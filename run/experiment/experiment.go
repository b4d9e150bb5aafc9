// Package experiment defines experiments. tsmark runs nothing else: a command line is converted to
// an experiment, and its YAML form repeats the same run elsewhere.
package experiment

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/ownqueries"
)

// Experiment is a workload, the systems to measure with it, and the way to load and query them.
// Default returns a runnable one; Check validates its values. The yaml tags are the keys of the
// file, in order.
type Experiment struct {
	Name string `yaml:"name"` // shown in lists and reports; usable as a file name
	// Notes describe the origin of the experiment for readers, each on one line. They have no
	// effect.
	Notes    []string      `yaml:"notes,omitempty"`
	Workload workload.Spec `yaml:"workload"`
	// Digest requests the content digest of the dataset's rows: see generate.Digest.
	Digest bool `yaml:"digest,omitempty"`
	// InputFormats are file formats of database loaders, such as influx. The run records the size
	// of the dataset in each.
	InputFormats []string `yaml:"input-formats,flow,omitempty"`
	Targets      []Target `yaml:"targets"` // measured in this order
	// Adopt runs queries on targets that already hold the dataset, although tsmark did not load it:
	// TSBS did. Nothing is loaded or dropped; the existing data is compared with the dataset first.
	Adopt   bool    `yaml:"adopt,omitempty"`
	Load    Load    `yaml:"load"`
	Queries Queries `yaml:"queries"`
	Mixed   Mixed   `yaml:"mixed,omitempty"`
	Life    Life    `yaml:"life,omitempty"`
	Crash   Crash   `yaml:"crash,omitempty"`
	// Materialize creates a continuous aggregate on targets and queries it too.
	Materialize Materialize `yaml:"materialize,omitempty"`
	Timeouts    Timeouts    `yaml:"timeouts,omitempty"`
	// RequireQuiet is the share of the machine's CPU time that other programs may use, as
	// ParseQuiet reads it: on a busier host tsmark refuses the run, and it repeats a phase that was
	// too noisy. Empty: noisy phases are marked.
	RequireQuiet string `yaml:"require-quiet,omitempty"`
	// ServerMemory is the memory limit of each server that tsmark starts, as ParseMemory reads it;
	// empty or AllMemory: no limit.
	ServerMemory string `yaml:"server-memory,omitempty"`
	// MonitorInterval is the time between two readings of the resources of client, host and servers;
	// 0: DefaultMonitorInterval.
	MonitorInterval time.Duration `yaml:"monitor-interval,omitempty"`
	// Matrix makes the experiment a sweep with the points that Expand returns. Exclude removes
	// combinations of its values, Include adds some.
	Matrix  Matrix        `yaml:"matrix,omitempty"`
	Exclude []Combination `yaml:"exclude,omitempty"`
	Include []Combination `yaml:"include,omitempty"`
	// Expect has the properties of an earlier run of the experiment.
	Expect Expect `yaml:"expect,omitempty"`

	origins map[string]Origin // origin of values, by path
}

// Target is one system under test. A driver can have several targets with different names.
type Target struct {
	Name   string `yaml:"name"`   // unique in the experiment; usable as a file name
	Driver string `yaml:"driver"` // of the database system, such as duckdb
	// Profile and Durability name sets of options that the driver offers; Options override them.
	// Empty: the options' defaults. Durability may be AllLevels, for a target of each level.
	Profile    string `yaml:"profile,omitempty"`
	Durability string `yaml:"durability,omitempty"`
	// ProfileText is the profile of a compatible system that a user's file defines; Profile is its name.
	ProfileText string `yaml:"profile-text,omitempty"`
	// Workers and BatchSize replace Load.Workers and Load.BatchSize for this target; 0: Load's.
	// Queries.Workers is the same for all targets, so that latencies can be compared.
	Workers   int     `yaml:"workers,omitempty"`
	BatchSize int     `yaml:"batch-size,omitempty"`
	Options   Options `yaml:"options,omitempty"`
	// Exporter is the address of a Prometheus node exporter on the server's host, Metrics that of
	// the server's own metrics in the same format, such as http://db1:9100/metrics; empty: none.
	Exporter string `yaml:"exporter,omitempty"`
	Metrics  string `yaml:"metrics,omitempty"`
	// Restart is a shell command that restarts the target's server and returns once the restart was
	// requested, or for crashes, once the server was killed; empty: none. Only with Queries.Cache or Crash.
	Restart string `yaml:"restart,omitempty"`
	// Start is a shell command that runs the target's server in the foreground; empty: the server
	// runs already. tsmark replaces {dir} with a folder for the server's files, {port} with the
	// first of ten free ports, and {servers} with the folder of tsmark's own scripts. It starts the
	// server before the target's first round and stops it at the end. Options can contain {port+1}
	// to {port+9} if a server has several ports.
	Start string `yaml:"start,omitempty"`
	// Idle is the state of a server from Start while other targets are measured: IdlePause (also if
	// empty), IdleStop or IdleRun.
	Idle string `yaml:"idle,omitempty"`
	// StartFor is the lifetime of a server from Start: ForRun (also if empty), or ForSweep, which
	// requires Load.Replace.
	StartFor string `yaml:"start-for,omitempty"`
	// Server has settings of the server itself, by its own names, such as shared_buffers: tsmark's
	// script passes them on. Without Start tsmark starts the server by that script.
	Server Options `yaml:"server,omitempty"`
	// Version is the version of the server that tsmark's script installs and starts, such as 9.2.3.
	// Empty: Start decides, or the server runs already. Driver may be written as DRIVER@VERSION.
	Version string `yaml:"version,omitempty"`
	// Twin is the name of the target that this one duplicates, for a self-test; empty: none.
	Twin string `yaml:"twin,omitempty"`
}

// States of a server that tsmark started while another target is measured.
const (
	IdlePause = "pause" // its processes are suspended: caches remain, no CPU is used
	IdleStop  = "stop"  // it is stopped and started again: its memory is free for others, its caches are lost
	IdleRun   = "run"   // it keeps running: its background work disturbs the others
)

// Lifetimes of a server.
const (
	ForRun   = "run"   // each run starts a server with an empty folder
	ForSweep = "sweep" // all runs of a sweep, or of a document's experiments, share a server, and each replaces the data of the previous one
)

// Placeholders in Target.Start. Options may contain {servers} too.
const (
	StartDir  = "{dir}"
	StartPort = "{port}"
	Servers   = "{servers}" // the folder of the scripts of tsmark server, as in {servers}/postgres exec {dir} {port}
)

// Options are the user-provided options of a driver, each value as written.
type Options map[string]string

// Load says how the dataset is written.
type Load struct {
	Workers   int   `yaml:"workers"`    // connections that write, at least 1
	BatchSize int   `yaml:"batch-size"` // rows, at least 1
	Repeats   int   `yaml:"repeats"`    // number of loads of the dataset, at least 1
	Limit     int64 `yaml:"limit"`      // rows at most; 0: all
	// After names steps to run once the data has settled, such as analyze, in this order. Targets
	// whose drivers lack a step skip it.
	After           []string      `yaml:"after,flow,omitempty"`
	ReportingPeriod time.Duration `yaml:"reporting-period"` // between two records of the rate; 0: none
	Replace         bool          `yaml:"replace"`          // drop a dataset that an earlier load left behind
	// Retry is the number of attempts, or the time, for sending a batch again after a failure that
	// may be temporary, as retry.Parse reads it. Empty: no retries.
	Retry string `yaml:"retry,omitempty"`
	// Columns is ColumnsAppear, or empty: tables are created with all columns.
	Columns string `yaml:"columns,omitempty"`
	// File is the source of the rows, in TSBS's influx or timescaledb format; "-" is standard
	// input. Empty: they are generated. The workload specifies the dataset in the file.
	File string `yaml:"file,omitempty"`
	// SkipBadLines is the maximum number of malformed rows of File that are skipped.
	SkipBadLines int64 `yaml:"skip-bad-lines,omitempty"`
}

// ColumnsAppear is the value of Load.Columns for tables that are created with the tags and fields
// of the first rows. Later rows introduce those of Workload.NewTags and NewFields: either the
// system adds the columns, or it cannot be loaded in this way.
const ColumnsAppear = "appear"

// LoadOf returns how a target, by its index, is loaded.
func (e *Experiment) LoadOf(target int) Load {
	l, t := e.Load, &e.Targets[target]
	l.Workers, l.BatchSize = cmp.Or(t.Workers, l.Workers), cmp.Or(t.BatchSize, l.BatchSize)
	return l
}

// WorkersPath returns the path of the number of workers that load a target, by its index.
func (e *Experiment) WorkersPath(target int) string {
	if e.Targets[target].Workers > 0 {
		return fmt.Sprintf("targets[%d].workers", target)
	}
	return "load.workers"
}

// Timeouts are the time limits of requests to targets outside of measurements, as in limit.Limits.
// 0: limit.Default's.
type Timeouts struct {
	Statement time.Duration `yaml:"statement,omitempty"` // for requests whose cost does not grow with the data
	Step      time.Duration `yaml:"step,omitempty"`      // for requests whose cost does, such as counting
}

// Limits returns the time-outs, with defaults in place of 0.
func (t Timeouts) Limits() limit.Limits {
	l := limit.Default()
	return limit.Limits{Statement: cmp.Or(t.Statement, l.Statement), Step: cmp.Or(t.Step, l.Step)}
}

// Queries defines the queries to run and how to run them.
type Queries struct {
	// Types are query types in order of execution; or a word of TypeWords, alone or followed by
	// types to leave out, each prefixed with Without. Empty: no queries are run, and the experiment
	// is a load.
	Types   []string `yaml:"types,flow"`
	Count   int      `yaml:"count"`   // different queries a type, at least 1
	Workers int      `yaml:"workers"` // connections that run queries, at least 1
	// Repeats is the number of times that all types are run; the target is opened again for each
	// repeat. 0: DefaultRepeats if several targets are compared or with Time, else 1; SetBudget raises it.
	Repeats int `yaml:"repeats"`
	// WarmUp is the work of each type before every repeat that is not recorded, as ParseWarmUp
	// reads it: 100 of Count, or 5s. Empty: none.
	WarmUp Amount `yaml:"warm-up,omitempty"`
	// Cache is CacheCold, or empty: caches are not changed.
	Cache string `yaml:"cache,omitempty"`
	// Time is the budget: the time for all types, targets and rounds together. 0: none, then
	// Repeats, TimeBox and Until decide. See SetBudget.
	Time    time.Duration `yaml:"time,omitempty"`
	TimeBox time.Duration `yaml:"time-box"` // time limit for a type, over all repeats; 0: none
	Timeout time.Duration `yaml:"timeout"`  // of a single query; 0: none
	// Until ends a type in a repeat early, once the confidence interval of its median lies within
	// this share of it: "2%". Empty: it does not. See stats.Stopping.
	Until string `yaml:"until,omitempty"`
	// Rate is the arrival schedule of queries, as pace.Parse reads it. Empty: each worker sends the
	// next query once it has its answer.
	Rate string `yaml:"rate,omitempty"`
	// FindMaxRate is an objective, as rate.Parse reads it: tsmark searches for the highest rate
	// that keeps it.
	FindMaxRate string `yaml:"find-max-rate,omitempty"`
	// Queue is the maximum queue length with Rate or FindMaxRate; arrivals beyond it are dropped.
	// 0: DefaultQueue.
	Queue int `yaml:"queue,omitempty"`
	// Texts is TextsEqual (also if empty), or TextsTSBS.
	Texts string `yaml:"query-texts,omitempty"`
	// Windows is the position of windows: see workload.Windows.
	Windows workload.Windows `yaml:"windows,omitempty"`
	// AlignWindows starts every window on a bucket boundary, for systems that support no other
	// windows.
	AlignWindows bool `yaml:"align-windows,omitempty"`
	// Own are query types declared by users, in addition to the workload's: see package ownqueries.
	// They belong to the core types. Files names files with more declarations, which ReadOwn
	// appends.
	Own   []ownqueries.Query `yaml:"own,omitempty"`
	Files []string           `yaml:"files,flow,omitempty"`
	// Settings are the parameters of the workload's queries.
	Settings workload.Settings `yaml:",inline"`
	// Seed is the seed for generating the queries. 0: each run has a random seed, so that no server
	// has answered its queries before; the run records it. The dataset's seed generates TSBS's own
	// queries.
	Seed int64 `yaml:"seed,omitempty"`
	// Verify is the number of answers of each type and target that are compared with the oracle's,
	// at least 1: a random sample of the measured answers. See engine.Sample.
	Verify int `yaml:"verify"`
	// CheckSeed is the seed of the sample. Empty: a random number, so that no target can predict
	// the sample; the run records it.
	CheckSeed string `yaml:"check-seed,omitempty"`
}

// Values of Queries.Texts.
const (
	TextsEqual = "equal" // all targets run the same query, each in its own language
	// TextsTSBS runs the texts that TSBS's generator writes for each system. These texts differ in
	// meaning, so no answer is verified, and no targets are compared.
	TextsTSBS = result.TextsTSBS
)

// Verbatim reports whether the queries are TSBS's texts.
func (q *Queries) Verbatim() bool { return q.Texts == TextsTSBS }

// CacheCold is the value of Queries.Cache for cold caches: for each type, a repeat runs one query
// on a target that was opened again after its files were dropped from the page cache.
const CacheCold = "cold"

// DefaultQueue is the default queue length of an open loop.
const DefaultQueue = 1000

// Open reports whether queries arrive by a schedule of their own.
func (q *Queries) Open() bool { return q.Rate != "" || q.FindMaxRate != "" }

// DefaultRepeats is the number of query repeats and loads if targets are compared: the smallest
// number with which a rank test over many query types and the loads together can distinguish two
// targets.
const DefaultRepeats = 6

// QueryRepeats returns the number of times that all query types are run. With a budget further
// rounds of some types follow.
func (e *Experiment) QueryRepeats() int {
	if e.Queries.Time > 0 {
		return DefaultRepeats
	}
	return e.repeats(e.Queries.Repeats)
}

// DefaultMonitorInterval is the default of Experiment.MonitorInterval; the others are its bounds.
const (
	DefaultMonitorInterval  = time.Second
	leastMonitorInterval    = 100 * time.Millisecond
	greatestMonitorInterval = time.Minute
)

// LongestLoads is the maximum total time of the loads of all targets for repeating them by default.
const LongestLoads = 30 * time.Second

// LoadRepeats returns the number of loads of the dataset, and whether it only applies if all loads
// together take no longer than LongestLoads; otherwise each target is loaded once.
func (e *Experiment) LoadRepeats() (repeats int, ifShort bool) {
	if e.Load.File == "-" { // standard input can be read only once
		return max(e.Load.Repeats, 1), false
	}
	return e.repeats(e.Load.Repeats), e.Load.Repeats == 0
}

// repeats returns a number of repeats; given is 0 if the user set none.
func (e *Experiment) repeats(requested int) int {
	switch {
	case requested > 0:
		return requested
	case len(e.Targets) > 1 && !e.Life.Enabled():
		return DefaultRepeats
	}
	return 1
}

// AllTypes in Queries.Types selects every type of the workload but those of ComplianceTypes.
const AllTypes = "all"

// CoreTypes in Queries.Types selects the workload's core types: one of each category.
const CoreTypes = "core"

// ComplianceTypes in Queries.Types selects the workload's types that cover its query language.
const ComplianceTypes = "compliance"

// TypeWords lists the words that select many types.
func TypeWords() []string { return []string{CoreTypes, AllTypes, ComplianceTypes} }

// Without is the prefix of a type in Queries.Types that a word selects and that is left out.
const Without = "-"

// QueriesBesideWrites reports whether queries run while rows are written.
func (e *Experiment) QueriesBesideWrites() bool { return e.Mixed.Enabled() || e.Life.Enabled() }

// Default returns the default experiment: a day of CPU metrics of 50 hosts in DuckDB and SQLite,
// and one query type of each category, with a time box of DefaultTimeBox per type. Files and command
// lines override its values, and SetBudget replaces the time box.
func Default() *Experiment {
	return &Experiment{
		Name: "default",
		Workload: workload.Spec{
			Name:     "cpu-only",
			Seed:     123,
			Scale:    50,
			Start:    time.Date(2016, time.January, 1, 0, 0, 0, 0, time.UTC),
			End:      time.Date(2016, time.January, 2, 0, 0, 0, 0, time.UTC),
			Interval: 10 * time.Second,
		},
		Targets: []Target{{Name: "duckdb", Driver: "duckdb"}, {Name: "sqlite", Driver: "sqlite"}},
		Load: Load{
			Workers:         1,
			BatchSize:       10_000,
			ReportingPeriod: 10 * time.Second,
		},
		Queries: Queries{
			Types:   []string{CoreTypes},
			Count:   1000,
			Workers: 1,
			TimeBox: DefaultTimeBox,
			Timeout: time.Minute,
			Verify:  20,
		},
	}
}

// WithSpan returns a specification with the workload's own default span, if it has one, in place of the
// default.
func WithSpan(w workload.Workload, s workload.Spec) workload.Spec {
	usual := Default().Workload
	if spanned, ok := w.(workload.Spanned); ok && s.Start.Equal(usual.Start) && s.End.Equal(usual.End) {
		s.Start, s.End = spanned.DefaultSpan()
	}
	return s
}

// Choose returns the selected types of a workload. Types selected by name may be unknown; the
// caller looks up position i of Types as Named(i).
func (q *Queries) Choose(known []workload.QueryType) []string {
	if !q.chosenByWord() {
		return q.Types
	}
	var chosen []string
	for _, t := range known {
		selected := t.Core || q.Types[0] == AllTypes
		if t.Compliance || q.Types[0] == ComplianceTypes {
			selected = t.Compliance && q.Types[0] == ComplianceTypes
		}
		if selected && !slices.Contains(q.Types, Without+t.Name) {
			chosen = append(chosen, t.Name)
		}
	}
	return chosen
}

// Runs reports whether a core type is run.
func (q *Queries) Runs(name string) bool {
	if q.chosenByWord() {
		return !slices.Contains(q.Types, Without+name)
	}
	return slices.Contains(q.Types, name)
}

// chosenByWord reports whether a word of TypeWords selects many types.
func (q *Queries) chosenByWord() bool {
	return len(q.Types) > 0 && slices.Contains(TypeWords(), q.Types[0])
}

// TypeName returns the type at position i of Types; empty: a word that selects many types.
func (q *Queries) TypeName(i int) string {
	if i == 0 && q.chosenByWord() {
		return ""
	}
	return strings.TrimPrefix(q.Types[i], Without)
}

// Package experiment holds what tsmark can be told to do. An experiment is
// the only thing that runs: a command line is turned into one, and its YAML
// form runs the same again elsewhere.
package experiment

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/result"
	"github.com/tsmark/tsmark/workload"
	"github.com/tsmark/tsmark/workload/ownqueries"
)

// Experiment is a workload, the systems to measure with it, and how to load
// and query them. Default gives one that runs; Check says whether its values
// are possible. The yaml tags are the keys of the file, in its order.
type Experiment struct {
	Name string `yaml:"name"` // shown in lists and reports; usable as a file name
	// Notes are what a reader should know of where the experiment comes from, each
	// on one line. They change nothing.
	Notes    []string      `yaml:"notes,omitempty"`
	Workload workload.Spec `yaml:"workload"`
	// Digest asks for the content digest of the dataset's rows: see
	// generate.Digest.
	Digest bool `yaml:"digest,omitempty"`
	// InputFormats are formats of databases' loaders, such as influx: how large the dataset
	// would be as a file of each is recorded.
	InputFormats []string `yaml:"input-formats,flow,omitempty"`
	Targets      []Target `yaml:"targets"` // measured in this order
	// Adopt has targets queried that hold the dataset already, though tsmark did not load
	// it: TSBS did. Nothing is loaded or dropped; what is there is compared with the
	// dataset first.
	Adopt   bool    `yaml:"adopt,omitempty"`
	Load    Load    `yaml:"load"`
	Queries Queries `yaml:"queries"`
	Mixed   Mixed   `yaml:"mixed,omitempty"`
	// Materialize has targets keep a continuous aggregate, and asks queries from it too.
	Materialize Materialize `yaml:"materialize,omitempty"`
	Timeouts    Timeouts    `yaml:"timeouts,omitempty"`
	// RequireQuiet is the share of the machine's CPU time that other programs may
	// use, as ParseQuiet reads it: a host that is not that quiet refuses the run,
	// and a phase in which it was not is repeated. Empty: a noisy phase is marked.
	RequireQuiet string `yaml:"require-quiet,omitempty"`
	// ServerMemory is how much memory each server that tsmark starts may use, as
	// ParseMemory reads it; empty or AllMemory: as much as there is.
	ServerMemory string `yaml:"server-memory,omitempty"`
	// Matrix makes a sweep of the experiment, whose points Expand tells. Exclude
	// takes combinations of its values out, Include adds to them.
	Matrix  Matrix        `yaml:"matrix,omitempty"`
	Exclude []Combination `yaml:"exclude,omitempty"`
	Include []Combination `yaml:"include,omitempty"`
	// Expect is what a run of the experiment elsewhere had.
	Expect Expect `yaml:"expect,omitempty"`

	origins map[string]Origin // by path, where a value came from
}

// Target is one system under test. One kind can take part several times
// under other names.
type Target struct {
	Name   string `yaml:"name"`   // unique in the experiment; usable as a file name
	Driver string `yaml:"driver"` // of the database system, such as duckdb
	// Profile and Durability name sets of options that the kind offers; Options
	// stand above them. Empty: the options' defaults.
	Profile    string  `yaml:"profile,omitempty"`
	Durability string  `yaml:"durability,omitempty"`
	Options    Options `yaml:"options,omitempty"`
	// Exporter is the address of a Prometheus node exporter on the server's
	// host, Metrics that of the server's own metrics in the same format, as
	// http://db1:9100/metrics; empty: none.
	Exporter string `yaml:"exporter,omitempty"`
	Metrics  string `yaml:"metrics,omitempty"`
	// Restart is a command, for sh, that restarts the target's server and
	// returns when it has been told to; empty: none. Only with Queries.Cache.
	Restart string `yaml:"restart,omitempty"`
	// Start is a command, for sh, that runs the target's server in the
	// foreground, {dir} standing for a folder that its files go to and {port}
	// for the first of ten free ports; empty: the server runs already. tsmark
	// starts it when the target has its first turn and stops it at the end.
	// {servers} stands for the folder of tsmark's own scripts. Options can be {port+1} to {port+9} where a server has several ports.
	Start string `yaml:"start,omitempty"`
	// Idle says what becomes of a server from Start while other targets have
	// their turn: IdlePause, also if empty, IdleStop or IdleRun.
	Idle string `yaml:"idle,omitempty"`
	// StartFor says what a server from Start is started for: ForRun, also if empty,
	// or ForSweep, which needs Load.Replace.
	StartFor string `yaml:"start-for,omitempty"`
	// Twin is the name of the target that this one is once more, for a self-test;
	// empty: none.
	Twin string `yaml:"twin,omitempty"`
}

// What becomes of a server that tsmark started while another target is
// measured.
const (
	IdlePause = "pause" // its processes are held where they are: caches stay, no processor is used
	IdleStop  = "stop"  // it is stopped and started again: its memory is free for others, its caches are lost
	IdleRun   = "run"   // nothing: what it does in the background disturbs the others
)

// What a server is started for.
const (
	ForRun   = "run"   // each run starts one, whose folder holds nothing yet
	ForSweep = "sweep" // all runs of a sweep, or of a document's experiments, have one, and each replaces what the one before loaded
)

// Places in Target.Start that tsmark fills in. Servers may stand in options too.
const (
	StartDir  = "{dir}"
	StartPort = "{port}"
	Servers   = "{servers}" // the folder of the scripts of tsmark server, as in {servers}/postgres exec {dir} {port}
)

// Options is what the user set of a kind's options, each value as written.
type Options map[string]string

// Load says how the dataset is written.
type Load struct {
	Workers   int   `yaml:"workers"`    // connections that write, at least 1
	BatchSize int   `yaml:"batch-size"` // rows, at least 1
	Repeats   int   `yaml:"repeats"`    // the dataset is loaded so often, at least once
	Limit     int64 `yaml:"limit"`      // rows at most; 0: all
	// After names what is done once the data has settled, such as analyze: steps
	// that the kind of target offers, in this order. Targets without a step of
	// the name leave it out.
	After           []string      `yaml:"after,flow,omitempty"`
	ReportingPeriod time.Duration `yaml:"reporting-period"` // between two records of the rate; 0: none
	Replace         bool          `yaml:"replace"`          // drop a dataset that an earlier load left
	// Retry is how often, or how long, a batch is sent again after a failure that
	// time may fix, as retry.Parse reads it. Empty: not at all.
	Retry string `yaml:"retry,omitempty"`
	// Columns is ColumnsAppear, or empty: tables are created with all columns.
	Columns string `yaml:"columns,omitempty"`
	// File is where the rows come from, in TSBS's influx or timescaledb
	// format, "-" being standard input. Empty: they are generated. The workload
	// says which dataset it holds.
	File string `yaml:"file,omitempty"`
	// SkipBadLines is how many rows of File that are none may be passed over.
	SkipBadLines int64 `yaml:"skip-bad-lines,omitempty"`
}

// ColumnsAppear stands in Load.Columns where tables are created with the tags and fields
// that the first rows have, and later rows bring those of Workload.NewTags and NewFields:
// the system makes the columns, or cannot be loaded so.
const ColumnsAppear = "appear"

// Timeouts says how long tsmark waits for what it asks of targets beside
// measuring, as limit.Limits has it. 0: limit.Default's.
type Timeouts struct {
	Statement time.Duration `yaml:"statement,omitempty"` // what does not grow with the data
	Step      time.Duration `yaml:"step,omitempty"`      // what does, such as counting
}

// Limits returns the time-outs, and the defaults where they are 0.
func (t Timeouts) Limits() limit.Limits {
	l := limit.Default()
	return limit.Limits{Statement: cmp.Or(t.Statement, l.Statement), Step: cmp.Or(t.Step, l.Step)}
}

// Queries says which queries are run, and how.
type Queries struct {
	// Types are query types in the order in which they run; or AllTypes or
	// CoreTypes, alone or followed by types with Without before them, which are left out. None: nothing is
	// run, and the experiment is a load.
	Types   []string `yaml:"types,flow"`
	Count   int      `yaml:"count"`   // different queries a type, at least 1
	Workers int      `yaml:"workers"` // connections that run queries, at least 1
	// Repeats is how often all types are run, each time of a target opened
	// anew. 0: DefaultRepeats where several targets are compared, else once.
	Repeats int `yaml:"repeats"`
	// WarmUp is what runs of each type before every repeat and is not recorded, as ParseWarmUp
	// reads it: 100 of Count, or 5s. Empty: nothing.
	WarmUp Amount `yaml:"warm-up,omitempty"`
	// Cache is CacheCold, or empty: caches are as earlier work left them.
	Cache   string        `yaml:"cache,omitempty"`
	TimeBox time.Duration `yaml:"time-box"` // asking one type, all repeats together, ends after it; 0: never
	Timeout time.Duration `yaml:"timeout"`  // of a single query; 0: none
	// Until ends asking a type in a repeat early, once the interval of its
	// median lies within so much of it: "2%". Empty: it does not. See
	// stats.Stopping.
	Until string `yaml:"until,omitempty"`
	// Rate is the schedule by which queries come, as pace.Parse reads it. Empty:
	// each worker sends the next query when it has its answer.
	Rate string `yaml:"rate,omitempty"`
	// FindMaxRate is an objective, as rate.Parse reads it: the
	// highest rate that keeps it is looked for.
	FindMaxRate string `yaml:"find-max-rate,omitempty"`
	// Queue is how many queries that came by Rate or FindMaxRate may wait for a
	// worker; what comes beyond is dropped. 0: DefaultQueue.
	Queue int `yaml:"queue,omitempty"`
	// Texts is TextsEqual, as when empty, or TextsTSBS.
	Texts string `yaml:"query-texts,omitempty"`
	// Windows says where windows lie: see workload.Windows.
	Windows workload.Windows `yaml:"windows,omitempty"`
	// AlignWindows starts every window on a bucket border, for systems that
	// can have no other.
	AlignWindows bool `yaml:"align-windows,omitempty"`
	// Own are query types that users declare, beside the workload's: see package
	// ownqueries. They count among its core. Files name files of further ones, which
	// ReadOwn puts behind them.
	Own   []ownqueries.Query `yaml:"own,omitempty"`
	Files []string           `yaml:"files,flow,omitempty"`
	// Settings are the parameters of the workload's queries.
	Settings workload.Settings `yaml:",inline"`
	// Seed draws the queries. 0: each run has a random one, so that no server has answered
	// its queries before; the run records it. The dataset's seed draws TSBS's own queries.
	Seed int64 `yaml:"seed,omitempty"`
	// Verify is how many answers of each type and target are compared with the
	// oracle's, at least 1: of a random sample of what was measured. See
	// engine.Sample.
	Verify int `yaml:"verify"`
	// CheckSeed chooses the sample. Empty: a random number, as nobody should
	// foresee what is compared; the run records it.
	CheckSeed string `yaml:"check-seed,omitempty"`
}

// What Queries.Texts can be.
const (
	TextsEqual = "equal" // all targets are asked the same, each in its own language
	// TextsTSBS has each target run what TSBS's generator writes for its system. These
	// texts do not ask all the same, so no answer is verified, and no two targets are
	// compared.
	TextsTSBS = result.TextsTSBS
)

// Verbatim reports whether the queries are TSBS's texts.
func (q *Queries) Verbatim() bool { return q.Texts == TextsTSBS }

// CacheCold stands in Queries.Cache where of each type one query is run a
// repeat, of a target opened again, its files being dropped from the page cache
// before.
const CacheCold = "cold"

// DefaultQueue is how many queries of an open loop may wait.
const DefaultQueue = 1000

// Open reports whether queries come by a schedule of their own.
func (q *Queries) Open() bool { return q.Rate != "" || q.FindMaxRate != "" }

// DefaultRepeats is how often queries are run and the dataset is loaded where
// targets are compared: the fewest with which a rank test over many query types
// and the loads together can tell two apart.
const DefaultRepeats = 6

// QueryRepeats returns how often all query types are run.
func (e *Experiment) QueryRepeats() int { return e.repeats(e.Queries.Repeats) }

// LongestLoads is how long the loads of all targets may take together to be
// repeated where nobody said how often.
const LongestLoads = 30 * time.Second

// LoadRepeats returns how often the dataset is loaded, and whether that is only
// so as long as all loads together take no longer than LongestLoads: else each
// target is loaded once.
func (e *Experiment) LoadRepeats() (repeats int, ifShort bool) {
	if e.Load.File == "-" { // which can be read only once
		return max(e.Load.Repeats, 1), false
	}
	return e.repeats(e.Load.Repeats), e.Load.Repeats == 0
}

// repeats is how often something is measured; given is 0 where nobody said.
func (e *Experiment) repeats(given int) int {
	switch {
	case given > 0:
		return given
	case len(e.Targets) > 1:
		return DefaultRepeats
	}
	return 1
}

// TimeBoxOfRepeat returns the time that asking a type may take in one repeat;
// 0: no limit.
func (e *Experiment) TimeBoxOfRepeat() time.Duration {
	if e.Queries.TimeBox == 0 {
		return 0
	}
	return max(e.Queries.TimeBox/time.Duration(e.QueryRepeats()), 1)
}

// AllTypes stands in Queries.Types for every type that the workload has.
const AllTypes = "all"

// CoreTypes stands in Queries.Types for the types that the workload counts among
// its core: one of each kind.
const CoreTypes = "core"

// Without stands before a type in Queries.Types that is left out of all, or of core.
const Without = "-"

// Default returns the experiment that runs where nothing is asked for: a day
// of 50 hosts' CPU figures in DuckDB and SQLite, and one query type of each kind in
// six rounds, in a time box of 1.2 seconds a type. These sizes end within a minute.
// What a file or command line leaves out is as here.
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
			TimeBox: 1200 * time.Millisecond,
			Timeout: time.Minute,
			Verify:  20,
		},
	}
}

// Choose returns which of a workload's types are run. Types that are named by
// name need not be among them; position i of Types is to be looked up as
// Named(i).
func (q *Queries) Choose(known []workload.QueryType) []string {
	if !q.chosenByWord() {
		return q.Types
	}
	var chosen []string
	for _, t := range known {
		if (t.Core || q.Types[0] == AllTypes) && !slices.Contains(q.Types, Without+t.Name) {
			chosen = append(chosen, t.Name)
		}
	}
	return chosen
}

// runs reports whether a type of the core is run.
func (q *Queries) runs(name string) bool {
	if q.chosenByWord() {
		return !slices.Contains(q.Types, Without+name)
	}
	return slices.Contains(q.Types, name)
}

// chosenByWord reports whether a word stands for many types: AllTypes or CoreTypes.
func (q *Queries) chosenByWord() bool {
	return len(q.Types) > 0 && (q.Types[0] == AllTypes || q.Types[0] == CoreTypes)
}

// Named returns the type that position i of Types names; empty: a word for many.
func (q *Queries) Named(i int) string {
	if i == 0 && q.chosenByWord() {
		return ""
	}
	return strings.TrimPrefix(q.Types[i], Without)
}

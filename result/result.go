// Package result defines the record of a run. The engine and the verifier produce it, the store
// keeps it, and reports render it. Times of day are UTC, durations seconds, sizes bytes.
//
// A Run is the record; Encode turns it into the document that is stored, exported and imported. The
// pooled figures of its repeats are a view derived by Run.Pool.
//
// Stored records contain no secrets: see secret.Redactor.Hide. The tag redact:"-" marks names that
// must remain searchable, and encoded figures.
package result

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/measure"
	"github.com/tsmark/tsmark/workload"
)

// Status is the progress of a run.
type Status string

// The states of a run.
const (
	Running    Status = "running"    // or killed before it could record another status
	Complete   Status = "complete"   // everything that was configured was done
	Incomplete Status = "incomplete" // interrupted, or a target failed: see Reason
)

// Run is one execution of an experiment.
type Run struct {
	ID         string   `json:"id" redact:"-"`         // sorts by time: 20260131-154500-3f2a
	Name       string   `json:"name"`                  // of the experiment
	Command    string   `json:"command" redact:"-"`    // load, query, verify or run
	Args       []string `json:"args"`                  // command line as typed
	Experiment string   `json:"experiment" redact:"-"` // the experiment as YAML
	Notes      []string `json:"notes,omitempty"`       // of the experiment, on where it comes from
	// Deviations are the versions that differ from the ones that the experiment expects, each in
	// words.
	Deviations []string  `json:"deviations,omitempty"`
	Started    time.Time `json:"started"`           // start of the run
	Finished   time.Time `json:"finished,omitzero"` // end of the run; missing while it is running
	Status     Status    `json:"status" redact:"-"` // running, complete or incomplete
	Reason     string    `json:"reason,omitempty"`  // why incomplete
	// Imported is when the run was added from a file; zero: it was executed into this results
	// folder. The experiment of an imported run is untrusted: tsmark does not execute it without
	// confirmation.
	Imported time.Time `json:"imported,omitzero"`
	// Unchecked is why some figures of an imported run were not compared with its operation log;
	// empty: all were, or the run was executed here.
	Unchecked string  `json:"unchecked,omitempty"`
	Tool      Tool    `json:"tool"`    // the tsmark that ran
	Host      Host    `json:"host"`    // the machine that tsmark ran on
	Dataset   Dataset `json:"dataset"` // the dataset that was loaded and queried
	// QuerySets are the generated queries by query type; nil: none, or unknown.
	QuerySets []QuerySet `json:"query_sets,omitempty"`
	Targets   []Target   `json:"targets"` // measurements of each target
	// CheckSeed is the random number that selected the answers to compare and the rows to read
	// back; no target could know it. Empty: nothing was compared.
	CheckSeed string `json:"check_seed,omitempty"`
	// OrderSeed is the random number that determined the order of the targets within rounds. Empty:
	// the run had no rounds.
	OrderSeed string `json:"order_seed,omitempty"`
	// QuerySeed is the seed of the generated queries: random unless the experiment sets it, so that
	// no server has answered the run's queries before. 0: the dataset's own seed.
	QuerySeed int64 `json:"query_seed,omitempty"`
	// Resources is the resource usage of the client, its host and the servers, on the time line of
	// the run, whose origin is Started.
	Resources []Resources `json:"resources,omitempty"`
	// Agents are the clients of a distributed run, by name; nil: this process was the only client.
	// With agents, Host and Tool describe the coordinator.
	Agents []Agent `json:"agents,omitempty"`
	// AgentsStopWithin is the number of seconds that an agent may continue its work after the
	// coordinator has died; 0: there were no agents.
	AgentsStopWithin float64 `json:"agents_stop_within,omitempty"`
	// OtherDatabases are other databases that ran on the client's host.
	OtherDatabases []OtherDatabase `json:"other_databases,omitempty"`
	// Calibration is the maximum throughput of this client; nil: not measured.
	Calibration *Calibration `json:"calibration,omitempty"`
	Place
	// LostOperations is the number of operations that are included in all figures but missing from
	// the operation log, because the disk could not keep up.
	LostOperations int64 `json:"lost_operations,omitempty"`
}

// Calibration is the speed of the client itself: the loads and queries of this run against a null
// target that does no work. It is an upper bound for the measurements of any target.
type Calibration struct {
	Workers          int     `json:"workers"`                 // of the load
	QueryWorkers     int     `json:"query_workers,omitempty"` // 0: as many as Workers, in runs of an earlier tsmark
	RowsPerSecond    float64 `json:"rows_per_second"`         // of loads into the null target
	QueriesPerSecond float64 `json:"queries_per_second"`      // of queries of the null target
}

// Tool identifies the program that ran.
type Tool struct {
	Version string `json:"version"`          // release of tsmark
	Commit  string `json:"commit,omitempty"` // of the source; +dirty: with local changes
	Go      string `json:"go"`               // release of Go
}

// String returns the build of tsmark as reports show it.
func (t Tool) String() string {
	commit, dirty := strings.CutSuffix(t.Commit, "+dirty")
	switch {
	case commit == "":
		commit = "unknown"
	case len(commit) > 12:
		commit = commit[:12]
	}
	if dirty {
		commit += " and changes"
	}
	return t.Version + ", commit " + commit + ", " + t.Go
}

// Module is a Go module that is linked into this program.
type Module struct {
	Path    string `json:"path"`    // path of the module
	Version string `json:"version"` // version of the module
}

// Host is the machine of the client, which is also the machine of an embedded database.
type Host struct {
	OS             string `json:"os"`                       // name and version
	Kernel         string `json:"kernel"`                   // release of the kernel
	Arch           string `json:"arch"`                     // processor architecture, such as amd64
	CPU            string `json:"cpu"`                      // model of the processor
	Cores          int    `json:"cores"`                    // logical processors
	Memory         uint64 `json:"memory"`                   // bytes
	FileSystem     string `json:"file_system"`              // of the results folder
	Virtualization string `json:"virtualization,omitempty"` // virtual machine or container

	// Further properties that affect figures; zero: unreadable or nonexistent.
	Disk        string  `json:"disk,omitempty"`         // model and type of the disk under the results folder
	Swap        uint64  `json:"swap,omitempty"`         // bytes
	NUMANodes   int     `json:"numa_nodes,omitempty"`   // memory regions of the processors
	ClockSource string  `json:"clock_source,omitempty"` // the kernel's source of time
	Governor    string  `json:"governor,omitempty"`     // policy of the CPU frequency
	Turbo       string  `json:"turbo,omitempty"`        // on or off
	OpenFiles   uint64  `json:"open_files,omitempty"`   // that one process may have (soft limit)
	CPULimit    float64 `json:"cpu_limit,omitempty"`    // cores that the container may use
	MemoryLimit uint64  `json:"memory_limit,omitempty"` // bytes that the container may use
}

// SameMachine reports whether two hosts may be the same machine: no known property differs.
func SameMachine(a, b *Host) bool {
	return a.Arch == b.Arch && a.CPU == b.CPU && a.Disk == b.Disk && a.Cores == b.Cores && a.Memory == b.Memory
}

// QuerySet describes the different queries that were generated for one type.
type QuerySet struct {
	Type  string `json:"type" redact:"-"` // query type
	Count int    `json:"count"`           // queries that were drawn
	// Fingerprint identifies the queries: see query.Fingerprint. Definition is the fingerprint of
	// the first DefinitionCount queries that the dataset's own seed generates in the same way,
	// whatever the run's seed; it differs between queries about different subjects.
	Fingerprint string `json:"fingerprint" redact:"-"`
	Definition  string `json:"definition" redact:"-"` // see Fingerprint
}

// DefinitionCount is the number of queries that represent all queries generated in the same way.
const DefinitionCount = 100

// SameDefinition reports whether both sets are generated in the same way, so that their figures can
// be compared even if the seeds differ.
func (q *QuerySet) SameDefinition(other *QuerySet) bool { return q.Definition == other.Definition }

// Equal reports whether both are the same queries.
func (q *QuerySet) Equal(other *QuerySet) bool { return q.Fingerprint == other.Fingerprint }

// OtherQueries returns a query type whose queries the runs generate in different ways; empty: no
// type differs, or the queries of a run are unknown.
func OtherQueries(a, b *Run) (queryType string) {
	for i := range a.QuerySets {
		if name := a.QuerySets[i].Type; !AlikeQueries(a, b, name) {
			return name
		}
	}
	return ""
}

// AlikeQueries reports whether two runs may generate the queries of a type in the same way: nothing
// known about them differs.
func AlikeQueries(a, b *Run, queryType string) bool {
	p, q := a.QuerySet(queryType), b.QuerySet(queryType)
	return p == nil || q == nil || p.SameDefinition(q)
}

// QuerySet returns the queries that were generated for a type; nil: none, or unknown.
func (r *Run) QuerySet(queryType string) *QuerySet {
	for i := range r.QuerySets {
		if q := &r.QuerySets[i]; q.Type == queryType {
			return q
		}
	}
	return nil
}

// Dataset is the dataset that was loaded or queried.
type Dataset struct {
	Spec        workload.Spec `json:"spec" redact:"-"`        // the specification that determines the rows
	Fingerprint string        `json:"fingerprint" redact:"-"` // hash of the specification
	// Digest is the content digest of the rows that were loaded or queried, as computed by
	// generate.DigestOf; empty: it was not requested.
	Digest   string `json:"digest,omitempty" redact:"-"`
	Series   uint32 `json:"series"`    // number of series
	Rows     int64  `json:"rows"`      // number of rows
	Metrics  int64  `json:"metrics"`   // values that are not NULL
	RawBytes int64  `json:"raw_bytes"` // size as line protocol; 0: not known
	// FormatBytes is the size of the dataset in the file formats of database loaders, by TSBS's
	// format names; nil: not requested.
	FormatBytes map[string]int64 `json:"format_bytes,omitempty"`
	// Lateness is the largest delay of a row behind a newer row, in seconds.
	Lateness float64 `json:"lateness,omitempty"`
	// Late describes the late rows of a generated dataset; nil: the dataset has no late rows or was
	// not generated.
	Late *Late `json:"late,omitempty"`
	// Source is the file that the rows were read from; empty: they were generated, or read from
	// Files.
	Source string `json:"source,omitempty"`
	// Files are the input files of the workload own, in order.
	Files []workload.File `json:"files,omitempty"`
	// Reread is the result of a second reader that read a sample of their rows; nil: no sample was
	// read.
	Reread *workload.Reread `json:"reread,omitempty"`
}

// Late describes how late rows arrive behind newer rows of their own series.
type Late struct {
	Share float64 `json:"share"` // of all rows
	Least float64 `json:"least"` // smallest share of late rows of a series
	Most  float64 `json:"most"`  // largest share of late rows of a series
	// Delays of late rows in steps.
	P50 int64 `json:"p50"`
	P90 int64 `json:"p90"` // 90th percentile of the delays
	P99 int64 `json:"p99"` // 99th percentile of the delays
	Max int64 `json:"max"` // largest delay
}

// Target is the record of one system under test.
type Target struct {
	Name      string `json:"name" redact:"-"`           // name in the experiment
	Driver    string `json:"driver" redact:"-"`         // driver
	Twin      string `json:"twin,omitempty" redact:"-"` // in a self-test, the target that this one duplicates
	Embedded  bool   `json:"embedded"`                  // shares the client's process
	CoLocated bool   `json:"co_located,omitempty"`      // its server ran on the client's host
	// SameServer is the earlier target that uses the same server; the server's resources are
	// recorded under that target's name. Empty: no earlier target uses it.
	SameServer string `json:"same_server,omitempty" redact:"-"`
	// Adopted describes the checks that ran before queries on data that tsmark did not load; empty:
	// tsmark loaded the data.
	Adopted string `json:"adopted,omitempty"`
	// Types describes how the target stores field types of the dataset that it lacks; empty: it has
	// all types.
	Types string `json:"types,omitempty"`
	// Adapter says that tsmark's driver was not verified against a server of this version; empty:
	// the conformance suite passed on one, or CI tests one.
	Adapter string `json:"adapter,omitempty"`
	// ResultCache is the system's result cache.
	ResultCache driver.ResultCache `json:"result_cache,omitzero"`
	// Idle is the state of its server while other targets were measured, in the words of the
	// experiment; empty: tsmark did not start the server.
	Idle string `json:"idle,omitempty"`
	// ServerMemory is the memory limit of its server in bytes, page cache included, if tsmark
	// started the server with a limit; 0: no limit.
	ServerMemory int64              `json:"server_memory,omitempty"`
	Options      map[string]string  `json:"options"`              // all, defaults included, secrets removed
	Profile      string             `json:"profile,omitempty"`    // selected set of options; empty: none
	Durability   string             `json:"durability,omitempty"` // selected level; empty: none
	Changes      []driver.Change    `json:"changes,omitempty"`    // options that differ from the defaults, secrets removed
	Modules      []Module           `json:"modules,omitempty"`    // client modules that connect to the system
	Description  driver.Description `json:"description"`          // the system's own description of itself
	// Group is the group in which the target was measured; nil: it took part in every round, as
	// all others.
	Group   *TargetGroup `json:"group,omitempty"`
	Failure string       `json:"failure,omitempty"` // why it failed
	Repeats []Repeat     `json:"repeats,omitempty"` // measurements, by number
	// Load and Queries are the pooled figures of the repeats. Pool derives them; they are not part
	// of the record.
	Load    *Load     `json:"load,omitempty"`
	Queries []Queries `json:"queries,omitempty"` // one per type, in the order run
}

// Load is one ingestion. Its figures are withheld if the census differs, if rows were not
// acknowledged, or if an answer of the same target was wrong: see Reason.
type Load struct {
	Workers   int     `json:"workers"`    // concurrent writers
	BatchSize int     `json:"batch_size"` // rows
	Rows      int64   `json:"rows"`       // sent
	Metrics   int64   `json:"metrics"`    // sent
	WireBytes int64   `json:"wire_bytes"` // handed to the target
	Prepare   float64 `json:"prepare"`    // creating tables, before the clock
	Sent      float64 `json:"sent"`       // from the start until the last row was handed over
	Acked     float64 `json:"acked"`      // until the last row was acknowledged; 0: the protocol does not acknowledge
	Settled   float64 `json:"settled"`    // until all rows were visible and background work idle
	// Visible describes how tsmark found, on the clock, that the rows were visible; nil: it did not
	// check.
	Visible *Visible `json:"visible,omitempty"`
	Batches Latency  `json:"batches"` // from handing a batch over to its acknowledgement
	// Accumulated is the total time of each worker's batches, in seconds; nil: not recorded.
	Accumulated []float64 `json:"accumulated,omitempty"`
	// Shards is the number of accepted rows of each worker. If each worker reads a part of the
	// dataset, they are the first rows of that part: an interrupted load left these rows in the
	// database. Empty: a single reader handed out the dataset's first rows, or the numbers are
	// unknown.
	Shards []int64     `json:"shards,omitempty"`
	Rates  []RatePoint `json:"rates,omitempty"` // progress over time
	// Paused is the number of batches in flight while tsmark itself was suspended, and PausedTime
	// is their total time in seconds. Batches excludes their times.
	Paused     int64   `json:"paused,omitempty"`
	PausedTime float64 `json:"paused_time,omitempty"` // see Paused
	// DiskBytes is the size after settling and all steps, once the target has flushed its memory,
	// off the clock. DiskBefore is the size of the empty tables. DiskSettled is the size before the
	// first step; without steps it is not measured. Each is -1 if unknown.
	DiskBytes   int64 `json:"disk_bytes"`
	DiskBefore  int64 `json:"disk_before"`  // see DiskBytes
	DiskSettled int64 `json:"disk_settled"` // see DiskBytes
	// DiskExcluded describes files that these sizes exclude; empty: none.
	DiskExcluded string `json:"disk_excluded,omitempty"`
	// DiskPending describes data that the target had not yet written when DiskBytes was measured;
	// the size is then incomplete and not compared. Empty: none was reported.
	DiskPending string `json:"disk_pending,omitempty"`
	Steps       []Step `json:"steps,omitempty"`    // executed after settling
	Withheld    string `json:"withheld,omitempty"` // why the figures are withheld; empty: they are not
	// Beside is why the load has no figures although its census found no difference: an answer of
	// the same target was wrong. Target.Pool derives it; it is not stored. See Reason.
	Beside string `json:"beside,omitempty"`
	// Retries describes the batches that failed and were sent again; nil: no batch failed, or the
	// load ended with the first failure.
	Retries *Retries `json:"retries,omitempty"`
	// Mixed describes the phase that wrote the rest of the dataset while queries ran. The rates of
	// the load are those of the rows before it. Nil: there was no mixed phase.
	Mixed *Mixed `json:"mixed,omitempty"`
	// Aggregate is the continuous aggregate that was created from the loaded rows; nil: none was
	// requested.
	Aggregate *Aggregate `json:"aggregate,omitempty"`
	// Growth describes a load in steps that introduced tags and fields no table had; nil: tables
	// were created with all columns.
	Growth *Growth `json:"growth,omitempty"`
	// Unverified is why the loaded rows were not counted; empty: they were counted.
	Unverified string         `json:"unverified,omitempty"`
	Skipped    int64          `json:"skipped,omitempty"` // bad lines of a file that were skipped
	Census     []CensusResult `json:"census,omitempty"`  // comparison with the dataset, by table
	Cell
}

// Visible describes how tsmark found that the rows of a load were visible.
type Visible struct {
	Rows     int     `json:"rows"`              // rows that were queried and found: the last rows, and further rows selected at random
	Counted  int64   `json:"counted,omitempty"` // rows that the target counted; 0: nothing was counted
	Attempts int     `json:"attempts"`          // attempts until all rows were found
	Seconds  float64 `json:"seconds"`           // duration of the last attempt: the cost of checking a system whose rows were visible
	// Missing describes the rows that were still invisible when no further rows had appeared for a
	// while; empty: none.
	Missing   string `json:"missing,omitempty"`
	Unchecked string `json:"unchecked,omitempty"` // why no rows were queried
	// Late is the number of seconds between that check and the time when the load settled, because
	// the census found rows missing that appeared later; 0: it found all rows. Settled includes it.
	Late float64 `json:"late,omitempty"`
}

// Cell is the place of a measurement on the run's time line, and the client resources that it used.
type Cell struct {
	From float64 `json:"from,omitempty"` // seconds since the run's start, before the clock of the measurement
	To   float64 `json:"to,omitempty"`   // seconds since the run's start, after the measurement
	// Client is the resource usage of the client itself; nil: unknown, or the target shares its
	// process.
	Client *Client `json:"client,omitempty"`
	// ClientBound says why the client rather than the target may have set the
	// pace; empty: it did not.
	ClientBound string `json:"client_bound,omitempty"`
	// Noise is the activity of other processes on the machine during the measurement; nil: not
	// observed.
	Noise *Noise `json:"noise,omitempty"`
	// Parts are the shares of the agents, ordered by share; nil: there was one client. The parts of
	// a mixed phase have rows and queries.
	Parts []Part `json:"parts,omitempty"`
	// Upkeep describes background maintenance of the tables by the system, such as vacuums, up to
	// the end of the load and its steps, or up to the start of the round of queries. Empty:
	// unknown.
	Upkeep string `json:"upkeep,omitempty"`
	// Stopped is the rule that ended the queries of a type: StoppedByCount, StoppedByTime, or a
	// result of StoppedByInterval or StoppedBefore; empty: unknown, or no rule.
	Stopped string `json:"stopped,omitempty"`
}

// Rules that end the queries of a type.
const (
	StoppedByCount = "all run"
	StoppedByTime  = "time box"
	// StoppedByIntervals is part of the results of StoppedByInterval and StoppedBefore.
	StoppedByIntervals = "interval within "
)

// StoppedBefore says that another rule ended the queries before the confidence interval was narrow
// enough: "time box before interval within 2 %".
func StoppedBefore(rule string, share float64) string {
	return rule + " before " + StoppedByInterval(share)
}

// StoppedByInterval says that the confidence interval of the median is within a share of it:
// "interval within 2 %".
func StoppedByInterval(share float64) string {
	return StoppedByIntervals + strconv.FormatFloat(100*share, 'g', 3, 64) + " %"
}

// Step is an operation after a load, timed separately.
type Step struct {
	Name      string  `json:"name"`            // name of the step, such as vacuum
	Seconds   float64 `json:"seconds"`         // includes settling again
	DiskBytes int64   `json:"disk_bytes"`      // after it; -1: not known
	Noise     *Noise  `json:"noise,omitempty"` // what other processes used; nil: unknown
}

// RatePoint is the progress of a load in one reporting period.
type RatePoint struct {
	At   float64 `json:"at"`   // seconds since the start, end of the period
	Rows int64   `json:"rows"` // rows of the period
}

// CensusResult compares the expected contents of a table with its actual contents.
type CensusResult struct {
	Table    string `json:"table"`    // name of the table
	Expected int64  `json:"expected"` // rows
	Counted  int64  `json:"counted"`  // rows; -1: the system counts points only
	// Lost is the number of missing acknowledged rows, and Duplicates the number of rows stored
	// twice because they were sent twice. If both occurred and distinct rows could not be counted,
	// only their difference is known: see Contents.PossiblyMissing.
	Lost       int64  `json:"lost,omitempty"`
	Duplicates int64  `json:"duplicates,omitempty"` // see Lost
	Problem    string `json:"problem,omitempty"`    // first difference; empty: none, duplicates aside
	// Contents describes comparisons beyond the number of rows; nil: values were counted.
	Contents *Contents `json:"contents,omitempty"`
}

// Contents describes the comparisons of a census beyond the number of rows.
type Contents struct {
	Fields []Compared `json:"fields"` // number of fields by type of comparison, as far as the census got
	Series int64      `json:"series"` // series with rows, compared by their tags; -1: not compared
	Times  string     `json:"times"`  // comparison of the rows' times: sum, first, last; empty: none
	// Distinct is the number of distinct rows counted if rows were sent twice; -1: all rows were
	// sent once, or the number could not be determined.
	Distinct int64 `json:"distinct"`
	// PossiblyMissing is why acknowledged rows may still be missing, at most as many as there are
	// duplicates; empty: no row is missing.
	PossiblyMissing string `json:"possibly_missing,omitempty"`
	// Rows is the number of whole rows that were read back and compared: a random sample selected
	// by the run's CheckSeed. RowsUnread is why some of them were not read; empty: all were, or the
	// table already had a problem.
	Rows       int64   `json:"rows,omitempty"`
	RowsUnread string  `json:"rows_unread,omitempty"` // see Rows
	Seconds    float64 `json:"seconds"`               // duration of the table's census, including the rows read back; excluded from every clock
}

// Compared is the number of fields of a table that were compared by the same figures.
type Compared struct {
	By     string `json:"by"`     // such as count, sum, min, max
	Fields int    `json:"fields"` // number of fields
}

// Latency has the figures of a histogram, and the histogram itself in HdrHistogram's V2 compressed
// encoding (base64), in nanoseconds.
type Latency struct {
	measure.Summary
	Histogram string `json:"histogram,omitempty" redact:"-"` // HdrHistogram V2, compressed, base64, in nanoseconds
}

// Queries is the measurement of one query type.
type Queries struct {
	Type string `json:"type" redact:"-"` // name of the query type
	Help string `json:"help" redact:"-"` // one line about the query type
	// Texts is TextsTSBS if the queries were TSBS's own texts, whose correct answers are unknown
	// and which differ in meaning between systems; TextsOwn if the experiment supplied the texts;
	// empty: tsmark's texts.
	Texts string `json:"texts,omitempty"`
	// By is ByReference if Verdict compares with the reference text of an own query, ByAgreement if
	// it compares with other targets of the run; empty: with the oracle.
	By string `json:"by,omitempty"`
	// Disagrees describes how another system answered the same query of a user-provided text, if
	// the correct answer is unknown.
	Disagrees   string  `json:"disagrees,omitempty"`
	NoReference string  `json:"no_reference,omitempty"` // why the reference text of an own query could not be run
	Unsupported string  `json:"unsupported,omitempty"`  // reason; no query was run
	Verdict     Verdict `json:"verdict"`                // result of the comparison with expected answers
	Withheld    string  `json:"withheld,omitempty"`     // why the figures below are not shown as a result
	// Failed is why the figures are missing although no answer was wrong: a query had no answer.
	Failed   *Failure `json:"failed,omitempty"`
	Workers  int      `json:"workers"`          // concurrent workers that run queries
	Executed int64    `json:"executed"`         // recorded queries: excludes burn-in, includes timeouts
	WarmUp   WarmUp   `json:"warm_up,omitzero"` // queries before the measurement
	BurnIn   int64    `json:"burn_in"`          // executed first and not recorded
	AtLeast  int64    `json:"at_least"`         // cut off by the time limit: their latency is at least the recorded one
	// Paused is the number of queries in flight while tsmark itself was stopped or had no
	// processor, and PausedTime is their total time in seconds. All figures exclude them.
	Paused     int64   `json:"paused,omitempty"`
	PausedTime float64 `json:"paused_time,omitempty"` // see Paused
	// ClientTime is the CPU time, in seconds, that tsmark itself used between sending each query
	// and the last byte of its answer: see ClientShare. 0: not measured.
	ClientTime float64 `json:"client_time,omitempty"`
	Distinct   int     `json:"distinct"` // different queries available to run
	Timeout    float64 `json:"timeout"`  // seconds after which a query is cut off; 0: never
	TimeBox    float64 `json:"time_box"` // 0: none
	// Wall is the wall-clock time from the first query to the last answer, excluding burn-in. In a
	// closed loop PausedTime divided by the workers is subtracted.
	Wall      float64 `json:"wall"`
	PerSecond float64 `json:"per_second"` // queries per second of all workers
	Rows      int64   `json:"rows"`       // of all answers
	Bytes     int64   `json:"bytes"`      // of all answers
	// Cache describes how caches were made cold before each query; empty: they were not. Cold
	// reports whether that worked; a query whose caches could not be made cold is not called cold.
	Cache string `json:"cache,omitempty"`
	Cold  bool   `json:"cold,omitempty"`  // see Cache
	First int    `json:"first,omitempty"` // position of Each[0] in the type's sequence of generated queries
	// Each is the service time of each query in seconds, by its position after First; negative: the
	// query was cut off after that time; 0: not run, or not recorded. Only the first time counts
	// for a query that ran repeatedly. Each allows comparing targets over the same queries: see
	// package estimate.
	Each []float64 `json:"each,omitempty"`
	// Read is the amount of data that the system reports to have read for a query: the median of
	// the queries whose answers were checked before the measurement. Nil: not recorded, or not
	// reported.
	Read *Read `json:"read,omitempty"`
	// Sample describes how the answers in Verdict were selected.
	Sample  Sample  `json:"sample,omitzero"`
	Service Latency `json:"service"` // from sending a query to the last byte of its answer
	// Values is the number of values in all answers, NULLs included: rows times the columns other
	// than time and tags. Accumulated is the total time of each worker's queries in seconds,
	// excluding those cut off; nil: neither is recorded.
	Values      int64     `json:"values,omitempty"`
	Accumulated []float64 `json:"accumulated,omitempty"` // see Values
	Cell
	// Open has the additional figures of an open loop; nil: a closed loop, in which each worker
	// sends its next query once it has its answer.
	Open *OpenLoop `json:"open,omitempty"`
}

// Read is the amount of data that a system read to answer a query, from disk or from memory, in its
// own terms.
type Read struct {
	Rows  float64 `json:"rows"`  // of tables and aggregates; -1: not reported
	Bytes float64 `json:"bytes"` // -1: not reported
}

// Values of Queries.Texts.
const (
	TextsTSBS = "tsbs"
	TextsOwn  = "own"
)

// Short descriptions of TextsTSBS and TextsOwn in reports.
const (
	TSBSText = "TSBS's text"
	OwnText  = "own text"
)

// Values of Queries.By.
const (
	ByReference = "reference"
	ByAgreement = "agreement"
)

// VerifiedBy is the source of the expected answers: oracle, ByReference or ByAgreement; empty: the
// answers were not compared and are not verified.
func (q *Queries) VerifiedBy() string {
	if !q.Verdict.OK() {
		return ""
	}
	return cmp.Or(q.By, "oracle")
}

// TextName is the name of the queries in reports if their meaning is unknown; empty: it is known.
func (q *Queries) TextName() string {
	switch q.Texts {
	case TextsTSBS:
		return TSBSText
	case TextsOwn:
		return OwnText
	}
	return ""
}

// VerdictText returns the verdict on the answers as reports print it.
func (q *Queries) VerdictText() string {
	if name := q.TextName(); name != "" && q.Verdict == (Verdict{}) {
		if q.Disagrees != "" {
			name += ", answers differ"
		}
		return q.Verdict.String() + ": " + name
	}
	if q.By != "" && q.Verdict.OK() {
		return q.Verdict.String() + " by " + q.By
	}
	return q.Verdict.String()
}

// ClientShare is the part of the service time of the queries in which tsmark itself used a
// processor; absent: not measured, for example for an embedded target.
func (q *Queries) ClientShare() Value {
	if q.ClientTime <= 0 || q.Service.Count == 0 {
		return Absent()
	}
	return ratio(Value(q.ClientTime), Value(q.Service.Mean*float64(q.Service.Count)))
}

// Texts returns TextsTSBS if the queries of the run have that value, otherwise an empty string.
func (r *Run) Texts() string {
	for i := range r.Targets {
		t := &r.Targets[i]
		for _, of := range t.MeasuredRepeats() {
			for j := range of.Queries {
				if q := &of.Queries[j]; q.Texts == TextsTSBS {
					return q.Texts
				}
			}
		}
	}
	return ""
}

// OwnTexts lists the query types of the run that are TextsOwn and have unverified answers.
func (r *Run) OwnTexts() []string {
	var types []string
	for i := range r.Targets {
		for j := range r.Targets[i].Queries {
			q := &r.Targets[i].Queries[j]
			if q.Texts == TextsOwn && q.Verdict == (Verdict{}) && q.Unsupported == "" && !slices.Contains(types, q.Type) {
				types = append(types, q.Type)
			}
		}
	}
	return types
}

// WarmUp counts the queries that ran before the clock started, so that neither connections nor the
// system (which may compile just in time) were cold. All figures exclude them.
type WarmUp struct {
	Queries int64   `json:"queries"` // of all workers together
	Seconds float64 `json:"seconds"` // wall-clock time until the last worker was warm
}

// Add adds another warm-up.
func (w *WarmUp) Add(other WarmUp) {
	w.Queries += other.Queries
	w.Seconds += other.Seconds
}

// OpenLoop is the measurement of queries that arrive by a schedule of their own, excluding burn-in.
type OpenLoop struct {
	Schedule string  `json:"schedule"` // as pace.Parse reads it
	Queue    int     `json:"queue"`    // arrivals that could wait for a worker
	Arrivals int64   `json:"arrivals"` // scheduled arrivals, including dropped ones
	Offered  float64 `json:"offered"`  // mean arrivals per second; 0: fewer than two arrivals
	Dropped  int64   `json:"dropped"`  // arrivals that found the queue full and were never run
	Waiting  int64   `json:"waiting"`  // queue length at the last arrival
	// Response is the time from the intended start of a query to the last byte of its answer. It
	// includes the wait for a worker, as a user would see it. Dropped arrivals have no response
	// time.
	Response Latency `json:"response"`
	// Lag is the delay with which the client itself released arrivals. It is part of Response.
	Lag Latency `json:"lag"`
	// Saturated describes how the schedule was missed; empty: it was kept.
	Saturated string `json:"saturated,omitempty"`
	// Search is the search that found this rate to be the highest that keeps an objective; nil: the
	// rate was configured.
	Search *RateSearch `json:"search,omitempty"`
}

// RateSearch is a search for the highest arrival rate, in arrivals per second, that keeps an
// objective. The true rate lies between Kept and Failed.
type RateSearch struct {
	Objective string    `json:"objective"` // as rate.Parse reads it
	Precision float64   `json:"precision"` // requested, as a fraction of the rate
	Kept      float64   `json:"kept"`      // highest rate that kept the objective; 0: none did
	Failed    float64   `json:"failed"`    // lowest rate that did not keep it; 0: none
	Tries     []RateTry `json:"tries"`     // in order of execution
}

// RateTry is one step of a search.
type RateTry struct {
	Rate   float64 `json:"rate"`             // arrivals per second
	Failed string  `json:"failed,omitempty"` // why the objective was not kept; empty: it was
}

// UndecidedTry returns the try that ended the search because it could not be judged; nil: every try
// was judged.
func (s *RateSearch) UndecidedTry() *RateTry {
	if len(s.Tries) == 0 {
		return nil
	}
	if last := &s.Tries[len(s.Tries)-1]; last.Failed != "" && last.Rate != s.Failed {
		return last
	}
	return nil
}

// NotFound says why the search found no highest rate; empty: it found one.
func (s *RateSearch) NotFound() string {
	undecided := s.UndecidedTry()
	switch {
	case undecided != nil:
		return undecided.Failed
	case s.Kept > 0:
		return ""
	case len(s.Tries) == 0:
		return "nothing was tried"
	}
	return "none keeps " + s.Objective + ": " + s.Tries[len(s.Tries)-1].Failed
}

// Verdict is the result of comparing answers with the expected ones.
type Verdict struct {
	Checked    int    `json:"checked"`              // answers compared
	Empty      int    `json:"empty"`                // of these, correctly empty
	Rows       int64  `json:"rows"`                 // rows compared
	Difference string `json:"difference,omitempty"` // the first one: query, row, expected, actual
}

// OK reports whether answers were compared and all of them matched.
func (v Verdict) OK() bool { return v.Checked > 0 && v.Difference == "" }

// String returns the verdict as reports print it.
func (v Verdict) String() string {
	switch {
	case v.Difference != "":
		return "wrong"
	case v.Checked == 0:
		return "not verified"
	case v.Empty == v.Checked:
		return "verified (empty)"
	}
	return "verified"
}

// UnverifiedParts describes the figures that were reported without verification; empty: all were
// verified.
func (r *Run) UnverifiedParts() string {
	for i := range r.Targets {
		if l := r.Targets[i].Load; l != nil && l.Unverified != "" {
			return l.Unverified
		}
	}
	return ""
}

// FailedTarget says which target failed and why; empty: no target failed.
func (r *Run) FailedTarget() string {
	for i := range r.Targets {
		if t := &r.Targets[i]; t.Failure != "" {
			return fmt.Sprintf("target %s: %s", t.Name, t.Failure)
		}
	}
	return ""
}

// Ended reports whether a run has ended: only the work of failed targets is missing.
func (r *Run) Ended() bool {
	failed := r.FailedTarget()
	return r.Status == Complete || r.Status == Incomplete && failed != "" && r.Reason == failed
}

// AnyWithheld reports whether a figure of the run is withheld.
func (r *Run) AnyWithheld() bool {
	for i := range r.Targets {
		t := &r.Targets[i]
		if t.Load != nil && (!t.Load.HasFigures() && t.Load.UnsupportedReason() == "" || t.Load.Mixed.Problem() != "") ||
			slices.ContainsFunc(t.Queries, func(q Queries) bool { return q.Withheld != "" }) {
			return true
		}
	}
	return false
}

// Passed reports whether every figure of the run is valid: the run is complete, no load or query
// type is withheld or failed, and each search found a rate.
func (r *Run) Passed() bool {
	return r.Status == Complete && !r.AnyWithheld() && !r.AnyFailed() && !r.AnyRateNotFound()
}

// AnyFailed reports whether a target, the queries of a mixed phase or a query type failed.
func (r *Run) AnyFailed() bool {
	return slices.ContainsFunc(r.Targets, func(t Target) bool {
		return t.Failure != "" || t.Load != nil && t.Load.Mixed.Failure() != nil ||
			slices.ContainsFunc(t.Queries, func(q Queries) bool { return q.Failed != nil })
	})
}

// AnyRateNotFound reports whether a search for the highest rate found none.
func (r *Run) AnyRateNotFound() bool {
	return slices.ContainsFunc(r.Targets, func(t Target) bool {
		return slices.ContainsFunc(t.Queries, func(q Queries) bool { return q.RateNotFound() != "" })
	})
}

// RateNotFound says why a search for the highest rate found none; empty: it found one, there was no
// search, or the figures are missing for another reason.
func (q *Queries) RateNotFound() string {
	if q.WithoutFigure() || q.Open == nil || q.Open.Search == nil {
		return ""
	}
	return q.Open.Search.NotFound()
}

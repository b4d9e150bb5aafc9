// Package result is what a run records: made by the engine and the verifier,
// kept by the store, rendered by reports. Times of day are UTC, durations
// seconds, sizes bytes.
//
// A Run is the record; Encode makes the document of it that is stored, exported
// and imported. What its repeats come to is a view, which Run.Pool derives.
//
// What is stored has no secrets: see secret.Redactor.Hide, for which the tag
// redact:"-" marks names that must be found again, and encoded figures.
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

// Status is how far a run came.
type Status string

// The states of a run.
const (
	Running    Status = "running"    // or killed before it could say otherwise
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
	// Deviations are the versions that are not those that the experiment expects,
	// each in words.
	Deviations []string  `json:"deviations,omitempty"`
	Started    time.Time `json:"started"`           // start of the run
	Finished   time.Time `json:"finished,omitzero"` // end of the run; missing while it is running
	Status     Status    `json:"status" redact:"-"` // running, complete or incomplete
	Reason     string    `json:"reason,omitempty"`  // why incomplete
	// Imported is when the run was added from a file; zero: it was executed into
	// the results folder that it is in. What an imported run was to do may be
	// anybody's word: it is not executed unasked.
	Imported time.Time `json:"imported,omitzero"`
	// Unchecked is why the figures of an imported run were not all compared with those that
	// its operation log tells; empty: they were, or the run was executed here.
	Unchecked string  `json:"unchecked,omitempty"`
	Tool      Tool    `json:"tool"`    // the tsmark that ran
	Host      Host    `json:"host"`    // the machine that tsmark ran on
	Dataset   Dataset `json:"dataset"` // what was loaded and queried
	// QuerySets are the queries that were drawn, by query type; nil: none, or not
	// known.
	QuerySets []QuerySet `json:"query_sets,omitempty"`
	Targets   []Target   `json:"targets"` // what was measured of each target
	// CheckSeed is what chose the answers that were compared and the rows that were read
	// back: a random number that no target could know. Empty: nothing was compared.
	CheckSeed string `json:"check_seed,omitempty"`
	// OrderSeed is what chose the order of the targets' turns, a random number. Empty: they
	// have no turns.
	OrderSeed string `json:"order_seed,omitempty"`
	// QuerySeed is what the queries were drawn by: a random number unless the experiment
	// said one, so that no server has answered the run's queries before. 0: the dataset's
	// own seed.
	QuerySeed int64 `json:"query_seed,omitempty"`
	// Resources is what the client, its host and the servers were seen to use,
	// on the time line of the run, whose origin is Started.
	Resources []Resources `json:"resources,omitempty"`
	// Agents are the clients of a run that had several, by name; nil: the process that
	// made this document was the only one. Host and Tool are the coordinator's then.
	Agents []Agent `json:"agents,omitempty"`
	// AgentsStopWithin is for how many seconds an agent may go on with what it does after the
	// coordinator has died; 0: there were no agents.
	AgentsStopWithin float64 `json:"agents_stop_within,omitempty"`
	// OtherDatabases are other databases that ran on the client's host.
	OtherDatabases []OtherDatabase `json:"other_databases,omitempty"`
	// Calibration is what this client could do at most; nil: nobody measured.
	Calibration *Calibration `json:"calibration,omitempty"`
	Place
	// LostOperations are measured, and counted in all figures, but not in the
	// operation log: the disk was slower than they came.
	LostOperations int64 `json:"lost_operations,omitempty"`
}

// Calibration is how fast the client itself is where nothing answers: loads
// and queries of this run at a target that does nothing. It bounds what can
// be said of any target.
type Calibration struct {
	Workers          int     `json:"workers"`                 // of the load
	QueryWorkers     int     `json:"query_workers,omitempty"` // 0: as many, in runs of an earlier tsmark
	RowsPerSecond    float64 `json:"rows_per_second"`         // of loads into the null target
	QueriesPerSecond float64 `json:"queries_per_second"`      // of queries of the null target
}

// Tool identifies the program that ran.
type Tool struct {
	Version string `json:"version"`          // release of tsmark
	Commit  string `json:"commit,omitempty"` // of the source; +dirty: with local changes
	Go      string `json:"go"`               // release of Go
}

// String says which build of tsmark it is, as reports show it.
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

// Host is the machine of the client, which for an embedded target is the
// machine of the database.
type Host struct {
	OS             string `json:"os"`                       // name and version
	Kernel         string `json:"kernel"`                   // release of the kernel
	Arch           string `json:"arch"`                     // processor architecture, such as amd64
	CPU            string `json:"cpu"`                      // model of the processor
	Cores          int    `json:"cores"`                    // logical processors
	Memory         uint64 `json:"memory"`                   // bytes
	FileSystem     string `json:"file_system"`              // of the results folder
	Virtualization string `json:"virtualization,omitempty"` // virtual machine or container

	// What else bears on figures; zero: it could not be read, or does not
	// exist.
	Disk        string  `json:"disk,omitempty"`         // model and kind of the disk under the results folder
	Swap        uint64  `json:"swap,omitempty"`         // bytes
	NUMANodes   int     `json:"numa_nodes,omitempty"`   // memory regions of the processors
	ClockSource string  `json:"clock_source,omitempty"` // what the kernel reads the time from
	Governor    string  `json:"governor,omitempty"`     // policy of the CPU frequency
	Turbo       string  `json:"turbo,omitempty"`        // on or off
	OpenFiles   uint64  `json:"open_files,omitempty"`   // that one process may have (soft limit)
	CPULimit    float64 `json:"cpu_limit,omitempty"`    // cores that the container may use
	MemoryLimit uint64  `json:"memory_limit,omitempty"` // bytes that the container may use
}

// SameMachine reports whether two hosts may be one machine: nothing that is known
// of them tells them apart.
func SameMachine(a, b *Host) bool {
	return a.Arch == b.Arch && a.CPU == b.CPU && a.Disk == b.Disk && a.Cores == b.Cores && a.Memory == b.Memory
}

// QuerySet is the different queries that were drawn for one type.
type QuerySet struct {
	Type  string `json:"type" redact:"-"` // query type
	Count int    `json:"count"`           // queries that were drawn
	// Fingerprint tells them from other ones: see query.Fingerprint. Definition is that of
	// the first DefinitionCount queries that the dataset's own seed draws in the same way,
	// whatever the run's seed: it tells queries about other things from these.
	Fingerprint string `json:"fingerprint" redact:"-"`
	Definition  string `json:"begin" redact:"-"` // see Fingerprint
}

// DefinitionCount is how many queries stand for all that are drawn in the same way.
const DefinitionCount = 100

// SameDefinition reports whether both are drawn in the same way, so that their figures can be
// compared, maybe by different seeds.
func (q *QuerySet) SameDefinition(other *QuerySet) bool { return q.Definition == other.Definition }

// Equal reports whether both are the same queries.
func (q *QuerySet) Equal(other *QuerySet) bool { return q.Fingerprint == other.Fingerprint }

// OtherQueries returns a query type whose queries the runs draw in different ways; empty:
// there is none, or nothing is known of one of them.
func OtherQueries(a, b *Run) (queryType string) {
	for i := range a.QuerySets {
		if name := a.QuerySets[i].Type; !AlikeQueries(a, b, name) {
			return name
		}
	}
	return ""
}

// AlikeQueries reports whether two runs may draw the queries of a type in the same way:
// nothing that is known of them tells them apart.
func AlikeQueries(a, b *Run, queryType string) bool {
	p, q := a.QuerySet(queryType), b.QuerySet(queryType)
	return p == nil || q == nil || p.SameDefinition(q)
}

// QuerySet returns the queries that were drawn for a type; nil: none, or not known.
func (r *Run) QuerySet(queryType string) *QuerySet {
	for i := range r.QuerySets {
		if q := &r.QuerySets[i]; q.Type == queryType {
			return q
		}
	}
	return nil
}

// Dataset is what was loaded or queried.
type Dataset struct {
	Spec        workload.Spec `json:"spec" redact:"-"`        // the specification that determines the rows
	Fingerprint string        `json:"fingerprint" redact:"-"` // hash of the specification
	// Digest is the content digest of the rows that were loaded or queried, as
	// encode.Digest has it; empty: it was not requested.
	Digest   string `json:"digest,omitempty" redact:"-"`
	Series   uint32 `json:"series"`    // number of series
	Rows     int64  `json:"rows"`      // number of rows
	Metrics  int64  `json:"metrics"`   // values that are not NULL
	RawBytes int64  `json:"raw_bytes"` // size as line protocol; 0: not known
	// FormatBytes is its size as a file of formats that loaders of databases read, by
	// TSBS's names; nil: nobody asked.
	FormatBytes map[string]int64 `json:"format_bytes,omitempty"`
	// Lateness is by how much a row arrives behind a newer one at most, in
	// seconds.
	Lateness float64 `json:"lateness,omitempty"`
	// Late says more of datasets that are made with late rows; nil: of others, and
	// where none is late.
	Late *Late `json:"late,omitempty"`
	// Source is the file that the rows came from; empty: they were generated, or are of
	// Files.
	Source string `json:"source,omitempty"`
	// Files are those that the rows of the workload own came from, in their order.
	Files []workload.File `json:"files,omitempty"`
	// Reread is what a second reader made of a sample of their rows; nil: there are none.
	Reread *workload.Reread `json:"reread,omitempty"`
}

// Late is how late rows arrive behind newer ones of their own series.
type Late struct {
	Share float64 `json:"share"` // of all rows
	Least float64 `json:"least"` // of a series' rows, where it is smallest
	Most  float64 `json:"most"`  // where it is largest
	// Delays of late rows in steps.
	P50 int64 `json:"p50"`
	P90 int64 `json:"p90"` // 90th percentile of the delays
	P99 int64 `json:"p99"` // 99th percentile of the delays
	Max int64 `json:"max"` // largest delay
}

// Target is what was measured of one system under test.
type Target struct {
	Name      string `json:"name" redact:"-"`           // name in the experiment
	Driver    string `json:"driver" redact:"-"`         // driver
	Twin      string `json:"twin,omitempty" redact:"-"` // the target that it is once more, in a self-test
	Embedded  bool   `json:"embedded"`                  // shares the client's process
	CoLocated bool   `json:"co_located,omitempty"`      // its server ran on the client's host
	// SameServer is the target whose server this target's is too, and by whose name the
	// server's resources were read; empty: none was opened before.
	SameServer string `json:"same_server,omitempty" redact:"-"`
	// Adopted says what was compared of data that tsmark did not load before it was
	// queried; empty: tsmark loaded it.
	Adopted string `json:"adopted,omitempty"`
	// Types says how it holds those types of the dataset's fields that are none
	// of its own; empty: it has them all.
	Types string `json:"types,omitempty"`
	// Adapter says that tsmark's driver was not verified against a server of this
	// version; empty: its conformance suite passed on one, or CI has one.
	Adapter string `json:"adapter,omitempty"`
	// ResultCache is its system's cache of answers.
	ResultCache driver.ResultCache `json:"result_cache,omitzero"`
	// Idle is what became of its server while other targets had their turn, as
	// experiments say it; empty: tsmark did not start the server.
	Idle string `json:"idle,omitempty"`
	// ServerMemory is how many bytes of memory its server could use, the page cache included,
	// where tsmark started it and kept it to that; 0: as many as there were.
	ServerMemory int64              `json:"server_memory,omitempty"`
	Options      map[string]string  `json:"options"`              // all, defaults included, secrets removed
	Profile      string             `json:"profile,omitempty"`    // set of options that was chosen; empty: none
	Durability   string             `json:"durability,omitempty"` // level that was chosen; empty: none
	Changes      []driver.Change    `json:"changes,omitempty"`    // options that are not as by default, secrets removed
	Modules      []Module           `json:"modules,omitempty"`    // of the client, that reach the system
	Description  driver.Description `json:"description"`          // what the system says of itself
	// RunPart is when the target had its turns; nil: in every round, as all others.
	RunPart *RunPart `json:"turn,omitempty"`
	Failure string   `json:"failure,omitempty"` // why it failed
	Repeats []Repeat `json:"repeats,omitempty"` // what was measured, by number
	// Load and Queries are what the repeats come to, which Pool derives: they are
	// no part of the record.
	Load    *Load     `json:"load,omitempty"`
	Queries []Queries `json:"queries,omitempty"` // one per type, in the order run
}

// Load is one ingestion. A census that differs, or rows that were not
// acknowledged, withhold its figures, as does a wrong answer beside it: see
// Reason.
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
	// Visible is how was found out, on the clock, that the rows were visible; nil: nobody looked.
	Visible *Visible `json:"visible,omitempty"`
	Batches Latency  `json:"batches"` // from handing a batch over to its acknowledgement
	// Accumulated is, of each worker, what its batches took together, in
	// seconds; nil: not recorded.
	Accumulated []float64 `json:"accumulated,omitempty"`
	// Shards is, of each worker, how many of its rows were accepted: where each read
	// rows of its own, they are the first ones of these, and what is there after a
	// load that was cut off. Empty: one reader handed rows to all, the dataset's first
	// ones, or nothing is known.
	Shards []int64     `json:"shards,omitempty"`
	Rates  []RatePoint `json:"rates,omitempty"` // progress over time
	// Paused is how many batches were under way while tsmark itself stood still, and
	// PausedTime what they took together, in seconds: Batches has no time of them.
	Paused     int64   `json:"paused,omitempty"`
	PausedTime float64 `json:"paused_time,omitempty"` // see Paused
	// DiskBytes is the size after settling and all steps, once the target has written what it had
	// in memory, off the clock; -1: not known. So are DiskBefore, of the tables without rows, and
	// DiskSettled, before the first of the steps; without steps it is not measured.
	DiskBytes   int64 `json:"disk_bytes"`
	DiskBefore  int64 `json:"disk_before"`  // see DiskBytes
	DiskSettled int64 `json:"disk_settled"` // see DiskBytes
	// DiskLeftOut is what these sizes do not count, in words; empty: nothing.
	DiskLeftOut string `json:"disk_left_out,omitempty"`
	// DiskPending is what the target had not yet written when DiskBytes was measured, in words:
	// the size is incomplete, and compared with no other. Empty: nothing, as far as it tells.
	DiskPending string `json:"disk_pending,omitempty"`
	Steps       []Step `json:"steps,omitempty"`    // done after settling
	Withheld    string `json:"withheld,omitempty"` // why the figures are withheld; empty: they are not
	// Beside is why the load has no figures although what was loaded is right as
	// far as the census can tell: an answer of the same target was wrong. It is
	// derived by Target.Pool, and not kept. See Reason.
	Beside string `json:"beside,omitempty"`
	// Retries is what was done about batches that failed; nil: none did, or
	// the load ended with the first.
	Retries *Retries `json:"retries,omitempty"`
	// Mixed is how the rest of the dataset was written, while queries
	// ran. The rates are those of what came before. Nil: there was no such
	// part.
	Mixed *Mixed `json:"mixed,omitempty"`
	// Aggregate is the continuous aggregate that was made of what was loaded; nil: none
	// was wanted.
	Aggregate *Aggregate `json:"aggregate,omitempty"`
	// Growth is how the load went in steps, rows of which brought tags and fields that no
	// table had; nil: tables were created with all columns.
	Growth *Growth `json:"growth,omitempty"`
	// Unverified is why nobody counted what was loaded; empty: it was counted.
	Unverified string         `json:"unverified,omitempty"`
	Skipped    int64          `json:"skipped,omitempty"` // bad lines of a file that were passed over
	Census     []CensusResult `json:"census,omitempty"`  // comparison with the dataset, by table
	Cell
}

// Visible is how was found out that the rows of a load were visible.
type Visible struct {
	Rows    int     `json:"rows"`              // that were queried and found: last ones, and others drawn at random
	Counted int64   `json:"counted,omitempty"` // rows that the target counted; 0: nothing was counted
	Looks   int     `json:"looks"`             // until all was there
	Seconds float64 `json:"seconds"`           // that the last look took: what looking cost a system whose rows were there
	// Missing is what was not visible when nothing further had become visible for a while;
	// empty: nothing.
	Missing  string `json:"missing,omitempty"`
	Unlooked string `json:"unlooked,omitempty"` // why no rows were queried
	// Late is by how many seconds the load settled later than that, since the census found
	// rows missing that came after all; 0: it found all. Settled includes it.
	Late float64 `json:"late,omitempty"`
}

// Cell is where a measurement stands on the run's time line, and what it ran
// of the client.
type Cell struct {
	From float64 `json:"from,omitempty"` // seconds since the run's start, before the clock of the measurement
	To   float64 `json:"to,omitempty"`   // seconds since the run's start, after the measurement
	// Client is what the client itself needed; nil: not known, or the target
	// shares its process.
	Client *Client `json:"client,omitempty"`
	// ClientBound says why the client rather than the target may have set the
	// pace; empty: it did not.
	ClientBound string `json:"client_bound,omitempty"`
	// Noise is what others took of the machine meanwhile; nil: nobody looked.
	Noise *Noise `json:"noise,omitempty"`
	// Parts are what each agent did of the measurement, by share; nil: there was one
	// client. Those of a mixed phase have rows and queries.
	Parts []Part `json:"parts,omitempty"`
	// Upkeep is what the system had done by itself to the tables, such as vacuums:
	// when the load and the steps after it had ended, or when the round of queries
	// began. Empty: nothing is known.
	Upkeep string `json:"upkeep,omitempty"`
	// Stopped is what ended the queries of a type: StoppedByCount, StoppedByTime,
	// or what StoppedByInterval or StoppedBefore returns; empty: not known, or none.
	Stopped string `json:"stopped,omitempty"`
}

// What ends the queries of a type.
const (
	StoppedByCount = "all run"
	StoppedByTime  = "time box"
	// StoppedByIntervals is part of what StoppedByInterval and StoppedBefore return.
	StoppedByIntervals = "interval within "
)

// StoppedBefore says that another rule ended the queries before an interval could:
// time box before interval within 2 %.
func StoppedBefore(rule string, share float64) string {
	return rule + " before " + StoppedByInterval(share)
}

// StoppedByInterval says that the median was known to a share of it: interval
// within 2 %.
func StoppedByInterval(share float64) string {
	return StoppedByIntervals + strconv.FormatFloat(100*share, 'g', 3, 64) + " %"
}

// Step is something done after a load, timed apart from it.
type Step struct {
	Name      string  `json:"name"`            // name of the step, such as vacuum
	Seconds   float64 `json:"seconds"`         // settling again included
	DiskBytes int64   `json:"disk_bytes"`      // after it; -1: not known
	Noise     *Noise  `json:"noise,omitempty"` // what other processes used; nil: unknown
}

// RatePoint is the progress of a load in one reporting period.
type RatePoint struct {
	At   float64 `json:"at"`   // seconds since the start, end of the period
	Rows int64   `json:"rows"` // rows of the period
}

// CensusResult compares what a table should hold with what it holds.
type CensusResult struct {
	Table    string `json:"table"`    // name of the table
	Expected int64  `json:"expected"` // rows
	Counted  int64  `json:"counted"`  // rows; -1: the system counts points only
	// Lost is how many acknowledged rows are missing, and Duplicates how many
	// rows are there twice because they were sent twice. Where both happened and
	// different rows could not be counted, only their difference is known: see
	// Contents.Unexcluded.
	Lost       int64  `json:"lost,omitempty"`
	Duplicates int64  `json:"duplicates,omitempty"` // see Lost
	Problem    string `json:"problem,omitempty"`    // first difference; empty: it agrees, duplicates aside
	// Contents is what was compared beside the number of rows; nil: values were
	// counted.
	Contents *Contents `json:"contents,omitempty"`
}

// Contents says what a census compared beside the number of rows.
type Contents struct {
	Fields []Compared `json:"fields"` // how many fields were compared by what, as far as the census came
	Series int64      `json:"series"` // with rows, compared by their tags; -1: not compared
	Times  string     `json:"times"`  // by what the times of rows were compared: sum, first, last; empty: by nothing
	// Distinct is how many different rows were counted, of what was sent twice;
	// -1: all were sent once, or it could not be told.
	Distinct int64 `json:"distinct"`
	// Unexcluded is why acknowledged rows may be missing all the same, as many as
	// there are duplicates; empty: none is.
	Unexcluded string `json:"unexcluded,omitempty"`
	// Rows is how many whole rows were read back and compared: a random sample, which the
	// run's CheckSeed chose. RowsUnread is why rows of it were not; empty: all were, or the
	// table had a problem before.
	Rows       int64   `json:"rows,omitempty"`
	RowsUnread string  `json:"rows_unread,omitempty"` // see Rows
	Seconds    float64 `json:"seconds"`               // that the census of the table took, rows that were read back included, off every clock
}

// Compared is how many fields of a table were compared by the same figures.
type Compared struct {
	By     string `json:"by"`     // such as count, sum, min, max
	Fields int    `json:"fields"` // number of fields
}

// Latency is the figures of a histogram, and the histogram itself in
// HdrHistogram's V2 compressed encoding (base64), in nanoseconds.
type Latency struct {
	measure.Summary
	Histogram string `json:"histogram,omitempty" redact:"-"` // HdrHistogram V2, compressed, base64, in nanoseconds
}

// Queries is what was measured of one query type.
type Queries struct {
	Type string `json:"type" redact:"-"` // name of the query type
	Help string `json:"help" redact:"-"` // one line about the query type
	// Texts is TextsTSBS where the queries were TSBS's own texts, of which nobody knows
	// the right answers, and which do not ask all systems the same; TextsOwn where they
	// were texts that the experiment brought; empty: tsmark's.
	Texts string `json:"texts,omitempty"`
	// By is ByReference where Verdict is about what the reference text of an own query
	// answered, ByAgreement where it is about what other targets of the run did; empty:
	// about what the oracle knows.
	By string `json:"by,omitempty"`
	// Disagrees is how another system answered the same query of an own text, where nobody
	// knows the right answer.
	Disagrees   string  `json:"disagrees,omitempty"`
	NoReference string  `json:"no_reference,omitempty"` // why the reference text of an own query could not be run
	Unsupported string  `json:"unsupported,omitempty"`  // reason; no query was run
	Verdict     Verdict `json:"verdict"`                // result of the comparison with expected answers
	Withheld    string  `json:"withheld,omitempty"`     // why the figures below are not shown as a result
	// Failed is why there are none although nothing was wrong: a query had no answer.
	Failed   *Failure `json:"failed,omitempty"`
	Workers  int      `json:"workers"`          // concurrent queriers
	Executed int64    `json:"executed"`         // recorded: burn-in not counted, those cut off counted
	WarmUp   WarmUp   `json:"warm_up,omitzero"` // queries before the measurement
	BurnIn   int64    `json:"burn_in"`          // run first and not recorded
	AtLeast  int64    `json:"at_least"`         // cut off by the time limit: their latency is at least what is recorded
	// Paused is how many queries were under way while tsmark itself stood still, because it
	// was stopped or had no processor, and PausedTime what they took together, in seconds:
	// they are left out of all figures.
	Paused     int64   `json:"paused,omitempty"`
	PausedTime float64 `json:"paused_time,omitempty"` // see Paused
	// ClientTime is the processor time, in seconds, that tsmark itself used for the queries,
	// between sending each and the last byte of its answer: see ClientShare. 0: not measured.
	ClientTime float64 `json:"client_time,omitempty"`
	Distinct   int     `json:"distinct"` // different queries that could be run
	Timeout    float64 `json:"timeout"`  // a query is cut off after so long; 0: never
	TimeBox    float64 `json:"time_box"` // 0: none
	// Wall is the wall clock from the first query to the last answer, burn-in left
	// out; of a closed loop less PausedTime, divided by the workers.
	Wall      float64 `json:"wall"`
	PerSecond float64 `json:"per_second"` // queries per second of all workers
	Rows      int64   `json:"rows"`       // of all answers
	Bytes     int64   `json:"bytes"`      // of all answers
	// Cache says what was done to make caches cold before each query; empty:
	// nothing. Cold reports whether it worked: what could not be made cold is
	// not called so.
	Cache string `json:"cache,omitempty"`
	Cold  bool   `json:"cold,omitempty"`  // see Cache
	First int    `json:"first,omitempty"` // place of Each[0] in the type's drawn sequence
	// Each is the service time of each query in seconds, by its place behind
	// First; less than 0: cut off after that time; 0: not run, or not recorded.
	// Of a query run again only the first time counts. It lets targets be
	// compared over the same queries: see package estimate.
	Each []float64 `json:"each,omitempty"`
	// Read is what the system read for a query, by its own word, the median of those whose
	// answers were checked before anything was measured; nil: it was not recorded, or it does
	// not tell.
	Read *Read `json:"read,omitempty"`
	// Sample is how the answers were chosen that Verdict is about.
	Sample  Sample  `json:"sample,omitzero"`
	Service Latency `json:"service"` // from sending a query to the last byte of its answer
	// Values is how many all answers hold, NULLs included: rows times the
	// columns that are neither time nor tags. Accumulated is, of each worker,
	// what its queries took together, those cut off left out, in seconds; nil:
	// neither is recorded.
	Values      int64     `json:"values,omitempty"`
	Accumulated []float64 `json:"accumulated,omitempty"` // see Values
	Cell
	// Open is what an open loop has beyond that; nil: a closed loop, in which
	// each worker sends its next query when it has its answer.
	Open *OpenLoop `json:"open,omitempty"`
}

// Read is what a system read to answer a query, from disk or from memory, in its own
// terms.
type Read struct {
	Rows  float64 `json:"rows"`  // of tables and aggregates; -1: it does not tell
	Bytes float64 `json:"bytes"` // -1: it does not tell
}

// What stands in Queries.Texts.
const (
	TextsTSBS = "tsbs"
	TextsOwn  = "own"
)

// What reports say of figures of TextsTSBS and TextsOwn where they have little room.
const (
	TSBSText = "TSBS's text"
	OwnText  = "own text"
)

// What stands in Queries.By.
const (
	ByReference = "reference"
	ByAgreement = "agreement"
)

// VerifiedBy is what the answers of the type were compared with: oracle, ByReference or
// ByAgreement; empty: nothing, so that they are not verified.
func (q *Queries) VerifiedBy() string {
	if !q.Verdict.OK() {
		return ""
	}
	return cmp.Or(q.By, "oracle")
}

// TextName is what reports call the queries of the type where nobody knows what they
// mean; empty: that is known.
func (q *Queries) TextName() string {
	switch q.Texts {
	case TextsTSBS:
		return TSBSText
	case TextsOwn:
		return OwnText
	}
	return ""
}

// VerdictText is the verdict on the answers as reports print it.
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
// processor; absent: not measured, as of a target in its process.
func (q *Queries) ClientShare() Value {
	if q.ClientTime <= 0 || q.Service.Count == 0 {
		return Absent()
	}
	return ratio(Value(q.ClientTime), Value(q.Service.Mean*float64(q.Service.Count)))
}

// Texts is TextsTSBS where the queries of the run were, otherwise empty.
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

// OwnTexts lists the query types of the run that were TextsOwn, and whose answers were
// compared with nothing.
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

// WarmUp is what was run before the clock started, so that neither connections nor the
// system, whose compiler may be a just-in-time one, were cold. No figure has it.
type WarmUp struct {
	Queries int64   `json:"queries"` // of all workers together
	Seconds float64 `json:"seconds"` // by the wall clock, until the last worker was warm
}

// Add adds what another one ran.
func (w *WarmUp) Add(other WarmUp) {
	w.Queries += other.Queries
	w.Seconds += other.Seconds
}

// OpenLoop is what was measured of queries that came by a schedule of their
// own. Burn-in does not count.
type OpenLoop struct {
	Schedule string  `json:"schedule"` // as pace.Parse reads it
	Queue    int     `json:"queue"`    // arrivals that could wait for a worker
	Arrivals int64   `json:"arrivals"` // that were due, dropped ones included
	Offered  float64 `json:"offered"`  // arrivals a second in the mean; 0: fewer than two
	Dropped  int64   `json:"dropped"`  // found the queue full, and were never run
	Waiting  int64   `json:"waiting"`  // in the queue when the last one came
	// Response is from the intended start of a query to the last byte of its
	// answer: the wait for a worker counts, as it does for a user. Dropped
	// arrivals have none.
	Response Latency `json:"response"`
	// Lag is by how much the client itself released arrivals later than
	// intended. It is part of Response.
	Lag Latency `json:"lag"`
	// Saturated says in which way the schedule was not kept; empty: it was.
	Saturated string `json:"saturated,omitempty"`
	// Search is how this rate was found to be the highest that keeps an
	// objective; nil: it was given.
	Search *RateSearch `json:"search,omitempty"`
}

// RateSearch is a search for the highest rate of arrivals, in arrivals a
// second, that keeps an objective. The truth lies between Kept and Failed.
type RateSearch struct {
	Objective string    `json:"objective"` // as rate.Parse reads it
	Precision float64   `json:"precision"` // requested, as a fraction of the rate
	Kept      float64   `json:"kept"`      // highest rate that kept it; 0: none did
	Failed    float64   `json:"failed"`    // lowest rate that did not; 0: none
	Tries     []RateTry `json:"tries"`     // in the order made
}

// RateTry is one step of a search.
type RateTry struct {
	Rate   float64 `json:"rate"`             // arrivals per second
	Failed string  `json:"failed,omitempty"` // why it does not keep the objective; empty: it does
}

// UndecidedTry returns the try that ended the search because it could not be judged, nil if
// each try was.
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

// Verdict is the outcome of comparing answers with the oracle's.
type Verdict struct {
	Checked    int    `json:"checked"`              // queries compared
	Empty      int    `json:"empty"`                // of these, expected and found without rows
	Rows       int64  `json:"rows"`                 // rows compared
	Difference string `json:"difference,omitempty"` // the first one: query, row, expected, found
}

// OK reports whether answers were checked and all were right.
func (v Verdict) OK() bool { return v.Checked > 0 && v.Difference == "" }

// String is the verdict as reports print it.
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

// UnverifiedParts is what stands and was not checked, in words; empty: all was.
func (r *Run) UnverifiedParts() string {
	for i := range r.Targets {
		if l := r.Targets[i].Load; l != nil && l.Unverified != "" {
			return l.Unverified
		}
	}
	return ""
}

// FailedTarget says which target failed and why; empty: none did.
func (r *Run) FailedTarget() string {
	for i := range r.Targets {
		if t := &r.Targets[i]; t.Failure != "" {
			return fmt.Sprintf("target %s: %s", t.Name, t.Failure)
		}
	}
	return ""
}

// Ended reports whether a run has come to its end: nothing is missing but what targets
// that failed would have done.
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

// Passed reports whether every figure of the run stands: it is complete, no
// load and no type is withheld, none failed, and each search found a rate.
func (r *Run) Passed() bool {
	return r.Status == Complete && !r.AnyWithheld() && !r.AnyFailed() && !r.AnyRateNotFound()
}

// AnyFailed reports whether a target, queries beside a load or a query type failed.
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

// RateNotFound says why a search for the highest rate found none; empty: it found one,
// nobody searched, or the figures are missing for another reason.
func (q *Queries) RateNotFound() string {
	if q.WithoutFigure() || q.Open == nil || q.Open.Search == nil {
		return ""
	}
	return q.Open.Search.NotFound()
}

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
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
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
	Comments   []string `json:"comments,omitempty"`    // by people, after the run
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
	// Budget is how the time for queries was divided; nil: queries had other limits.
	Budget *Budget `json:"budget,omitempty"`
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
	// Boundary is the cost of the boundary to external drivers; nil: the run has none, or it could not be
	// measured.
	Boundary *Boundary `json:"boundary,omitempty"`
}

// Boundary is the cost of the boundary to external drivers: the loads and queries of this run against
// tsmark's null driver in a program of its own.
type Boundary struct {
	RowsPerSecond float64 `json:"rows_per_second"` // that pass it
	QuerySeconds  float64 `json:"query_seconds"`   // median time of a query with an empty answer
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

// DataNote begins the note of an experiment that describes the rows of users' files.
const DataNote = "data: "

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
	External  string `json:"external,omitempty"`        // version of the external driver; empty: the driver is tsmark's
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
	ServerMemory int64 `json:"server_memory,omitempty"`
	// ServerSettings are the settings with which tsmark started the server, by the server's own
	// names; empty: as its script starts it.
	ServerSettings map[string]string  `json:"server_settings,omitempty"`
	Options        map[string]string  `json:"options"`              // all, defaults included, secrets removed
	Profile        string             `json:"profile,omitempty"`    // selected set of options; empty: none
	Durability     string             `json:"durability,omitempty"` // selected level; empty: none
	Changes        []driver.Change    `json:"changes,omitempty"`    // options that differ from the defaults, secrets removed
	Modules        []Module           `json:"modules,omitempty"`    // client modules that connect to the system
	Description    driver.Description `json:"description"`          // the system's own description of itself
	// Group is the group in which the target was measured; nil: it took part in every round, as
	// all others.
	Group   *TargetGroup `json:"group,omitempty"`
	Failure string       `json:"failure,omitempty"` // why it failed
	Repeats []Repeat     `json:"repeats,omitempty"` // measurements, by number
	Crash   *Crash       `json:"crash,omitempty"`   // what crashes did after the loads; nil: nothing crashed it
	// Load and Queries are the pooled figures of the repeats. Pool derives them; they are not part
	// of the record.
	Load    *Load     `json:"load,omitempty"`
	Queries []Queries `json:"queries,omitempty"` // one per type, in the order run
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
		if t.Load != nil && (!t.Load.HasFigures() && t.Load.UnsupportedReason() == "" || t.Load.Mixed.Problem() != "" || t.Load.Life.Problem() != "") ||
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

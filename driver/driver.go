// Package driver defines the interface between tsmark and a system under test. Each folder below db
// provides a Driver.
package driver

import (
	"context"
	"os"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Driver is a database system that tsmark supports.
type Driver struct {
	Name    string   // in commands and experiments: duckdb
	Help    string   // one line: the system and its write path
	Options []Option // all options that Open accepts
	// Caps returns the system's capabilities under options that have passed Resolve.
	Caps func(Options) Caps
	// Profiles are settings under which users run the system, such as default (as shipped) and tuned.
	// Durabilities are AsShipped, Relaxed and Strict in the system's own settings.
	Profiles     []Profile
	Durabilities []Profile
	// Modules are the Go modules through which it is accessed: reports name their versions.
	Modules []string
	// Place describes where a target with the options keeps its data: two targets with the same place
	// overwrite each other. Different names of one place, such as two names of a host, yield different
	// places; the mark reveals that they are the same. Empty: a folder of the run. Nil: it stores
	// nothing.
	Place func(Options) string
	// Endpoints returns the addresses of a server that a run with the options uses, without contacting
	// it. Nil: there is no server, or the options host and port are its only address.
	Endpoints func(Options) ([]Endpoint, error)
	// Tested are the versions of the server on which the whole conformance suite has passed. Empty:
	// none, or there is no server.
	Tested []Tested
	// TestServer are the options that connect to the server started by the script servers/NAME, except
	// its host and ports. The built-in experiment databases and the tests use it. Nil: it needs no
	// server.
	TestServer Options
	// StopSignal ends the server that the script servers/NAME starts, where SIGTERM would wait for its clients. Nil: SIGTERM
	// ends it.
	StopSignal os.Signal
	// Missing says why this build of tsmark cannot open the system (it was built without cgo), and how
	// to get one that can. It can render queries nonetheless. Empty: it can open the system.
	Missing string
	// StandIn describes the substitute that the script servers/NAME starts instead of the system as its
	// users run it, as Description.StandIn does for the system that answers. Some scripts need a
	// substitute for one variant only. Empty: the script starts the system.
	StandIn string
	// UserServer describes a server that users provide. No script in the folder servers
	// starts it, so the built-in experiment databases and CI omit it, and tests
	// use it only if TSMARK_TEST_<NAME> has the address of one. Recordings of the
	// conformance suite stand in for it in CI: see package conformance/replay. Nil: a
	// script starts it, or there is no server.
	UserServer *UserServer
	// IoTDBBenchmark is the system's names in files of IoTDB-Benchmark.
	IoTDBBenchmark Tool
	// Semantics names the documented semantics of PromQL that the system has in place of Prometheus's:
	// see package oracle/promql. An answer that these explain is not wrong. Empty: Prometheus's.
	Semantics string
	// Render translates a query to the system's language. It does not contact a server. The options,
	// which have passed Resolve, determine the layout of the data. For a query that the system cannot
	// answer, it wraps query.ErrUnsupported with the reason.
	Render func(*query.Query, *series.Schema, Options) (Request, error)
	// Literals returns the literals for placeholders in users' query texts. A Request with such a text
	// runs on the ordinary Querier. The options have passed Resolve. A driver with Literals sets
	// Optional.CheckText. Nil: it does not run users' texts.
	Literals func(Options) query.Literals
	// ResultCache is the system's result cache, and how every connection of the driver turns it off.
	ResultCache ResultCache
	// TSBS runs the query texts of TSBS's own generator; nil: TSBS has no texts for the system, or
	// tsmark does not support them.
	TSBS *TSBS
	// Adopts returns an error, with the reason and the remedy, if a dataset that TSBS's loader has
	// loaded is not laid out as the options say. The options have passed Resolve. It does not contact a
	// server. Nil: tsmark does not know how TSBS lays data out in the system.
	Adopts func(*series.Schema, Options) error
	// RenderFrom is Render for a query that is answered from a continuous aggregate made by
	// Optional.Materialize instead of from rows. It wraps query.ErrUnsupported if the aggregate cannot
	// answer the query. Nil: tsmark makes no aggregates in the system.
	RenderFrom func(*query.Query, *query.Materialized, *series.Schema, Options) (Request, error)
	// Program returns the driver of the program that the options of a target name; they need not have
	// passed Resolve. It starts or contacts the program once. Nil: the driver is complete. See Lookup.
	Program func(options map[string]string) (Driver, error)
	// Compatible makes drivers for systems that speak this driver's protocol, as profiles describe them. Nil:
	// it has no such profiles.
	Compatible *Adapter
	// External is the version of the program that is the driver, with its SDK. Empty: the driver is part
	// of this process.
	External string
	// Exchanges means that the program answers the queries of a worker over one call, which takes less
	// time than a call for each.
	Exchanges bool
	// Open connects. Its options have passed Resolve. Its error wraps ErrUnreachable if the system
	// cannot be reached.
	Open func(context.Context, Env, Options) (DB, error)
}

// LiteralsOf calls Literals with the options; it returns nil if the driver has no Literals.
func (d *Driver) LiteralsOf(o Options) *query.Literals {
	if d.Literals == nil {
		return nil
	}
	l := d.Literals(o)
	return &l
}

// Lookup returns the driver of a target, given its name and options as users write them. find knows
// drivers by name. An error of an external program comes with a driver that knows which options may be
// secret.
func Lookup(find func(name string) (Driver, error), name string, options map[string]string) (Driver, error) {
	d, err := find(name)
	if err != nil || d.Program == nil {
		return d, err
	}
	return d.Program(options)
}

// Tool is a system's names in the files of another benchmark.
type Tool struct {
	Databases []string          // prefixes of its names there, besides Name in upper or lower case
	Options   map[string]string // parameters whose names differ from the names of their options: PORT: pg_port
}

// TSBS describes the query texts that TSBS's generator makes for a system.
type TSBS struct {
	Format string // the system's name in TSBS's --format
	// Request returns the request that sends a text unchanged, over the ordinary Querier, which counts
	// the rows of the result if its sink is nil. The error wraps query.ErrUnsupported if the text does
	// not fit the options, which have passed Resolve, because they lay the tables out differently from
	// TSBS.
	Request func(text string, o Options) (Request, error)
	// Cached means that the texts, as TSBS sends them, may be answered from the system's ResultCache.
	Cached bool
}

// ResultCacheOf returns the ResultCache for TSBS's own query texts, or for others.
func (d *Driver) ResultCacheOf(tsbsTexts bool) ResultCache {
	c := d.ResultCache
	if tsbsTexts && d.TSBS != nil && d.TSBS.Cached {
		c.Off = ""
	}
	return c
}

// Verbatim is a TSBS.Request that accepts every text.
func Verbatim(text string, _ Options) (Request, error) { return Request{Text: text}, nil }

// Env is the environment that a run provides to a database.
type Env struct {
	Dir string // folder of the target's own files: an embedded database may live there
	// Create means that a missing database is to be created: an embedded one by Open, one on a server
	// by Create. Without it, Open fails if the database is missing, says how to load it, and creates
	// nothing.
	Create bool
	// Locks is the longest time that a statement which changes tables waits for others' locks; 0: until
	// its context ends.
	Locks time.Duration
	// Waiting tells the user about long waits; nil: they are silent.
	Waiting Waiting
}

// Waiting tells the user that an operation, such as "opening x", takes long. The caller calls the
// function that it returns when the operation has ended. It may be called from several goroutines at
// once.
type Waiting func(doing string) (end func())

// Request is a rendered query.
type Request struct {
	// Text is sent unchanged, or is the printed form of the plan.
	Text string
	// Plan holds the results of Render that a Querier of the driver needs in addition to Text, so that
	// measured operations include no parsing. Several Queriers may use it at once, and do not change
	// it. Nil: Text is enough.
	Plan any
	// UserText means that a user wrote the text. It may be hostile, as in an imported run. It has
	// passed Optional.CheckText, and a Querier runs it read-only if the system has such a mode.
	UserText bool
}

// DB is an open system under test: the functions that every system has, and functions that only some have.
// To change the behavior of a database, copy the struct and replace functions or Required; the new
// Required embeds the old one.
type DB struct {
	Required
	Optional
}

// Required is the set of functions that every system has. Its methods may be called from several
// goroutines at once; those of a Writer or Querier may not. It survives a restart of its server:
// methods connect again.
type Required interface {
	// Describe returns the version and the effective settings.
	Describe(context.Context) (Description, error)
	// Objects lists everything in the place: the file, database or schema that the options name. It
	// changes nothing.
	Objects(context.Context) ([]Object, error)
	// Plan names the objects that Create would create, without contacting the database. Its error names
	// the part of the schema that does not fit.
	Plan(*series.Schema) ([]Object, error)
	// Create creates the objects, which do not exist yet. Its work is proportional to the number of
	// tables: writers do the work that grows with the number of series. It is atomic where the system
	// allows it.
	Create(context.Context, *series.Schema) error
	// Drop drops objects that Objects has listed, with the objects that depend on them. An object that
	// no longer exists is not an error. Drop is atomic where the system allows it, and spares
	// everything that other objects need. It keeps the note unless no other object of tsmark is left.
	Drop(context.Context, []Object) error
	// Note returns the text that SetNote stored. It is called if Objects lists an object with Note set;
	// a malformed note is an error. Empty: no note was stored.
	Note(context.Context) (string, error)
	// SetNote replaces the whole note atomically. The note has an object of its own; SetNote creates it
	// if it does not exist.
	SetNote(ctx context.Context, text string) error
	// NewWriter opens a worker's own connection for writing. Workers are
	// numbered from 0.
	NewWriter(ctx context.Context, worker int) (Writer, error)
	// NewQuerier opens a worker's own connection for reading.
	NewQuerier(ctx context.Context, worker int) (Querier, error)
	// Settle returns when all acknowledged rows are visible to queries and
	// background work is idle.
	Settle(context.Context) error
	// Census returns the contents of a table: the count, sum, minimum and maximum of each field, as far
	// as the system can compute them, in one pass over its rows.
	Census(context.Context, *series.Table) (Census, error)
	// Footprint measures the size on disk of the objects that Create created.
	Footprint(context.Context) (Footprint, error)
	// Close releases the connection. The data stays.
	Close() error
}

// Footprint is the size of data on disk.
type Footprint struct {
	Bytes int64 // -1: unknown
	// Without says which files the size does not count, to follow "without": "the index and the
	// file of series, which the server does not count". Empty: it counts all of them.
	Without string
	// Pending describes data that the system has not yet written to its final files: rows in memory, or
	// in a write-ahead log whose content moves to other files later. The size then depends on when it
	// is measured, and is not compared with others. Empty: none, as far as the system reports.
	Pending string
	// Parts are sizes of parts of it, as the system reports them. Empty: it reports none.
	Parts []FootprintPart
}

// FootprintPart is a part of a size on disk.
type FootprintPart struct {
	Name  string `json:"name"`  // its contents, to follow its size and "in"
	Bytes int64  `json:"bytes"` // its size
}

// UnknownVersion is the version of a system that does not report one.
const UnknownVersion = "unknown"

// Description is a system's information about itself.
type Description struct {
	Version    string            `json:"version"`            // version of the system
	Edition    string            `json:"edition,omitempty"`  // if a system has several: community, enterprise
	Location   string            `json:"location"`           // address or path, without secrets
	Durability string            `json:"durability"`         // when an acknowledged row is on disk
	Safety     Safety            `json:"safety,omitempty"`   // where an acknowledged row is; empty: unknown
	Settings   map[string]string `json:"settings,omitempty"` // effective settings that matter
	// System names the system that answered, if it is not the one that the driver is named after:
	// MariaDB, openGemini.
	System string `json:"system,omitempty"`
	// StandIn describes a substitute for a server of the system as its users run it: "chDB 26.9.0
	// behind tsmark's test server, not a ClickHouse server". Its figures are marked, and are not
	// compared with others. Empty: no sign of a substitute.
	StandIn string `json:"stand_in,omitempty"`
	// Elsewhere lists the options that choose another place: path, database, server.
	Elsewhere string `json:"-"`
}

// Writer is one worker's connection for writing.
//
// After an error from Write or Flush, only Close may be called. If the error wraps a Temporary, the
// caller may open a new Writer for the same worker with NewWriter, which may fail with ErrUnreachable
// or a Temporary while the server is down. The caller then sends again every batch with rows that no
// Receipt has accepted: the batch of the failed Write, and earlier batches whose rows were still
// buffered. A new Writer therefore starts with an empty buffer. The target itself repairs other state,
// such as its row for each series: a batch must be complete once its second attempt succeeds.
//
// A Receipt returned with an error counts the rows that were accepted anyway.
type Writer interface {
	// Write sends the batch. The caller may reuse the batch on return. Write ends in bounded time when
	// the server falls silent, and with ctx.
	Write(context.Context, *series.Batch) (Receipt, error)
	// Flush sends the rows that Write buffered, and waits for outstanding acknowledgements if the
	// protocol has them.
	Flush(context.Context) (Receipt, error)
	// Close releases the connection.
	Close() error
}

// Receipt is the outcome of sending rows.
type Receipt struct {
	Sent      time.Time // when the last byte had been handed over
	Acked     time.Time // when the system had accepted them; zero: the protocol has no acknowledgements
	Rows      int64     // accepted, including rows of earlier batches that were buffered
	WireBytes int64     // as sent, before compression by the transport
	// Service is the time between the arrival of the rows at an external driver and their acceptance by
	// the system, by the driver's own clock; 0: not reported.
	Service time.Duration
}

// Querier is one worker's connection for reading.
type Querier interface {
	// Do sends a query and reads the result to its last byte. The rows go to the sink; with a nil sink
	// they are only counted.
	Do(context.Context, Request, query.Sink) (Cost, error)
	// Close releases the connection.
	Close() error
}

// Cost is the size of a result.
type Cost struct {
	Rows  int64
	Bytes int64 // as received; for an embedded system, of the values read
	// Service is the time that an external driver took for the query, by its own clock; 0: not reported.
	Service time.Duration
}

// Census is the contents of a table, as reported by the target itself.
type Census struct {
	Rows   int64     // -1 if the system counts points only
	Times  Content   // of the rows; its Count has no meaning
	Fields []Content // in the order of the table's fields
	Digits int       // as Caps.Digits
}

// Content is the figures of a field's values, without NULLs. A figure that the system cannot compute is
// nil. A figure that the system reports as NULL points to NULL, which is correct only if there are no
// values.
type Content struct {
	Count int64
	// Sum is the sum of integers modulo 2^64 in two's complement, or of doubles, depending on how the
	// system stores the field. The summands are integers; booleans, with true as 1; times, as
	// nanoseconds since 1970; dates, as days since 1970; and oracle.TextSum of each text or blob.
	Sum *query.Value
	// Scaled means that Sum is of decimals, and an integer in units of their last place: see series.Field.Decimals.
	Scaled bool
	// Min and Max are the smallest and the largest value; texts are compared by their bytes.
	Min, Max *query.Value
}

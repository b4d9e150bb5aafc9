// Package driver is the interface between tsmark and a system under test. A
// database is one folder below it that provides a Driver.
package driver

import (
	"context"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Driver is a database system that tsmark knows to drive.
type Driver struct {
	Name    string   // as users write it: duckdb
	Help    string   // one line: the system and its write path
	Options []Option // all that Open understands
	// Caps returns the system's capabilities under options that have passed Resolve.
	Caps func(Options) Caps
	// Profiles are settings by which users of the system would run it, such as
	// default (as shipped) and tuned; Durabilities are AsShipped, Relaxed and
	// Strict in the system's own terms.
	Profiles     []Profile
	Durabilities []Profile
	// Modules are the Go modules through which it is reached: reports name
	// their versions.
	Modules []string
	// Place says where a target with the options keeps its data, in words: two
	// targets with the same place overwrite each other. Names that lead to one
	// place without looking alike, such as two names of a host, are told apart
	// here and found by the mark. Empty: in a folder of the run's own. Nil: it
	// keeps nothing.
	Place func(Options) string
	// Endpoints are the addresses of a server that a run with the options uses, without a
	// look at it. Nil: there is no server, or the options host and port lead to all of it.
	Endpoints func(Options) ([]Endpoint, error)
	// Tested are the versions of the server on which the whole conformance suite has passed.
	// Empty: it has on none, or there is no server.
	Tested []Tested
	// TestServer are the options by which the server is reached that the script
	// servers/NAME starts, beside its host and ports: the built-in experiment
	// databases and the tests have it. Nil: it needs no server.
	TestServer Options
	// Missing says why this build of tsmark cannot open the system, and how to get one
	// that can: it was built without cgo. It renders queries all the same. Empty: it can.
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
	// IoTDBBenchmark is how files of IoTDB-Benchmark speak of the system.
	IoTDBBenchmark Tool
	// Render puts a query into the system's language. It needs no server. The
	// options, which have passed Resolve, say how the data is laid out. It
	// wraps query.ErrUnsupported, with the reason, for what the system cannot
	// answer.
	Render func(*query.Query, *series.Schema, Options) (Request, error)
	// Literals are how texts that users write in its language are filled in: a Request
	// with such a text is sent over the ordinary Querier. The options have passed Resolve.
	// A driver with Literals sets Optional.CheckText. Nil: it takes none.
	Literals func(Options) query.Literals
	// ResultCache is the system's, and how every connection of the driver turns it off.
	ResultCache ResultCache
	// TSBS is how it runs the texts of TSBS's own generator; nil: TSBS has none for
	// the system, or tsmark does not know them.
	TSBS *TSBS
	// Adopts returns an error, with the reason and what to do, where data of a dataset that
	// TSBS's loader has left is not laid out as the options say, which have passed Resolve.
	// It needs no server. Nil: tsmark does not know how TSBS lays data out in the system.
	Adopts func(*series.Schema, Options) error
	// RenderFrom is Render of a query that is answered from a continuous aggregate, as
	// Optional.Materialize makes it, in place of rows. It wraps query.ErrUnsupported where the
	// aggregate cannot answer it. Nil: tsmark makes no aggregates of the system.
	RenderFrom func(*query.Query, *query.Materialized, *series.Schema, Options) (Request, error)
	// Open connects. Its options have passed Resolve. Where it cannot reach
	// the system its error wraps ErrUnreachable.
	Open func(context.Context, Env, Options) (DB, error)
}

// LiteralsOf is Literals with options; nil where the driver has none.
func (d *Driver) LiteralsOf(o Options) *query.Literals {
	if d.Literals == nil {
		return nil
	}
	l := d.Literals(o)
	return &l
}

// Tool is how the files of another benchmark speak of a system.
type Tool struct {
	Databases []string          // what its names begin with there, beside Name in upper or lower case
	Options   map[string]string // options that parameters become which are called otherwise here: PORT: pg_port
}

// TSBS is about the query texts that TSBS's generator makes for a system.
type TSBS struct {
	Format string // as TSBS's --format names the system
	// Request returns the request that sends a text as it is, over the ordinary
	// Querier, which counts the rows of its answer where its sink is nil. The error
	// wraps query.ErrUnsupported where the text does not fit the options, which have
	// passed Resolve: where the tables are not as TSBS lays them out.
	Request func(text string, o Options) (Request, error)
	// Cached says that the texts let the system's ResultCache answer, as TSBS sends them.
	Cached bool
}

// ResultCacheOf is ResultCache where queries are TSBS's own texts, or are not.
func (d *Driver) ResultCacheOf(tsbsTexts bool) ResultCache {
	c := d.ResultCache
	if tsbsTexts && d.TSBS != nil && d.TSBS.Cached {
		c.Off = ""
	}
	return c
}

// Verbatim is a TSBS.Request that sends every text.
func Verbatim(text string, _ Options) (Request, error) { return Request{Text: text}, nil }

// Env is what a run lends to a database.
type Env struct {
	Dir string // folder of the target's own files: an embedded database may live there
	// Create means that a missing database is to be created: an embedded one by Open, one on a server
	// by Create. Without it, Open fails if the database is missing, says how to load it, and creates
	// nothing.
	Create bool
	// Locks is the longest that a statement which changes tables waits for the
	// locks of others; 0: as long as its context lets it.
	Locks time.Duration
}

// Request is a rendered query.
type Request struct {
	// Text is sent as it is, or prints the plan.
	Text string
	// Plan holds the results of Render that a Querier of the driver needs beside Text, so that
	// it parses nothing on the clock. Several Queriers may use it at once and do not change it.
	// Nil: Text is enough.
	Plan any
	// UserText says that a user wrote the text. It may be hostile, as in a run that was
	// imported: it has passed Optional.CheckText, and a Querier runs it read-only where
	// the system has such a mode.
	UserText bool
}

// DB is an open system under test: what every system can do, and what only some can. To
// change what a database does, copy the struct and replace functions or Required, which the
// replacement embeds.
type DB struct {
	Required
	Optional
}

// Required is what every system can do. Its methods may be called from several
// goroutines at once; those of a Writer or Querier may not. It outlives a restart of
// its server: a method that is called afterwards connects again.
type Required interface {
	// Describe returns version and effective settings.
	Describe(context.Context) (Description, error)
	// Objects lists everything in the place: in the file, database or schema
	// that the options name. It changes nothing.
	Objects(context.Context) ([]Object, error)
	// Plan names the objects that Create would make, without looking at the
	// database. Its error says what of the schema does not fit.
	Plan(*series.Schema) ([]Object, error)
	// Create makes the objects, which do not exist yet. Its work is proportional to
	// the number of tables: what grows with the series belongs to the writers. It
	// makes all or nothing where the system can.
	Create(context.Context, *series.Schema) error
	// Drop drops objects that Objects has listed, with the objects that depend on them. An object that
	// no longer exists is not an error. Drop is atomic where the system allows it, and spares
	// everything that other objects need. It keeps the note unless no other object of tsmark is left.
	Drop(context.Context, []Object) error
	// Note returns the text that SetNote stored. It is called where Objects lists
	// one with Note set; a note in another form is an error. Empty: none was stored.
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
	// Census returns what a table holds: of each field the count, sum, minimum and
	// maximum as far as the system can, in one pass over its rows.
	Census(context.Context, *series.Table) (Census, error)
	// Footprint measures what Create has made on disk.
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
	// Pending says what the system has not yet written as it stores data for good: rows that are
	// in memory, or in a write-ahead log whose content moves to other files later. The size then
	// depends on when it is measured, and it is compared with no other. Empty: nothing, as far as
	// the system tells.
	Pending string
}

// UnknownVersion is the version of a system that does not tell it.
const UnknownVersion = "unknown"

// Description is what a system says of itself.
type Description struct {
	Version    string            `json:"version"`            // version of the system
	Edition    string            `json:"edition,omitempty"`  // where a system has several: community, enterprise
	Location   string            `json:"location"`           // address or path, without secrets
	Durability string            `json:"durability"`         // in words: when is an acknowledged row on disk
	Settings   map[string]string `json:"settings,omitempty"` // effective settings that matter
	// System names what answered, where that is not the system that the driver is named for:
	// MariaDB, openGemini.
	System string `json:"system,omitempty"`
	// StandIn says what answers in place of a server of the system as its users run it:
	// "chDB 26.9.0 behind tsmark's test server, not a ClickHouse server". Its figures are marked,
	// and compared with nothing. Empty: nothing tells of one.
	StandIn string `json:"stand_in,omitempty"`
	// Elsewhere is what a user gives to have another place: path, database, server.
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
	// Write sends the batch, which belongs to the caller again on return. It
	// ends in bounded time when the server falls silent, and with ctx.
	Write(context.Context, *series.Batch) (Receipt, error)
	// Flush sends the rows that Write buffered, and waits for outstanding acknowledgements if the
	// protocol has them.
	Flush(context.Context) (Receipt, error)
	// Close releases the connection.
	Close() error
}

// Receipt says what became of rows.
type Receipt struct {
	Sent      time.Time // when the last byte had been handed over
	Acked     time.Time // when the system had accepted them; zero: the protocol does not say
	Rows      int64     // accepted; those of earlier batches that were kept back included
	WireBytes int64     // as sent, before compression by the transport
}

// Querier is one worker's connection for reading.
type Querier interface {
	// Do sends a query and reads the answer to its last byte. The rows go to the sink;
	// a nil sink only has them counted.
	Do(context.Context, Request, query.Sink) (Cost, error)
	// Close releases the connection.
	Close() error
}

// Cost is the size of an answer.
type Cost struct {
	Rows  int64
	Bytes int64 // as received; for an embedded system, of the values read
}

// Census is what a table holds, as the target itself says.
type Census struct {
	Rows   int64     // -1 where the system counts points only
	Times  Content   // of the rows; its Count means nothing
	Fields []Content // in the order of the table's fields
	Digits int       // as Caps.Digits
}

// Content is what the values of a field come to, NULLs left out. A figure that
// the system cannot tell is nil. One that it says is NULL points to NULL, which is
// right only where there is no value.
type Content struct {
	Count int64
	// Sum is the sum of integers modulo 2^64 in two's complement, or of doubles, depending on how the
	// system stores the field. The summands are integers; booleans, with true as 1; times, as
	// nanoseconds since 1970; dates, as days since 1970; and oracle.TextSum of each text or blob.
	Sum *query.Value
	// Min and Max are the least and the largest value; of texts by their bytes.
	Min, Max *query.Value
}

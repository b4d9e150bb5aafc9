package driver

import (
	"context"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// Optional is the set of functions that only some systems have. A nil function means that the system
// cannot do it, or does not report it; callers say so and go on. Open sets the functions. They may be
// called from several goroutines at once, and change nothing unless they say otherwise.
type Optional struct {
	// Address is host:port of the server as connected to. The runner observes the process
	// that listens there if it runs on the client's host. Empty: there is no server.
	Address string
	// ListProcesses returns host:port of the further processes that work for the server, such as data
	// nodes behind an adapter: without them only a part of its usage would be measured. The error says
	// why they are unknown. Nil: all work is done at Address.
	ListProcesses func(context.Context) ([]string, error)
	// ProcessID is the process on this host that is an external driver: its usage, with that of its
	// children, counts as the server's. 0: the driver is not external, or not on this host.
	ProcessID int
	// Steps are operations that users of the system run after loading data, such as gathering
	// statistics or compressing, in a sensible order. An experiment names the steps to run. They change
	// the objects that Create created; each is timed separately.
	Steps []Step

	// Inspect looks, before a load, for problems beyond Objects that would keep the load from
	// completing. Its error wraps ErrUnreachable if an endpoint for rows or queries does not answer. It
	// also reports missing privileges, if that is cheap to find out.
	Inspect func(context.Context) error
	// ConnectionLimit returns the largest number of connections that the server accepts from this user,
	// including connections that are open now. Most 0: unlimited. Nil: no limit is known.
	ConnectionLimit func(context.Context) (Bound, error)
	// ReadClock reads the server's clock once, by the cheapest request that returns it, over a
	// connection that is already open if the protocol keeps one.
	ReadClock func(context.Context) (Reading, error)
	// FreeSpace returns the folder of the data on the server's host (empty: unknown), and the
	// bytes that are free there (-1: unknown).
	FreeSpace func(context.Context) (folder string, free int64, err error)
	// Advise returns the server settings that distort the measurement, among the settings that the
	// server shows to this user.
	Advise func(context.Context) ([]Advice, error)
	// EffectiveOptions reads back the server's value of each option that was set explicitly and applies
	// on the server: a pooler in between may have dropped it, or the server may not support it.
	// Settings of tables are missing while there are no tables.
	EffectiveOptions func(context.Context) ([]EffectiveOption, error)
	// CheckText returns an error unless the text, written by a user, is a single statement that only
	// reads. The system's own parser decides, or a read-only mode that no text can leave: a comment or
	// a quoted text as tsmark parses it may be something else to the system. It executes nothing. Each
	// text is checked after its values were filled in, outside the measurement. Every driver with
	// Literals sets it.
	CheckText func(ctx context.Context, text string) error

	// TakesLines reports whether the writers are LineWriters that take the lines of a format,
	// by its TSBS name, of a dataset, and store them as they store the dataset's batches.
	TakesLines func(format string, schema *series.Schema) bool
	// Join prepares for NewWriter, like Create, if another process has created the schema's objects and
	// writes other series, or has ended and wrote rows of any. It changes nothing in the database. Its error
	// names the option that excludes several processes. Nil: only one process can write.
	Join func(context.Context, *series.Schema) error
	// Grow makes future writers write rows of a schema with more tags and fields than the schema passed
	// to Create, in tables of the same names. Where Join is nil, a process that has ended may have called Create and
	// written rows. It changes nothing in the database: the system adds the
	// columns when rows arrive, or refuses the rows, as Caps.MakesColumns says.
	Grow func(*series.Schema) error
	// IdleSince returns when the server became idle as found by the last successful Settle, that is,
	// when Settle first saw it idle. Nil: Settle does not need to watch the server for a while, so the
	// server is idle since Settle returned.
	IdleSince func() time.Time
	// FlushMemory makes the system write data to its files that Settle leaves in memory or only in a
	// write-ahead log. It is called after a load, outside the measurement, and before Footprint, which
	// reports pending data in any case. Its error says why the system cannot flush. Nil: Settle leaves
	// nothing in memory, or the system has no way to flush it.
	FlushMemory func(context.Context) error
	// Upkeep describes the maintenance that the system has done to the objects on its own since they
	// were created, such as PostgreSQL's autovacuum, and the maintenance still pending; empty: unknown.
	// It is cheap.
	Upkeep func(context.Context, []Object) (string, error)

	// CountRows returns cheaply how many rows of a table a query sees now; -1: the system counts only
	// values, and no field has a value in each row.
	CountRows func(context.Context, *series.Table) (int64, error)
	// DistinctCensus is Census over distinct rows, which differ in series, time or values. It is called
	// if rows were sent twice: otherwise duplicates could hide losses.
	DistinctCensus func(context.Context, *series.Table) (Census, error)
	// ListSeries passes the tags of each series that has rows in a table to the sink, in the order of
	// the table's tags, NULL for a missing one. Numeric tags are omitted if the system stores them as
	// fields. The same tags may come more than once. It is not called for tables without tags.
	ListSeries func(ctx context.Context, s *series.Schema, t *series.Table, sink query.Sink) error
	// ReadMetrics returns the current values of the system's own metrics, such as the bytes of log
	// written, by the system's names in lower case. Metrics whose names end in _total only rise while
	// the system runs, as in Prometheus; all others are gauges. The runner calls it every second while
	// others write and query, so it is cheap and waits for none of them.
	ReadMetrics func(context.Context) (map[string]float64, error)
	// Backlog is the metric of pending background work.
	Backlog Backlog
	// MeasureReads runs a query, drops its result, and returns how much the system read for it. It is
	// called while nothing else is measured. ok is false if this version does not report it, or not to
	// this user.
	MeasureReads func(context.Context, Request) (read Read, ok bool, err error)
	// Explain returns the system's plan of a query as text. It may run the query: it is called while
	// nothing is measured. Nil: the system reports none.
	Explain func(context.Context, Request) (plan string, err error)
	// ProfileCPU returns where the server spends its CPU time in the next seconds, in the format of
	// pprof, while others query. Nil: the server offers no profile.
	ProfileCPU func(ctx context.Context, next time.Duration) (profile []byte, err error)
	// FindBlocker says in one line who holds a lock that a statement on the target's tables waits for,
	// and how to release it; empty: no statement waits, or the server does not report it. It does not
	// wait for any other function.
	FindBlocker func(context.Context) (holder string, err error)

	// The following three change stored rows; Caps.Changes says how, or why not. sqlkit.Tables has them for SQL.
	// They return when queries see the change, and may be called while others write and query. A repeated call is harmless.

	// DeleteSeries removes all rows of a table whose series have the value in the tag: a tenant leaves.
	// Rows of these series that are written later are stored.
	DeleteSeries func(ctx context.Context, s *series.Schema, t *series.Table, tag, value string) error
	// DropBefore removes rows before a time from all tables of the schema, as the system's retention does
	// it. All rows before the returned time are gone, and all others are kept. The returned time is before,
	// or an earlier one if the system drops whole partitions only.
	DropBefore func(ctx context.Context, s *series.Schema, before time.Time) (upTo time.Time, err error)
	// Correct replaces values of stored rows: each row of the batch has the series and the time of a
	// stored row, and a value in each field that the stored row has. Nil: see Changes.Correct.
	Correct func(context.Context, *series.Batch) error

	// The following four maintain a continuous aggregate of a table, as a view of the system or as a
	// summary table as its users would make one. All or none of them are set; Driver.RenderFrom renders
	// queries of the aggregate.

	// PlanAggregate names the objects that Materialize would create, without contacting the database.
	// Its error names the unsupported part; it wraps query.ErrUnsupported if the system, or tsmark with
	// its options, has no such aggregate.
	PlanAggregate func(*series.Schema, *query.Materialized) ([]Object, error)
	// Materialize creates an aggregate of a table that Create created. It returns when the aggregate
	// covers all existing rows. With keep, the table has no rows yet, and the system itself adds rows
	// to the aggregate that are written later; the error wraps query.ErrUnsupported if the system
	// cannot do so.
	Materialize func(ctx context.Context, s *series.Schema, m *query.Materialized, keep bool) error
	// CountCovered returns the number of rows that the aggregate covers now. It is polled while rows
	// are still being added.
	CountCovered func(context.Context, *query.Materialized) (int64, error)
	// AggregateFootprint returns the bytes of the aggregate on disk; -1: unknown.
	AggregateFootprint func(context.Context, *query.Materialized) (int64, error)
}

// Backlog is a metric of background work; zero: the driver reads none.
type Backlog struct {
	Metric string // a name of Optional.ReadMetrics; it may be missing from some systems
	What   string // the counted work, such as "rows that are not merged"
}

// Step is work done after a load.
type Step struct {
	Name string                      `json:"name"` // in experiments
	Help string                      `json:"help"`
	Do   func(context.Context) error `json:"-"` // nil in Caps
}

// LineWriter is a Writer that accepts rows as text: see Optional.TakesLines.
type LineWriter interface {
	Writer
	// WriteLines sends complete rows, one after the other; a line may continue in the next element. The
	// caller may reuse the text on return.
	WriteLines(ctx context.Context, text [][]byte, rows int) (Receipt, error)
}

// CountByField is CountRows for a system that counts only the values of fields: it counts the values of
// the table's first field.
func CountByField(t *series.Table, count func(field string) (int64, error)) (int64, error) {
	field := t.Fields[0].Name
	if !t.EachRowHas(field) {
		return -1, nil
	}
	n, err := count(field)
	if err != nil {
		return 0, fmt.Errorf("counting the rows of table %s: %w", t.Name, err)
	}
	return n, nil
}

// AwaitSettled waits until a target has settled, and returns the time at which it had.
func AwaitSettled(ctx context.Context, db DB) (time.Time, error) {
	if err := db.Settle(ctx); err != nil {
		return time.Time{}, err
	}
	if db.IdleSince != nil {
		return db.IdleSince(), nil
	}
	return time.Now(), nil
}

// Read is the amount of data that a system read to answer a query, whether from disk or from memory, in
// its own terms.
type Read struct {
	Rows  int64 // of tables and aggregates; -1: unknown
	Bytes int64 // -1: unknown
	// Hits are blocks found in the system's cache, Misses blocks that were not in it. Files
	// are the files, or parts, that were opened. 0: none, or unknown.
	Hits, Misses, Files int64
}

// Bound is a limit of connections.
type Bound struct {
	Most int64
	// Why names the limit, who set it, and how to raise it. It follows a statement that says how the
	// limit is exceeded.
	Why string
}

// Unknown is the error for information that a server reports to nobody: the reason, as a sentence that
// says where to look instead.
type Unknown string

// Error implements error.
func (u Unknown) Error() string { return string(u) }

// Reading is one reading of a server's clock.
type Reading struct {
	Sent, Received time.Time     // by this machine's clock, before the request and after the response
	Server         time.Time     // by the server's, somewhere between the two
	Unit           time.Duration // in which the server reports its time, truncated
}

// Offset returns by how much the server's clock is ahead of this machine's, and the
// uncertainty: the server read its clock at some time within the round trip, and reported it
// truncated to a unit.
func (r Reading) Offset() (ahead, uncertain time.Duration) {
	half := r.Received.Sub(r.Sent) / 2
	return r.Server.Add(r.Unit / 2).Sub(r.Sent.Add(half)), half + r.Unit/2
}

// Advice is about a setting of a server.
type Advice struct {
	Setting string // as the server names it
	Value   string // its value
	Effect  string // on the figures, as a clause: "commits are not forced to disk"
	Fix     string // what to do: "set it to on"
}

// EffectiveOption is an option and its value on the server.
type EffectiveOption struct {
	Option, Wanted string // as given; an empty option is a setting that tsmark itself needs
	Setting, Found string // the server's name and value; a value of equal meaning is reported as Wanted
	Remedy         string // what to do if the two differ: "connect to the server itself"
}

// Contradiction returns an error that names the first option that is not in effect at a target's
// server; nil: all are in effect, or the server does not report them.
func Contradiction(ctx context.Context, db DB) error {
	if db.EffectiveOptions == nil {
		return nil
	}
	all, err := db.EffectiveOptions(ctx)
	if err != nil {
		return fmt.Errorf("reading back which options are in effect: %w", err)
	}
	for _, e := range all {
		switch {
		case e.Found == e.Wanted:
		case e.Option == "":
			return fmt.Errorf("tsmark needs %s=%s, and the server has %s; %s", e.Setting, e.Wanted, e.Found, e.Remedy)
		default:
			return fmt.Errorf("option %s=%s is not in effect: the server says %s is %s; %s", e.Option, e.Wanted, e.Setting, e.Found, e.Remedy)
		}
	}
	return nil
}

package driver

import (
	"context"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// As returns a target as what it may be beside, such as an AfterLoader, and
// whether it is that. Of one that stands before another, and whose method
// Unwrap returns that, both must be.
func As[I any](t DB) (I, bool) {
	as, ok := t.(I)
	if before, wraps := t.(interface{ Unwrap() DB }); ok && wraps {
		_, ok = As[I](before.Unwrap())
	}
	return as, ok
}

// Waiter is a DB whose server tells what statements wait for.
type Waiter interface {
	// WaitsFor says in one line who holds a lock that a statement on the target's tables waits
	// for, and how to end it; empty: none waits, or the server does not tell. It waits for no
	// other method.
	WaitsFor(context.Context) (holder string, err error)
}

// AfterLoader is a DB with work that users of the system do once data is
// loaded, such as gathering statistics or compressing. An experiment names the
// steps that it wants; each is timed apart.
type AfterLoader interface {
	// AfterLoad returns the steps, in the order in which they make sense. They are
	// done to what Create has made.
	AfterLoad() []Step
}

// Inspector is a DB that can tell before anything is loaded what would keep
// a load from its end, beside what Objects shows.
type Inspector interface {
	// Inspect changes nothing. Its error wraps ErrUnreachable where an endpoint
	// that rows or queries need does not answer; it also tells of rights that the
	// user lacks, as far as that can be known cheaply.
	Inspect(context.Context) error
}

// TextChecker is a DB that runs query texts written by users. Every driver with Literals
// opens one.
type TextChecker interface {
	// CheckText returns an error unless the text is a single statement that only reads.
	// The system's own parser decides, or a read-only mode of the system that no text can
	// leave: what tsmark took for a comment or a quoted text may be none for the system. It
	// executes nothing. Each text is checked after its values were filled in, while the
	// clock is stopped.
	CheckText(ctx context.Context, text string) error
}

// Step is something done after a load.
type Step struct {
	Name string                      `json:"name"` // as experiments name it
	Help string                      `json:"help"`
	Do   func(context.Context) error `json:"-"` // nil in Caps
}

// Server is a DB whose server is a process of its own, reached over the
// network. The runner observes those that run on the client's host.
type Server interface {
	// Address is host:port as connected to.
	Address() string
}

// Processes is a Server whose work others do than the process that is connected to, or
// others as well: data nodes behind an adapter. Without them what it uses would be
// measured of a part.
type Processes interface {
	// Addresses are those, host:port each, on which the further processes listen, as they
	// tell each other. The error says why they are not known.
	Addresses(context.Context) ([]string, error)
}

// Metered is a DB whose system tells figures of its own, such as the bytes
// of log that it wrote. The runner reads them every second beside the resources
// of its processes.
type Metered interface {
	// Metrics returns the figures as they are now, by the system's own names
	// in lower case. Those that end in _total only rise while the system runs,
	// as is Prometheus's convention; the others are states. It is called while
	// others write and ask, so it is cheap and waits for none of them.
	Metrics(context.Context) (map[string]float64, error)
}

// LineTaker is a DB that takes some files as they are, without parsing
// them apart. Its writers are LineWriters.
type LineTaker interface {
	// TakesLines reports whether it takes the lines of a format, by its TSBS
	// name, of a dataset, and holds what they say as it holds the dataset's
	// batches. The schema is nil where nobody knows the dataset.
	TakesLines(format string, schema *series.Schema) bool
}

// LineWriter is a Writer that takes rows as text.
type LineWriter interface {
	Writer
	// WriteLines sends whole rows, one after the other; a line may go on in
	// the next element. The text belongs to the caller again on return.
	WriteLines(ctx context.Context, text [][]byte, rows int) (Receipt, error)
}

// DistinctCounter is a DB that can tell what a table holds where each
// different row counts once. It is asked where rows were sent twice: duplicates
// then hide no losses.
type DistinctCounter interface {
	// DistinctCensus is Census over different rows, which are told apart by
	// their series, time and values.
	DistinctCensus(context.Context, *series.Table) (Census, error)
}

// RowCounter is a DB that counts rows cheaply, as a query sees them.
type RowCounter interface {
	// CountRows returns how many rows of a table a query sees now; -1: the system counts
	// points alone, and no field has one in each row.
	CountRows(context.Context, *series.Table) (int64, error)
}

// CountByField is CountRows of a system that counts the values of fields alone: by those of the
// table's first one.
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

// SeriesLister is a DB that can tell of which series a table's rows are.
type SeriesLister interface {
	// ListSeries gives the sink the tags of each series that has rows in a table,
	// in the order of the table's tags, NULL where it lacks one. Tags that are
	// numbers are left out where the system holds them as fields. The same tags
	// may come more than once. Tables without tags are not asked about.
	ListSeries(ctx context.Context, s *series.Schema, t *series.Table, sink query.Sink) error
}

// Watcher is a DB whose Settle must watch its server for a while before it
// can say that the server is idle. That wait is not the server's work.
type Watcher interface {
	// IdleSince returns when the idleness began that the last Settle which
	// succeeded has found: at the first look that found the server idle. It is
	// after that Settle began.
	IdleSince() time.Time
}

// Grower is a DB whose writers can go on with a schema that has grown, so that a load can
// tell whether the system makes columns itself.
type Grower interface {
	// Grow has writers that are opened from now on write rows of a schema which has more
	// tags and fields than that of Create, in tables of the same names. It makes nothing:
	// the system makes the columns when rows come, or refuses the rows, as
	// Caps.MakesColumns says.
	Grow(*series.Schema) error
}

// Settled waits until a target has settled, and returns when it had.
func Settled(ctx context.Context, t DB) (time.Time, error) {
	if err := t.Settle(ctx); err != nil {
		return time.Time{}, err
	}
	if w, ok := As[Watcher](t); ok {
		return w.IdleSince(), nil
	}
	return time.Now(), nil
}

// Flusher is a DB whose system keeps data in memory, or in a write-ahead log alone, after Settle
// has returned, and can be told to write it to its files.
type Flusher interface {
	// FlushMemory has the system write to its files what it keeps in memory. It is called after
	// a load, off the clock, and before Footprint, which finds what is pending all the same. Its
	// error says why the system cannot.
	FlushMemory(context.Context) error
}

// Kept is a DB whose system does maintenance by itself, at moments of its own
// choosing, on which the speed of queries depends: PostgreSQL's autovacuum.
type Kept interface {
	// Upkeep says in words what was done to the objects since they were made, and
	// what is left to do; empty: nothing can be told. It is cheap.
	Upkeep(context.Context, []Object) (string, error)
}

// Materializer is a DB that keeps continuous aggregates beside the rows of a table: by a
// view of the system's own, or by a summary table as its users keep it. Driver.RenderFrom
// puts queries of them.
type Materializer interface {
	// PlanAggregate names the objects that Materialize would make, without a look at the
	// database. Its error says what of it cannot be had; it wraps query.ErrUnsupported
	// where the system, or tsmark with its options, has no such aggregate.
	PlanAggregate(*series.Schema, *query.Materialized) ([]Object, error)
	// Materialize makes an aggregate of a table that Create has made. It returns when all
	// rows that are there have entered it. With keep it is made of a table without rows,
	// and rows that are written from then on enter it by the system's own doing; its error
	// wraps query.ErrUnsupported where the system does no such thing.
	Materialize(ctx context.Context, s *series.Schema, m *query.Materialized, keep bool) error
	// Covered returns how many rows the aggregate accounts for now. It is called again and
	// again while rows are on their way.
	Covered(context.Context, *query.Materialized) (int64, error)
	// AggregateFootprint returns the bytes of the aggregate on disk, -1 where that cannot
	// be known.
	AggregateFootprint(context.Context, *query.Materialized) (int64, error)
}

// ReadTeller is a DB whose system tells what it read to answer a query.
type ReadTeller interface {
	// Reads puts a query, drops its answer, and returns what the system read for it. It
	// is asked where nothing is measured. Not ok: the system does not tell, as with this
	// version or these rights.
	Reads(context.Context, Request) (read Read, ok bool, err error)
}

// Read is what a system read to answer a query, whether from disk or from memory, in
// its own terms.
type Read struct {
	Rows  int64 // of tables and aggregates; -1: it does not tell
	Bytes int64 // -1: it does not tell
}

// Joiner is a DB to which several processes can write at once: one of them creates the
// tables, and the others join.
type Joiner interface {
	// Join makes ready for NewWriter, as Create does, where another process has created
	// what the schema needs and writes other series. It changes nothing in the database.
	// Its error says which option several processes cannot have.
	Join(ctx context.Context, schema *series.Schema) error
}

// Bounded is a DB whose server takes only so many connections at a time.
type Bounded interface {
	// MostConnections returns how many of this user's the server takes at most, whoever has
	// them now; Most 0: any number.
	MostConnections(context.Context) (Bound, error)
}

// Bound is a limit of connections.
type Bound struct {
	Most int64
	// Why says which limit that is, who set it, and how it is raised, to stand behind what
	// went beyond it.
	Why string
}

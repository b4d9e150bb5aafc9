package postgres

import (
	"context"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// Variant describes the differences between an extension and PostgreSQL itself. Functions may be nil if
// there is no difference.
type Variant struct {
	Name       string // of the target
	System     string // as messages call it
	Help       string
	Options    []driver.Option // in addition to PostgreSQL's
	TestServer driver.Options
	StandIn    string          // see driver.Driver
	Tested     []driver.Tested // see driver.Driver
	Profiles   []driver.Profile
	// TSBS is the format of TSBS's query texts for the variant, which need the normalized layout;
	// empty: there are no such texts.
	TSBS string
	// Bucket is the Bucket of its dialect.
	Bucket func(width time.Duration, expression string) string
	// Ticks changes how its dialect writes the shapes of ticks; nil: it does not.
	Ticks func(*sql.Ticks)
	// Check checks an opened database, before anything is changed.
	Check func(context.Context, sqlkit.Conn, driver.Options) error
	// CheckTable returns an error for a table that the extension does not support.
	CheckTable func(driver.Options, Table) error
	// MakeTable changes a new, empty table of rows, within the same transaction.
	MakeTable func(ctx context.Context, c sqlkit.Conn, o driver.Options, t Table) error
	// Size returns the expression for the size on disk of a table, whose name is a text literal that
	// PostgreSQL casts to a table.
	Size func(literal string) string
	// Steps run after a load, before those of PostgreSQL.
	Steps []Step
	// Describe adds to the description.
	Describe func(context.Context, sqlkit.Conn, *driver.Description) error
	// Aggregates says how it maintains continuous aggregates; nil: like PostgreSQL.
	Aggregates *sqlkit.Aggregates
	// quirks are those of a compatible system; nil: it is PostgreSQL.
	quirks *sqlkit.Quirks
	// DropBefore drops old rows of tables as its own retention does, and Drops describes it: see driver.Optional.
	DropBefore func(ctx context.Context, c sqlkit.Conn, tables []string, before time.Time) (upTo time.Time, err error)
	Drops      driver.Way
	// Busy returns how many of its jobs are running, for Settle.
	Busy func(context.Context, sqlkit.Conn) (int64, error)
}

// Step is an operation on each table of rows after a load.
type Step struct {
	Name, Help string
	// Tags means that it also runs on tables of series.
	Tags bool
	Do   func(ctx context.Context, c sqlkit.Conn, o driver.Options, table Table) error
}

// precision is the precision of the type timestamptz.
const precision = time.Microsecond

// dialect returns the dialect for tables laid out by the options.
func (v Variant) dialect(o driver.Options) *sql.Dialect {
	d := newDialect()
	d.Name, d.Bucket = v.System, v.Bucket
	if v.Ticks != nil {
		v.Ticks(d.Ticks)
	}
	d.Wide, d.Narrow = o[optionLayout] == layoutWide, o[optionLayout] == layoutNarrow
	d.Integers = o[optionIntegers] == integersBigint
	if v.quirks == nil && !d.Narrow {
		d.Decimal = "numeric(18,%d)"
	}
	v.quirks.Dialect(d)
	return d
}

func (v Variant) aggregates(o driver.Options) *sqlkit.Aggregates {
	if v.Aggregates != nil {
		return v.Aggregates
	}
	return aggregates(o)
}

// caps returns the capabilities of PostgreSQL, or of the extension, under the options.
func (v Variant) caps(o driver.Options) driver.Caps {
	c := driver.Caps{
		Language:      "SQL",
		OneConnection: o[optionConnections] == connectionsOne,
		TimePrecision: precision,
		Lacks: map[series.Trait]string{
			series.FineTimestamps: "PostgreSQL's timestamptz, whose unit is 1 µs, does not hold",
			series.NULTexts:       "PostgreSQL does not take",
		},
		Schema: func(s *series.Schema) error {
			_, err := v.layout(s, o)
			return err
		},
		Types:   v.quirks.ChangeTypes(types(o)),
		Steps:   v.stepList(),
		Changes: v.changes(o),
	}
	v.quirks.Caps(&c)
	if o[optionIntegers] != integersBigint {
		c.Lacks[series.LargeInts] = "double precision does not hold exactly; choose integers=" + integersBigint
	}
	if o[optionLayout] == layoutNarrow {
		c.Lacks[series.RepeatedTimes] = "a narrow table cannot tell apart; choose layout=" + layoutNormalized + " or " + layoutWide
	}
	return c
}

// types are the columns of fields. Integers of 64 bits, TSBS's only integers, are doubles by default,
// as in its loader. A narrow table has few columns for all fields: one of doubles, one of integers if
// these stay integers, and one each of texts, times and dates.
func types(o driver.Options) map[series.Type]driver.Stored {
	held := map[series.Type]driver.Stored{
		series.Bool:      {As: "boolean"},
		series.Int32:     {As: "integer"},
		series.Int:       {As: "bigint"},
		series.Float32:   {As: "real"},
		series.Float:     {As: "double precision"},
		series.Text:      {As: "text"},
		series.Timestamp: {As: "timestamptz"},
		series.Date:      {As: "date"},
		series.Blob:      {As: "bytea"},
	}
	double := driver.Stored{As: "double precision", Mapped: "the double that equals it"}
	if o[optionIntegers] != integersBigint {
		held[series.Int] = driver.Stored{As: "double precision", Mapped: "the double that equals it (integers=bigint keeps it)"}
	}
	if o[optionLayout] != layoutNarrow {
		return held
	}
	held[series.Float32] = double
	held[series.Blob] = driver.Stored{As: "text", Mapped: "its bytes as a text"}
	if held[series.Bool], held[series.Int32] = (driver.Stored{As: "double precision", Mapped: "0 or 1"}), double; o[optionIntegers] == integersBigint {
		held[series.Bool] = driver.Stored{As: "bigint", Mapped: "0 or 1"}
		held[series.Int32] = driver.Stored{As: "bigint", Mapped: "the bigint that equals it"}
	}
	return held
}

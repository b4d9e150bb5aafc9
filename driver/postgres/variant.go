package postgres

import (
	"context"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/pgwire"
	"github.com/tsmark/tsmark/query/sql"
)

// Variant is what tells an extension from PostgreSQL itself. Functions may be
// nil where it changes nothing.
type Variant struct {
	Name       string // of the target
	System     string // as messages call it
	Help       string
	Options    []driver.Option // beside PostgreSQL's
	TestServer driver.Options
	Profiles   []driver.Profile
	// Bucket is that of its dialect.
	Bucket func(width time.Duration, expression string) string
	// Check looks at an opened database, before anything is changed.
	Check func(context.Context, *pgwire.Conn, driver.Options) error
	// CheckTable returns an error for a table that the extension cannot have.
	CheckTable func(driver.Options, Table) error
	// MakeTable changes a table of rows that was just made and is empty, within
	// the same transaction.
	MakeTable func(ctx context.Context, c *pgwire.Conn, o driver.Options, t Table) error
	// Size returns the expression of the bytes on disk of a table, whose name is
	// a text literal that PostgreSQL reads as a table.
	Size func(literal string) string
	// Steps are done after a load, before those of PostgreSQL.
	Steps []Step
	// Describe adds to the description.
	Describe func(context.Context, *pgwire.Conn, *driver.Description) error
	// Busy returns how many of its jobs are at work, for Settle.
	Busy func(context.Context, *pgwire.Conn) (int64, error)
}

// Step is something done to each table of rows after a load.
type Step struct {
	Name, Help string
	// Tags makes it a step for tables of series as well.
	Tags bool
	Do   func(ctx context.Context, c *pgwire.Conn, o driver.Options, table Table) error
}

// precision is that of the type timestamptz.
const precision = time.Microsecond

// dialect returns how queries are written about tables laid out by the
// options.
func (v Variant) dialect(o driver.Options) *sql.Dialect {
	d := newDialect()
	d.Name, d.Bucket = v.System, v.Bucket
	d.Wide, d.Narrow = o[optionLayout] == layoutWide, o[optionLayout] == layoutNarrow
	d.Integers = o[optionIntegers] == integersBigint
	return d
}

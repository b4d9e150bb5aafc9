// Package postgres is the driver for PostgreSQL, over its wire protocol with pgx. Rows are loaded with
// binary COPY, encoded directly from batches, or with prepared multi-row statements; results are
// decoded from the binary format.
//
// In the layout of TSBS's loader for TimescaleDB, each table of the schema becomes a table of rows, and
// its series a table of tags: see package query/sql. A row's tags_id is the number of its series. Wide
// tables have tags and fields in the same table. Narrow tables have a row for each value. The
// additional table tsmark_mark records the loaded dataset and the objects that tsmark created.
//
// Extensions of PostgreSQL are drivers of their own, made by NewVariant.
//
// Texts are compared with COLLATE "C": the database's language would order hosts differently, and slower.
// Keys of series are tsmark's numbers and not a sequence, so a resent batch finds its series again.
// lock_timeout is set by SET LOCAL, because poolers refuse unknown start-up parameters. A query that times
// out is cancelled on the server: closing the connection would leave it running beside the next measurement.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/pgwire"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// The names of the options.
const (
	optionProtocol    = "protocol"
	optionLayout      = "layout"
	optionMethod      = "method"
	optionIntegers    = "integers"
	optionIndex       = "index"
	optionFieldIndex  = "field_indexes"
	optionPartition   = "partition"
	optionUnlogged    = "unlogged"
	optionCommit      = "synchronous_commit"
	optionAutovacuum  = "autovacuum"
	optionWorkMemory  = "work_mem"
	optionCompilation = "jit"
	optionConnections = "connections"
)

// Values of options.
const (
	layoutNormalized = "normalized"
	layoutWide       = "wide"
	layoutNarrow     = "narrow"

	methodCopy   = "copy"
	methodInsert = "insert"

	integersDouble = "double"
	integersBigint = "bigint"

	connectionsMany = "many"
	connectionsOne  = "one"

	indexBoth     = "both"
	indexTagsTime = "tags_time"
	indexTime     = "time"
	indexTimeTags = "time_tags"
	indexBRIN     = "brin"
	indexNone     = "none"

	on  = "on"
	off = "off"
)

// confinement is the query.Literals.Confinement of its texts.
const confinement = "it runs in a read-only transaction that is rolled back, after the server took it as the query of a cursor; functions can still reach outside of the transaction (dblink, lo_export, pg_terminate_backend): use a role that may only read"

// Driver describes PostgreSQL.
func Driver() driver.Driver {
	v := Variant{
		Name:       "postgres",
		TestServer: driver.Options{connection.User: "tsmark", connection.Password: "@servers/password", connection.Database: "postgres"},
		System:     "PostgreSQL",
		Tested:     []driver.Tested{{Version: "15"}},
		Help:       "PostgreSQL 14 or newer, written by COPY in binary form",
		Options:    []driver.Option{partitionOption()},
		Bucket:     bucket,
	}
	d := NewVariant(v)
	d.Compatible = &driver.Adapter{
		Quirks: func() any { return new(sqlkit.Quirks) },
		Driver: func(c driver.Compatible) (driver.Driver, error) {
			adapted := v
			adapted.System, adapted.quirks = c.System, c.Quirks.(*sqlkit.Quirks)
			if err := adapted.quirks.Check(lacksSavepoints, lacksVacuum, lacksAnalyze); err != nil {
				return driver.Driver{}, err
			}
			out := NewVariant(adapted)
			if adapted.quirks.Lack(sqlkit.LacksCatalogs) {
				out.RenderFrom = nil // its triggers and sizes are PostgreSQL's
			}
			return out, nil
		},
	}
	return d
}

// The words of sqlkit.Quirks.Lacks that only this driver knows.
const (
	lacksSavepoints = "savepoints"
	lacksVacuum     = "vacuum"
	lacksAnalyze    = "analyze"
)

// partitionOption is the option for PostgreSQL's own partitioning, which extensions replace.
func partitionOption() driver.Option {
	return driver.Option{Name: optionPartition, Layout: true, Empty: "none", Help: "time range of a partition, such as 12h", Type: option.Seconds(time.Minute)}
}

// NewVariant returns a driver for PostgreSQL with an extension.
func NewVariant(v Variant) driver.Driver {
	return driver.Driver{
		Name:    v.Name,
		Help:    v.Help,
		Options: slices.Concat(pgwire.Options(), ownOptions(), v.Options),
		Profiles: append([]driver.Profile{
			{Name: "default", Help: "as the server is configured, in TSBS's layout with TSBS's indexes", Options: driver.Options{}},
			{Name: "tuned", Help: "256 MiB of work_mem, no JIT compilation, prepared statements",
				Options: driver.Options{optionWorkMemory: "256MB", optionCompilation: off, optionProtocol: string(pgwire.Prepared)}},
		}, v.Profiles...),
		Durabilities: []driver.Profile{
			{Name: driver.AsShipped, Help: "as the server is configured", Options: driver.Options{optionUnlogged: off, optionCommit: ""}},
			{Name: driver.Relaxed, Help: "synchronous_commit off", Options: driver.Options{optionUnlogged: off, optionCommit: "off"}},
			{Name: driver.Strict, Help: "synchronous_commit on; a server without fsync or full_page_writes is refused",
				Options: driver.Options{optionUnlogged: off, optionCommit: "on"}},
		},
		Caps:       v.caps,
		Modules:    []string{"github.com/jackc/pgx/v5"},
		Place:      place,
		Endpoints:  endpoints,
		Adopts:     adopts,
		Tested:     v.Tested,
		StandIn:    v.StandIn,
		TestServer: v.TestServer,
		StopSignal: os.Interrupt, // a fast shutdown; SIGTERM begins a smart one
		Render: func(q *query.Query, s *series.Schema, o driver.Options) (driver.Request, error) {
			text, err := v.dialect(o).Render(q, s)
			return driver.Request{Text: text}, err
		},
		Literals: func(o driver.Options) query.Literals {
			l := v.dialect(o).Literals(confinement)
			if o[optionConnections] == connectionsOne {
				l.Unsupported = "the server takes one connection, and a text is checked on another one than it runs on"
			}
			if v.quirks.Lack(sqlkit.LacksTexts) {
				l.Unsupported = v.System + " has no way to run a text that cannot change data, as its profile says"
			}
			return l
		},
		TSBS: v.tsbs(),
		RenderFrom: func(q *query.Query, m *query.Materialized, s *series.Schema, o driver.Options) (driver.Request, error) {
			text, err := v.dialect(o).RenderFrom(q, m, s)
			return driver.Request{Text: text}, err
		},
		Open: func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
			d, err := open(ctx, v, env, o)
			if err != nil {
				return driver.DB{}, fmt.Errorf("opening %s: %w", v.System, err)
			}
			return d.db(), nil
		},
	}
}

// tsbs describes how TSBS's texts run: they join rows with the table of series.
func (v Variant) tsbs() *driver.TSBS {
	if v.TSBS == "" {
		return nil
	}
	return &driver.TSBS{Format: v.TSBS, Request: func(text string, o driver.Options) (driver.Request, error) {
		if o[optionLayout] != layoutNormalized {
			return driver.Request{}, fmt.Errorf("%w: TSBS's texts are about its own layout; give %s=%s", query.ErrUnsupported, optionLayout, layoutNormalized)
		}
		return driver.Request{Text: text}, nil
	}}
}

// ownOptions are the options for the layout of data, and for the methods of writing and querying.
func ownOptions() []driver.Option {
	var protocols []string
	for _, p := range pgwire.Protocols() {
		protocols = append(protocols, string(p))
	}
	return []driver.Option{
		{Name: optionProtocol, Default: string(pgwire.Extended), Type: option.Choice(protocols...),
			Help: "how queries are sent: extended or prepared (each text is parsed once), both with binary answers, or simple (answers as text)"},
		{Name: optionLayout, Layout: true, Default: layoutNormalized, Type: option.Choice(layoutNormalized, layoutWide, layoutNarrow),
			Help: "normalized (rows refer to a table of series, as in TSBS), wide (tags in each row) or narrow (one row per value)"},
		{Name: optionMethod, Default: methodCopy, Type: option.Choice(methodCopy, methodInsert),
			Help: "how rows are written: copy (binary COPY) or insert (prepared INSERTs of many rows)"},
		{Name: optionIntegers, Layout: true, Default: integersDouble, Type: option.Choice(integersDouble, integersBigint),
			Help: "type of 64-bit integer fields: double, as in TSBS, or bigint"},
		{Name: optionIndex, Layout: true, Default: indexBoth, Type: option.Choice(indexBoth, indexTagsTime, indexTime, indexTimeTags, indexBRIN, indexNone),
			Help: "indexes: tags_time (series and time), time, both (TSBS's default), time_tags (time and series), brin (on time) or none"},
		{Name: optionFieldIndex, Layout: true, Default: "0", Type: option.AtLeast(0),
			Help: "number of fields, from the first, with an index on value and time, as TSBS's field-index-count"},
		{Name: optionUnlogged, Layout: true, Default: off, Type: option.Boolean(on, off),
			Help: "create tables without a write-ahead log; a crash empties them"},
		{Name: optionCommit, Empty: "the server's", Type: option.Choice("on", "off", "local", "remote_write", "remote_apply"),
			Help: "synchronous_commit of every connection"},
		{Name: optionAutovacuum, Layout: true, Default: on, Type: option.Boolean(on, off),
			Help: "let autovacuum vacuum and analyze the tables"},
		{Name: optionWorkMemory, Empty: "the server's", Type: option.CheckedBy("size", checkMemory), Help: "work_mem of every connection, such as 64MB"},
		{Name: optionConnections, Default: connectionsMany, Type: option.Choice(connectionsMany, connectionsOne),
			Help: "one: for servers that accept a single connection, such as PGlite; allows one worker"},
		{Name: optionCompilation, Empty: "the server's", Type: option.Boolean(on, off), Help: "compile queries (jit of every connection)"},
	}
}

// place is the database, whatever extension the driver is for. Users whose search_path leads to
// different schemas share it as well.
func place(o driver.Options) string {
	config, err := pgwire.NewConfig(connection.NewSettings(o))
	if err != nil {
		return "" // Open reports it
	}
	return config.Place()
}

func checkMemory(v string) error {
	for _, unit := range []string{"kB", "MB", "GB"} {
		if n, err := strconv.Atoi(strings.TrimSuffix(v, unit)); err == nil && strings.HasSuffix(v, unit) && n > 0 {
			return nil
		}
	}
	return errors.New("must be a whole number with its unit, kB, MB or GB")
}

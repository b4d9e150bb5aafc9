// Package timescaledb is the driver for TimescaleDB, an extension of PostgreSQL: tables of rows are
// hypertables, queries use time_bucket, and a step after the load moves chunks to the columnstore.
// Package postgres does the rest.
//
// The policy of a continuous aggregate refreshes it in one batch: with several batches, release 2.28.3
// returned incomplete answers.
package timescaledb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/postgres"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/query/sql"
)

// The names of the options in addition to PostgreSQL's.
const (
	optionChunk = "chunk_interval"
	optionSpace = "space_partitions"
)

// Driver describes TimescaleDB.
func Driver() driver.Driver {
	return postgres.NewVariant(postgres.Variant{
		Name:   "timescaledb",
		System: "TimescaleDB",
		// PGlite, the stand-in if the extension is not installed, accepts one connection.
		StandIn:    "TimescaleDB in PGlite (WebAssembly), not a PostgreSQL server",
		TestServer: driver.Options{"user": "postgres", "password": "@servers/password", "database": "postgres", "connections": "one"},
		Help:       "TimescaleDB 2, hypertables in TSBS's layout, written by COPY in binary form",
		Options: []driver.Option{
			{Name: optionChunk, Layout: true, Default: "12h", Help: "time range of a chunk; the default is TSBS's", Type: option.Seconds(time.Second)},
			{Name: optionSpace, Layout: true, Default: "0", Help: "number of partitions by series; 0: partition by time only", Type: option.AtLeast(0)},
		},
		Tested:     []driver.Tested{{Version: "2.23"}, {Version: "2.28"}},
		TSBS:       "timescaledb",
		Bucket:     bucket,
		Ticks:      ticks,
		Check:      check,
		CheckTable: checkTable,
		MakeTable:  makeTable,
		Size: func(name string) string {
			return fmt.Sprintf("coalesce(hypertable_size(%s), pg_total_relation_size(%[1]s))", name)
		},
		Steps:      []postgres.Step{{Name: "columnstore", Help: "move chunks to the columnstore, compressed, one segment per series", Do: columnstore}},
		Describe:   describe,
		Busy:       busy,
		DropBefore: dropBefore,
		Drops:      driver.Way{By: "drop_chunks", Space: "at once, with the files of the chunks"},
		Aggregates: aggregates(),
	})
}

// ticks uses TimescaleDB's aggregates of the first and the last value.
func ticks(t *sql.Ticks) {
	t.First = func(value, time string) string { return fmt.Sprintf("first(%s, %s)", value, time) }
	t.Last = func(value, time string) string { return fmt.Sprintf("last(%s, %s)", value, time) }
	t.Lookups = false // an index of each chunk would be looked up
}

func bucket(width time.Duration, expression string) string {
	return sql.TimeBucket(width, "'"+sql.Interval(width)+"'", expression, "TIMESTAMPTZ '1970-01-01 00:00:00+00'")
}

// check returns an error where the server does not have the extension.
func check(ctx context.Context, c sqlkit.Conn, _ driver.Options) error {
	row, err := sqlkit.QueryRow(ctx, c, "SELECT count(*) FROM pg_available_extensions WHERE name = 'timescaledb'")
	if err == nil && row[0].Int == 0 {
		err = errors.New("the server does not have the extension timescaledb; install it there, or choose target postgres")
	}
	return err
}

// release is a version of the extension: 2.13 is 213.
type release int

// The releases since which there are ways that older ones lack.
const (
	byRange         release = 213 // create_hypertable(…, by_range(…))
	withColumnstore release = 218 // formerly called compression
)

// extensionVersion returns the extension's version in the database.
func extensionVersion(ctx context.Context, c sqlkit.Conn) (release, string, error) {
	row, err := sqlkit.QueryRow(ctx, c, "SELECT extversion FROM pg_extension WHERE extname = 'timescaledb'")
	if err != nil {
		return 0, "", fmt.Errorf("reading the version of the extension timescaledb: %w", err)
	}
	text := row[0].String()
	var major, minor int
	if _, err := fmt.Sscanf(text, "%d.%d", &major, &minor); err != nil {
		return 0, "", fmt.Errorf("%q is not a version of TimescaleDB: %w", text, err)
	}
	return release(100*major + minor), text, nil
}

// makeTable turns an empty table into a hypertable.
func makeTable(ctx context.Context, c sqlkit.Conn, o driver.Options, t postgres.Table) error {
	if err := c.Exec(ctx, "CREATE EXTENSION IF NOT EXISTS timescaledb"); err != nil {
		return fmt.Errorf("creating the extension, as which a superuser may have to do it once: %w", err)
	}
	version, _, err := extensionVersion(ctx, c)
	if err != nil {
		return err
	}
	return c.Exec(ctx, hypertable(version, t, o.Duration(optionChunk), o.Int(optionSpace))...)
}

// checkTable returns an error for a table of rows that has nothing to be
// partitioned by.
func checkTable(o driver.Options, t postgres.Table) error {
	if t.Rows && t.By == "" && o.Int(optionSpace) > 0 {
		return fmt.Errorf("table %s has no tag to be partitioned by; give %s=0", t.Name, optionSpace)
	}
	return nil
}

// hypertable returns the statements that create a hypertable.
func hypertable(version release, t postgres.Table, length time.Duration, space int) []string {
	name, interval := postgres.Regclass(t), "INTERVAL '"+sql.Interval(length)+"'"
	if version < byRange {
		more := ""
		if space > 0 {
			more = fmt.Sprintf(", partitioning_column => %s, number_partitions => %d", postgres.Literal(t.By), space)
		}
		return []string{fmt.Sprintf("SELECT create_hypertable(%s, 'time', chunk_time_interval => %s, create_default_indexes => false%s)", name, interval, more)}
	}
	statements := []string{fmt.Sprintf("SELECT create_hypertable(%s, by_range('time', %s), create_default_indexes => false)", name, interval)}
	if space > 0 {
		statements = append(statements, fmt.Sprintf("SELECT add_dimension(%s, by_hash(%s, %d))", name, postgres.Literal(t.By), space))
	}
	return statements
}

// columnstore compresses all chunks of a hypertable.
func columnstore(ctx context.Context, c sqlkit.Conn, _ driver.Options, t postgres.Table) error {
	version, _, err := extensionVersion(ctx, c)
	if err != nil {
		return err
	}
	return c.Exec(ctx, compression(version, t)...)
}

// compression returns the statements that move a hypertable to the columnstore, or compress it in
// versions before the columnstore.
func compression(version release, t postgres.Table) []string {
	segments := ""
	settings := []string{"timescaledb.compress", "timescaledb.compress_segmentby", "timescaledb.compress_orderby"}
	each := "SELECT compress_chunk(chunk, if_not_compressed => true) FROM show_chunks(%s) AS chunk"
	if version >= withColumnstore {
		settings = []string{"timescaledb.enable_columnstore", "timescaledb.segmentby", "timescaledb.orderby"}
		// It is a procedure, which no SELECT can call.
		each = `DO $$ DECLARE chunk regclass; BEGIN
			FOR chunk IN SELECT show_chunks(%s) LOOP CALL convert_to_columnstore(chunk, if_not_columnstore => true); END LOOP;
		END $$`
	}
	if t.By != "" {
		segments = fmt.Sprintf(", %s = %s", settings[1], postgres.Literal(postgres.QuoteIdent(t.By)))
	}
	return []string{
		fmt.Sprintf("ALTER TABLE %s SET (%s, %s = 'time DESC'%s)", postgres.QuoteIdent(t.Name), settings[0], settings[2], segments),
		fmt.Sprintf(each, postgres.Regclass(t)),
	}
}

// describe adds version and edition of the extension.
func describe(ctx context.Context, c sqlkit.Conn, d *driver.Description) error {
	row, err := sqlkit.QueryRow(ctx, c, `SELECT coalesce((SELECT extversion FROM pg_extension WHERE extname = 'timescaledb'),
		(SELECT default_version FROM pg_available_extensions WHERE name = 'timescaledb')), coalesce(current_setting('timescaledb.license', true), '')`)
	if err != nil {
		return err
	}
	d.Settings["postgresql"] = d.Version
	d.Version = row[0].String()
	switch row[1].String() {
	case "timescale":
		d.Edition = "community (Timescale License)"
	case "apache":
		d.Edition = "apache 2"
	}
	return nil
}

// dropBefore drops the chunks that end up to a time.
func dropBefore(ctx context.Context, c sqlkit.Conn, tables []string, before time.Time) (time.Time, error) {
	list := make([]string, len(tables))
	for i, name := range tables {
		list[i] = postgres.Literal(name)
	}
	// A chunk that has rows from before and after the time stays, and so do all newer ones.
	row, err := sqlkit.QueryRow(ctx, c, fmt.Sprintf(`SELECT coalesce(min(range_start), %s) FROM timescaledb_information.chunks
		WHERE hypertable_schema = current_schema() AND hypertable_name IN (%s) AND range_start < %[1]s AND range_end > %[1]s`, postgres.TimeLiteral(before), strings.Join(list, ", ")))
	if err != nil {
		return time.Time{}, err
	}
	upTo := time.Unix(0, row[0].Int).UTC()
	for _, name := range tables {
		text := fmt.Sprintf("SELECT drop_chunks(%s, older_than => %s)", postgres.Literal(postgres.QuoteIdent(name)), postgres.TimeLiteral(upTo))
		if err := c.Exec(ctx, text); err != nil {
			return time.Time{}, err
		}
	}
	return upTo, nil
}

// busy counts the jobs on hypertables that are at work.
func busy(ctx context.Context, c sqlkit.Conn) (int64, error) {
	row, err := sqlkit.QueryRow(ctx, c, "SELECT count(*) FROM timescaledb_information.job_stats WHERE job_status = 'Running' AND hypertable_name IS NOT NULL")
	if err != nil {
		return 0, err
	}
	return row[0].Int, nil
}

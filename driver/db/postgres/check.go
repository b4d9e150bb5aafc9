package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/pgwire"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
)

// endpoints implements driver.Driver's Endpoints.
func endpoints(o driver.Options) ([]driver.Endpoint, error) {
	config, err := pgwire.NewConfig(connection.NewSettings(o))
	if err != nil {
		return nil, err
	}
	e := config.Endpoint(connection.Port)
	e.Opened = true
	return []driver.Endpoint{e}, nil
}

// ReadClock implements driver.DB.
func (d *database) ReadClock(ctx context.Context) (driver.Reading, error) {
	return sqlkit.ReadClockBy(ctx, d.admin, time.Microsecond, "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")
}

// FreeSpace implements driver.DB. Only users with the role pg_read_all_settings may read the folder.
func (d *database) FreeSpace(ctx context.Context) (folder string, free int64, err error) {
	row, err := sqlkit.QueryRow(ctx, d.admin, `SELECT CASE WHEN pg_has_role('pg_read_all_settings', 'USAGE') THEN current_setting('data_directory') ELSE '' END`)
	if err != nil {
		return "", -1, err
	}
	return row[0].String(), -1, nil
}

// concerns are the settings that distort measurements of PostgreSQL.
var concerns = []driver.Concern{
	{Setting: "fsync", Wrong: driver.Is(off), Effect: "commits are not forced to disk, so that loads look faster than a safe server's", Fix: "set fsync to on in postgresql.conf, and restart"},
	{Setting: "full_page_writes", Wrong: driver.Is(off), Effect: "a crash may destroy pages, and the write-ahead log is smaller than a safe server's", Fix: "set full_page_writes to on"},
	{Setting: "synchronous_commit", Wrong: driver.Is(off), Effect: "a commit is acknowledged before it is on disk", Fix: "set it to on, or compare only with targets of the same durability (durability=" + driver.Relaxed + ")"},
	{Setting: "shared_buffers", Wrong: driver.Is("128MB"), Effect: "the cache has the size as shipped, which fits a small machine", Fix: "set shared_buffers to about a quarter of the server's memory, and restart; or report that it was run as shipped"},
	{Setting: "max_wal_size", Wrong: driver.Is("1GB"), Effect: "long loads force a checkpoint at each gigabyte of log", Fix: "set max_wal_size to several GB, or report that it was run as shipped"},
	{Setting: "statement_timeout", Wrong: driver.IsNot("0"), Effect: "the server ends long queries, loads and steps", Fix: "ALTER ROLE … SET statement_timeout = 0, for the user of tsmark"},
	{Setting: "idle_in_transaction_session_timeout", Wrong: driver.IsNot("0"), Effect: "the server may end connections that wait for a batch", Fix: "set it to 0 for the user of tsmark"},
	{Setting: "autovacuum", Wrong: driver.Is(off), Effect: "tables are neither vacuumed nor analyzed by themselves, so that queries are planned without statistics", Fix: "set autovacuum to on, or give load.after: [analyze]"},
	{Setting: "log_statement", Wrong: driver.Is("all", "mod"), Effect: "each statement is written to the log", Fix: "set log_statement to none"},
	{Setting: "log_min_duration_statement", Wrong: driver.Is("0"), Effect: "each statement is written to the log", Fix: "set log_min_duration_statement to -1"},
	{Setting: "debug_assertions", Wrong: driver.Is(on), Effect: "the server is a debug build, which is several times slower", Fix: "use a build without --enable-cassert"},
	{Setting: "synchronous_standby_names", Wrong: driver.IsNot(""), Effect: "commits may wait for standbys", Fix: "compare only with targets that replicate too, or leave it empty"},
}

// Advise implements driver.DB.
func (d *database) Advise(ctx context.Context) ([]driver.Advice, error) {
	columns := make([]string, len(concerns))
	for i, c := range concerns {
		columns[i] = fmt.Sprintf("current_setting('%s', true)", c.Setting)
	}
	row, err := sqlkit.QueryRow(ctx, d.admin, "SELECT "+strings.Join(columns, ", "))
	if err != nil {
		return nil, err
	}
	values := make(map[string]string, len(concerns))
	for i, c := range concerns {
		if row[i].Kind != query.Null {
			values[c.Setting] = row[i].String()
		}
	}
	return driver.AdviseOn(concerns, values), nil
}

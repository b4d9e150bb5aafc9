package cassandra

import (
	"context"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
)

// ReadClock implements driver.DB: the clock of the node that responds.
func (d *database) ReadClock(ctx context.Context) (driver.Reading, error) {
	return sqlkit.ReadClock(ctx, time.Millisecond, "SELECT toUnixTimestamp(now()) FROM system.local", func(ctx context.Context, text string) ([][]query.Value, error) {
		return d.runOwn(ctx, text)
	})
}

// set returns the settings of the node that responds, by name.
func (d *database) set(ctx context.Context) (map[string]string, error) {
	rows, err := d.runOwn(ctx, "SELECT name, value FROM system_views.settings")
	out := make(map[string]string, len(rows))
	for _, row := range rows {
		if row[1].Kind != query.Null {
			out[row[0].String()] = row[1].String()
		}
	}
	return out, err
}

// FreeSpace implements driver.DB: the first data folder of the node that responds. CQL does not report
// the free space.
func (d *database) FreeSpace(ctx context.Context) (folder string, free int64, err error) {
	set, err := d.set(ctx)
	folder, _, _ = strings.Cut(strings.Trim(set["data_file_directories"], "[]"), ",")
	if !strings.HasPrefix(folder, "/") {
		folder = ""
	}
	return folder, -1, err
}

// concerns are the settings that distort measurements of Cassandra.
var concerns = []driver.Concern{
	{Setting: "auto_snapshot", Wrong: driver.Is("true"), Effect: "the files of each table that is dropped, such as a dataset that a load replaces, stay on disk as a snapshot", Fix: "set auto_snapshot to false in cassandra.yaml, or clear snapshots between loads (nodetool clearsnapshot --all)"},
	{Setting: "cdc_enabled", Wrong: driver.Is("true"), Effect: "the commit log is kept for readers of changes (CDC), and Cassandra refuses writes when its folder is full", Fix: "set cdc_enabled to false in cassandra.yaml, and restart"},
	{Setting: "audit_logging_options.enabled", Wrong: driver.Is("true"), Effect: "each statement is written to the audit log", Fix: "nodetool disableauditlog"},
	{Setting: "full_query_logging_options.log_dir", Wrong: driver.IsNot(""), Effect: "statements may be written to the full query log", Fix: "nodetool disablefullquerylog, if it is on"},
	{Setting: "read_request_timeout", Wrong: driver.ShorterThan(5 * time.Second), Effect: "the server ends reads sooner than as shipped", Fix: "set it to 5s or more"},
	{Setting: "range_request_timeout", Wrong: driver.ShorterThan(10 * time.Second), Effect: "the server ends scans sooner than as shipped", Fix: "set it to 10s or more"},
	{Setting: "write_request_timeout", Wrong: driver.ShorterThan(2 * time.Second), Effect: "the server ends writes sooner than as shipped", Fix: "set it to 2s or more"},
}

// Advise implements driver.DB.
func (d *database) Advise(ctx context.Context) ([]driver.Advice, error) {
	set, err := d.set(ctx)
	if err != nil {
		return nil, err
	}
	return driver.AdviseOn(concerns, set), nil
}

package influxdb

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
)

// endpoints implements driver.Driver's Endpoints.
func endpoints(o driver.Options) ([]driver.Endpoint, error) {
	s, err := newSettings(o, os.Getenv)
	if err != nil {
		return nil, err
	}
	return []driver.Endpoint{s.wire.Endpoint(connection.Port)}, nil
}

// ReadClock implements driver.DB. A user with all privileges gets nanoseconds, others whole seconds.
func (d *database) ReadClock(ctx context.Context) (driver.Reading, error) {
	sent := time.Now()
	rows, err := d.table(ctx, "SHOW DIAGNOSTICS FOR 'system'")
	answered := time.Now()
	if err == nil && len(rows) == 1 {
		if server, err := time.Parse(time.RFC3339Nano, rows[0]["currentTime"]); err == nil {
			return driver.Reading{Sent: sent, Received: answered, Server: server, Unit: time.Nanosecond}, nil
		}
	}
	return d.own.Client.ReadClock(ctx, "/ping")
}

// diagnostics returns a group of the server's settings, which only a user with all privileges may read.
func (d *database) diagnostics(ctx context.Context, group string) (map[string]string, error) {
	rows, err := d.table(ctx, "SHOW DIAGNOSTICS FOR 'config-"+group+"'")
	values := make(map[string]string)
	for _, row := range rows {
		for name, value := range row {
			values[group+"."+name] = value
		}
	}
	return values, err
}

// FreeSpace implements driver.DB.
func (d *database) FreeSpace(ctx context.Context) (folder string, free int64, err error) {
	if d.settings.gemini() {
		return "", -1, driver.Unknown("openGemini does not report where its data is: look at [data] of openGemini.conf")
	}
	values, err := d.diagnostics(ctx, "data")
	if folder = values["data.dir"]; !strings.HasPrefix(folder, "/") {
		folder = ""
	}
	return folder, -1, err
}

// concerns are the settings that distort measurements of InfluxDB.
var concerns = []driver.Concern{
	{Setting: "data.wal-fsync-delay", Wrong: driver.IsNot("0s"), Effect: "batches are acknowledged before they are on disk", Fix: "set wal-fsync-delay to 0s, or compare only with targets of the same durability"},
	{Setting: "data.index-version", Wrong: driver.Is("inmem"), Effect: "the index of all series is in memory, and built from scratch at each start", Fix: "set index-version to tsi1 and convert the database, or report it"},
	{Setting: "data.query-log-enabled", Wrong: driver.Is("true"), Effect: "each query is written to the log", Fix: "set query-log-enabled to false, or report that it was run as shipped"},
	{Setting: "data.trace-logging-enabled", Wrong: driver.Is("true"), Effect: "the engine logs all that it does", Fix: "set trace-logging-enabled to false"},
	{Setting: "httpd.log-enabled", Wrong: driver.Is("true"), Effect: "each request is written to the log", Fix: "set log-enabled of [http] to false, or report that it was run as shipped"},
	{Setting: "coordinator.query-timeout", Wrong: driver.IsNot("0s"), Effect: "the server ends long queries", Fix: "set query-timeout to 0s"},
	{Setting: "coordinator.max-concurrent-queries", Wrong: driver.IsNot("0"), Effect: "the server refuses queries of more workers than that", Fix: "set max-concurrent-queries to 0"},
	{Setting: "coordinator.max-select-point", Wrong: driver.IsNot("0"), Effect: "the server ends queries that read more points", Fix: "set max-select-point to 0"},
	{Setting: "coordinator.max-select-series", Wrong: driver.IsNot("0"), Effect: "the server ends queries of more series", Fix: "set max-select-series to 0"},
}

// Advise implements driver.DB.
func (d *database) Advise(ctx context.Context) ([]driver.Advice, error) {
	var found []driver.Advice
	if d.settings.gemini() {
		return nil, driver.Unknown("openGemini reports no settings: look at openGemini.conf")
	}
	for _, group := range []string{"data", "coordinator", "httpd"} {
		values, err := d.diagnostics(ctx, group)
		if err != nil {
			return nil, err
		}
		found = append(found, driver.AdviseOn(concerns, values)...)
	}
	return found, nil
}

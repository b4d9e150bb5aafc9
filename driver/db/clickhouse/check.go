package clickhouse

import (
	"context"
	"crypto/tls"
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
)

// endpoints implements driver.Driver's Endpoints: a target uses one of the two protocols.
func endpoints(o driver.Options) ([]driver.Endpoint, error) {
	c := newConfig(o)
	if c.http {
		return []driver.Endpoint{c.wire.Endpoint(optionHTTPPort)}, nil
	}
	return []driver.Endpoint{{
		Protocol: "native protocol", Address: c.Address(), Option: connection.Port, Opened: true, Secret: c.Password != "",
		Probe: func(ctx context.Context) (*tls.ConnectionState, error) {
			return connection.Handshake(ctx, c.Address(), c.tls, c.Timeout)
		},
	}}, nil
}

// ReadClock implements driver.DB.
func (d *database) ReadClock(ctx context.Context) (driver.Reading, error) {
	return sqlkit.ReadClockBy(ctx, d.admin, time.Microsecond, "SELECT toUnixTimestamp64Micro(now64(6))")
}

// FreeSpace implements driver.DB: the free space on the fullest of the server's disks.
func (d *database) FreeSpace(ctx context.Context) (folder string, free int64, err error) {
	row, err := sqlkit.QueryRow(ctx, d.admin, "SELECT argMin(path, unreserved_space), toInt64(min(unreserved_space)) FROM system.disks WHERE type IN ('Local', 'local')")
	if err != nil {
		return "", -1, err
	}
	if row[1].Int <= 0 {
		return row[0].String(), -1, nil
	}
	return row[0].String(), row[1].Int, nil
}

// concerns are the settings that distort measurements of ClickHouse.
var concerns = []driver.Concern{
	{Setting: "max_execution_time", Wrong: driver.IsNot("0"), Effect: "the server ends long queries", Fix: "set max_execution_time to 0 in the user's profile"},
	{Setting: "max_memory_usage", Wrong: driver.IsNot("0"), Effect: "the server ends queries that take more memory", Fix: "set max_memory_usage to 0 in the user's profile, or report it"},
	{Setting: "async_insert", Wrong: driver.Is("1", "true"), Effect: "the server gathers batches of several writers before it stores them", Fix: "give async_insert=on, so that reports say it, or set it to 0 in the user's profile"},
	{Setting: "wait_for_async_insert", Wrong: driver.Is("0", "false"), Effect: "with async_insert batches are acknowledged before they are stored", Fix: "set wait_for_async_insert to 1"},
	{Setting: "use_query_cache", Wrong: driver.Is("1", "true"), Effect: "repeated queries are answered from a cache", Fix: "set use_query_cache to 0"},
	{Setting: "readonly", Wrong: driver.IsNot("0"), Effect: "nothing can be loaded", Fix: "give a user whose profile has readonly 0"},
	{Setting: "query_profiler_real_time_period_ns", Wrong: func(v string) bool { return len(v) > 0 && len(v) < 9 && v != "0" }, Effect: "the profiler interrupts queries more than ten times a second", Fix: "set it to 1000000000, as shipped"},
}

// Advise implements driver.DB.
func (d *database) Advise(ctx context.Context) ([]driver.Advice, error) {
	names := make([]string, len(concerns))
	for i, c := range concerns {
		names[i] = literal(c.Setting)
	}
	reported := make(map[string]string)
	rows, err := sqlkit.QueryRows(ctx, d.admin, fmt.Sprintf("SELECT name, value FROM system.settings WHERE name IN (%s)", strings.Join(names, ", ")))
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		reported[row[0].String()] = row[1].String()
	}
	found := driver.AdviseOn(concerns, reported)
	builds, err := sqlkit.QueryRows(ctx, d.admin, "SELECT name, value FROM system.build_options WHERE name IN ('BUILD_TYPE', 'CXX_FLAGS')")
	for _, row := range builds { // some builds report nothing
		name, value := row[0].String(), row[1].String()
		if err == nil && (strings.EqualFold(value, "debug") || name == "CXX_FLAGS" && strings.Contains(value, "-fsanitize")) {
			found = append(found, driver.Advice{Setting: name, Value: "debug or with sanitizers", Effect: "the server is several times slower than a release", Fix: "use a release build"})
		}
	}
	return found, nil
}

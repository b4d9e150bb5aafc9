package influxdb2

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"

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

// ReadClock implements driver.DB.
func (d *database) ReadClock(ctx context.Context) (driver.Reading, error) {
	return d.api.Client.ReadClock(ctx, "/ping")
}

// config returns the settings of the server, which only an operator's token may read.
func (d *database) config(ctx context.Context) (map[string]string, error) {
	var config struct {
		Config map[string]any `json:"config"`
	}
	err := d.api.Call(ctx, http.MethodGet, "/api/v2/config", nil, nil, &config)
	out := make(map[string]string, len(config.Config))
	for name, v := range config.Config {
		out[name] = fmt.Sprint(v)
	}
	return out, err
}

// FreeSpace implements driver.DB. It returns engine-path; the server does not report the free space.
func (d *database) FreeSpace(ctx context.Context) (folder string, free int64, err error) {
	config, err := d.config(ctx)
	if folder = config["engine-path"]; !strings.HasPrefix(folder, "/") {
		folder = ""
	}
	return folder, -1, operators(err)
}

// operators adds to an error of a request for settings which users may read them.
func operators(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("it tells its settings to an operator's token alone: %w", err)
}

// concerns are the settings that distort measurements of InfluxDB 2.
var concerns = []driver.Concern{
	{Setting: "storage-wal-fsync-delay", Wrong: driver.IsNot("0s", "0"), Effect: "batches are acknowledged before they are on disk", Fix: "set storage-wal-fsync-delay to 0s, or compare only with targets of the same durability"},
	{Setting: "query-concurrency", Wrong: driver.LessThan(64), Effect: "queries of more workers than that wait, or are refused", Fix: "set query-concurrency to 0, or report it"},
	{Setting: "query-memory-bytes", Wrong: driver.LessThan(1 << 40), Effect: "the server ends queries that take more memory", Fix: "set query-memory-bytes to 0"},
	{Setting: "query-max-memory-bytes", Wrong: driver.LessThan(1 << 40), Effect: "the server ends queries when all together take more memory", Fix: "set query-max-memory-bytes to 0"},
	{Setting: "influxql-max-select-point", Wrong: driver.IsNot("0"), Effect: "the server ends queries in InfluxQL that read more points", Fix: "set it to 0"},
	{Setting: "influxql-max-select-series", Wrong: driver.IsNot("0"), Effect: "the server ends queries in InfluxQL of more series", Fix: "set it to 0"},
	{Setting: "influxql-max-select-buckets", Wrong: driver.IsNot("0"), Effect: "the server ends queries in InfluxQL of more buckets of time", Fix: "set it to 0"},
	{Setting: "http-write-timeout", Wrong: driver.IsNot("0s", "0"), Effect: "the server ends requests whose answer takes longer", Fix: "set it to 0s"},
	{Setting: "http-read-timeout", Wrong: driver.IsNot("0s", "0"), Effect: "the server ends requests that take longer to arrive", Fix: "set it to 0s"},
	{Setting: "flux-log-enabled", Wrong: driver.Is("true"), Effect: "each query is written to the log", Fix: "set flux-log-enabled to false"},
	{Setting: "log-level", Wrong: driver.Is("debug"), Effect: "the server logs all that it does", Fix: "set log-level to info"},
	{Setting: "tracing-type", Wrong: driver.IsNot(""), Effect: "requests are traced", Fix: "leave tracing-type out"},
}

// Advise implements driver.DB.
func (d *database) Advise(ctx context.Context) ([]driver.Advice, error) {
	config, err := d.config(ctx)
	if err != nil {
		return nil, operators(err)
	}
	return driver.AdviseOn(concerns, config), nil
}

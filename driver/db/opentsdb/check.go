package opentsdb

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
)

// pathStats is the path of the server's own metrics, with the time.
const pathStats = "/api/stats"

// endpoints implements driver.Driver's Endpoints.
func endpoints(o driver.Options) ([]driver.Endpoint, error) {
	s, err := newSettings(o)
	if err != nil {
		return nil, err
	}
	return []driver.Endpoint{s.wire.Endpoint(connection.Port)}, nil
}

// ReadClock implements driver.DB: the server's answers have no header Date, and its
// figures of itself have whole seconds.
func (d *database) ReadClock(ctx context.Context) (driver.Reading, error) {
	sent := time.Now()
	answer, err := d.own.Get(ctx, http.MethodGet, pathStats, nil)
	answered := time.Now()
	if err != nil {
		return driver.Reading{}, err
	}
	var figures []struct{ Timestamp int64 }
	if json.Unmarshal(answer, &figures) != nil || len(figures) == 0 || figures[0].Timestamp == 0 {
		return driver.Reading{}, errors.New(pathStats + " has no timestamps")
	}
	return driver.Reading{Sent: sent, Received: answered, Server: time.Unix(figures[0].Timestamp, 0), Unit: time.Second}, nil
}

// FreeSpace implements driver.DB.
func (d *database) FreeSpace(context.Context) (folder string, free int64, err error) {
	return "", -1, driver.Unknown("OpenTSDB keeps its data in HBase and does not report the disks of HBase: check the disks of HBase's nodes, or HDFS")
}

// concerns are what distorts the figures of OpenTSDB; settings without which a run would
// fail Inspect refuses.
var concerns = []driver.Concern{
	{Setting: "tsd.mode", Wrong: driver.Is("ro"), Effect: "nothing can be loaded", Fix: "set tsd.mode = rw in opentsdb.conf, and restart"},
	{Setting: "tsd.core.auto_create_metrics", Wrong: driver.Is("false"), Effect: "metrics that appear in the middle of a load are refused", Fix: "set tsd.core.auto_create_metrics = true"},
	{Setting: "tsd.storage.enable_compaction", Wrong: driver.Is("true"), Effect: "the server reads each hour of a series again and rewrites it, also long after a load has settled", Fix: "set tsd.storage.enable_compaction = false, or report that it was run as shipped"},
	{Setting: "tsd.storage.enable_appends", Wrong: driver.Is("true"), Effect: "each point is an append, for which HBase reads the row before", Fix: "set tsd.storage.enable_appends = false, or report it"},
	{Setting: "tsd.core.meta.enable_realtime_ts", Wrong: driver.Is("true"), Effect: "the server writes a document about each series", Fix: "set it to false, or report it"},
	{Setting: "tsd.core.meta.enable_realtime_uid", Wrong: driver.Is("true"), Effect: "the server writes a document about each name", Fix: "set it to false, or report it"},
	{Setting: "tsd.core.meta.enable_tsuid_incrementing", Wrong: driver.Is("true"), Effect: "the server increments a counter for each point", Fix: "set it to false, or report it"},
	{Setting: "tsd.core.meta.enable_tsuid_tracking", Wrong: driver.Is("true"), Effect: "the server writes to a second table for each point", Fix: "set it to false, or report it"},
	{Setting: "tsd.core.tree.enable_processing", Wrong: driver.Is("true"), Effect: "each new series is put into trees", Fix: "set it to false, or report it"},
	{Setting: "tsd.rtpublisher.enable", Wrong: driver.Is("true"), Effect: "each point is published as well", Fix: "set it to false"},
	{Setting: "tsd.query.timeout", Wrong: driver.IsNot("0"), Effect: "the server ends long queries", Fix: "set tsd.query.timeout = 0"},
	{Setting: "tsd.query.limits.bytes.default", Wrong: driver.IsNot("0"), Effect: "the server ends queries that read more bytes", Fix: "set it to 0"},
	{Setting: "tsd.query.limits.data_points.default", Wrong: driver.IsNot("0"), Effect: "the server ends queries that read more points", Fix: "set it to 0"},
	{Setting: "tsd.query.allow_simultaneous_duplicates", Wrong: driver.Is("false"), Effect: "the server refuses a query while the same one is running", Fix: "set it to true"},
	{Setting: "tsd.core.connections.limit", Wrong: driver.IsNot("0"), Effect: "the server refuses more connections than that", Fix: "set it to 0, or give fewer workers"},
}

// Advise implements driver.DB: of the settings as Open has read them.
func (d *database) Advise(context.Context) ([]driver.Advice, error) {
	values := make(map[string]string, len(d.config))
	for name, value := range d.config {
		if value != "" {
			values[name] = value
		}
	}
	return driver.AdviseOn(concerns, values), nil
}

package prometheus

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
)

// endpoints implements driver.Driver's Endpoints.
func endpoints(o driver.Options) ([]driver.Endpoint, error) {
	s, err := newSettings(o)
	if err != nil {
		return nil, err
	}
	return []driver.Endpoint{s.wire.Endpoint(connection.Port)}, nil
}

// ReadClock implements driver.DB: a query without a time is evaluated at the server's time.
func (d *database) ReadClock(ctx context.Context) (driver.Reading, error) {
	sent := time.Now()
	answer, err := d.own.Get(ctx, http.MethodGet, d.settings.prefix+"/api/v1/query", url.Values{"query": {"time()"}})
	answered := time.Now()
	if err != nil {
		return driver.Reading{}, err
	}
	var document struct {
		Data struct {
			Result [2]any // the time twice: as a number, and as the value's text
		}
	}
	err = json.Unmarshal(answer, &document)
	text, _ := document.Data.Result[1].(string)
	seconds, failed := strconv.ParseFloat(text, 64)
	if err != nil || failed != nil {
		return driver.Reading{}, fmt.Errorf("the response is not a time: %.100q", answer)
	}
	return driver.Reading{Sent: sent, Received: answered, Server: time.UnixMilli(int64(seconds*1000 + 0.5)), Unit: time.Millisecond}, nil
}

// FreeSpace implements driver.DB. The folder is --storage.tsdb.path, relative to the server's working
// directory. The server does not report the free space.
func (d *database) FreeSpace(ctx context.Context) (folder string, free int64, err error) {
	flags, err := d.flags(ctx)
	if err != nil {
		return "", -1, err
	}
	if folder = flags["storage.tsdb.path"]; folder == "" || path.IsAbs(folder) {
		return folder, -1, nil
	}
	var runtime struct{ CWD string }
	if err := d.status(ctx, "runtimeinfo", &runtime); err != nil {
		return "", -1, err
	}
	return path.Join(runtime.CWD, folder), -1, nil
}

// concerns are the settings that distort measurements of Prometheus. Inspect reports settings that
// would refuse or lose rows.
var concerns = []driver.Concern{
	{Setting: "query.timeout", Wrong: driver.ShorterThan(2 * time.Minute), Effect: "the server ends long queries sooner than as shipped", Fix: "leave --query.timeout out, or raise it"},
	{Setting: "query.max-samples", Wrong: driver.LessThan(50_000_000), Effect: "the server ends queries of fewer samples than as shipped", Fix: "leave --query.max-samples out, or raise it"},
	{Setting: "query.max-concurrency", Wrong: driver.LessThan(20), Effect: "queries of more workers than that wait for one another", Fix: "leave --query.max-concurrency out, or raise it"},
	{Setting: "storage.tsdb.retention.size", Wrong: driver.IsNot("", "0", "0B"), Effect: "the server deletes its oldest blocks once it has more bytes", Fix: "leave --storage.tsdb.retention.size out"},
	{Setting: "log.level", Wrong: driver.Is("debug"), Effect: "the server logs all that it does", Fix: "leave --log.level out"},
	{Setting: scrapes, Wrong: driver.IsNot("0"), Effect: "the server collects other samples into the same store while it is measured", Fix: "start it with a configuration without scrape_configs, or report it"},
	{Setting: rules, Wrong: driver.IsNot("0"), Effect: "the server evaluates rules while it is measured", Fix: "start it with a configuration without rule_files, or report it"},
	{Setting: forwards, Wrong: driver.IsNot("0"), Effect: "each sample is sent on to another system", Fix: "start it with a configuration without remote_write"},
	{Setting: queryLog, Wrong: driver.IsNot(""), Effect: "each query is written to a log", Fix: "take query_log_file out of the configuration"},
}

// The parts of the server's configuration that distort measurements.
const (
	scrapes  = "number of scrape_configs"
	rules    = "number of rule_files"
	forwards = "number of remote_write"
	queryLog = "query_log_file"
)

// Advise implements driver.DB.
func (d *database) Advise(ctx context.Context) ([]driver.Advice, error) {
	flags, err := d.flags(ctx)
	if err != nil {
		return nil, err
	}
	c, err := d.config(ctx)
	if err != nil {
		return nil, err
	}
	if flags == nil {
		flags = map[string]string{}
	}
	flags[scrapes], flags[rules], flags[forwards] = fmt.Sprint(len(c.Scrapes)), fmt.Sprint(len(c.Rules)), fmt.Sprint(len(c.Forwards))
	flags[queryLog] = c.Global.QueryLog
	return driver.AdviseOn(concerns, flags), nil
}

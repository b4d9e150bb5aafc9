package opentsdb

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/series"
)

// The paths of the server.
const (
	pathPut        = "/api/put"
	pathQuery      = "/api/query"
	pathLookup     = "/api/search/lookup"
	pathSuggest    = "/api/suggest"
	pathAssign     = "/api/uid/assign"
	pathAnnotation = "/api/annotation"
	pathVersion    = "/api/version"
	pathConfig     = "/api/config"
)

// settings are the parsed options.
type settings struct {
	wire   httpwire.Config
	sync   bool // HBase has them when they are acknowledged
	layout layout
}

// queued reports whether acknowledged points may still be on their way to HBase.
func (s *settings) queued() bool { return !s.sync }

func newSettings(o driver.Options) (*settings, error) {
	wire, err := httpwire.NewConfig(connection.NewSettings(o), "")
	s := &settings{wire: wire, sync: o.Bool(optionSync), layout: layout(o[optionMetric])}
	return s, err
}

// database is an OpenTSDB server; it implements driver.DB.
type database struct {
	lineproto.Loader
	metric.Settling
	settings *settings
	own      metric.Console // for everything but writers and queriers
	version  string
	config   map[string]string
}

// open connects, and finds out whether an OpenTSDB answers.
func open(ctx context.Context, _ driver.Env, options driver.Options) (driver.DB, error) {
	s, err := newSettings(options)
	if err != nil {
		return driver.DB{}, fmt.Errorf("opening OpenTSDB: %w", err)
	}
	d := newDatabase(s)
	return metric.Open(ctx, "OpenTSDB", &s.wire, d.db(), d.greet)
}

// db returns the database with the optional functions of the system.
func (d *database) db() driver.DB {
	return driver.DB{Required: d, Optional: driver.Optional{
		Address:    d.Address(),
		Inspect:    d.Inspect,
		ReadClock:  d.ReadClock,
		FreeSpace:  d.FreeSpace,
		Advise:     d.Advise,
		Join:       d.Join,
		Grow:       d.Grow,
		IdleSince:  d.IdleSince,
		CountRows:  d.CountRows,
		ListSeries: d.ListSeries,
	}}
}

// newDatabase returns a database that has not connected yet.
func newDatabase(s *settings) *database {
	q := newQuerier(s)
	return &database{
		Loader:   lineproto.Loader{System: "OpenTSDB", Open: s.sender},
		settings: s, own: metric.Console{Querier: q, Client: q.Client, Explain: responseError},
	}
}

// Close implements driver.DB.
func (d *database) Close() error { return d.own.Close() }

// greet reads the server's version and its settings.
func (d *database) greet(ctx context.Context) error {
	answer, err := d.own.Get(ctx, http.MethodGet, pathVersion, nil)
	if err != nil {
		return err
	}
	var of struct {
		Version  string
		Revision string `json:"short_revision"`
	}
	if json.Unmarshal(answer, &of) != nil || of.Version == "" || of.Revision == "" {
		return fmt.Errorf("%s %w: what answers there is not OpenTSDB", d.Address(), driver.ErrUnreachable)
	}
	// The packages of 2.4.1 say BuildData for their version.
	d.version = of.Version + " (revision " + of.Revision + ")"
	if answer, err = d.own.Get(ctx, http.MethodGet, pathConfig, nil); err != nil {
		return err
	}
	if err := json.Unmarshal(answer, &d.config); err != nil {
		return fmt.Errorf("reading the settings of %s: %w", d.Address(), err)
	}
	return nil
}

// needed are the server settings without which some operations of tsmark fail.
var needed = []struct{ name, value, why string }{
	{"tsd.http.request.enable_chunked", "true", "it refuses larger batches"},
	{"tsd.http.query.allow_delete", "true", "it deletes nothing, so that no data can be replaced"},
	{"tsd.query.skip_unresolved_tagvs", "true", "it fails where a query names a host that has no data"},
	{"tsd.core.auto_create_tagvs", "true", "it refuses series that it does not know yet"},
}

// Inspect implements driver.DB.
func (d *database) Inspect(context.Context) error {
	for _, n := range needed {
		if d.config[n.name] != n.value {
			return fmt.Errorf("OpenTSDB at %s has %s = %s, with which %s: set it to %s in opentsdb.conf", d.Address(), n.name, d.config[n.name], n.why, n.value)
		}
	}
	return nil
}

// Address implements driver.DB.
func (d *database) Address() string { return d.settings.wire.Address() }

// NewQuerier implements driver.DB.
func (d *database) NewQuerier(context.Context, int) (driver.Querier, error) {
	return newQuerier(d.settings), nil
}

// testSetup is the setting in which servers/opentsdb describes the server that it starts.
const testSetup = "tsmark.test_setup"

// described are the settings that reports have.
var described = []string{
	"tsd.core.uid.random_metrics", "tsd.http.request.max_chunk", "tsd.query.multi_get.enable", "tsd.storage.enable_appends",
	"tsd.storage.enable_compaction", "tsd.storage.fix_duplicates", "tsd.storage.flush_interval", "tsd.storage.salt.buckets", "tsd.storage.salt.width",
	"tsd.uid.lru.enable",
}

// Describe implements driver.DB. The server does not report the regions of HBase.
func (d *database) Describe(context.Context) (driver.Description, error) {
	out := driver.Description{
		Version: d.version, Location: d.Address(),
		Durability: "acknowledged once HBase has the points in its log; the server does not report when HBase's log is on disk",
		Settings:   map[string]string{}, Elsewhere: "server", StandIn: d.config[testSetup],
	}
	if !d.settings.sync {
		out.Durability = "acknowledged once OpenTSDB has read the points (sync=false); the server does not report when HBase has them and when its log is on disk"
	}
	for _, name := range described {
		if value := d.config[name]; value != "" {
			out.Settings[name] = value
		}
	}
	return out, nil
}

// Footprint implements driver.DB: the server does not report sizes.
func (d *database) Footprint(context.Context) (driver.Footprint, error) {
	return driver.Footprint{Bytes: -1}, nil
}

// untagged is the tag of series without any, which OpenTSDB does not have.
const untagged = metric.Own + "untagged"

// points returns an encoder of JSON as OpenTSDB reads it.
func (s *settings) points(of *series.Schema) encode.Encoder {
	return encode.Puts{Metric: s.layout.metricOf, Tag: s.layout.tagOf, Name: name, Null: metric.NullField, Untagged: [2]string{untagged, "1"}}.New(of)
}

// sender opens a connection on which points are written. Over HTTP the server gives a reason for each
// point that it did not store: for all points after HBase has acknowledged them, or, without sync, only
// for points that it could not parse.
func (s *settings) sender(ctx context.Context) (lineproto.Sender, error) {
	parameters := url.Values{"details": {""}}
	if s.sync {
		parameters.Set("sync", "")
	}
	return lineproto.Endpoint{
		Wire: &s.wire, Path: pathPut, Parameters: parameters,
		Header: http.Header{"Content-Type": {"application/json"}}, Compress: lineproto.Gzip, Explain: responseError, Stored: storedError,
	}.Open(ctx)
}

// Settle implements driver.DB. A point is visible once HBase has stored it. If the server does not
// report that, Settle counts points until no more appear.
func (d *database) Settle(ctx context.Context) error {
	var count func(context.Context) (int64, error)
	if d.settings.queued() {
		count = d.count
	}
	if err := d.Await(ctx, d.flush(), count); err != nil {
		return fmt.Errorf("settling OpenTSDB at %s: %w", d.Address(), err)
	}
	return nil
}

// flush is the interval at which the server flushes points to HBase: a second by default.
func (d *database) flush() time.Duration {
	if ms, err := strconv.Atoi(d.config["tsd.storage.flush_interval"]); err == nil {
		return time.Duration(ms) * time.Millisecond
	}
	return time.Second
}

// count returns how many points the tables have.
func (d *database) count(ctx context.Context) (int64, error) {
	total := int64(0)
	for _, t := range d.Tables() {
		values, err := d.figure(ctx, t, metric.StoredMetrics(t), "count")
		if err != nil {
			return 0, err
		}
		for _, v := range values {
			total += int64(v.Float)
		}
	}
	return total, nil
}

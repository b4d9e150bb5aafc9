package kairosdb

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
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
	pathPoints  = "/api/v1/datapoints"
	pathQuery   = "/api/v1/datapoints/query"
	pathDelete  = "/api/v1/datapoints/delete"
	pathNames   = "/api/v1/metricnames"
	pathVersion = "/api/v1/version"
	// pathSetup is a file in which servers/kairosdb describes the server that it starts.
	pathSetup = "/tsmark-test-setup"
)

// serverOwn begins the metrics that a server writes of itself: five of every query,
// unless kairosdb.queries.aggregate_stats is set, and others every minute.
const serverOwn = "kairosdb."

// settings are the parsed options.
type settings struct {
	wire   httpwire.Config
	queued bool // points are queued on the server behind their acknowledgement
	// handOn is longer than the server's delay before it flushes a queue that is nearly empty.
	handOn time.Duration
}

func newSettings(o driver.Options) (*settings, error) {
	wire, err := httpwire.NewConfig(connection.NewSettings(o), "")
	// The server closes a connection that has lain idle for so long
	// (kairosdb.jetty.socket_idle_timeout), or for 30 s before 1.3.
	wire.Idle = 20 * time.Second
	s := &settings{
		wire: wire, queued: o[optionDatastore] == datastoreCassandra,
		handOn: 2 * o.Duration(optionQueueWait),
	}
	return s, err
}

// database is a KairosDB server; it implements driver.DB.
type database struct {
	lineproto.Loader
	metric.Settling
	settings *settings
	own      metric.Console // for everything but writers and queriers
	version  string
	standIn  string // see driver.Description
}

// open connects, and finds out whether a KairosDB answers.
func open(ctx context.Context, _ driver.Env, options driver.Options) (driver.DB, error) {
	s, err := newSettings(options)
	if err != nil {
		return driver.DB{}, fmt.Errorf("opening KairosDB: %w", err)
	}
	d := newDatabase(s)
	return metric.Open(ctx, "KairosDB", &s.wire, d.db(), d.greet)
}

// db returns the database with the optional functions of the system.
func (d *database) db() driver.DB {
	o := driver.Optional{
		Address:    d.Address(),
		ReadClock:  d.ReadClock,
		FreeSpace:  d.FreeSpace,
		Advise:     d.Advise,
		Join:       d.Join,
		Grow:       d.Grow,
		IdleSince:  d.IdleSince,
		CountRows:  d.CountRows,
		ListSeries: d.ListSeries,
	}
	if !d.settings.queued {
		o.DeleteSeries, o.DropBefore = d.DeleteSeries, d.DropBefore
	}
	return driver.DB{Required: d, Optional: o}
}

// newDatabase returns a database that has not connected yet.
func newDatabase(s *settings) *database {
	q := newQuerier(s)
	return &database{
		Loader:   lineproto.Loader{System: "KairosDB", Open: s.sender},
		settings: s, own: metric.Console{Querier: q, Client: q.Client, Explain: responseError},
	}
}

// Close implements driver.DB.
func (d *database) Close() error { return d.own.Close() }

// greet reads the server's version.
func (d *database) greet(ctx context.Context) error {
	answer, err := d.own.Get(ctx, http.MethodGet, pathVersion, nil)
	if err != nil {
		return err
	}
	var of struct{ Version string }
	name := ""
	if json.Unmarshal(answer, &of) == nil {
		name, d.version, _ = strings.Cut(of.Version, " ")
	}
	if name != "KairosDB" {
		return fmt.Errorf("%s %w: what answers there is not KairosDB", d.Address(), driver.ErrUnreachable)
	}
	if !d.settings.queued {
		d.standIn = standInH2
		return nil
	}
	// Other servers have no such file, and say so in their own ways.
	if answer, err = d.own.Get(ctx, http.MethodGet, pathSetup, nil); err == nil && strings.HasPrefix(string(answer), setupPrefix) {
		d.standIn = httpwire.OneLine(string(answer))
	}
	return nil
}

const (
	// standInH2 describes KairosDB on its embedded datastore, which its authors provide for trials.
	standInH2 = "KairosDB on its embedded H2, which is for development, not on Cassandra"
	// setupPrefix begins the text of pathSetup.
	setupPrefix = "KairosDB "
)

// Address implements driver.DB.
func (d *database) Address() string { return d.settings.wire.Address() }

// NewQuerier implements driver.DB.
func (d *database) NewQuerier(context.Context, int) (driver.Querier, error) {
	return newQuerier(d.settings), nil
}

// Describe implements driver.DB. The server reports only its version.
func (d *database) Describe(context.Context) (driver.Description, error) {
	out := driver.Description{
		Version: d.version, Location: d.Address(), StandIn: d.standIn,
		Safety:     driver.InMemory,
		Durability: "H2 commits each point, and writes it to disk up to 500 ms later (as options say: the server does not report its datastore)",
		Settings:   map[string]string{"datastore": datastoreH2 + ", as the option " + optionDatastore + " says"},
		Elsewhere:  "server",
	}
	if d.settings.queued {
		out.Safety = ""
		out.Durability = "acknowledged once it is in the server's queue of files; what its Cassandra then does is not told"
		out.Settings["datastore"] = datastoreCassandra + ", as the option " + optionDatastore + " says"
	}
	return out, nil
}

// Footprint implements driver.DB: the server does not report sizes.
func (d *database) Footprint(context.Context) (driver.Footprint, error) {
	return driver.Footprint{Bytes: -1}, nil
}

// untagged is the tag of series without any, which KairosDB does not have.
const untagged = metric.Own + "untagged"

// points returns an encoder of JSON as KairosDB reads it.
func (s *settings) points(of *series.Schema) encode.Encoder {
	tag := [2]string{untagged, "1"}
	return encode.DataPoints{Metric: metric.Name, Null: metric.NullField, Untagged: tag}.New(of)
}

// sender opens a connection on which rows are written.
func (s *settings) sender(ctx context.Context) (lineproto.Sender, error) {
	return lineproto.Endpoint{
		Wire: &s.wire, Path: pathPoints, Header: http.Header{"Content-Type": {"application/json"}},
		Explain: responseError,
	}.Open(ctx)
}

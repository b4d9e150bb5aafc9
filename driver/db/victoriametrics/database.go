package victoriametrics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/driver/kit/promql"
	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/series"
)

// settings are the parsed options.
type settings struct {
	wire           httpwire.Config
	insert, selekt string // before the paths
	protocol       string // that the option says; empty: depends on the schema
	retention      string
}

func newSettings(o driver.Options) (*settings, error) {
	wire, err := httpwire.NewConfig(connection.NewSettings(o), o[promql.TokenOption])
	// The server closes a connection that has lain idle for a minute.
	wire.Idle = 50 * time.Second
	s := &settings{wire: wire, insert: o[optionInsert], selekt: o[optionSelect], protocol: o[metric.OptionProtocol], retention: o[optionRetention]}
	return s, err
}

// database is a VictoriaMetrics server; it implements driver.DB.
type database struct {
	lineproto.Loader
	settings *settings
	protocol atomic.Pointer[string]  // of writers
	months   atomic.Pointer[[]int64] // of the rows: see reveal
	own      *promql.Console         // for everything but writers and queriers
	// As the last Settle found it; nil before.
	idleSince atomic.Pointer[time.Time]
	written   atomic.Bool // whether FlushMemory had all written to files
}

// open connects, and finds out whether a VictoriaMetrics answers that takes the
// credentials.
func open(ctx context.Context, _ driver.Env, options driver.Options) (driver.DB, error) {
	s, err := newSettings(options)
	if err != nil {
		return driver.DB{}, fmt.Errorf("opening VictoriaMetrics: %w", err)
	}
	d := newDatabase(s)
	return metric.Open(ctx, "VictoriaMetrics", &s.wire, d.db(), d.greet)
}

// db returns the database with the optional functions of the system.
func (d *database) db() driver.DB {
	return driver.DB{Required: d, Optional: driver.Optional{
		Address:     d.Address(),
		Inspect:     d.Inspect,
		ReadClock:   d.ReadClock,
		FreeSpace:   d.FreeSpace,
		Advise:      d.Advise,
		TakesLines:  d.TakesLines,
		Join:        d.Join,
		Grow:        d.Grow,
		IdleSince:   d.IdleSince,
		FlushMemory: d.FlushMemory,
		CountRows:   d.CountRows,
		ListSeries:  d.ListSeries,
		ReadMetrics: d.ReadMetrics,
		Backlog:     driver.Backlog{Metric: "vm_pending_rows storage", What: "rows that are not in parts yet"},

		DeleteSeries: d.DeleteSeries,
		Explain:      d.own.Trace,
		ProfileCPU:   httpwire.CPUProfile(&d.settings.wire, ""),
	}}
}

// newQuerier returns a querier. Answers are not taken from the server's cache, which
// rounds times.
func newQuerier(s *settings) *promql.Querier {
	return promql.NewQuerier(&promql.API{
		System: "VictoriaMetrics", Wire: &s.wire, Prefix: s.selekt, Seconds: seconds, Explain: responseError,
		Form: func(p *metric.Plan) (url.Values, error) {
			return url.Values{"query": {p.Expression}, "nocache": {"1"}}, nil
		},
	})
}

// newDatabase returns a database that has not connected yet.
func newDatabase(s *settings) *database {
	d := &database{settings: s, own: promql.NewConsole(newQuerier(s))}
	d.Loader = lineproto.Loader{System: "VictoriaMetrics", Open: func(ctx context.Context) (lineproto.Sender, error) {
		return s.writes(*d.protocol.Load()).Open(ctx)
	}}
	return d
}

// Close implements driver.DB.
func (d *database) Close() error { return d.own.Close() }

// greet runs a query that no other system understands.
func (d *database) greet(ctx context.Context) error {
	answer, err := d.own.Get(ctx, http.MethodGet, d.settings.selekt+"/api/v1/query", url.Values{"query": {"union(1)"}})
	var vector struct{ Data struct{ ResultType string } }
	if err == nil && (json.Unmarshal(answer, &vector) != nil || vector.Data.ResultType != "vector") || errors.Is(err, promql.ErrNotFound) {
		err = fmt.Errorf("%s %w: what answers there is not VictoriaMetrics, or its paths begin otherwise (%s)", d.Address(), driver.ErrUnreachable, optionSelect)
	}
	return err
}

// Address implements driver.DB.
func (d *database) Address() string { return d.settings.wire.Address() }

// NewQuerier implements driver.DB.
func (d *database) NewQuerier(context.Context, int) (driver.Querier, error) {
	return newQuerier(d.settings), nil
}

// lines is line protocol for VictoriaMetrics: a backslash must be escaped by another one. Numeric tags
// are labels like others.
func lines() encode.LineProtocol {
	return encode.LineProtocol{
		Escape: `, =\`, NumberTags: true, NullName: metric.NullField, Null: func(series.Type) string { return "t" },
	}
}

// protocolFor returns the protocol for a schema.
func (s *settings) protocolFor(of *series.Schema) string {
	switch {
	case s.protocol != "":
		return s.protocol
	case hasMetrics(of):
		return metric.RemoteWrite1
	}
	return protocolLine
}

// hasMetrics reports whether tables are metrics, whose staleness markers line protocol does not have.
func hasMetrics(s *series.Schema) bool { return len(s.Tables) > 0 && s.Tables[0].Metric != nil }

// encoder returns the encoder for a protocol. Only line protocol does not accept any name unchanged.
func encoder(protocol string, of *series.Schema) encode.Encoder {
	if protocol == protocolLine {
		return lines().New(of)
	}
	return requests(protocol).Encoder(of)
}

// requests returns the requests of a protocol.
func requests(protocol string) metric.Requests {
	return metric.Requests{Protocol: protocol, Metric: metricsQL{}.Metric, Label: metricsQL{}.Label}
}

// TakesLines implements driver.DB. As line protocol has them, tags that are
// numbers would be metrics.
func (d *database) TakesLines(format string, s *series.Schema) bool {
	return format == "influx" && d.settings.protocolFor(s) == protocolLine && numberTagged(s) == nil
}

// writes returns where rows are written by a protocol.
func (s *settings) writes(protocol string) lineproto.Endpoint {
	e := lineproto.Endpoint{Wire: &s.wire, Explain: responseError}
	switch protocol {
	case protocolLine:
		e.Path, e.Parameters = s.insert+"/write", url.Values{"precision": {"ns"}}
		return e
	case metric.OTLP:
		e.Path = s.insert + "/opentelemetry/v1/metrics"
	default:
		e.Path = s.insert + "/api/v1/write"
	}
	return requests(protocol).Endpoint(e)
}

// responseError converts a response with an unsuccessful status to an error.
func responseError(status int, body []byte) error {
	if most := mostPoints.FindSubmatch(body); most != nil {
		return metric.UnsupportedError("the server returns at most %s points of a series; raise its -search.maxPointsPerTimeseries", most[1])
	}
	return promql.ResponseError([]string{"unsupported path", "missing route"}, advice())(status, body)
}

// mostPoints matches the limit of points in the server's message. The limit is a flag of the server, so
// rendering cannot know it.
var mostPoints = regexp.MustCompile(`-search\.maxPointsPerTimeseries=(\d+)`)

// advice pairs words of a server's message with the remedy.
func advice() [][2]string {
	return [][2]string{
		{"maxUniqueTimeseries", "raise -search.maxUniqueTimeseries of the server"},
		{"maxQueryDuration", "raise -search.maxQueryDuration of the server"},
		{"maxPointsPerTimeseries", "raise -search.maxPointsPerTimeseries of the server"},
		{"maxSamplesPer", "raise that of the server"},
		{"maxConcurrentRequests", "raise -search.maxConcurrentRequests of the server, or query with fewer workers"},
		{"maxQueryLen", "raise -search.maxQueryLen of the server"},
		{"read-only", "free space on the server's disk"},
	}
}

package prometheus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/driver/kit/promql"
)

// settings are the parsed options.
type settings struct {
	system   string // in messages
	wire     httpwire.Config
	prefix   string            // before the paths of queries
	protocol string            // of writers
	push     map[string]string // paths of writes by their protocols
	oldData  string
	quirks   *quirks // of a compatible system; nil: it is Prometheus

	parameters url.Values              // of each query, in addition
	hidden     string                  // see promql.API
	explain    func(int, []byte) error // see httpwire.ResponseError
}

func newSettings(o driver.Options) (*settings, error) {
	wire, err := httpwire.NewConfig(connection.NewSettings(o), o[promql.TokenOption])
	prefix := o[optionPrefix]
	return &settings{
		system: "Prometheus", wire: wire, prefix: prefix, protocol: o[metric.OptionProtocol], oldData: o[optionOldData], explain: responseError,
		push: map[string]string{metric.RemoteWrite1: prefix + "/api/v1/write", metric.RemoteWrite2: prefix + "/api/v1/write", metric.OTLP: prefix + "/api/v1/otlp/v1/metrics"},
	}, err
}

// database is a Prometheus server; it implements driver.DB.
type database struct {
	lineproto.Loader
	settings  *settings
	server    server
	own       *promql.Console // for everything but writers and queriers
	head      head
	idleSince atomic.Pointer[time.Time] // as the last Settle found it; nil before
}

// server describes a server's version and abilities.
type server struct {
	version  string        // 2.42.0
	closed   bool          // ranges contain both of their ends, as before version 3
	lookback bool          // queries say how far their selectors look back
	reaches  time.Duration // otherwise, how far selectors look back
}

// open implements driver.Driver.
func open(ctx context.Context, _ driver.Env, o driver.Options) (driver.DB, error) {
	return openAs(ctx, "Prometheus", nil, o)
}

// openAs connects, and checks that a Prometheus answers, accepts the credentials, and has the required
// features.
func openAs(ctx context.Context, system string, q *quirks, options driver.Options) (driver.DB, error) {
	s, err := newSettings(options)
	if err != nil {
		return driver.DB{}, fmt.Errorf("opening %s: %w", system, err)
	}
	s.system, s.quirks = system, q
	if q != nil {
		s.push[metric.RemoteWrite1] = q.Write
	}
	d := newDatabase(s)
	return metric.Open(ctx, system, &s.wire, d.db(), d.greet)
}

// db returns the database with the optional functions of the system.
func (d *database) db() driver.DB {
	if d.settings.quirks != nil {
		return driver.DB{Required: d, Optional: driver.Optional{
			Address: d.Address(), ReadClock: d.ReadClock, Grow: d.Grow, CountRows: d.CountRows, ListSeries: d.ListSeries,
		}}
	}
	return driver.DB{Required: d, Optional: driver.Optional{
		Address:     d.Address(),
		Inspect:     d.Inspect,
		ReadClock:   d.ReadClock,
		FreeSpace:   d.FreeSpace,
		Advise:      d.Advise,
		Grow:        d.Grow,
		IdleSince:   d.IdleSince,
		CountRows:   d.CountRows,
		ListSeries:  d.ListSeries,
		ReadMetrics: d.ReadMetrics,
		Steps:       []driver.Step{{Name: stepCompact, Help: stepHelp, Do: d.compact}, {Name: stepClean, Help: stepCleanHelp, Do: d.clean}},

		DeleteSeries: d.DeleteSeries,
		DropBefore:   d.DropBefore,
		MeasureReads: d.own.MeasureReads,
		ProfileCPU:   httpwire.CPUProfile(&d.settings.wire, d.settings.prefix),
	}}
}

// newDatabase returns a database that has not connected yet.
func newDatabase(s *settings) *database {
	d := &database{Loader: lineproto.Loader{System: s.system, Open: s.writes(s.protocol).Open}, settings: s}
	d.own = promql.NewConsole(d.newQuerier())
	return d
}

// newQuerier returns a querier for the server that greet has found.
func (d *database) newQuerier() *promql.Querier {
	return promql.NewQuerier(&promql.API{
		System: d.settings.system, Wire: &d.settings.wire, Prefix: d.settings.prefix, Seconds: seconds, Explain: d.settings.explain, Hidden: d.settings.hidden,
		Form: func(p *metric.Plan) (url.Values, error) {
			form, err := d.server.form(p)
			if err == nil {
				maps.Copy(form, d.settings.parameters)
			}
			return form, err
		},
	})
}

// form returns the parameters of a query.
func (s *server) form(p *metric.Plan) (url.Values, error) {
	form := url.Values{"query": {p.Expression}}
	if s.closed {
		form.Set("query", shortenRanges(p.Expression))
	}
	switch back := time.Duration(p.Lookback) * time.Millisecond; {
	case back == 0:
	case p.Samples && s.closed:
		return nil, metric.UnsupportedError("ranges of Prometheus %s include their start, and PromQL's answers are those of version 3", s.version)
	case p.Samples && s.lookback:
		form.Set("lookback_delta", seconds(p.Lookback))
	case p.Samples && s.reaches == back:
	case s.lookback:
		form.Set("lookback_delta", seconds(p.Lookback+1000)) // the expression excludes samples that are too old
	case s.reaches < back:
		return nil, fmt.Errorf("version %s of Prometheus looks back %v for the newest sample, but this query needs %v: start it with --query.lookback-delta=200y, or use version 2.43 or later", s.version, s.reaches, back)
	}
	return form, nil
}

// Close implements driver.DB.
func (d *database) Close() error { return d.own.Close() }

// notReady is what a server answers until it has read its write-ahead log.
const notReady = "Service Unavailable"

// greet finds out the version of the server.
func (d *database) greet(ctx context.Context) error {
	if q := d.settings.quirks; q != nil {
		if _, err := d.own.Names(ctx, nil); err != nil {
			return err
		}
		d.server = q.server()
		return nil
	}
	var build struct{ Version, GoVersion string }
	err := d.status(ctx, "buildinfo", &build)
	if err == nil && build.GoVersion == "" || errors.Is(err, promql.ErrNotFound) {
		err = fmt.Errorf("%s %w: what answers there is not Prometheus, or its paths begin otherwise (%s)", d.Address(), driver.ErrUnreachable, optionPrefix)
	}
	if err != nil && strings.HasSuffix(err.Error(), notReady) {
		err = fmt.Errorf("%s %w: it is not ready: %w", d.Address(), driver.ErrUnreachable, err)
	}
	if err != nil {
		return err
	}
	s := server{version: build.Version}
	major, rest, _ := strings.Cut(build.Version, ".")
	minor, _, _ := strings.Cut(rest, ".")
	at, err := strconv.Atoi(major)
	under, err1 := strconv.Atoi(minor)
	if err := errors.Join(err, err1); err != nil {
		return fmt.Errorf("%s does not say its version, by which its ranges differ: %q; build it with one", d.Address(), build.Version)
	}
	s.closed, s.lookback = at < 3, at > 2 || at == 2 && under >= 43
	if s.closed && d.settings.protocol != metric.RemoteWrite1 {
		return fmt.Errorf("the server, Prometheus %s, takes remote write 1.0 alone: give %s=%s", s.version, metric.OptionProtocol, metric.RemoteWrite1)
	}
	if !s.lookback {
		flags, err := d.flags(ctx)
		if err != nil {
			return err
		}
		s.reaches = duration(flags["query.lookback-delta"])
	}
	d.server = s
	return nil
}

// status reads one of the server's reports about itself.
func (d *database) status(ctx context.Context, name string, into any) error {
	answer, err := d.own.Get(ctx, http.MethodGet, d.settings.prefix+"/api/v1/status/"+name, nil)
	if err != nil {
		return err
	}
	document := struct {
		Status string
		Data   any
	}{Data: into}
	if err := json.Unmarshal(answer, &document); err != nil || document.Status != "success" {
		return fmt.Errorf("%w: its report %s cannot be read: %.100q", promql.ErrNotFound, name, answer)
	}
	return nil
}

// flags are the server's command line.
func (d *database) flags(ctx context.Context) (map[string]string, error) {
	var flags map[string]string
	err := d.status(ctx, "flags", &flags)
	return flags, err
}

// duration parses a duration of Prometheus: 1y2w3d4h5m6s7ms. It returns 0 for a malformed and for an
// empty one.
func duration(text string) time.Duration {
	units := map[string]time.Duration{
		"y": 365 * 24 * time.Hour, "w": 7 * 24 * time.Hour, "d": 24 * time.Hour,
		"h": time.Hour, "m": time.Minute, "s": time.Second, "ms": time.Millisecond,
	}
	var sum time.Duration
	for text != "" {
		digits := strings.IndexFunc(text, func(c rune) bool { return c < '0' || c > '9' })
		if digits < 0 {
			return 0
		}
		n, err := strconv.ParseInt(text[:digits], 10, 64)
		text = text[digits:]
		letters := strings.IndexFunc(text, func(c rune) bool { return c >= '0' && c <= '9' })
		if letters < 0 {
			letters = len(text)
		}
		if err != nil || units[text[:letters]] == 0 {
			return 0
		}
		sum += time.Duration(n) * units[text[:letters]]
		text = text[letters:]
	}
	return sum
}

// Address implements driver.DB.
func (d *database) Address() string { return d.settings.wire.Address() }

// NewQuerier implements driver.DB.
func (d *database) NewQuerier(context.Context, int) (driver.Querier, error) {
	return d.newQuerier(), nil
}

// requests returns the requests of a protocol.
func requests(protocol string) metric.Requests {
	return metric.Requests{Protocol: protocol, Metric: language{}.Metric, Label: escapeName}
}

// writes returns the endpoint for requests of a protocol.
func (s *settings) writes(protocol string) lineproto.Endpoint {
	return requests(protocol).Endpoint(lineproto.Endpoint{Wire: &s.wire, Path: s.push[protocol], Explain: s.explain})
}

// responseError converts a response with an unsuccessful status to an error.
func responseError(status int, body []byte) error {
	return promql.ResponseError(nil, advice())(status, body)
}

// adminDisabled is the message of a server that cannot delete.
const adminDisabled = "admin APIs disabled"

// advice pairs words of a server's message with the remedy.
func advice() [][2]string {
	return [][2]string{
		{"remote write receiver needs to be enabled", "start the server with that flag"},
		{"remote-write-receiver", "start the server with --web.enable-remote-write-receiver"},
		{"otlp write receiver needs to be enabled", "start the server with --web.enable-otlp-receiver"},
		{adminDisabled, "start the server with --web.enable-admin-api, so that tsmark can delete its series, or start it on a new --storage.tsdb.path"},
		{"out of order sample", "set storage.tsdb.out_of_order_time_window in the server's configuration, or choose a dataset whose rows are not late"},
		{"out of bounds", "set storage.tsdb.out_of_order_time_window in the server's configuration, or start it on a new --storage.tsdb.path"},
		{"too old sample", "raise storage.tsdb.out_of_order_time_window in the server's configuration"},
		{"duplicate sample", "another value is there at this time: start the server on a new --storage.tsdb.path"},
		{"too many samples", "raise --query.max-samples of the server"},
		{"timed out", "raise --query.timeout of the server"},
		{"exceeded maximum resolution", "no flag of the server allows more"},
	}
}

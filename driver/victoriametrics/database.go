package victoriametrics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/connection"
	"github.com/tsmark/tsmark/driver/httpwire"
	"github.com/tsmark/tsmark/driver/lineproto"
	"github.com/tsmark/tsmark/driver/metric"
	"github.com/tsmark/tsmark/driver/promql"
	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/series"
)

// settings is what the options amount to.
type settings struct {
	wire           httpwire.Config
	insert, selekt string // before the paths
	gzip           int
	retention      string
}

func newSettings(o driver.Options) (*settings, error) {
	wire, err := httpwire.NewConfig(connection.Of(o), o[optionToken])
	// The server closes a connection that has lain idle for a minute.
	wire.Idle = 50 * time.Second
	return &settings{wire: wire, insert: o[optionInsert], selekt: o[optionSelect], gzip: o.Int(optionGzip), retention: o[optionRetention]}, err
}

// database is a VictoriaMetrics server; it implements driver.DB.
type database struct {
	lineproto.Loader
	settings *settings
	own      promql.Console // for everything but writers and queriers
	// What the last Settle found; nil before.
	idleSince atomic.Pointer[time.Time]
}

// open connects, and finds out whether a VictoriaMetrics answers that takes the
// credentials.
func open(ctx context.Context, _ driver.Env, options driver.Options) (driver.DB, error) {
	s, err := newSettings(options)
	if err != nil {
		return nil, fmt.Errorf("opening VictoriaMetrics: %w", err)
	}
	d := newDatabase(s)
	greeting, cancel := s.wire.Bounded(ctx)
	defer cancel()
	if err := d.greet(greeting); err != nil {
		d.Close()
		return nil, fmt.Errorf("opening VictoriaMetrics: %w", err)
	}
	return d, nil
}

// newQuerier returns a querier. Answers are not taken from the server's cache, which
// rounds times.
func newQuerier(s *settings) *promql.Querier {
	return promql.NewQuerier(&promql.API{
		System: "VictoriaMetrics", Wire: &s.wire, Prefix: s.selekt, Seconds: seconds, Explain: explained,
		Form: func(p *metric.Plan) (url.Values, error) {
			return url.Values{"query": {p.Expression}, "nocache": {"1"}}, nil
		},
	})
}

// newDatabase returns one that has not connected yet.
func newDatabase(s *settings) *database {
	return &database{
		Loader:   lineproto.Loader{System: "VictoriaMetrics", Open: s.writes().Open},
		settings: s, own: promql.Console{Querier: newQuerier(s)},
	}
}

// Close implements driver.DB.
func (d *database) Close() error { return d.own.Close() }

// greet runs a query that no other system understands.
func (d *database) greet(ctx context.Context) error {
	answer, err := d.own.Get(ctx, http.MethodGet, d.settings.selekt+"/api/v1/query", url.Values{"query": {"union(1)"}})
	var vector struct{ Data struct{ ResultType string } }
	if err == nil && (json.Unmarshal(answer, &vector) != nil || vector.Data.ResultType != "vector") || errors.Is(err, errNotFound) {
		err = fmt.Errorf("%s %w: what answers there is not VictoriaMetrics, or its paths begin otherwise (%s)", d.Address(), driver.ErrUnreachable, optionSelect)
	}
	return err
}

// Address implements driver.Server.
func (d *database) Address() string { return d.settings.wire.Address() }

// NewQuerier implements driver.DB.
func (d *database) NewQuerier(context.Context, int) (driver.Querier, error) {
	return newQuerier(d.settings), nil
}

// lines is line protocol as VictoriaMetrics reads it: a backslash stands for itself
// only behind another one. Tags that are numbers are labels as the others.
func lines() encode.LineProtocol {
	return encode.LineProtocol{
		Escape: `, =\`, NumberTags: true, NullName: metric.NullField, Null: func(series.Type) string { return "t" },
	}
}

// TakesLines implements driver.LineTaker. As line protocol has them, tags that are
// numbers would be metrics.
func (d *database) TakesLines(format string, s *series.Schema) bool {
	if format != "influx" || s == nil {
		return false
	}
	for _, t := range s.Tables {
		for i := range t.Tags {
			if t.Tags[i].Numeric() {
				return false
			}
		}
	}
	return true
}

// writes returns where lines are written.
func (s *settings) writes() lineproto.Endpoint {
	return lineproto.Endpoint{Wire: &s.wire, Path: s.insert + "/write", Parameters: url.Values{"precision": {"ns"}}, Gzip: s.gzip, Explain: explained}
}

// errNotFound says that a server has no such path.
var errNotFound = errors.New("it has no such path")

// explained returns what an answer whose status is none of success says, in one
// line, with how to fix it.
func explained(status int, body []byte) error {
	var e struct {
		Error string `json:"error"`
	}
	if json.Unmarshal(body, &e) != nil || e.Error == "" {
		e.Error = string(body)
	}
	line := httpwire.OneLine(e.Error)
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fmt.Errorf("it does not take these credentials; give the options %s and %s, or %s (it said: %s)", connection.User, connection.Password, optionToken, line)
	case status == http.StatusNotFound || status == http.StatusBadRequest && strings.Contains(line, "unsupported path"):
		return fmt.Errorf("%w: %s", errNotFound, line)
	}
	for _, a := range advice {
		if strings.Contains(line, a.words) {
			return fmt.Errorf("%s; %s", line, a.how)
		}
	}
	return errors.New(line)
}

// advice is how to fix what the server says by some words of it.
var advice = []struct{ words, how string }{
	{"maxUniqueTimeseries", "raise -search.maxUniqueTimeseries of the server"},
	{"maxQueryDuration", "raise -search.maxQueryDuration of the server"},
	{"maxPointsPerTimeseries", "raise -search.maxPointsPerTimeseries of the server"},
	{"maxSamplesPer", "raise that of the server"},
	{"maxConcurrentRequests", "raise -search.maxConcurrentRequests of the server, or query with fewer workers"},
	{"maxQueryLen", "raise -search.maxQueryLen of the server"},
	{"read-only", "free space on the server's disk"},
}

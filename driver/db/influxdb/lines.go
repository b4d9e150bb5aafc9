package influxdb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/influx"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// quirks are the differences of a system that takes line protocol, as a profile states them.
type quirks struct {
	Write string `yaml:"write"` // path of writes
	Ping  string `yaml:"ping"`  // path that answers if the system is up
}

// adapt returns the driver of a system that takes InfluxDB's lines and has no InfluxQL. It can only be loaded.
func adapt(c driver.Compatible) (driver.Driver, error) {
	q := c.Quirks.(*quirks)
	for path, value := range map[string]string{"write": q.Write, "ping": q.Ping} {
		if !strings.HasPrefix(value, "/") {
			return driver.Driver{}, &driver.QuirkError{Path: path, Text: fmt.Sprintf("must be a path such as /write, not %q", value)}
		}
	}
	d := Driver()
	d.Options = append(connectionOptions(), lineproto.GzipOption())
	d.Literals, d.RenderFrom, d.Durabilities = nil, nil, nil
	d.Caps = func(driver.Options) driver.Caps {
		all := caps(driver.Options{})
		all.Discards, all.Language = true, ""
		all.Changes = driver.Unchangeable("tsmark can only load " + c.System)
		return all
	}
	d.Place = func(o driver.Options) string {
		return fmt.Sprintf("database %s of %s at %s", o[connection.Database], c.System, driver.AddressPlace(o[connection.Host], o[connection.Port]))
	}
	d.Render = func(*query.Query, *series.Schema, driver.Options) (driver.Request, error) {
		return driver.Request{}, fmt.Errorf("%w: %s has no InfluxQL", query.ErrUnsupported, c.System)
	}
	d.Open = func(ctx context.Context, _ driver.Env, o driver.Options) (driver.DB, error) {
		l, err := openLines(ctx, c.System, q, o)
		if err != nil {
			return driver.DB{}, fmt.Errorf("opening %s: %w", c.System, err)
		}
		return driver.DB{Required: l, Optional: driver.Optional{Address: l.wire.Address(), TakesLines: l.TakesLines, Join: l.Create, Grow: l.Grow}}, nil
	}
	return d, nil
}

// lines is a database that can only be loaded: tsmark cannot read its contents.
type lines struct {
	lineproto.Loader
	system, database, ping string
	wire                   httpwire.Config
	client                 *httpwire.Client
}

func openLines(ctx context.Context, system string, q *quirks, o driver.Options) (*lines, error) {
	s, err := newSettings(o, os.Getenv)
	if err != nil {
		return nil, err
	}
	to := s.writes("")
	to.Path = q.Write
	l := &lines{Loader: lineproto.Loader{System: system, Open: to.Open}, system: system, database: s.database, ping: q.Ping, wire: s.wire, client: httpwire.New(&s.wire)}
	if _, err := l.version(ctx); err != nil {
		l.client.Close()
		return nil, err
	}
	return l, nil
}

// version returns the version in the answer to a ping.
func (l *lines) version(ctx context.Context) (string, error) {
	ctx, cancel := l.client.WithTimeout(ctx)
	defer cancel()
	request, err := l.client.Request(ctx, http.MethodGet, l.ping, nil, nil)
	if err != nil {
		return "", err
	}
	response, err := l.client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusMultipleChoices {
		return "", fmt.Errorf("%s %w: %s answers with status %d there; is it %s?", l.wire.Address(), driver.ErrUnreachable, l.ping, response.StatusCode, l.system)
	}
	return cmp.Or(response.Header.Get("X-Influxdb-Version"), driver.UnknownVersion), nil
}

// TakesLines implements driver.DB.
func (l *lines) TakesLines(format string, _ *series.Schema) bool { return format == "influx" }

// Describe implements driver.DB.
func (l *lines) Describe(ctx context.Context) (driver.Description, error) {
	version, err := l.version(ctx)
	return driver.Description{Version: version, Location: l.wire.Address() + "/" + l.database, Elsewhere: connection.Database}, err
}

// Create implements driver.DB: tables are created by their rows.
func (l *lines) Create(_ context.Context, s *series.Schema) error {
	l.Prepare(influx.Lines().New(s), s)
	return nil
}

// Grow implements driver.DB.
func (l *lines) Grow(s *series.Schema) error {
	l.Extend(influx.Lines().New(s), s)
	return nil
}

// errUnread is the error of everything that would read the database.
var errUnread = errors.New("tsmark cannot read it: it has no InfluxQL")

// The remaining methods implement driver.DB for a database whose contents are unknown.
func (l *lines) Objects(context.Context) ([]driver.Object, error) { return nil, nil }
func (l *lines) Plan(*series.Schema) ([]driver.Object, error)     { return nil, nil }
func (l *lines) Drop(context.Context, []driver.Object) error      { return errUnread }
func (l *lines) Note(context.Context) (string, error)             { return "", nil }
func (l *lines) SetNote(context.Context, string) error            { return nil }
func (l *lines) Settle(context.Context) error                     { return nil }
func (l *lines) Close() error                                     { l.client.Close(); return nil }
func (l *lines) NewQuerier(context.Context, int) (driver.Querier, error) {
	return nil, errUnread
}
func (l *lines) Census(context.Context, *series.Table) (driver.Census, error) {
	return driver.Census{}, errUnread
}
func (l *lines) Footprint(context.Context) (driver.Footprint, error) {
	return driver.Footprint{Bytes: -1}, nil
}

package influxdb

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/influx"
	"github.com/tsmark/tsmark/driver/kit/jsonrows"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
)

// database is a database of an InfluxDB server; it implements driver.DB.
type database struct {
	lineproto.Loader
	settings *settings
	// For everything but writers and queriers; the second one reads the results of SHOW.
	own       jsonrows.Console
	shows     *influx.Shows
	groups    *influx.Groups
	idleSince atomic.Pointer[time.Time] // as the last Settle found it; nil before
}

// open connects, and checks that an InfluxDB answers and accepts the credentials.
func open(ctx context.Context, env driver.Env, options driver.Options) (driver.DB, error) {
	s, err := newSettings(options, os.Getenv)
	if err != nil {
		return driver.DB{}, fmt.Errorf("opening InfluxDB: %w", err)
	}
	d := newDatabase(s)
	greeting, cancel := s.wire.WithTimeout(ctx)
	defer cancel()
	if err := d.greet(greeting, !env.Create); err != nil {
		d.Close()
		return driver.DB{}, fmt.Errorf("opening InfluxDB: %w", err)
	}
	return d.db(), nil
}

// db returns the database with the optional functions of the system.
func (d *database) db() driver.DB {
	o := driver.Optional{
		Address:            d.Address(),
		Inspect:            d.Inspect,
		ReadClock:          d.ReadClock,
		FreeSpace:          d.FreeSpace,
		Advise:             d.Advise,
		EffectiveOptions:   d.EffectiveOptions,
		CheckText:          d.CheckText,
		TakesLines:         d.TakesLines,
		Join:               d.Join,
		Grow:               d.Grow,
		IdleSince:          d.IdleSince,
		FlushMemory:        d.FlushMemory,
		CountRows:          d.CountRows,
		ListSeries:         d.ListSeries,
		PlanAggregate:      d.PlanAggregate,
		Materialize:        d.Materialize,
		CountCovered:       d.CountCovered,
		AggregateFootprint: d.AggregateFootprint,
		MeasureReads:       d.MeasureReads,
		Explain:            d.explain,
		ProfileCPU:         httpwire.CPUProfile(&d.settings.wire, ""),
	}
	if !d.settings.gemini() {
		o.DeleteSeries, o.DropBefore = d.DeleteSeries, d.DropBefore
	}
	return driver.DB{Required: d, Optional: o}
}

// ownChunk is the number of rows per chunk in results of tsmark's own statements.
const ownChunk = 10_000

// newDatabase returns a database that has not connected yet.
func newDatabase(s *settings) *database {
	own := s.endpoint()
	// tsmark's own statements need complete results. These are chunked regardless of the option:
	// otherwise it is unknown whether InfluxDB has listed all of more than 10,000 series.
	own.Chunk, own.Retention = ownChunk, ""
	return &database{
		Loader:   lineproto.Loader{System: "InfluxDB", Open: s.writes(s.retention).Open},
		settings: s,
		own:      jsonrows.Console{Querier: &influx.NewQuerier(own).Querier},
		shows:    influx.NewShows(own),
		groups:   influx.NewGroups(own),
	}
}

// Close implements driver.DB.
func (d *database) Close() error {
	return errors.Join(d.own.Close(), d.shows.Close(), d.groups.Close())
}

// greet reads the version, and looks up the database if it must exist.
func (d *database) greet(ctx context.Context, existing bool) error {
	if _, _, err := d.version(ctx); err != nil {
		return err
	}
	there, err := d.exists(ctx)
	if err == nil && existing && !there {
		err = fmt.Errorf("there is no database %s at %s; load it first, or give another database: %w", d.settings.database, d.Address(), driver.ErrUnreachable)
	}
	return err
}

// version returns the server's version and build, which it gives without credentials.
func (d *database) version(ctx context.Context) (version, build string, err error) {
	client := d.own.Client
	ctx, cancel := client.WithTimeout(ctx)
	defer cancel()
	request, err := client.Request(ctx, http.MethodGet, "/ping", nil, nil)
	if err != nil {
		return "", "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return "", "", err
	}
	defer response.Body.Close()
	if isGemini(response.Header) || d.settings.gemini() {
		return d.geminiVersion(response.Header)
	}
	version, build = response.Header.Get("X-Influxdb-Version"), response.Header.Get("X-Influxdb-Build")
	switch {
	case version == "":
		return "", "", fmt.Errorf("%s %w: what answers there is not InfluxDB", d.Address(), driver.ErrUnreachable)
	case !strings.HasPrefix(strings.TrimPrefix(version, "v"), "1."):
		return "", "", fmt.Errorf("%s %w: what answers there is InfluxDB %s, and tsmark speaks to 1.x", d.Address(), driver.ErrUnreachable, version)
	}
	return version, build, nil
}

// exists reports whether the server has the database.
func (d *database) exists(ctx context.Context) (bool, error) {
	rows, err := d.table(ctx, "SHOW DATABASES")
	return slices.ContainsFunc(rows, func(row influx.Shown) bool { return row["name"] == d.settings.database }), err
}

// Address implements driver.DB.
func (d *database) Address() string { return d.settings.wire.Address() }

// location names the database.
func (d *database) location() string {
	return fmt.Sprintf("database %s of InfluxDB at %s", d.settings.database, d.Address())
}

// table returns the rows of a SHOW.
func (d *database) table(ctx context.Context, text string) ([]influx.Shown, error) {
	return d.shows.Table(ctx, text)
}

// CheckText implements driver.DB.
func (d *database) CheckText(_ context.Context, text string) error { return influx.CheckText(text) }

// NewQuerier implements driver.DB.
func (d *database) NewQuerier(context.Context, int) (driver.Querier, error) {
	return influx.NewQuerier(d.settings.endpoint()), nil
}

//go:build !light

package influxdb3

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/series"
)

// missing is empty: this build has Arrow Flight.
const missing = ""

// database is a database of an InfluxDB server; it implements driver.DB.
type database struct {
	sqlkit.Counter
	lineproto.Loader
	settings *settings
	api      httpwire.API
	own      console // for everything but writers and queriers
	server   ping
}

// ping is a server's response to a ping.
type ping struct {
	Version string `json:"version"`
	Product string `json:"product_name"`
}

// open connects, and checks that an InfluxDB 3 answers and accepts the token.
func open(ctx context.Context, env driver.Env, options driver.Options) (driver.DB, error) {
	s, err := newSettings(options, os.Getenv)
	if err != nil {
		return driver.DB{}, fmt.Errorf("opening InfluxDB 3: %w", err)
	}
	d := newDatabase(s)
	greeting, cancel := s.wire.WithTimeout(ctx)
	defer cancel()
	if err := d.greet(greeting, !env.Create); err != nil {
		_ = d.Close()
		return driver.DB{}, fmt.Errorf("opening InfluxDB 3: %w", err)
	}
	return d.db(), nil
}

// db returns the database with the optional functions of the system.
func (d *database) db() driver.DB {
	return driver.DB{Required: d, Optional: driver.Optional{
		Address:        d.Address(),
		ReadClock:      d.ReadClock,
		FreeSpace:      d.FreeSpace,
		Advise:         d.Advise,
		CheckText:      d.CheckText,
		TakesLines:     d.TakesLines,
		Join:           d.Join,
		Grow:           d.Grow,
		CountRows:      d.CountRows,
		DistinctCensus: d.DistinctCensus,
		ListSeries:     d.ListSeries,
		Explain:        d.explain,
	}}
}

// newDatabase returns a database that has not connected yet.
func newDatabase(s *settings) *database {
	d := &database{
		Loader:   lineproto.Loader{System: "InfluxDB 3", Open: s.writes(s.noSync).Open},
		settings: s,
		api:      httpwire.API{Client: httpwire.New(&s.wire), System: "InfluxDB 3", Explain: responseError},
		own:      console{conn: newFlight(s)},
	}
	d.Counter = sqlkit.Counter{Dialect: newDialect(), Figures: figures, Run: d.own.run, Scaled: func(column string, factor int64) sqlkit.Figures {
		return figures(series.Int, fmt.Sprintf("CAST(round(%s * %d) AS BIGINT)", column, factor))
	}}
	return d
}

// Close implements driver.DB.
func (d *database) Close() error {
	d.api.Client.Close()
	return d.own.conn.Close()
}

// greet reads the version, and looks up the database if it must exist.
func (d *database) greet(ctx context.Context, existing bool) error {
	err := d.api.Call(ctx, http.MethodGet, "/ping", nil, nil, &d.server)
	switch {
	case err != nil:
		return err
	case !strings.HasPrefix(d.server.Version, "3."):
		return fmt.Errorf("%s %w: what answers there is %s, and tsmark speaks to InfluxDB 3", d.Address(), driver.ErrUnreachable,
			httpwire.OneLine(d.server.Product+" "+d.server.Version))
	}
	there, err := d.exists(ctx) // also checks the token
	if err == nil && existing && !there {
		err = fmt.Errorf("there is no database %s at %s; load it first, or give another database: %w", d.settings.database, d.Address(), driver.ErrUnreachable)
	}
	return err
}

// exists reports whether the database exists.
func (d *database) exists(ctx context.Context) (bool, error) {
	var found []struct {
		Name string `json:"iox::database"`
	}
	if err := d.api.Call(ctx, http.MethodGet, configureDatabase, url.Values{"format": {"json"}}, nil, &found); err != nil {
		return false, err
	}
	for _, f := range found {
		if f.Name == d.settings.database {
			return true, nil
		}
	}
	return false, nil
}

// Address implements driver.DB.
func (d *database) Address() string { return d.settings.wire.Address() }

// location names the database.
func (d *database) location() string {
	return fmt.Sprintf("database %s of InfluxDB at %s", d.settings.database, d.Address())
}

// NewQuerier implements driver.DB.
func (d *database) NewQuerier(context.Context, int) (driver.Querier, error) {
	return newFlight(d.settings), nil
}

// CheckText implements driver.DB: the server explains a query of the text without running it.
func (d *database) CheckText(ctx context.Context, text string) error {
	_, err := d.own.queryRows(ctx, sqlkit.Parenthesize("EXPLAIN SELECT 1 FROM", text)+" AS t")
	return err
}

// explain implements driver.DB.
func (d *database) explain(ctx context.Context, q driver.Request) (string, error) {
	rows, err := d.own.queryRows(ctx, "EXPLAIN "+q.Text)
	return sqlkit.PlanText(rows), err
}

// TakesLines implements driver.DB.
func (d *database) TakesLines(format string, s *series.Schema) bool {
	// The position of tags in other lines does not matter: the table exists with its columns.
	return format == "influx" && !slices.ContainsFunc(s.Tables, func(t *series.Table) bool { return len(t.Fields) == 0 })
}

// Describe implements driver.DB. The server does not report its settings.
func (d *database) Describe(context.Context) (driver.Description, error) {
	out := driver.Description{Version: d.server.Version, Edition: d.server.Product, Location: d.Address() + "/" + d.settings.database, Elsewhere: "database"}
	if _, engine, is := strings.Cut(d.server.Version, "-standin+"); is { // as servers/influxdb3.py reports it
		name, version, _ := strings.Cut(engine, "-")
		out.StandIn = strings.Replace(name, "datafusion", "DataFusion", 1) + " " + version + " behind tsmark's test server, not an InfluxDB 3 server"
	}
	out.Durability = "an acknowledged batch is in a file of the write-ahead log in the server's object store, which is written once in so long as its wal-flush-interval says (1s as shipped)"
	out.Safety = driver.ByTimer
	if d.settings.noSync {
		out.Safety = driver.InMemory
		out.Durability = "an acknowledged batch is in the server's memory alone (no_sync=on), until the write-ahead log is written, once in so long as its wal-flush-interval says (1s as shipped): a crash loses batches"
	}
	return out, nil
}

// Footprint implements driver.DB: the Parquet files of the tables that Create created. Nothing makes
// the server write them immediately: it writes them when its write-ahead log has as many files as
// wal-snapshot-size says (600 by default, one a second).
func (d *database) Footprint(ctx context.Context) (driver.Footprint, error) {
	var size driver.Footprint
	var rows, stored int64
	for _, t := range d.Tables() {
		answer, err := d.own.queryRows(ctx, "SELECT sum(CAST(size_bytes AS BIGINT)), sum(CAST(row_count AS BIGINT)) FROM system.parquet_files WHERE table_name = "+newDialect().Text(t.Name))
		var n int64
		if err == nil {
			n, err = d.CountRows(ctx, t)
		}
		if err != nil {
			return driver.Footprint{Bytes: -1}, fmt.Errorf("measuring the files of %s: %w", d.location(), err)
		}
		size.Bytes, stored, rows = size.Bytes+answer[0][0].Int, stored+answer[0][1].Int, rows+n
	}
	if stored < rows {
		size.Pending = fmt.Sprintf("%d of %d rows are in the server's memory and its write-ahead log, and not yet in files of Parquet, which it writes about every ten minutes", rows-stored, rows)
	}
	return size, nil
}

// writes returns the endpoint for lines.
func (s *settings) writes(noSync bool) lineproto.Endpoint {
	return lineproto.Endpoint{
		Wire: &s.wire, Path: "/api/v3/write_lp",
		Parameters: url.Values{
			"db": {s.database}, "precision": {"nanosecond"}, "accept_partial": {"false"}, "no_sync": {strconv.FormatBool(noSync)},
		},
		Compress: s.compress, Explain: writeError,
	}
}

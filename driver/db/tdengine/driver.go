// Package tdengine is the driver for TDengine 3, through taosAdapter. It writes rows as SQL, with rows
// of many tables in one INSERT, over REST or WebSocket; WebSocket has prepared statements too. It runs
// queries over WebSocket, whose blocks are decoded in place, or over REST.
//
// Each table of the schema becomes a super table with the time ts, a column for each field, and its
// tags. Each series is a table of the super table, called <table>_<number>, which the writer of its
// first row creates. The additional table tsmark_mark records the loaded dataset and the objects that
// tsmark created.
//
// Prepared statements, texts over WebSocket and schemaless lines are slower than SQL over REST, or need
// another layout. A server that was built without -fno-strict-aliasing parses every decimal number as 0.
package tdengine

import (
	"context"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// The names of the options.
const (
	optionWrite      = "write"
	optionRead       = "read"
	optionPrecision  = "precision"
	optionKeep       = "keep"
	optionVgroups    = "vgroups"
	optionWALLevel   = "wal_level"
	optionWALFsync   = "wal_fsync_period"
	optionBuffer     = "buffer"
	optionPages      = "pages"
	optionSTTTrigger = "stt_trigger"
	optionCacheModel = "cachemodel"
	optionChild      = "child"
)

// The values of the options write and read.
const (
	overREST      = "rest"
	overWebSocket = "websocket"
	byStatement   = "stmt"
)

// The values of optionChild.
const (
	childSeries = "series"
	childTag    = "tag"
)

// units are the precisions of times, by the server's numbers.
var units = [...]struct {
	name string
	unit time.Duration
}{{"ms", time.Millisecond}, {"us", time.Microsecond}, {"ns", time.Nanosecond}}

// unitOf returns the precision of the option.
func unitOf(o driver.Options) time.Duration {
	for _, u := range units {
		if u.name == o[optionPrecision] {
			return u.unit
		}
	}
	return time.Millisecond
}

// Driver describes TDengine.
func Driver() driver.Driver {
	return driver.Driver{
		Name: "tdengine",
		Help: "TDengine 3, written over REST and queried over WebSocket through taosAdapter",
		Options: append(connection.Options(
			option.Option{Name: connection.Port, Default: "6041", Help: "port of taosAdapter"},
			option.Option{Name: connection.Database, Default: "tsmark", Help: "database, created if it does not exist; tsmark drops it before another load if tsmark created it"},
			option.Option{Name: connection.User, Default: "root"},
			option.Option{Name: connection.Password, Default: "taosdata"},
			option.Option{Name: optionWrite, Default: overREST, Type: option.Choice(overREST, byStatement), Help: "how rows are sent: rest (SQL over HTTP) or stmt (prepared statements over WebSocket)"},
			option.Option{Name: optionRead, Default: overWebSocket, Type: option.Choice(overWebSocket, overREST), Help: "how answers are read: websocket (in blocks) or rest (as JSON)"},
			option.Option{Name: optionPrecision, Layout: true, Default: "ms", Type: option.Choice("ms", "us", "ns"), Help: "precision of times"},
			option.Option{Name: optionChild, Default: childSeries, Type: option.Choice(childSeries, childTag), Help: "name of the table that a load creates for a series: the super table and a number (series), or the first tag (tag), as in TDengine's fork of TSBS"},
		), storage()...),
		Profiles: []driver.Profile{
			{Name: "default", Help: "as shipped: 2 vgroups of 256 MB, a write-ahead log that is not forced to disk", Options: driver.Options{}},
			{Name: "cached", Help: "keep the newest row of each table in memory, for last-row queries", Options: driver.Options{optionCacheModel: "both"}},
		},
		Durabilities: []driver.Profile{
			{Name: driver.AsShipped, Help: "the server's, wal_level 1 as shipped: acknowledged rows are in the write-ahead log, in the operating system's cache", Options: driver.Options{optionWALLevel: "", optionWALFsync: ""}},
			{Name: driver.Relaxed, Help: "wal_level 1: the write-ahead log is never forced to disk", Options: driver.Options{optionWALLevel: "1"}},
			{Name: driver.Strict, Help: "wal_level 2, wal_fsync_period 0: forced to disk with each write", Options: driver.Options{optionWALLevel: "2", optionWALFsync: "0"}},
		},
		Caps:    caps,
		Modules: []string{"github.com/gorilla/websocket"},
		Place: func(o driver.Options) string {
			return fmt.Sprintf("database %s of TDengine at %s", o[connection.Database], driver.AddressPlace(o[connection.Host], o[connection.Port]))
		},
		Endpoints:  endpoints,
		Tested:     []driver.Tested{{Version: "3.3.0.1", From: "built from source"}},
		TestServer: driver.Options{},
		UserServer: &driver.UserServer{
			How: "in a container; see docs/drivers/tdengine.md; no package registry has it",
		},
		TSBS:           &driver.TSBS{Format: "tdengine", Request: tsbsRequest},
		IoTDBBenchmark: driver.Tool{Databases: []string{"TDengine"}},
		Render: func(q *query.Query, s *series.Schema, o driver.Options) (driver.Request, error) {
			text, err := render(q, s, newDesign(o))
			return driver.Request{Text: text}, err
		},
		RenderFrom: func(q *query.Query, m *query.Materialized, s *series.Schema, o driver.Options) (driver.Request, error) {
			text, err := renderFrom(q, m, s, newDesign(o))
			return driver.Request{Text: text}, err
		},
		Open: func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
			d, err := open(ctx, env, o)
			if err != nil {
				return driver.DB{}, fmt.Errorf("opening TDengine: %w", err)
			}
			return d.db(), nil
		},
	}
}

// storage returns the options of the database. If they are empty, the server's defaults apply.
func storage() []driver.Option {
	number := func(name, help string, least, most int) driver.Option {
		return driver.Option{Name: name, Layout: true, Empty: "the server's", Type: option.Integer(least, most).OrWord(""), Help: help}
	}
	return []driver.Option{
		{Name: optionKeep, Layout: true, Default: "36500", Type: option.Integer(1, 365000), Help: "days that rows are kept, counted back from today; older rows are refused"},
		number(optionVgroups, "number of vgroups over which tables are spread", 1, 1024),
		number(optionWALLevel, "write-ahead log: 1 writes it, 2 also forces it to disk", 1, 2),
		number(optionWALFsync, "interval at which the log is forced to disk, in ms, with wal_level=2; 0: with each write", 0, 180_000),
		number(optionBuffer, "write memory of each vgroup, in MB", 3, 16_384),
		number(optionPages, "pages of the metadata cache of each vgroup", 64, 16_384),
		number(optionSTTTrigger, "number of files flushed from memory that triggers a merge", 1, 16),
		{Name: optionCacheModel, Layout: true, Empty: "the server's, none as shipped", Type: option.Choice("none", "last_row", "last_value", "both").OrWord(""),
			Help: "cache of each table's newest row: none, last_row, last_value or both"},
	}
}

// tsbsRequest is the Request of driver.TSBS. The texts name tables after hosts, and count milliseconds.
func tsbsRequest(text string, o driver.Options) (driver.Request, error) {
	if o[optionChild] != childTag || unitOf(o) != time.Millisecond {
		return driver.Request{}, fmt.Errorf("%w: the texts of TDengine's fork of TSBS name tables after hosts and count milliseconds; set %s=%s and %s=ms", query.ErrUnsupported, optionChild, childTag, optionPrecision)
	}
	return driver.Verbatim(text, o)
}

func caps(o driver.Options) driver.Caps {
	const noLiteral = "TDengine's SQL has no literal of"
	lacks := map[series.Trait]string{series.NaN: noLiteral, series.Infinities: noLiteral}
	if o[optionWrite] != byStatement {
		lacks[series.NULTexts] = noLiteral + "; choose " + optionWrite + "=" + byStatement + ", or leave it out"
	}
	return driver.Caps{
		Language: "TDengine SQL",
		Dedupes:  true,
		// The server merges late rows of a table into the existing ones. The cost of a statement
		// depends on the number of its tables, which is lower if each writer has tables of its own.
		InOrder:       driver.InSeries,
		TimePrecision: unitOf(o),
		First:         first(o.Int(optionKeep)),
		Lacks:         lacks,
		Schema:        newDesign(o).check,
		Types:         types(o),
		Changes:       changes(),
	}
}

// first is the earliest time of a row that the server accepts: it counts days back from now. Windows
// that begin at 0, in 1970, crash TDengine 3.3.0.1 with an assertion, so rows begin after all such
// windows of up to a month.
func first(keep int) time.Time {
	earliest := time.Date(1970, 2, 1, 0, 0, 0, 0, time.UTC)
	kept := time.Now().UTC().Truncate(24 * time.Hour)
	if kept = kept.AddDate(0, 0, 1-min(keep, 100*365)); kept.Before(earliest) {
		return earliest
	}
	return kept
}

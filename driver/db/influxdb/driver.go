// Package influxdb is the driver for InfluxDB 1.x. It writes rows as line protocol to /write, encoded
// directly from batches. It runs queries in InfluxQL at /query, and decodes the results as they arrive.
//
// Each table of the schema becomes a measurement of one database, with its tags as tags and its fields
// as fields; a numeric tag is a field, as in TSBS. The measurement tsmark_mark records the loaded
// dataset. It has a retention policy of its own, so that no query reads it.
package influxdb

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/influx"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// The names of the options.
const (
	optionConsistency = "consistency"
	optionRetention   = "retention_policy"
	optionShard       = "shard_duration"
	optionChunked     = influx.OptionChunked
	optionServer      = "server"
)

// Credentials that the options lack come from the environment, from the variables of InfluxDB's own
// command line.
const (
	userVariable     = "INFLUX_USERNAME"
	passwordVariable = "INFLUX_PASSWORD"
)

// off is the value of options that are turned off.
const off = "off"

// Driver describes InfluxDB.
func Driver() driver.Driver {
	return driver.Driver{
		Name:    "influxdb",
		Help:    "InfluxDB 1.x, written by line protocol over HTTP and queried in InfluxQL",
		Options: append(connectionOptions(), data()...),
		Durabilities: []driver.Profile{
			{Name: driver.AsShipped, Help: "wal-fsync-delay of the server, 0s (each write forced to disk) by default; a client cannot change it", Options: driver.Options{}},
		},
		Caps:    caps,
		Modules: []string{"github.com/go-json-experiment/json", "github.com/klauspost/compress"},
		Place: func(o driver.Options) string {
			return fmt.Sprintf("database %s of InfluxDB at %s", o[connection.Database], driver.AddressPlace(o[connection.Host], o[connection.Port]))
		},
		Endpoints:  endpoints,
		Adopts:     adopts,
		Tested:     []driver.Tested{{Version: "1.6"}, {Version: "1.13"}},
		TestServer: driver.Options{},
		Render: func(q *query.Query, s *series.Schema, o driver.Options) (driver.Request, error) {
			return influx.Render(q, s, productOf(o[optionServer]))
		},
		Literals: func(driver.Options) query.Literals { return influx.Literals() },
		TSBS:     &driver.TSBS{Format: "influx", Request: tsbsRequest},
		RenderFrom: func(q *query.Query, m *query.Materialized, s *series.Schema, o driver.Options) (driver.Request, error) {
			if o[optionServer] == geminiServer {
				return driver.Request{}, errGeminiAggregates
			}
			return influx.RenderFrom(q, m, s)
		},
		Open:       open,
		Compatible: &driver.Adapter{Quirks: func() any { return new(quirks) }, Driver: adapt},
	}
}

// The servers that the driver supports.
const (
	plainServer  = "influxdb"
	geminiServer = "opengemini"
)

// productOf returns the server for a value of the option server.
func productOf(server string) influx.Product {
	if server == geminiServer {
		return influx.OpenGemini
	}
	return influx.InfluxDB
}

// writes matches the target of a statement of TSBS that writes.
var writes = regexp.MustCompile(`\sINTO "[^"]*"`)

// tsbsRequest is the Request of driver.TSBS. One of TSBS's query texts writes an intermediate result
// into the database, which tsmark's queries never do.
func tsbsRequest(text string, _ driver.Options) (driver.Request, error) {
	if into := writes.FindString(text); into != "" {
		return driver.Request{}, fmt.Errorf("%w: TSBS's text writes into the database (SELECT …%s), among the data that is measured", query.ErrUnsupported, into)
	}
	return driver.Request{Text: text}, nil
}

func caps(o driver.Options) driver.Caps {
	c := driver.Caps{
		Language:      "InfluxQL",
		Dedupes:       true,
		MakesColumns:  true,
		TimePrecision: time.Nanosecond,
		First:         influx.First(),
		Last:          influx.Last(),
		Lacks:         influx.Lacks(),
		Schema:        influx.CheckSchema,
		Types:         influx.Types(),
		Changes:       changes(),
	}
	if o[optionServer] == geminiServer {
		geminiCaps(&c)
	}
	return c
}

// connectionOptions returns the options for connecting to the server.
func connectionOptions() []driver.Option {
	return connection.Options(
		driver.Option{Name: connection.Port, Default: "8086"},
		driver.Option{Name: connection.Database, Default: "tsmark", Help: "database, created if it does not exist; tsmark drops it before another load if tsmark filled it"},
		driver.Option{Name: connection.User, Empty: "from " + userVariable + ", or none", Help: "user, if the server requires one; a load needs all privileges"},
		driver.Option{Name: connection.Password, Empty: "from " + passwordVariable + ", or none"},
	)
}

// data returns the options for how rows are sent, stored and returned.
func data() []driver.Option {
	return []driver.Option{
		{Name: optionServer, Default: plainServer, Help: "server: influxdb, or opengemini, which speaks the same protocol and supports fewer queries", Type: option.Choice(plainServer, geminiServer)},
		lineproto.GzipOption(),
		{Name: optionConsistency, Empty: "the server's", Help: "nodes of a cluster that must acknowledge a batch; a single server ignores it",
			Type: option.Choice("any", "one", "quorum", "all")},
		{Name: optionRetention, Layout: true, Empty: "the database's default, autogen", Help: "retention policy to create and write to; nothing in it expires", Type: option.CheckedBy("text", checkRetention)},
		{Name: optionShard, Layout: true, Empty: "the server's, 7d", Help: "time range of a shard, such as 1d, 12h or 4w; an hour or more", Type: option.CheckedBy("duration", checkShard)},
		{Name: optionChunked, Default: "10000", Help: "rows of each chunk of an answer, or off: no chunks; tsmark then refuses answers of more than 10,000 rows", Type: option.AtLeast(1).OrWord(off)},
	}
}

func checkRetention(v string) error {
	if v == influx.Note {
		return errors.New("must be another name, which tsmark has not taken for itself")
	}
	return nil
}

var shardDuration = regexp.MustCompile(`^[1-9][0-9]{0,5}[hdw]$`)

func checkShard(v string) error {
	if !shardDuration.MatchString(v) {
		return errors.New("must be a number of hours, days or weeks, such as 12h, 1d or 4w")
	}
	return nil
}

// Package influxdb3 is the driver for InfluxDB 3, Core or Enterprise. It writes rows as line protocol
// to /api/v3/write_lp. It runs queries in SQL over Arrow Flight, in one call each, as InfluxDB's own
// clients do, and decodes results batch by batch.
//
// Each table of the schema becomes one table of a database: the time, a dictionary of texts for each
// tag, and a column for each field; a numeric tag is a field, as in TSBS. The additional table
// tsmark_mark records the loaded dataset and the objects that tsmark created.
package influxdb3

import (
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/influx"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
	"github.com/tsmark/tsmark/internal/option"
)

// The names of the options.
const (
	optionToken  = "token"
	optionNoSync = "no_sync"
)

// tokenVariable is the environment variable in which InfluxDB's own command line finds a token.
const tokenVariable = "INFLUXDB3_AUTH_TOKEN"

// The values of options.
const (
	on  = "on"
	off = "off"
)

// Driver describes InfluxDB 3.
func Driver() driver.Driver {
	return driver.Driver{
		Name:    "influxdb3",
		Help:    "InfluxDB 3, written by line protocol over HTTP and queried in SQL over Arrow Flight",
		Options: options(),
		Durabilities: []driver.Profile{
			{Name: driver.AsShipped, Help: "a batch is acknowledged when it is in the write-ahead log, which is written once a second", Options: driver.Options{}},
			{Name: driver.Relaxed, Help: "a batch is acknowledged from the server's memory", Options: driver.Options{optionNoSync: on}},
		},
		Caps:    caps,
		Modules: []string{"github.com/apache/arrow-go/v18", "google.golang.org/grpc", "github.com/klauspost/compress"},
		Place: func(o driver.Options) string {
			return fmt.Sprintf("database %s of InfluxDB at %s", o[connection.Database], driver.AddressPlace(o[connection.Host], o[connection.Port]))
		},
		Endpoints:  endpoints,
		TestServer: driver.Options{optionToken: "@servers/password"},
		StandIn:    "DataFusion, its SQL engine, behind tsmark's test server, not an InfluxDB 3 server",
		UserServer: &driver.UserServer{
			How: "InfluxDB 3 Core or Enterprise, in a container or from InfluxData's packages; see docs/drivers/influxdb3.md",
		},
		IoTDBBenchmark: driver.Tool{Databases: []string{"InfluxDB-3"}, Options: map[string]string{"DB_NAME": connection.Database, "TOKEN": optionToken}},
		Render:         render,
		Literals:       literals,
		Open:           open,
		Missing:        missing,
	}
}

func caps(o driver.Options) driver.Caps {
	return driver.Caps{
		Language:      "SQL of DataFusion",
		Dedupes:       true,
		TimePrecision: time.Nanosecond,
		First:         influx.First(),
		Last:          influx.Last(),
		Lacks:         influx.Lacks(),
		Schema:        checkSchema,
		Types:         influx.Types(),
		Changes:       changes(),
	}
}

// changes are the Changes of InfluxDB 3 Core.
func changes() driver.Changes {
	c := driver.Unchangeable("InfluxDB 3 Core deletes whole tables and databases; a retention period counts back from now")
	c.Correct, c.Again = driver.Way{By: "writing the rows again", Space: "by compactions, which Core does not have"}, driver.Replaces
	return c
}

func options() []driver.Option {
	all := connection.Options(
		driver.Option{Name: connection.Port, Default: "8181", Help: "port of HTTP and gRPC"},
		driver.Option{Name: optionToken, Secret: true, Empty: "from " + tokenVariable + ", or none", Help: "token; a load needs one that may create and delete databases and tables"},
		driver.Option{Name: connection.Database, Default: "tsmark", Help: "database, created if it does not exist; tsmark drops it before another load if tsmark created it"},
	)
	// The server authenticates by token only.
	var list []driver.Option
	for _, o := range all {
		if o.Name != connection.User && o.Name != connection.Password {
			list = append(list, o)
		}
	}
	return append(list,
		driver.Option{Name: optionNoSync, Default: off, Type: option.Choice(on, off), Help: "acknowledge batches before they are in the write-ahead log, which is written once a second"},
		lineproto.GzipOption(),
	)
}

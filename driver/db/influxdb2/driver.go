// Package influxdb2 is the driver for InfluxDB 2.x. It writes rows as line protocol to /api/v2/write.
// It runs queries in Flux at /api/v2/query, and decodes the results in annotated CSV as they arrive; or
// in InfluxQL at /query.
//
// Each table of the schema becomes a measurement of one bucket, with its tags as tags and its fields as
// fields; a numeric tag is a field, as in TSBS. The description of the bucket records the loaded
// dataset, and whether tsmark created the bucket. No query sees a description.
//
// In Flux, merged groups take min and max through a sum of one value, because 2.7 merges rows by the times
// of points.
package influxdb2

import (
	"errors"
	"fmt"
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
	optionToken     = "token"
	optionOrg       = "org"
	optionBucket    = "bucket"
	optionSetup     = "setup"
	optionLanguage  = "language"
	optionRetention = "retention"
	optionShard     = "shard_duration"
)

// Credentials that the options lack come from the environment, from the variables of InfluxDB's own
// command line.
const (
	tokenVariable = "INFLUX_TOKEN"
	orgVariable   = "INFLUX_ORG"
)

// The values of options.
const (
	on  = "on"
	off = "off"

	languageFlux     = "flux"
	languageInfluxQL = "influxql"
)

// Driver describes InfluxDB 2.
func Driver() driver.Driver {
	return driver.Driver{
		Name:    "influxdb2",
		Help:    "InfluxDB 2.x, written by line protocol over HTTP and queried in Flux or InfluxQL",
		Options: append(connectionOptions(), data()...),
		Durabilities: []driver.Profile{
			{Name: driver.AsShipped, Help: "storage-wal-fsync-delay of the server, 0s (each write forced to disk) by default; a client cannot change it", Options: driver.Options{}},
		},
		Caps:    caps,
		Modules: []string{"github.com/go-json-experiment/json", "github.com/klauspost/compress"},
		Place: func(o driver.Options) string {
			return fmt.Sprintf("bucket %s of InfluxDB at %s", o[optionBucket], driver.AddressPlace(o[connection.Host], o[connection.Port]))
		},
		Endpoints: endpoints,
		Tested:    []driver.Tested{{Version: "v2.7"}},
		TestServer: driver.Options{
			optionToken: "@servers/password", optionOrg: "tsmark", optionSetup: on, connection.User: "tsmark", connection.Password: "@servers/password",
		},
		IoTDBBenchmark: driver.Tool{Databases: []string{"InfluxDB-2"}, Options: map[string]string{"DB_NAME": optionBucket}},
		Render:         render,
		RenderFrom:     renderFrom,
		Open:           open,
	}
}

// render renders a query in the language of the options. Queries that InfluxQL cannot express are n/a
// in it.
func render(q *query.Query, s *series.Schema, o driver.Options) (driver.Request, error) {
	if o[optionLanguage] == languageInfluxQL {
		return influx.Render(q, s, influx.InfluxDB)
	}
	return flux(q, s, o[optionBucket])
}

func caps(o driver.Options) driver.Caps {
	language := "Flux"
	if o[optionLanguage] == languageInfluxQL {
		language = "InfluxQL"
	}
	lacks := influx.Lacks()
	if language == "Flux" {
		lacks[series.FreeTexts] = "Flux's CSV does not tell from others: it drops carriage returns, and has an empty text as NULL; choose " + optionLanguage + "=" + languageInfluxQL + ", make it a tag, or leave it out"
	}
	return driver.Caps{
		Language:      language,
		Dedupes:       true,
		MakesColumns:  true,
		TimePrecision: time.Nanosecond,
		First:         influx.First(),
		Last:          influx.Last(),
		Lacks:         lacks,
		Schema:        influx.CheckSchema,
		Types:         influx.Types(),
		Changes:       changes(),
	}
}

// connectionOptions returns the options for connecting to the server.
func connectionOptions() []driver.Option {
	return connection.Options(
		driver.Option{Name: connection.Port, Default: "8086"},
		driver.Option{Name: optionToken, Secret: true, Empty: "from " + tokenVariable + ", or none", Help: "API token; a load needs one that may read and write buckets of the organisation"},
		driver.Option{Name: optionOrg, Empty: "from " + orgVariable + ", or the only one that the token can see", Help: "organisation"},
		driver.Option{Name: optionBucket, Default: "tsmark", Help: "bucket, created if it does not exist; tsmark drops it before another load if tsmark created it"},
		driver.Option{Name: optionSetup, Default: off, Type: option.Choice(on, off), Help: "set up a new server with user, password, org and token"},
		driver.Option{Name: connection.User, Empty: "none", Help: "first user, for setup=on"},
		driver.Option{Name: connection.Password, Empty: "none", Help: "password of the first user, eight characters or more"},
	)
}

// data returns the options for how rows are sent, stored and returned.
func data() []driver.Option {
	return []driver.Option{
		{Name: optionLanguage, Default: languageFlux, Type: option.Choice(languageFlux, languageInfluxQL), Help: "query language; for influxql tsmark creates a mapping (DBRP) of the bucket"},
		lineproto.GzipOption(),
		{Name: optionRetention, Layout: true, Empty: "nothing expires", Help: "retention of the bucket, such as 87600h; an hour or more; the server refuses older rows", Type: option.CheckedBy("duration", checkHours)},
		{Name: optionShard, Layout: true, Empty: "the server's, 168h", Help: "time range of a shard group, such as 24h; an hour or more", Type: option.CheckedBy("duration", checkHours)},
	}
}

func checkHours(v string) error {
	d, err := time.ParseDuration(v)
	if err != nil || d < time.Hour || d%time.Second != 0 {
		return errors.New("must be an hour or more, in hours, minutes and seconds, such as 24h")
	}
	return nil
}

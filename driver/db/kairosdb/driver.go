// Package kairosdb is the driver for KairosDB. It writes rows as JSON to /api/v1/datapoints, encoded
// directly from batches. It runs queries at /api/v1/datapoints/query; package metric turns the results
// into rows.
package kairosdb

import (
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/series"
)

// The names of the options.
const (
	optionDatastore = "datastore"
	optionQueueWait = "queue_wait"
)

// The values of optionDatastore.
const (
	datastoreH2        = "h2"
	datastoreCassandra = "cassandra"
)

// Driver describes KairosDB.
func Driver() driver.Driver {
	return driver.Driver{
		Name:        "kairosdb",
		Help:        "KairosDB, written and queried in JSON over HTTP",
		ResultCache: driver.ResultCache{Name: "query cache on disk", Off: "cache_time 0, the default of queries"},
		Options:     options(),
		Durabilities: []driver.Profile{
			{Name: driver.AsShipped, Help: "the datastore's: H2 writes acknowledged points to disk within 500 ms, for Cassandra they are queued in files first; a client cannot change it", Options: driver.Options{}},
		},
		Caps:       caps,
		Modules:    []string{"github.com/go-json-experiment/json"},
		Place:      metric.Place("KairosDB", ""),
		Endpoints:  endpoints,
		Tested:     []driver.Tested{{Version: "1.3.0"}},
		StandIn:    standInH2,
		TestServer: driver.Options{},
		Render:     render,
		Open:       open,
	}
}

func options() []driver.Option {
	return connection.Options(
		driver.Option{Name: connection.Port, Default: "8080"},
		driver.Option{Name: connection.User, Empty: "none"},
		driver.Option{Name: connection.Password, Empty: "none"},
		driver.Option{Name: optionDatastore, Default: datastoreH2, Help: "datastore of the server (kairosdb.service.datastore), which it does not report: h2 or cassandra", Type: option.Choice(datastoreH2, datastoreCassandra)},
		driver.Option{Name: optionQueueWait, Default: "500ms", Help: "kairosdb.queue_processor.min_batch_wait of the server, which it does not report; with datastore=cassandra, a load has settled when no points have arrived for ten times this", Type: option.Duration()},
	)
}

func caps(o driver.Options) driver.Caps {
	return driver.Caps{
		Language:      "JSON",
		Dedupes:       true,
		MakesColumns:  true,
		TimePrecision: time.Millisecond,
		First:         time.UnixMilli(metric.Earliest),
		Lacks: map[series.Trait]string{
			series.NaN:           "KairosDB stores, and cannot return: a query that meets one fails",
			series.Infinities:    "KairosDB stores, and cannot return: a query that meets one fails",
			series.LargeInts:     "KairosDB aggregates as doubles",
			series.EmptyTags:     "KairosDB refuses",
			series.RepeatedTimes: "KairosDB cannot tell apart: it holds one point a time and series, the last that came",
		},
		Schema:  checkSchema,
		Types:   types(),
		Changes: changes(o),
	}
}

// types are the types of values that KairosDB holds as numbers. The nanoseconds of times
// have too many digits for its aggregators, which compute in doubles.
func types() map[series.Type]driver.Stored {
	return map[series.Type]driver.Stored{
		series.Bool:    {As: "long", Mapped: "0 or 1"},
		series.Int32:   {As: "long", Mapped: "the long that equals it"},
		series.Int:     {As: "long"},
		series.Float32: {As: "double", Mapped: "the double that equals it"},
		series.Float:   {As: "double"},
		series.Date:    {As: "long", Mapped: "its days since 1970-01-01"},
	}
}

// checkSchema returns an error for tables that KairosDB cannot have.
func checkSchema(s *series.Schema) error {
	limits := metric.Limits{
		System: "KairosDB", Types: types(), Native: "KairosDB does not have",
		Numbers: "KairosDB refuses empty strings and aggregates none, so that tsmark writes numbers alone",
		Name: func(name string) string {
			switch {
			case name == "":
				return "KairosDB cannot have"
			case strings.HasPrefix(name, serverOwn):
				return "begins as the metrics that the server writes of itself (" + serverOwn + ")"
			case strings.Contains(name, "'"):
				return "KairosDB cannot look for where its datastore is H2"
			}
			return ""
		},
	}
	if err := limits.Check(s); err != nil {
		return err
	}
	for _, t := range s.Tables {
		for _, tag := range t.Tags {
			if tag.Key == untagged {
				return fmt.Errorf("table %s has a tag called %s, which is tsmark's own: rename it", t.Name, untagged)
			}
		}
	}
	return nil
}

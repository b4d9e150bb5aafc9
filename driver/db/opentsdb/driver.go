// Package opentsdb is the driver for OpenTSDB, a server over HBase. It writes points as JSON to
// /api/put, encoded directly from batches. It runs queries at /api/query; package metric turns the
// results into rows.
package opentsdb

import (
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/series"
)

// The names of the options.
const (
	optionSync   = "sync"
	optionMetric = "metric"
)

// The values of optionSync.
const (
	syncOn  = "true"
	syncOff = "false"
)

// Driver describes OpenTSDB.
func Driver() driver.Driver {
	return driver.Driver{
		Name:    "opentsdb",
		Help:    "OpenTSDB over HBase, written and queried in JSON over HTTP",
		Options: options(),
		Durabilities: []driver.Profile{
			{Name: driver.AsShipped, Help: "a point is acknowledged when it is in HBase's log; HBase decides when the log is on disk, and a client cannot change it", Options: driver.Options{}},
		},
		Caps:      caps,
		Modules:   []string{"github.com/go-json-experiment/json", "github.com/klauspost/compress"},
		Place:     metric.Place("OpenTSDB", ""),
		Endpoints: endpoints,
		// The packages of 2.4.1 say BuildData for their version.
		Tested:     []driver.Tested{{Version: "BuildData (revision eb125a342)"}},
		StandIn:    "OpenTSDB on a standalone HBase in tsmark's test setup (512 MB of heap, quick compiler), not servers set up for figures",
		TestServer: driver.Options{},
		Render:     render,
		Open:       open,
	}
}

func options() []driver.Option {
	return connection.Options(
		driver.Option{Name: connection.Port, Default: "4242"},
		driver.Option{Name: optionSync, Default: syncOn, Help: "acknowledge a batch when HBase has its points (true) or when the server has read it (false)", Type: option.Boolean(syncOn, syncOff)},
		driver.Option{Name: optionMetric, Layout: true, Default: metricTableField, Help: "metrics are named after the table and the field (table-field), the table, with the field as a tag (table), or the field, with the table as a tag (field)", Type: option.Choice(metricTableField, metricTable, metricField)},
		driver.Option{Name: connection.User, Empty: "none"},
		driver.Option{Name: connection.Password, Empty: "none"},
	)
}

// firstTime is the first midnight in milliseconds that a query can name: it takes numbers
// of up to ten digits for seconds.
const firstTime = 116 * 24 * hour

func caps(driver.Options) driver.Caps {
	return driver.Caps{
		Language:      "JSON",
		Dedupes:       true,
		MakesColumns:  true,
		TimePrecision: time.Millisecond,
		First:         time.UnixMilli(firstTime),
		Last:          time.UnixMilli(metric.Latest),
		Lacks: map[series.Trait]string{
			series.NaN:           "OpenTSDB refuses",
			series.Infinities:    "OpenTSDB refuses",
			series.LargeInts:     "OpenTSDB aggregates as doubles",
			series.EmptyTags:     "OpenTSDB refuses",
			series.RepeatedTimes: "OpenTSDB cannot tell apart: it holds one point a time and series",
		},
		Schema:  checkSchema,
		Types:   types(),
		Changes: changes(),
	}
}

// changes are the Changes of OpenTSDB.
func changes() driver.Changes {
	c := driver.Unchangeable("OpenTSDB deletes by its command scan --delete on the server's host, or over HTTP if tsd.http.query.allow_delete is set, which tsmark does not use; its retention is the TTL of HBase's tables")
	c.Correct.Reason = "a second point whose value has another length is kept beside the first, and queries fail unless tsd.storage.fix_duplicates is set"
	return c
}

// types are the types of values that OpenTSDB holds.
func types() map[series.Type]driver.Stored {
	return map[series.Type]driver.Stored{
		series.Bool:    {As: "integer", Mapped: "0 or 1"},
		series.Int32:   {As: "integer", Mapped: "the integer that equals it"},
		series.Int:     {As: "integer"},
		series.Float32: {As: "floating point value", Mapped: "the double that equals it"},
		series.Float:   {As: "floating point value"},
		series.Date:    {As: "integer", Mapped: "its days since 1970-01-01"},
	}
}

// checkSchema returns an error for tables that OpenTSDB cannot have.
func checkSchema(s *series.Schema) error {
	limits := metric.Limits{
		System: "OpenTSDB", Types: types(), Native: "tsmark does not write to OpenTSDB",
		Name: func(name string) string {
			if name == "" {
				return "OpenTSDB cannot have"
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

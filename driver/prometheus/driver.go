// Package prometheus drives Prometheus, a server. Rows are written by remote write,
// requests encoded straight from batches; queries are run in PromQL at /api/v1/query
// and /api/v1/query_range, whose answers package promql makes rows again.
package prometheus

import (
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/connection"
	"github.com/tsmark/tsmark/driver/metric"
	"github.com/tsmark/tsmark/driver/promql"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/series"
)

// The names of the options.
const (
	optionOldData = "old_data"
	optionPrefix  = "prefix"
	optionToken   = "token"
	optionWrite   = "remote_write"
)

// The values of optionOldData.
const (
	oldChecked = "checked"
	oldAny     = "any"
)

// The values of optionWrite.
const (
	write1 = "1"
	write2 = "2"
)

// Driver describes Prometheus.
func Driver() driver.Driver {
	return driver.Driver{
		Name:    "prometheus",
		Help:    "Prometheus, a server, written by remote write and queried in PromQL",
		Options: options(),
		Durabilities: []driver.Profile{
			{Name: driver.AsShipped, Help: "samples are in the write-ahead log, in the system's cache; a client cannot change it", Options: driver.Options{}},
		},
		Caps:    caps,
		Modules: []string{"github.com/go-json-experiment/json", "github.com/klauspost/compress"},
		// A server is one place: its metrics have the names of the dataset's tables and
		// fields.
		Place: func(o driver.Options) string {
			place := "Prometheus at " + driver.AddressPlace(o[connection.Host], o[connection.Port])
			if o[optionPrefix] != "" {
				place += " below " + o[optionPrefix]
			}
			return place
		},
		TestServer: driver.Options{},
		Render:     render,
		Open:       open,
	}
}

func options() []driver.Option {
	return append(connection.Options(
		driver.Option{Name: connection.Port, Default: "9090", Help: "port of its HTTP service"},
		driver.Option{Name: connection.User, Empty: "none", Help: "user, where the server asks for one (basic_auth_users of --web.config.file)"},
		driver.Option{Name: connection.Password, Empty: "none"},
		driver.Option{Name: optionToken, Secret: true, Empty: "none", Help: "bearer token, in place of user and password, where a proxy asks for one"},
	),
		driver.Option{Name: optionPrefix, Empty: "none", Help: "what stands before /api/v1 (--web.route-prefix)", Type: option.Checked("path", checkPrefix)},
		driver.Option{Name: optionWrite, Default: write1, Help: "version of remote write: 1, or 2 (Prometheus 3)", Type: option.Choice(write1, write2)},
		driver.Option{Name: optionOldData, Default: oldChecked, Help: "checked: retention and out_of_order_time_window must reach back to 1970; any: they may be what they are, for new rows in the order of their times", Type: option.Choice(oldChecked, oldAny)},
		promql.Option(),
	)
}

func checkPrefix(v string) error {
	if v[0] != '/' || v[len(v)-1] == '/' {
		return fmt.Errorf("must begin with a slash and end with none, as /prometheus")
	}
	return nil
}

func caps(driver.Options) driver.Caps {
	return driver.Caps{
		Language:      "PromQL",
		CountsPoints:  true,
		Dedupes:       true,
		TimePrecision: time.Millisecond,
		First:         time.UnixMilli(promql.Earliest),
		Lacks: map[series.Trait]string{
			series.NaN:           "Prometheus does not tell from a sample that is not there",
			series.Infinities:    "Prometheus cannot sum",
			series.LargeInts:     "Prometheus holds as doubles",
			series.EmptyTags:     "Prometheus does not have",
			series.RepeatedTimes: "Prometheus cannot tell apart: it holds one sample a time and series",
		},
		Schema: checkSchema,
		Types:  types(),
	}
}

// types are the types of values that Prometheus holds as a double. It has no texts;
// the nanoseconds of times have too many digits.
func types() map[series.Type]driver.Stored {
	return map[series.Type]driver.Stored{
		series.Bool:    {As: "double", Mapped: "0 or 1"},
		series.Int32:   {As: "double", Mapped: "the double that equals it"},
		series.Int:     {As: "double", Mapped: "the double that equals it"},
		series.Float32: {As: "double", Mapped: "the double that equals it"},
		series.Float:   {As: "double"},
		series.Date:    {As: "double", Mapped: "its days since 1970-01-01"},
	}
}

// checkSchema returns an error for tables that Prometheus cannot have.
func checkSchema(s *series.Schema) error {
	if err := metric.Check(s, "Prometheus", types()); err != nil {
		return err
	}
	for _, t := range s.Tables {
		for _, name := range append([]string{t.Name}, t.ColumnNames()...) {
			if strings.HasPrefix(name, escapedPrefix) {
				return fmt.Errorf("table %s has something called %s; what begins with %s is an escaped name: rename it", t.Name, name, escapedPrefix)
			}
			if strings.HasPrefix(name, "__") {
				return fmt.Errorf("table %s has something called %s; what begins with __ is Prometheus's own: rename it", t.Name, name)
			}
		}
	}
	return nil
}

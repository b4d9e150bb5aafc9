// Package victoriametrics drives VictoriaMetrics, a server. Rows are written as line
// protocol to /write, text made straight from batches; queries are run in MetricsQL
// at /api/v1/query and /api/v1/query_range, whose answers package metric makes rows
// again.
package victoriametrics

import (
	"fmt"
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
	optionGzip      = "gzip"
	optionInsert    = "insert_prefix"
	optionSelect    = "select_prefix"
	optionToken     = "token"
	optionRetention = "retention"
)

// The values of optionRetention.
const (
	retentionLong = "long"
	retentionAny  = "any"
)

// digits is to how many significant digits VictoriaMetrics rounds floats that have a
// fraction.
const digits = 12

// Driver describes VictoriaMetrics.
func Driver() driver.Driver {
	return driver.Driver{
		Name:    "victoriametrics",
		Help:    "VictoriaMetrics, a server, written by line protocol over HTTP and queried in MetricsQL",
		Options: options(),
		Durabilities: []driver.Profile{
			{Name: driver.AsShipped, Help: "samples are kept in memory for up to a few seconds before they are on disk; a client cannot change it", Options: driver.Options{}},
		},
		Caps:    caps,
		Modules: []string{"github.com/go-json-experiment/json", "github.com/klauspost/compress"},
		// A server, or a tenant of a cluster, is one place: its metrics have the names
		// of the dataset's tables and fields.
		Place: func(o driver.Options) string {
			place := "VictoriaMetrics at " + driver.AddressPlace(o[connection.Host], o[connection.Port])
			if o[optionInsert] != "" {
				place += " below " + o[optionInsert]
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
		driver.Option{Name: connection.Port, Default: "8428", Help: "port of its HTTP service, of vmauth where there is one"},
		driver.Option{Name: connection.User, Empty: "none", Help: "user, where the server (-httpAuth.username) or vmauth asks for one"},
		driver.Option{Name: connection.Password, Empty: "none"},
		driver.Option{Name: optionToken, Secret: true, Empty: "none", Help: "bearer token, in place of user and password"},
	),
		driver.Option{Name: optionInsert, Empty: "none", Help: "what stands before /write, as /insert/0/influx of a cluster", Type: option.Checked("path", checkPrefix)},
		driver.Option{Name: optionSelect, Empty: "none", Help: "what stands before /api/v1, as /select/0/prometheus of a cluster", Type: option.Checked("path", checkPrefix)},
		driver.Option{Name: optionGzip, Default: "0", Help: "level by which batches are compressed, 1 (fastest) to 9 (smallest), or 0: not at all", Type: option.Integer(0, 9)},
		driver.Option{Name: optionRetention, Default: retentionLong, Help: "what -retentionPeriod must be: long (it keeps 2016's rows), or any", Type: option.Choice(retentionLong, retentionAny)},
		promql.Option(),
	)
}

func checkPrefix(v string) error {
	if v[0] != '/' || v[len(v)-1] == '/' {
		return fmt.Errorf("must begin with a slash and end with none, as /insert/0/influx")
	}
	return nil
}

func caps(driver.Options) driver.Caps {
	const kept = "VictoriaMetrics does not keep"
	return driver.Caps{
		Language:      "MetricsQL",
		CountsPoints:  true,
		TimePrecision: time.Millisecond,
		First:         time.UnixMilli(promql.Earliest),
		Digits:        digits,
		Lacks: map[series.Trait]string{
			series.NaN:           kept,
			series.Infinities:    "VictoriaMetrics cannot sum",
			series.LargeInts:     "VictoriaMetrics holds as doubles",
			series.EmptyTags:     "VictoriaMetrics does not have",
			series.EscapedTags:   "line protocol cannot say",
			series.RepeatedTimes: "VictoriaMetrics cannot tell apart: it holds samples, and no rows that they belong to",
		},
		Schema: checkSchema,
		Types:  types(),
	}
}

// types are the types of values of which VictoriaMetrics holds some digits as a
// double. It has no texts; the nanoseconds of times have too many digits.
func types() map[series.Type]driver.Stored {
	rounded := fmt.Sprintf("rounded to %d digits", digits)
	return map[series.Type]driver.Stored{
		series.Bool:    {As: "double", Mapped: "0 or 1"},
		series.Int32:   {As: "double", Mapped: "the double that equals it"},
		series.Int:     {As: "double", Mapped: "the double that equals it"},
		series.Float32: {As: "double", Mapped: rounded},
		series.Float:   {As: "double", Mapped: rounded},
		series.Date:    {As: "double", Mapped: "its days since 1970-01-01"},
	}
}

// maxLabels is how many labels of a sample a server keeps
// (-maxLabelsPerTimeseries), without its name.
const maxLabels = 29

// checkSchema returns an error for tables that VictoriaMetrics cannot have.
func checkSchema(s *series.Schema) error {
	if err := metric.Check(s, "VictoriaMetrics", types()); err != nil {
		return err
	}
	for _, t := range s.Tables {
		if len(t.Tags) > maxLabels {
			return fmt.Errorf("table %s has %d tags, of which VictoriaMetrics keeps %d (-maxLabelsPerTimeseries): leave some out", t.Name, len(t.Tags), maxLabels)
		}
	}
	return nil
}

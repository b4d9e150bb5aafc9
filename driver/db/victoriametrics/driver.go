// Package victoriametrics is the driver for VictoriaMetrics. It writes rows as line protocol, with remote write
// or with OTLP, encoded directly from batches. It runs queries in MetricsQL at
// /api/v1/query and /api/v1/query_range; package metric turns the results into rows.
//
// The server rounds floats to 12 digits. Refusing such values would exclude devops, so checks allow for it.
package victoriametrics

import (
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/metric"
	"github.com/tsmark/tsmark/driver/kit/promql"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/series"
)

// The names of the options.
const (
	optionInsert    = "insert_prefix"
	optionSelect    = "select_prefix"
	optionRetention = "retention"
)

// protocolLine is the value of metric.OptionProtocol for line protocol.
const protocolLine = "line"

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
		Name:      "victoriametrics",
		Semantics: "victoriametrics", // package oracle/promql knows them
		Help:      "VictoriaMetrics, written by line protocol, remote write or OTLP and queried in MetricsQL",
		Options:   options(),
		Durabilities: []driver.Profile{
			{Name: driver.AsShipped, Help: "samples stay in memory for a few seconds before they are on disk; a client cannot change it", Options: driver.Options{}},
		},
		Caps:        caps,
		Modules:     []string{"github.com/go-json-experiment/json", "github.com/klauspost/compress"},
		Place:       metric.Place("VictoriaMetrics", optionInsert), // a tenant of a cluster is one too
		Endpoints:   endpoints,
		Adopts:      adopts,
		Tested:      []driver.Tested{{Version: "1.79"}, {Version: "v1.151"}},
		TestServer:  driver.Options{},
		Render:      render,
		TSBS:        &driver.TSBS{Format: "victoriametrics", Request: driver.Verbatim, Cached: true},
		ResultCache: driver.ResultCache{Name: "rollup result cache", Off: "nocache=1 with each query"},
		Open:        open,
	}
}

func options() []driver.Option {
	return append(promql.Options("8428", "port of the server, or of vmauth", "bearer token, instead of user and password"),
		promql.PrefixOption(optionInsert, "path before the protocol's, such as /insert/0/influx of a cluster, /insert/0/prometheus for remote write and /insert/0 for OTLP", "/insert/0/influx"),
		promql.PrefixOption(optionSelect, "path before /api/v1, such as /select/0/prometheus of a cluster", "/select/0/prometheus"),
		driver.Option{Name: metric.OptionProtocol, Empty: "line, or remote-write-1 for metrics", Help: "how rows are written", Type: option.Choice(protocolLine, metric.RemoteWrite1, metric.OTLP)},
		driver.Option{Name: optionRetention, Default: retentionLong, Help: "required -retentionPeriod: long (keeps rows of 2016) or any", Type: option.Choice(retentionLong, retentionAny)},
		promql.Option(),
	)
}

func caps(o driver.Options) driver.Caps {
	const kept = "VictoriaMetrics does not keep"
	c := driver.Caps{
		Language:     "MetricsQL",
		MakesColumns: true,
		// One writer sent requests of 1,200 rows (12,000 samples), one after the other, and
		// another connection read the newest times all the while: in 32 of 387 answers one
		// series ended a row before the others of the same request (1.79.5).
		ShowsInParts:  true,
		TimePrecision: time.Millisecond,
		First:         time.UnixMilli(metric.Earliest),
		Digits:        digits,
		Lacks: map[series.Trait]string{
			series.NaN:           kept,
			series.Infinities:    "VictoriaMetrics cannot sum",
			series.LargeInts:     "VictoriaMetrics holds as doubles",
			series.EmptyTags:     "VictoriaMetrics does not have",
			series.RepeatedTimes: "VictoriaMetrics cannot tell apart: it holds samples, and no rows that they belong to",
		},
		Schema:  func(s *series.Schema) error { return checkSchema(s, metric.LineName) },
		Types:   types(),
		Changes: changes(),
	}
	switch o[metric.OptionProtocol] {
	case "":
		c.Lacks[series.EscapedTags] = "line protocol cannot say"
	case protocolLine:
		c.Lacks[series.EscapedTags] = "line protocol cannot say"
		c.Schema = func(s *series.Schema) error {
			if hasMetrics(s) {
				return fmt.Errorf("line protocol has no staleness markers, which the metric %s has: leave out %s=%s", s.Tables[0].Name, metric.OptionProtocol, protocolLine)
			}
			return checkSchema(s, metric.LineName)
		}
	default:
		c.Schema = func(s *series.Schema) error { return checkSchema(s, queriedName) }
	}
	return c
}

// changes are the Changes of VictoriaMetrics.
func changes() driver.Changes {
	return driver.Changes{
		Delete:  driver.Way{By: "POST /api/v1/admin/tsdb/delete_series", Space: "by merges in the background; those of past months may never run"},
		Drop:    driver.Way{Reason: "retention is a flag of the server (-retentionPeriod), and delete_series deletes whole series, of all times"},
		Correct: driver.Way{Reason: "VictoriaMetrics keeps both samples of a series and time, or one of them with -dedup.minScrapeInterval"},
		Again:   driver.KeepsBoth,
	}
}

// queriedName implements metric.Limits.Name for remote write, which accepts any name.
func queriedName(name string) string {
	if name == "" || strings.Contains(name, "\n") {
		return "MetricsQL cannot say"
	}
	return ""
}

// types are the types of values that VictoriaMetrics stores as a double with a limited number of
// digits. It has no texts, and times in nanoseconds have too many digits.
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

// maxLabels is the number of labels of a sample that a server stores, without its name.
const maxLabels = 29

// checkSchema returns an error for tables that VictoriaMetrics cannot store. The function name returns
// the problem with a name.
func checkSchema(s *series.Schema, name func(string) string) error {
	limits := metric.Limits{
		System: "VictoriaMetrics", Types: types(), Name: name, Labels: maxLabels, LabelLimit: "-maxLabelsPerTimeseries",
		Native: "VictoriaMetrics turns into buckets of its own (vmrange)",
	}
	return limits.Check(s)
}

// Package prometheus is the driver for Prometheus. It writes rows with remote write or OTLP, in requests
// encoded directly from batches. It runs queries in PromQL at /api/v1/query and /api/v1/query_range;
// package promql turns the results into rows.
//
// Prometheus hides rewritten samples under a tombstone of the head. Dropping therefore moves the head into
// blocks first, by one later sample.
package prometheus

import (
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
	optionOldData = "old_data"
	optionPrefix  = "prefix"
)

// The values of optionOldData.
const (
	oldChecked = "checked"
	oldAny     = "any"
)

// Driver describes Prometheus.
func Driver() driver.Driver {
	return driver.Driver{
		Name:    "prometheus",
		Help:    "Prometheus, written by remote write or OTLP and queried in PromQL",
		Options: options(),
		Durabilities: []driver.Profile{
			{Name: driver.AsShipped, Help: "samples are in the write-ahead log, in the operating system's cache; a client cannot change it", Options: driver.Options{}},
		},
		Caps:       func(o driver.Options) driver.Caps { return caps("Prometheus", o[metric.OptionProtocol]) },
		Modules:    []string{"github.com/go-json-experiment/json", "github.com/klauspost/compress"},
		Place:      metric.Place("Prometheus", optionPrefix),
		Endpoints:  endpoints,
		Tested:     []driver.Tested{{Version: "2.42"}, {Version: "3.16"}},
		TestServer: driver.Options{},
		Render:     render,
		Open:       open,
		Compatible: &driver.Adapter{Quirks: func() any { return new(quirks) }, Driver: adapt},
	}
}

func options() []driver.Option {
	return append(promql.Options("9090", "",
		"bearer token for a proxy, instead of user and password"),
		promql.PrefixOption(optionPrefix, "path before /api/v1 (--web.route-prefix)", "/prometheus"),
		metric.ProtocolOption("how samples are written; remote-write-2 and otlp need Prometheus 3", metric.RemoteWrite1, metric.RemoteWrite2, metric.OTLP),
		driver.Option{Name: optionOldData, Default: oldChecked, Help: "checked: require retention, and out_of_order_time_window if the server has samples, back to 1970; any: check neither, for new rows in the order of time", Type: option.Choice(oldChecked, oldAny)},
		promql.Option(),
	)
}

// inOrder is half of the time range of a block, unless the server has other flags
// (--storage.tsdb.min-block-duration). Samples that are older than others by more than this are
// refused, or are handled as late samples.
const inOrder = time.Hour

// caps returns the capabilities of a system with Prometheus's store.
func caps(system, protocol string) driver.Caps {
	return driver.Caps{
		Language:      "PromQL",
		Dedupes:       true,
		InOrder:       inOrder,
		MakesColumns:  true,
		TimePrecision: time.Millisecond,
		First:         time.UnixMilli(metric.Earliest),
		Lacks: map[series.Trait]string{
			series.NaN:           system + " does not tell from a sample that is not there",
			series.Infinities:    system + " cannot sum",
			series.LargeInts:     system + " holds as doubles",
			series.EmptyTags:     system + " does not have",
			series.RepeatedTimes: system + " cannot tell apart: it holds one sample a time and series",
		},
		Schema:  limits(system, protocol).Check,
		Types:   types(),
		Steps:   []driver.Step{{Name: stepCompact, Help: stepHelp}, {Name: stepClean, Help: stepCleanHelp}},
		Changes: changes(),
	}
}

// The step that writes all samples to blocks.
const (
	stepCompact = "compact"
	stepHelp    = "write the samples in memory to blocks, so that the size on disk is complete"
)

// types are the types of values that Prometheus stores as a double. It has no texts, and times in
// nanoseconds have too many digits.
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

// limits describes the data that a system with Prometheus's store can hold if it is written by a protocol.
func limits(system, protocol string) *metric.Limits {
	return &metric.Limits{System: system, Types: types(), Name: func(name string) string {
		switch {
		case name == "":
			return system + " cannot have"
		case strings.HasPrefix(name, escapedPrefix):
			return "begins as an escaped name (" + escapedPrefix + ")"
		case strings.HasPrefix(name, "__"):
			return "begins as Prometheus's own names (__)"
		case protocol == metric.OTLP && strings.Contains("_"+escapeName(name)+"_", "__"):
			return system + " stores otherwise when it takes it by OTLP, with fewer underscores"
		}
		return ""
	}}
}

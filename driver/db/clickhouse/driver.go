// Package clickhouse is the driver for ClickHouse, over its native protocol with ch-go or over HTTP.
// Over both, rows are sent and received as blocks of columns, and blocks are filled directly from
// batches.
//
// Each table of the schema becomes a MergeTree, ordered by tags and time, whose rows contain their
// tags. In the layout of TSBS's loader, rows refer to a table of tags instead: see package query/sql.
// The additional table tsmark_mark records the loaded dataset and the objects that tsmark created.
//
// Answers are decoded by our own reader, since ch-go allocates a length before it has arrived.
package clickhouse

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// The names of the options.
const (
	optionHTTPPort  = "http_port"
	optionProtocol  = "protocol"
	optionAsync     = "async_insert"
	optionLayout    = "layout"
	optionPartition = "partition"
	optionCodecs    = "codecs"
	optionFsync     = "fsync"
)

// Values of options.
const (
	protocolNative = "native"
	protocolHTTP   = "http"

	layoutWide       = "wide"
	layoutNormalized = "normalized"
	layoutTSBS       = "tsbs"

	partitionMonth = "month"
	partitionDay   = "day"
	partitionNone  = "none"

	codecsDefault = "default"
	codecsSeries  = "series"

	on  = "on"
	off = "off"
)

// confinement is the query.Literals.Confinement of its texts.
const confinement = "ClickHouse's parser takes it as one SELECT first, so it changes no table; table functions can still read the server's files, call other servers and run the server's own scripts: use an account that may only read"

// Driver describes ClickHouse.
func Driver() driver.Driver {
	return driver.Driver{
		Name: "clickhouse",
		Help: "ClickHouse, written and queried in blocks of columns over its native protocol or HTTP; " +
			"tested on the engine of ClickHouse 26.9 (chdb) behind tsmark's own server",
		ResultCache: driver.ResultCache{Name: "query cache", Off: "use_query_cache=0 with each query"},
		Options: connection.Options(
			option.Option{Name: connection.Port, Default: "9000", Help: "port of the native protocol, with protocol=native"},
			option.Option{Name: optionHTTPPort, Type: option.Port(), Default: "8123", Help: "port of HTTP, with protocol=http"},
			option.Option{Name: connection.Database, Default: "default"},
			option.Option{Name: connection.User, Default: "default"},
			option.Option{Name: optionProtocol, Default: protocolNative, Type: option.Choice(protocolNative, protocolHTTP),
				Help: "protocol for writes and queries"},
			option.Option{Name: optionAsync, Default: off, Type: option.Boolean(on, off),
				Help: "let the server collect the batches of all writers; each is acknowledged when it is stored"},
			option.Option{Name: optionLayout, Layout: true, Default: layoutWide, Type: option.Choice(layoutWide, layoutNormalized, layoutTSBS),
				Help: "wide (tags in each row), normalized (rows refer to a table of series) or tsbs (normalized, with the columns of TSBS's loader and times in seconds, for TSBS's query texts)"},
			option.Option{Name: optionPartition, Layout: true, Default: partitionMonth, Type: option.Choice(partitionMonth, partitionDay, partitionNone),
				Help: "time range of a partition"},
			option.Option{Name: optionCodecs, Layout: true, Default: codecsDefault, Type: option.Choice(codecsDefault, codecsSeries),
				Help: "compression on disk: default (the server's, LZ4 as shipped) or series (DoubleDelta, Delta and Gorilla, each before ZSTD)"},
			option.Option{Name: optionFsync, Layout: true, Empty: "the server's", Type: option.Boolean(on, off),
				Help: "force each batch to disk before it is acknowledged"},
		),
		Profiles: []driver.Profile{
			{Name: "default", Help: "as shipped: LZ4 on disk, monthly partitions", Options: driver.Options{}},
			{Name: "codecs", Help: "DoubleDelta for times, Delta for integers, Gorilla for floats, each before ZSTD", Options: driver.Options{optionCodecs: codecsSeries}},
		},
		Durabilities: []driver.Profile{
			{Name: driver.AsShipped, Help: "as the server is configured; fsync_after_insert 0 as shipped", Options: driver.Options{optionFsync: ""}},
			{Name: driver.Relaxed, Help: "fsync_after_insert 0, fsync_part_directory 0", Options: driver.Options{optionFsync: off}},
			{Name: driver.Strict, Help: "fsync_after_insert 1, fsync_part_directory 1", Options: driver.Options{optionFsync: on}},
		},
		Caps:       caps,
		Modules:    []string{"github.com/ClickHouse/ch-go"},
		Place:      func(o driver.Options) string { return newConfig(o).place() },
		Endpoints:  endpoints,
		Adopts:     adopts,
		Tested:     []driver.Tested{{Version: "ClickHouse 26.9"}},
		StandIn:    "chDB, its engine as a library, behind tsmark's test server, not a ClickHouse server",
		TestServer: driver.Options{connection.User: "tsmark", connection.Password: "@servers/password"},
		Render: func(q *query.Query, s *series.Schema, o driver.Options) (driver.Request, error) {
			text, err := newDialect(o).Render(q, s)
			return driver.Request{Text: text}, err
		},
		TSBS: &driver.TSBS{Format: "clickhouse", Request: func(text string, o driver.Options) (driver.Request, error) {
			if o[optionLayout] != layoutTSBS {
				return driver.Request{}, fmt.Errorf("%w: TSBS's texts are about its own layout; give %s=%s", query.ErrUnsupported, optionLayout, layoutTSBS)
			}
			return driver.Request{Text: text}, nil
		}},
		Literals: func(o driver.Options) query.Literals { return newDialect(o).Literals(confinement) },
		RenderFrom: func(q *query.Query, m *query.Materialized, s *series.Schema, o driver.Options) (driver.Request, error) {
			text, err := newDialect(o).RenderFrom(q, m, s)
			return driver.Request{Text: text}, err
		},
		Open: func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
			d, err := open(ctx, env, o)
			if err != nil {
				return driver.DB{}, fmt.Errorf("opening ClickHouse: %w", err)
			}
			return d.db(), nil
		},
	}
}

// precision is the precision of DateTime64(9), or of TSBS's DateTime.
func precision(o driver.Options) time.Duration {
	if o[optionLayout] == layoutTSBS {
		return time.Second
	}
	return time.Nanosecond
}

func caps(o driver.Options) driver.Caps {
	c := driver.Caps{
		Language:      "SQL",
		TimePrecision: precision(o),
		Schema:        newDesign(o).Check,
		Types:         types(o),
		Steps:         steps(),
		Changes:       changes(o),
	}
	if o[optionLayout] == layoutTSBS {
		c.First, c.Last = time.Unix(0, 0), time.Unix(math.MaxUint32, 0)
		c.Lacks = map[series.Trait]string{series.LargeInts: "Float64 does not hold exactly; choose layout=" + layoutNormalized}
	}
	return c
}

// types are the columns of fields. Columns of tables whose rows may lack values are Nullable; in TSBS's
// layout all are.
func types(o driver.Options) map[series.Type]driver.Stored {
	held := map[series.Type]driver.Stored{
		series.Bool:      {As: "Bool"},
		series.Int32:     {As: "Int32"},
		series.Int:       {As: "Int64"},
		series.Float32:   {As: "Float32"},
		series.Float:     {As: "Float64"},
		series.Text:      {As: "String"},
		series.Timestamp: {As: timeType},
		series.Date:      {As: "Date32"},
		series.Blob:      {As: "String"},
	}
	if o[optionLayout] == layoutTSBS {
		held[series.Int] = driver.Stored{As: "Float64", Mapped: "the double that equals it"}
	}
	return held
}

// stepOptimize is the step that merges parts.
const stepOptimize = "optimize"

// steps are the operations that users of ClickHouse run after a load.
func steps() []driver.Step {
	return []driver.Step{{Name: stepOptimize, Help: "OPTIMIZE TABLE … FINAL: merge the parts of each partition into one"}}
}

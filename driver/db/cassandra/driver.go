// Package cassandra is the driver for Apache Cassandra, over CQL with Apache's Go driver.
//
// A table of rows has a partition for each series and span of time, with rows ordered by time, the
// newest first. A registry for each table, <table>_series, lists the partitions and the tags of each
// series. A query reads the registry, runs a statement for each partition that it needs, several of
// them concurrently, and merges the results.
//
// Separate statements replace tags_id IN (…), which moves the work to one node. Timestamps are the
// client's: of two values with equal timestamps of the server, the greater one stays.
package cassandra

import (
	"context"
	"fmt"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/series"
)

// The names of the options.
const (
	optionLayout        = "layout"
	optionPartition     = "partition"
	optionConsistency   = "consistency"
	optionReplication   = "replication"
	optionDurableWrites = "durable_writes"
	optionCompaction    = "compaction"
	optionBatchRows     = "batch_rows"
	optionConcurrency   = "concurrency"
	optionConnections   = "connections"
	optionPageSize      = "page_size"
	optionQuiet         = "quiet"
)

// The values of optionLayout.
const (
	layoutWide   = "wide"
	layoutNarrow = "narrow"
)

// partitions are the values of optionPartition.
var partitions = map[string]time.Duration{"hour": time.Hour, "day": 24 * time.Hour, "week": 7 * 24 * time.Hour}

// Driver describes Cassandra.
func Driver() driver.Driver {
	return driver.Driver{
		Name: "cassandra",
		Help: "Apache Cassandra 4.1 or newer, written by unlogged batches of prepared INSERTs within a partition",
		Options: connection.Options(
			option.Option{Name: connection.Port, Default: "9042"},
			option.Option{Name: connection.Database, Default: "tsmark",
				Help: "keyspace, created if it does not exist"},
			option.Option{Name: connection.User, Default: "cassandra"},
			option.Option{Name: connection.Password, Default: "cassandra"},
			option.Option{Name: optionLayout, Layout: true, Default: layoutWide, Type: option.Choice(layoutWide, layoutNarrow),
				Help: "wide: one row per row; narrow (TSBS's): one row per value, in a table for each type, with a partition for each series, field and day"},
			option.Option{Name: optionPartition, Layout: true, Default: "day", Type: option.Choice("hour", "day", "week"),
				Help: "time range of a partition"},
			option.Option{Name: optionConsistency, Default: "local_one", Type: option.Choice("one", "local_one", "quorum", "local_quorum", "all"),
				Help: "consistency level of writes and reads"},
			option.Option{Name: optionReplication, Layout: true, Default: "1", Type: option.Integer(1, 99),
				Help: "replication factor of a keyspace that tsmark creates (SimpleStrategy)"},
			option.Option{Name: optionDurableWrites, Layout: true, Default: "true", Type: option.Choice("true", "false"),
				Help: "write through the commit log"},
			option.Option{Name: optionCompaction, Layout: true, Default: "size_tiered", Type: option.Choice("size_tiered", "unified", "leveled", "time_window"),
				Help: "compaction strategy of tables of rows: size_tiered is the server's default, time_window has one window per partition range, unified needs Cassandra 5"},
			option.Option{Name: optionBatchRows, Default: "200", Type: option.Integer(1, 10_000), Help: "rows of one partition in a batch of Cassandra"},
			option.Option{Name: optionConcurrency, Default: "32", Type: option.Integer(1, 4096), Help: "batches, or statements of a query, that a worker has in flight"},
			option.Option{Name: optionConnections, Default: "2", Type: option.Integer(1, 128), Help: "connections to each node, shared by the workers"},
			option.Option{Name: optionPageSize, Default: "5000", Type: option.Integer(10, 1_000_000), Help: "rows of an answer in each page"},
			option.Option{Name: optionQuiet, Default: "3s", Type: option.Seconds(time.Second).OrWord("0s"),
				Help: "how long a node must be free of flushes, compactions and index builds before a load has settled; 0s: do not wait"},
		),
		Profiles: []driver.Profile{
			{Name: "default", Help: "as the server is configured", Options: driver.Options{}},
			{Name: "time-window", Help: "TimeWindowCompactionStrategy, one window per partition range, as is usual for rows in the order of time", Options: driver.Options{optionCompaction: "time_window"}},
		},
		Durabilities: []driver.Profile{
			{Name: driver.AsShipped, Help: "commit log with commitlog_sync of the server, periodic by default", Options: driver.Options{}},
			{Name: driver.Relaxed, Help: "durable_writes=false: no commit log; a crash loses unflushed rows", Options: driver.Options{optionDurableWrites: "false"}},
		},
		Caps:    caps,
		Modules: []string{"github.com/apache/cassandra-gocql-driver/v2"},
		Place: func(o driver.Options) string {
			return fmt.Sprintf("keyspace %s of Cassandra at %s", o[connection.Database], driver.AddressPlace(o[connection.Host], o[connection.Port]))
		},
		Tested:     []driver.Tested{{Version: "5.0"}},
		StandIn:    standIn,
		TestServer: driver.Options{},
		Render:     render,
		Open: func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
			d, err := open(ctx, env, o)
			if err != nil {
				return driver.DB{}, fmt.Errorf("opening Cassandra: %w", err)
			}
			return d.db(), nil
		},
	}
}

func caps(o driver.Options) driver.Caps {
	c := driver.Caps{
		Language:      "CQL",
		Dedupes:       true,
		TimePrecision: time.Millisecond,
		Schema:        func(s *series.Schema) error { return check(o, s) },
		Types: map[series.Type]driver.Stored{
			series.Bool:      {As: "boolean"},
			series.Int32:     {As: "int"},
			series.Int:       {As: "bigint"},
			series.Float32:   {As: "float"},
			series.Float:     {As: "double"},
			series.Text:      {As: "text"},
			series.Timestamp: {As: "bigint", Mapped: "its nanoseconds since 1970, since a timestamp is one of milliseconds"},
			series.Date:      {As: "date"},
			series.Blob:      {As: "blob"},
		},
		Steps:   []driver.Step{},
		Changes: changes(o),
	}
	if o[optionLayout] == layoutNarrow {
		c.Types[series.Int32] = driver.Stored{As: "bigint", Mapped: "the bigint that equals it"}
		c.Types[series.Date] = driver.Stored{As: "bigint", Mapped: "its days since 1970-01-01"}
		c.Types[series.Text] = driver.Stored{As: "blob", Mapped: "its bytes"}
	}
	return c
}

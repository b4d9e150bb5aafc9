// Package griddb is the driver for GridDB, over its NoSQL protocol. Rows are written by puts into many
// containers per request, and queries are run in TQL.
//
// Each series has a container of its own, as GridDB's users have it: <table>_<number>, a TIME_SERIES
// whose row key is the time. A registry for each table, <table>_series, lists the containers and the
// tags of each series. A query reads the registry, runs statements for the series that it needs, many
// of them concurrently, and merges the results.
//
// The client is our own, because the only one in Go wraps a C library.
package griddb

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/griddb/client"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/series"
)

// The names of the options.
const (
	optionCluster    = "cluster"
	optionMembers    = "members"
	optionProvider   = "provider"
	optionDirect     = "direct"
	optionSystemPort = "system_port"
	optionLayout     = "layout"
	optionPrecision  = "precision"
	optionAggregate  = "aggregate"
	optionInFlight   = "in_flight"
	optionPageSize   = "page_size"
	optionLanguage   = "language"
	optionSQLPort    = "sql_port"
)

// The values of optionLanguage.
const (
	languageTQL = "tql"
	languageSQL = "sql"
)

// The values of optionLayout.
const (
	layoutSeries = "series"
	layoutTable  = "table"
)

// The values of optionAggregate.
const (
	aggregateAuto       = "auto"
	aggregateRows       = "rows"
	aggregateStatements = "statements"
)

// precision is a type of row keys: how fine they are, and how TQL says one.
type precision struct {
	unit    time.Duration
	kind    client.Type
	literal string // of a text in TQL
	format  string
}

// precisions are the values of optionPrecision.
var precisions = map[string]precision{
	"ms": {time.Millisecond, client.Timestamp, "TIMESTAMP", "2006-01-02T15:04:05.000Z"},
	"us": {time.Microsecond, client.MicroTimestamp, "TIMESTAMP_US", "2006-01-02T15:04:05.000000Z"},
	"ns": {time.Nanosecond, client.NanoTimestamp, "TIMESTAMP_NS", "2006-01-02T15:04:05.000000000Z"},
}

// Driver describes GridDB.
func Driver() driver.Driver {
	return driver.Driver{
		Name: "griddb",
		Help: "GridDB 5.3 or newer, written over the NoSQL protocol, with rows of many containers in one statement",
		Options: connection.Options(
			option.Option{Name: connection.Host, Help: "name or address of a node"},
			option.Option{Name: connection.Port, Default: "10001", Help: "port of the transaction service of the node"},
			option.Option{Name: optionCluster, Empty: "any", Help: "name of the cluster, checked by the server"},
			option.Option{Name: optionMembers, Empty: "host and port", Help: "fixed list of nodes, as host:port,host:port, instead of host and port"},
			option.Option{Name: optionProvider, Empty: "none", Help: "URL of a notification provider, instead of host and port"},
			option.Option{Name: optionDirect, Default: "false", Type: option.Choice("true", "false"),
				Help: "true: use host and port whatever addresses the cluster reports, as for the mapped port of a container"},
			option.Option{Name: optionSQLPort, Default: "20001", Type: option.Port(), Help: "port of the SQL interface of the nodes, for language=sql; a provider supplies it"},
			option.Option{Name: optionSystemPort, Default: "10040", Type: option.Integer(0, 65535),
				Help: "port of the system service of the node (HTTP), which reports version and settings; 0: do not use it"},
			option.Option{Name: connection.Database, Default: client.PublicDatabase, Help: "database, created if it does not exist and the user may create it"},
			option.Option{Name: connection.User, Default: "admin"},
			option.Option{Name: connection.Password, Default: "admin"},
			option.Option{Name: connection.TLS, Default: connection.Off, Help: "encrypt the connections (Enterprise Edition): off, on (verify the certificate), or insecure (do not verify it)"},
			option.Option{Name: optionLayout, Layout: true, Default: layoutSeries, Type: option.Choice(layoutSeries, layoutTable),
				Help: "series: a TIME_SERIES container for each series; table: a COLLECTION for each table, with the row key (series, time)"},
			option.Option{Name: optionPrecision, Layout: true, Default: "ms", Type: option.Choice("ms", "us", "ns"),
				Help: "precision of row keys: TIMESTAMP(3), (6) or (9); us and ns need layout=table"},
			option.Option{Name: optionLanguage, Default: languageTQL, Type: option.Choice(languageTQL, languageSQL),
				Help: "query language: tql (statements for each series) or sql (one SELECT over the SQL interface; needs layout=table)"},
			option.Option{Name: optionAggregate, Default: aggregateAuto, Type: option.Choice(aggregateAuto, aggregateRows, aggregateStatements),
				Help: "who aggregates in TQL: statements (the server, one statement for each series, bucket and aggregate), rows (tsmark, from the rows) or auto (statements for queries without buckets)"},
			option.Option{Name: optionInFlight, Default: "64", Type: option.Integer(1, 4096), Help: "statements that a worker has in flight at each node"},
			option.Option{Name: optionPageSize, Default: "10000", Type: option.Integer(10, 1_000_000), Help: "rows of a TQL answer in each page"},
		),
		Profiles: []driver.Profile{
			{Name: "default", Help: "as the server is configured", Options: driver.Options{}},
			{Name: "sql", Help: "SQL queries over one container per table", Options: driver.Options{optionLanguage: languageSQL, optionLayout: layoutTable}},
			{Name: "statements", Help: "one TQL statement for each series, bucket and aggregate, as in Fixstars' paper on TSBS", Options: driver.Options{optionAggregate: aggregateStatements}},
		},
		Durabilities: []driver.Profile{
			{Name: driver.AsShipped, Help: "logWriteMode of the node; by default the log is forced to disk once a second", Options: driver.Options{}},
		},
		Caps: caps,
		Place: func(o driver.Options) string {
			where := cmp.Or(o[optionProvider], o[optionMembers])
			if where == "" {
				where = driver.AddressPlace(o[connection.Host], o[connection.Port])
			}
			return fmt.Sprintf("database %s of GridDB at %s", o[connection.Database], where)
		},
		Endpoints:  endpoints,
		Tested:     []driver.Tested{{Version: "5.9.0-40956", From: "built from source"}},
		TestServer: driver.Options{},
		UserServer: &driver.UserServer{
			How: "in a container or from its packages; see docs/drivers/griddb.md",
		},
		Render: render,
		Open: func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
			d, err := open(ctx, env, o)
			if err != nil {
				return driver.DB{}, fmt.Errorf("opening GridDB: %w", err)
			}
			return d.db(), nil
		},
	}
}

func caps(o driver.Options) driver.Caps {
	language := "TQL"
	if o[optionLanguage] == languageSQL {
		language = "GridDB SQL"
	}
	return driver.Caps{
		Language:      language,
		Dedupes:       true,
		TimePrecision: precisions[o[optionPrecision]].unit,
		First:         time.Unix(0, 0).UTC(),
		Schema:        func(s *series.Schema) error { return check(o, s) },
		Types: map[series.Type]driver.Stored{
			series.Bool:      {As: "BOOL"},
			series.Int32:     {As: "INTEGER"},
			series.Int:       {As: "LONG"},
			series.Float32:   {As: "FLOAT"},
			series.Float:     {As: "DOUBLE"},
			series.Text:      {As: "STRING"},
			series.Timestamp: {As: "LONG", Mapped: "its nanoseconds since 1970, before which no timestamp of GridDB's is"},
			series.Date:      {As: "INTEGER", Mapped: "its days since 1970-01-01, since there are no dates"},
			series.Blob:      {As: "BLOB"},
		},
		Steps:   []driver.Step{},
		Changes: changes(),
	}
}

// changes are the Changes of GridDB.
func changes() driver.Changes {
	c := driver.Unchangeable("tsmark deletes nothing in GridDB: TQL has no DELETE, and rows expire only in partitioned containers, counting back from now")
	c.Correct, c.Again = driver.Way{By: "putting the rows again"}, driver.Replaces
	return c
}

// members are the nodes that options name.
func members(o driver.Options) ([]string, error) {
	if o[optionMembers] == "" {
		return []string{net.JoinHostPort(o[connection.Host], o[connection.Port])}, nil
	}
	var list []string
	for _, m := range strings.Split(o[optionMembers], ",") {
		m = strings.TrimSpace(m)
		if host, port, err := net.SplitHostPort(m); err != nil || host == "" || port == "" {
			return nil, fmt.Errorf("the option %s has %q, not host:port; give those of the service transaction, with commas between", optionMembers, m)
		}
		list = append(list, m)
	}
	return list, nil
}

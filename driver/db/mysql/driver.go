// Package mysql is the driver for MySQL and MariaDB, over their wire protocol with go-sql-driver/mysql.
// Rows are loaded with LOAD DATA LOCAL INFILE, encoded directly from batches, or with prepared
// multi-row INSERTs; results are decoded from the binary format.
//
// In the layout of TSBS's loader for TimescaleDB, each table of the schema becomes a table of rows, and
// its series a table of tags: see package query/sql. A row's tags_id is the number of its series. Wide
// tables have tags and fields in the same table. Narrow tables have a row for each value. The
// additional table tsmark_mark records the loaded dataset and the objects that tsmark created.
//
// Newest rows use a correlated LIMIT 1 with ROW_NUMBER, the only form that is fast with and without a
// condition on MariaDB. Tables are not clustered by series and time: that pair is not unique, and a
// counter that makes it unique would be shared by all writers.
package mysql

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// The names of the options.
const (
	optionLayout     = "layout"
	optionMethod     = "method"
	optionTimes      = "times"
	optionIndex      = "index"
	optionPartition  = "partition"
	optionFlushLog   = "flush_log"
	optionSyncBinlog = "sync_binlog"
)

// Values of options.
const (
	layoutNormalized = "normalized"
	layoutWide       = "wide"
	layoutNarrow     = "narrow"

	methodLoad   = "load"
	methodInsert = "insert"

	timesDatetime = "datetime"
	timesBigint   = "bigint"

	indexBoth     = "both"
	indexTagsTime = "tags_time"
	indexTime     = "time"
	indexNone     = "none"
)

// confinement is the query.Literals.Confinement of its texts.
const confinement = "the server prepares it as a subquery first and runs it in read-only transactions; functions can still read files (LOAD_FILE), wait and take locks: use an account that may only read"

// Driver describes MySQL and MariaDB.
func Driver() driver.Driver {
	d := variant{}.driver()
	d.Compatible = &driver.Adapter{
		Quirks: func() any { return new(sqlkit.Quirks) },
		Driver: func(c driver.Compatible) (driver.Driver, error) {
			v := variant{c.System, c.Quirks.(*sqlkit.Quirks)}
			out := v.driver()
			if v.quirks.Lack(sqlkit.LacksCatalogs) {
				out.RenderFrom = nil // its triggers and sizes are MySQL's
			}
			return out, v.check()
		},
	}
	return d
}

// variant is a compatible system. The zero value is MySQL or MariaDB.
type variant struct {
	system string
	quirks *sqlkit.Quirks
}

// check returns a *driver.QuirkError for a value that is wrong. A comment identifies tables whose system has no other
// way.
func (v variant) check() error {
	if err := v.quirks.Check(lacksPrepared); err != nil || !v.quirks.Lack(sqlkit.LacksCatalogs) || v.quirks.Objects != "" {
		return err
	}
	for _, suffix := range [][2]string{{"rows-suffix", v.quirks.Rows}, {"tags-suffix", v.quirks.Tags}} {
		if suffix[1] != "" && !strings.Contains(suffix[1], "{comment}") {
			return &driver.QuirkError{Path: suffix[0], Text: "lacks COMMENT {comment}, by which tsmark tells its tables from others; add it, or give objects"}
		}
	}
	return nil
}

// lacksPrepared is the word of sqlkit.Quirks.Lacks for prepared INSERTs; texts replace them.
const lacksPrepared = "prepared-inserts"

func (v variant) driver() driver.Driver {
	return driver.Driver{
		Name:        "mysql",
		Help:        "MySQL 8 or newer, and MariaDB 10.11 or newer, written by LOAD DATA LOCAL INFILE",
		ResultCache: driver.ResultCache{Name: "MariaDB's query cache (MySQL 8 has none)", Off: setCacheOff + " in each session"},
		Options: connection.Options(
			option.Option{Name: connection.Host, Help: "host of the server, or the path of its socket"},
			option.Option{Name: connection.Port, Default: "3306"},
			option.Option{Name: connection.Database, Default: "tsmark"},
			option.Option{Name: connection.User, Default: "root"},
			option.Option{Name: optionLayout, Layout: true, Default: layoutNormalized, Type: option.Choice(layoutNormalized, layoutWide, layoutNarrow),
				Help: "normalized (rows refer to a table of series, as in TSBS), wide (tags in each row) or narrow (one row per value)"},
			option.Option{Name: optionMethod, Default: methodLoad, Type: option.Choice(methodLoad, methodInsert),
				Help: "how rows are written: load (LOAD DATA LOCAL INFILE) or insert (prepared INSERTs of many rows)"},
			option.Option{Name: optionTimes, Layout: true, Default: timesDatetime, Type: option.Choice(timesDatetime, timesBigint),
				Help: "type of times: datetime (DATETIME(6), microseconds) or bigint (nanoseconds since 1970)"},
			option.Option{Name: optionIndex, Layout: true, Default: indexBoth, Type: option.Choice(indexBoth, indexTagsTime, indexTime, indexNone),
				Help: "indexes: tags_time (series and time), time, both (TSBS's default) or none"},
			option.Option{Name: optionPartition, Layout: true, Empty: "none", Type: option.Seconds(time.Minute),
				Help: "time range of a partition, such as 12h"},
			option.Option{Name: optionFlushLog, Empty: "the server's", Type: option.Choice("0", "1", "2"),
				Help: "innodb_flush_log_at_trx_commit of the whole server, until the target is closed"},
			option.Option{Name: optionSyncBinlog, Empty: "the server's", Type: option.AtLeast(0),
				Help: "sync_binlog of the whole server, until the target is closed"},
		),
		Profiles: []driver.Profile{{Name: "default", Help: "as the server is configured, in TSBS's layout with TSBS's indexes", Options: driver.Options{}}},
		Durabilities: []driver.Profile{
			{Name: driver.AsShipped, Help: "as the server is configured", Options: driver.Options{optionFlushLog: "", optionSyncBinlog: ""}},
			{Name: driver.Relaxed, Help: "innodb_flush_log_at_trx_commit 2, sync_binlog 0", Options: driver.Options{optionFlushLog: "2", optionSyncBinlog: "0"}},
			{Name: driver.Strict, Help: "innodb_flush_log_at_trx_commit 1, sync_binlog 1", Options: driver.Options{optionFlushLog: "1", optionSyncBinlog: "1"}},
		},
		Caps:       v.caps,
		Modules:    []string{"github.com/go-sql-driver/mysql"},
		Place:      func(o driver.Options) string { return newConfig(connection.NewSettings(o)).place() },
		Endpoints:  v.endpoints,
		Tested:     []driver.Tested{{Version: "MariaDB 10.11"}, {Version: "MariaDB 11.4"}},
		TestServer: driver.Options{connection.User: "tsmark", connection.Password: "@servers/password"},
		Render: func(q *query.Query, s *series.Schema, o driver.Options) (driver.Request, error) {
			text, err := v.dialect(o).Render(q, s)
			return driver.Request{Text: text}, err
		},
		Literals: func(o driver.Options) query.Literals {
			l := v.dialect(o).Literals(confinement)
			if v.quirks.Lack(sqlkit.LacksTexts) {
				l.Unsupported = v.system + " has no way to run a text that cannot change data, as its profile says"
			}
			return l
		},
		RenderFrom: func(q *query.Query, m *query.Materialized, s *series.Schema, o driver.Options) (driver.Request, error) {
			text, err := v.dialect(o).RenderFrom(q, m, s)
			return driver.Request{Text: text}, err
		},
		Open: func(ctx context.Context, env driver.Env, o driver.Options) (driver.DB, error) {
			d, err := open(ctx, v, env, o)
			if err != nil {
				return driver.DB{}, fmt.Errorf("opening %s: %w", cmp.Or(v.system, "MySQL"), err)
			}
			return d.db(), nil
		},
	}
}

func (v variant) caps(o driver.Options) driver.Caps {
	c := driver.Caps{
		Language:      "SQL",
		TimePrecision: precision(o),
		Lacks: map[series.Trait]string{
			series.NaN:        "MySQL's DOUBLE does not hold",
			series.Infinities: "MySQL's DOUBLE does not hold",
		},
		Schema:  v.design(o, collationMariaDB).Check,
		Types:   v.quirks.ChangeTypes(types(o)),
		Steps:   v.steps(),
		Changes: v.changes(o),
	}
	v.quirks.Caps(&c)
	if o[optionTimes] != timesBigint {
		c.Lacks[series.FineTimestamps] = "DATETIME(6), whose unit is 1 µs, does not hold; choose times=" + timesBigint
	}
	if o[optionLayout] == layoutNarrow {
		c.Lacks[series.RepeatedTimes] = "a narrow table cannot tell apart; choose layout=" + layoutNormalized + " or " + layoutWide
	}
	return c
}

// precision is the precision of times.
func precision(o driver.Options) time.Duration {
	if o[optionTimes] == timesBigint {
		return time.Nanosecond
	}
	return time.Microsecond
}

// types are the columns of fields.
func types(o driver.Options) map[series.Type]driver.Stored {
	held := map[series.Type]driver.Stored{
		series.Bool:      {As: "TINYINT(1)", Mapped: "0 or 1"},
		series.Int32:     {As: "INT"},
		series.Int:       {As: "BIGINT"},
		series.Float32:   {As: "FLOAT"},
		series.Float:     {As: "DOUBLE"},
		series.Text:      {As: "TEXT"},
		series.Timestamp: {As: "DATETIME(6)"},
		series.Date:      {As: "DATE"},
		series.Blob:      {As: "BLOB"},
	}
	if o[optionTimes] == timesBigint {
		held[series.Timestamp] = driver.Stored{As: "BIGINT", Mapped: "its nanoseconds since 1970"}
	}
	if o[optionLayout] == layoutNarrow {
		held[series.Bool] = driver.Stored{As: "BIGINT", Mapped: "0 or 1"}
		held[series.Int32] = driver.Stored{As: "BIGINT", Mapped: "the BIGINT that equals it"}
		held[series.Float32] = driver.Stored{As: "DOUBLE", Mapped: "the DOUBLE that equals it"}
		held[series.Blob] = driver.Stored{As: "TEXT", Mapped: "its bytes as a text"}
	}
	return held
}

// stepOptimize is the step that shrinks the files of tables.
const stepOptimize = "optimize"

// steps are named after their statements.
func (v variant) steps() []driver.Step {
	if v.quirks.Lack(sqlkit.LacksCatalogs) {
		return nil
	}
	return []driver.Step{
		{Name: "analyze", Help: "ANALYZE TABLE: statistics for the query planner"},
		{Name: stepOptimize, Help: "OPTIMIZE TABLE: rewrite tables and indexes without gaps"},
	}
}

// The collations that compare texts by their bytes, including trailing blanks.
const (
	collationMariaDB = "utf8mb4_nopad_bin"
	collationMySQL   = "utf8mb4_0900_bin"
)

// text is the type of a tag: InnoDB indexes 3,072 bytes, at four bytes a character.
const text = "VARCHAR(255)"

// design is how tables are declared.
func (v variant) design(o driver.Options, collation string) *sqlkit.Design {
	held := v.quirks.ChangeTypes(types(o))
	d := &sqlkit.Design{
		Dialect: v.dialect(o), Time: held[series.Timestamp].As + " NOT NULL", Series: "INT UNSIGNED NOT NULL", Key: "INT UNSIGNED PRIMARY KEY",
		Text: text, Number: "DOUBLE", Fields: held, MaxName: 64, MaxColumns: 1017,
	}
	switch o[optionLayout] {
	case layoutWide:
		d.Instead = "layout=" + layoutNormalized
	case layoutNormalized:
		d.Instead = "layout=" + layoutNarrow
	}
	v.quirks.Design(d)
	d.Make = func(t *sqlkit.Table, columns []string) {
		suffix, ok := v.quirks.Suffix(t, d.Dialect)
		makeTable(o, collation, t, columns)
		if ok {
			t.Make = []string{fmt.Sprintf("CREATE TABLE %s (%s)%s", quoteIdent(t.Name), strings.Join(columns, ", "), suffix)}
		}
	}
	return d
}

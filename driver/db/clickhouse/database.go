package clickhouse

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// database implements driver.DB.
type database struct {
	sqlkit.Tables
	options driver.Options
	config  *config
	admin   *sqlkit.Link[conn] // for everything but writers and queriers
	meter   *sqlkit.Link[conn] // for ReadMetrics, which must not wait for other statements
	version string
	standIn string      // see driver.Description
	doubt   atomic.Bool // a batch may be partly stored

	mu        sync.Mutex // guards the following fields
	idleSince time.Time
}

// oldest is the oldest version with all features that the driver needs.
const oldest = 23

// open connects, and checks that tsmark supports the server.
func open(ctx context.Context, env driver.Env, o driver.Options) (*database, error) {
	c := newConfig(o)
	admin := c
	if env.Locks > 0 {
		admin = c.addSettings(setting{"lock_acquire_timeout", fmt.Sprintf("%d", max(1, int64(env.Locks.Seconds())))})
	}
	d := &database{options: o, config: c, admin: sqlkit.NewLink(admin.connect, false), meter: sqlkit.NewLink(c.connect, false)}
	d.Tables = sqlkit.Tables{
		Counter: sqlkit.Counter{
			Dialect: newDialect(o),
			Figures: figuresOf(o),
			Scaled: func(column string, factor int64) sqlkit.Figures {
				return figures(series.Int, fmt.Sprintf("toInt64(round(toFloat64(%s) * %d))", column, factor))
			},
			Run: sqlkit.RunBy(d.admin),
		},
		Place: c.location(),
		Own:   d.admin,
		List: `SELECT multiIf(engine LIKE '%View', 'view', engine = 'Dictionary', 'dictionary', 'table') AS kind, name, toString(uuid), '', ''
			FROM system.tables WHERE database = currentDatabase() AND NOT is_temporary ORDER BY kind DESC, name`,
		Lay:        newDesign(o).Layout,
		Change:     d.change,
		Undo:       d.Drop,
		Aggregates: aggregates(o),
	}
	if err := d.fits(ctx); err != nil {
		_ = d.Close() // return the first error
		return nil, err
	}
	return d, nil
}

// db returns the database with the optional functions of the system.
func (d *database) db() driver.DB {
	o := d.Tables.Optional()
	o.Address = d.Address()
	o.Steps = d.steps()
	o.ReadClock = d.ReadClock
	o.FreeSpace = d.FreeSpace
	o.Advise = d.Advise
	o.EffectiveOptions = d.EffectiveOptions
	o.CheckText = d.CheckText
	o.Join = d.Join
	o.DropBefore = d.DropBefore
	o.Correct = d.Correct
	o.IdleSince = d.IdleSince
	o.Upkeep = d.Upkeep
	o.ReadMetrics = d.ReadMetrics
	o.Backlog = driver.Backlog{Metric: "parts", What: "active parts, which merges reduce"}
	o.MeasureReads = d.MeasureReads
	o.Explain = sqlkit.Explain(d.admin, "EXPLAIN")
	return driver.DB{Required: d, Optional: o}
}

// fits reads the server's version and abilities. Over HTTP it sends the first request, which opens a
// connection.
func (d *database) fits(ctx context.Context) error {
	if d.config.http {
		bounded, cancel := d.config.wire.WithTimeout(ctx)
		defer cancel()
		ctx = bounded
	}
	row, err := sqlkit.QueryRow(ctx, d.admin, "SELECT version()")
	if err != nil {
		return err
	}
	d.version = row[0].String()
	var major int
	if _, _ = fmt.Sscanf(d.version, "%d.", &major); major < oldest {
		return fmt.Errorf("%s has ClickHouse %s; tsmark needs version %d or newer", d.config.location(), d.version, oldest)
	}
	d.standIn, err = standIn(ctx, d.admin)
	return err
}

// standIn describes chDB, which is ClickHouse's engine as a library: it alone has the function chdb.
// Empty: it is a server.
func standIn(ctx context.Context, c sqlkit.Conn) (string, error) {
	rows, err := sqlkit.QueryRows(ctx, c, "SELECT name FROM system.functions WHERE name = 'chdb'")
	if err != nil || len(rows) == 0 {
		return "", err
	}
	row, err := sqlkit.QueryRow(ctx, c, "SELECT chdb()")
	if err != nil {
		return "", err
	}
	return "chDB " + row[0].String() + " behind tsmark's test server, not a ClickHouse server", nil
}

// change implements the Change of sqlkit.Tables.
func (d *database) change(ctx context.Context, _ []string, do func(sqlkit.Conn) error) error {
	return d.admin.Do(ctx, func(c conn) error { return do(c) })
}

// Address implements driver.DB.
func (d *database) Address() string { return d.config.Address() }

// Describe implements driver.DB.
func (d *database) Describe(ctx context.Context) (driver.Description, error) {
	found := make(map[string]string)
	for _, text := range []string{
		`SELECT name, value FROM system.settings WHERE name IN ('max_threads', 'max_memory_usage', 'max_insert_threads', 'async_insert',
			'wait_for_async_insert', 'min_insert_block_size_rows', 'prefer_column_name_to_alias', 'union_default_mode', 'use_query_cache')`,
		`SELECT name, value FROM system.merge_tree_settings WHERE name IN ('fsync_after_insert', 'fsync_part_directory', 'index_granularity',
			'parts_to_throw_insert', 'min_bytes_for_wide_part', 'non_replicated_deduplication_window')`,
	} {
		rows, err := sqlkit.QueryRows(ctx, d.admin, text)
		if err != nil {
			return driver.Description{}, fmt.Errorf("describing ClickHouse: %w", err)
		}
		for _, row := range rows {
			found[row[0].String()] = row[1].String()
		}
	}
	found["protocol"], found["compression"] = protocolNative, "lz4"
	if d.config.http {
		found["protocol"] = protocolHTTP
	}
	fsync := found["fsync_after_insert"] == "1"
	if o := d.options[optionFsync]; o != "" {
		fsync = o == on
	}
	out := driver.Description{Version: "ClickHouse " + d.version, Location: d.config.location(), Settings: found, Elsewhere: connection.Database, StandIn: d.standIn}
	out.Durability, out.Safety = durability(fsync)
	return out, nil
}

// durability says when an acknowledged row is on disk.
func durability(fsync bool) (words string, safety driver.Safety) {
	if fsync {
		return "each batch is a part of its table, and forced to disk by fsync before it is acknowledged", driver.OnDisk
	}
	return "each batch is a part of its table, written to files before it is acknowledged and not forced to disk: a crash of the machine loses what the system had not written yet", driver.InFiles
}

// Create implements driver.DB.
func (d *database) Create(ctx context.Context, schema *series.Schema) error {
	d.doubt.Store(false)
	return d.Tables.Create(ctx, schema)
}

// Join implements driver.DB.
func (d *database) Join(ctx context.Context, schema *series.Schema) error {
	return d.Rejoin(ctx, schema)
}

// Drop implements driver.DB. It drops views before the tables that they read.
func (d *database) Drop(ctx context.Context, objects []driver.Object) error {
	err := d.change(ctx, nil, func(c sqlkit.Conn) error {
		for _, kind := range [...]string{"view", "dictionary", sqlkit.KindTable} {
			for _, o := range objects {
				if o.Kind != kind {
					continue
				}
				if err := c.Exec(ctx, "DROP "+strings.ToUpper(kind)+" IF EXISTS "+quoteIdent(o.Name)+" SYNC"); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("clearing %s: %w", d.config.location(), err)
	}
	return nil
}

// SetNote implements driver.DB. It replaces the table atomically.
func (d *database) SetNote(ctx context.Context, text string) error {
	return d.admin.Exec(ctx, fmt.Sprintf("CREATE OR REPLACE TABLE %s ENGINE = MergeTree ORDER BY tuple() AS SELECT %s AS %s",
		sqlkit.NoteTable, literal(text), sqlkit.NoteColumn))
}

// NewQuerier implements driver.DB.
func (d *database) NewQuerier(ctx context.Context, _ int) (driver.Querier, error) {
	return sqlkit.NewQuerier(ctx, d.config.connect)
}

// CheckText implements driver.DB. The server's parser parses the text and formats it without comments,
// so its first word is the kind of statement; then the server describes it as a subquery. The text is
// sent as a value: a server that accepts several statements would run statements after a text that
// closes a parenthesis. Servers have this function since version 23.10.
func (d *database) CheckText(ctx context.Context, text string) error {
	row, err := sqlkit.QueryRow(ctx, d.admin, "SELECT formatQuerySingleLine("+literal(text)+")")
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(strings.TrimLeft(string(row[0].Text), "( "), " ")
	if first != "SELECT" && first != "WITH" {
		return fmt.Errorf("ClickHouse parses the text as a statement that begins with %s; write a SELECT", first)
	}
	// formatQuerySingleLine accepts DELETE FROM cpu as a SELECT without its first word. The text is one
	// statement at this point, and a subquery needs that word.
	return d.admin.Exec(ctx, sqlkit.Parenthesize("DESCRIBE TABLE", text))
}

// steps are driver.Optional\'s Steps.
func (d *database) steps() []driver.Step {
	able := steps()
	able[0].Do = func(ctx context.Context) error {
		l, err := d.Layout()
		if err == nil {
			for _, t := range l.Tables {
				if err = d.admin.Exec(ctx, "OPTIMIZE TABLE "+quoteIdent(t.Name)+" FINAL"); err != nil {
					break
				}
			}
		}
		if err != nil {
			return fmt.Errorf("ClickHouse's step %s: %w", able[0].Name, err)
		}
		return nil
	}
	return able
}

// ownTables returns a condition on the column table of ClickHouse's system tables that selects the tables
// that Create has created.
func (d *database) ownTables() (string, error) {
	l, err := d.Layout()
	if err != nil {
		return "", err
	}
	list := make([]string, len(l.Tables))
	for i, t := range l.Tables {
		list[i] = literal(t.Name)
	}
	return "database = currentDatabase() AND table IN (" + strings.Join(list, ", ") + ")", nil
}

// Footprint implements driver.DB: the files of active parts. The server deletes merged parts some
// minutes later.
func (d *database) Footprint(ctx context.Context) (driver.Footprint, error) {
	condition, err := d.ownTables()
	var row []query.Value
	if err == nil {
		row, err = sqlkit.QueryRow(ctx, d.admin, "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND "+condition)
	}
	if err != nil {
		return driver.Footprint{Bytes: -1}, fmt.Errorf("measuring the tables: %w", err)
	}
	return driver.Footprint{Bytes: row[0].Int}, nil
}

// Upkeep implements driver.DB: the number of parts that merges have left.
func (d *database) Upkeep(ctx context.Context, objects []driver.Object) (string, error) {
	if len(objects) == 0 {
		return "", nil
	}
	names := make([]string, len(objects))
	for i, o := range objects {
		names[i] = literal(o.Name)
	}
	in := " WHERE database = currentDatabase() AND table IN (" + strings.Join(names, ", ") + ")"
	row, err := sqlkit.QueryRow(ctx, d.admin, "SELECT count(), uniqExact(table, partition), countIf(level > 0), (SELECT count() FROM system.merges"+in+
		") FROM system.parts"+in+" AND active")
	if err != nil {
		return "", fmt.Errorf("looking for merges: %w", err)
	}
	if row[0].Int == 0 {
		return "", nil
	}
	return fmt.Sprintf("%s parts in %s partitions, %s of them merged from others; %s merges at work", row[0], row[1], row[2], row[3]), nil
}

// ReadMetrics implements driver.DB.
func (d *database) ReadMetrics(ctx context.Context) (map[string]float64, error) {
	found := map[string]string{
		"InsertedRows": "inserted_rows_total", "MergedRows": "merged_rows_total", "MergedUncompressedBytes": "merged_bytes_total",
		"Merge": "merges_total", "OSReadBytes": "disk_read_bytes_total", "OSWriteBytes": "disk_written_bytes_total",
		"DelayedInserts": "delayed_inserts_total", "RejectedInserts": "rejected_inserts_total", "MergesInProgress": "merges",
		"MemoryTracking": "memory_bytes", "PartsActive": "parts",
	}
	rows, err := sqlkit.QueryRows(ctx, d.meter, `SELECT event, toFloat64(value) FROM system.events
		UNION ALL SELECT if(metric = 'Merge', 'MergesInProgress', metric), toFloat64(value) FROM system.metrics WHERE metric IN ('Merge', 'MemoryTracking', 'PartsActive')`)
	if err != nil {
		return nil, fmt.Errorf("reading the server's statistics: %w", err)
	}
	figures := make(map[string]float64, len(found))
	for _, row := range rows {
		if name := found[row[0].String()]; name != "" {
			figures[name] = row[1].Float
		}
	}
	return figures, nil
}

// Close implements driver.DB.
func (d *database) Close() error {
	return cmp.Or(d.admin.Close(), d.meter.Close())
}

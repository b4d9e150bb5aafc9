package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/pgwire"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// database implements driver.DB.
type database struct {
	sqlkit.Tables
	variant Variant
	options driver.Options
	config  *pgwire.Config
	admin   *pgwire.Link  // for everything but writers and queriers
	meter   *pgwire.Link  // for ReadMetrics, which must not wait for other statements
	locks   time.Duration // longest wait for others' locks; 0: unlimited

	mu         sync.Mutex      // guards the following fields
	partitions map[string]bool // created since Create, by table and start
}

// open connects, and checks that the server supports the options.
func open(ctx context.Context, v Variant, env driver.Env, o driver.Options) (*database, error) {
	config, err := pgwire.NewConfig(connection.NewSettings(o))
	if err != nil {
		return nil, err
	}
	for _, s := range settingOptions {
		if v := o[s.option]; v != "" {
			config.Set(s.setting, v)
		}
	}
	for _, s := range needed {
		config.Set(s.setting, s.value)
	}
	if v.quirks != nil {
		config.Begin(v.quirks.Session)
	}
	link := func() *pgwire.Link { return pgwire.NewLink(config, o[optionConnections] == connectionsOne) }
	d := &database{variant: v, options: o, config: config, admin: link(), meter: link(), locks: env.Locks}
	d.Tables = d.tables()
	if err := d.admin.Do(ctx, func(c *pgwire.Conn) error { return d.fits(ctx, c) }); err != nil {
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
	if !d.variant.quirks.Lack(sqlkit.LacksTexts) {
		o.CheckText = d.CheckText
	}
	o.Join = d.Join
	o.Grow = d.Grow
	if d.variant.quirks == nil {
		o.DropBefore = d.DropBefore
	}
	o.Explain = sqlkit.Explain(d.admin, "EXPLAIN")
	if d.variant.quirks.Lack(sqlkit.LacksCatalogs) {
		o.PlanAggregate, o.Materialize, o.CountCovered, o.AggregateFootprint = nil, nil, nil, nil
		return driver.DB{Required: d, Optional: o}
	}
	o.Inspect = d.Inspect
	o.ConnectionLimit = d.ConnectionLimit
	o.ReadClock = d.ReadClock
	o.FreeSpace = d.FreeSpace
	o.Advise = d.Advise
	o.EffectiveOptions = d.EffectiveOptions
	o.Upkeep = d.Upkeep
	o.ReadMetrics = d.ReadMetrics
	o.Backlog = driver.Backlog{Metric: "dead_rows", What: "dead rows that no vacuum has removed"}
	o.MeasureReads = d.MeasureReads
	o.FindBlocker = d.FindBlocker
	return driver.DB{Required: d, Optional: o}
}

// tables is the part that SQL databases share. OIDs do not change when a table is rewritten, as by
// TRUNCATE, VACUUM FULL and CLUSTER. Objects of extensions are left out.
func (d *database) tables() sqlkit.Tables {
	held, quirks := types(d.options), d.variant.quirks
	list, undo := postgresList, d.Drop
	switch {
	case quirks != nil && quirks.Objects != "":
		list = quirks.Objects
	case quirks.Lack(sqlkit.LacksCatalogs):
		list = standardList
	}
	if !quirks.Lack(sqlkit.LacksTransactions) {
		undo = nil
	}
	var scaled func(column string, factor int64) sqlkit.Figures
	if quirks == nil {
		scaled = func(column string, factor int64) sqlkit.Figures {
			return figures("bigint", fmt.Sprintf("round(%s * %d)::bigint", column, factor))
		}
	}
	return sqlkit.Tables{
		Counter: sqlkit.Counter{
			Dialect: d.variant.dialect(d.options),
			Figures: func(t series.Type, column string) sqlkit.Figures {
				return quirks.Figures(t, column, figures(held[t].As, column))
			},
			Scaled: scaled,
			Text:   func(sum string) string { return "(" + sum + ")::text" }, // bigint or numeric
			Run:    sqlkit.RunBy(d.admin),
		},
		Place:      d.config.Location(),
		Own:        d.admin,
		Quirks:     quirks,
		List:       list,
		Described:  quirks.Lack(sqlkit.LacksCatalogs),
		Undo:       undo,
		Lay:        func(s *series.Schema) (*sqlkit.Layout, error) { return d.variant.layout(s, d.options) },
		Change:     d.change,
		Aggregates: d.variant.aggregates(d.options),
		Types:      held,
		Casts:      map[string]string{"bytea": "convert_to(%s, 'UTF8')"}, // to which PostgreSQL casts no text
		Made: func(ctx context.Context, c sqlkit.Conn, t Table) error {
			if !t.Rows || d.variant.MakeTable == nil {
				return nil
			}
			return d.variant.MakeTable(ctx, c, d.options, t)
		},
	}
}

// postgresList is the List of PostgreSQL. A view that reads TimescaleDB's internal tables is a continuous aggregate.
const postgresList = `SELECT CASE relkind WHEN 'v' THEN CASE WHEN pg_get_viewdef(oid) LIKE '%\_timescaledb\_internal.\_materialized\_hypertable\_%' THEN 'materialized view' ELSE 'view' END WHEN 'm' THEN 'materialized view' WHEN 'f' THEN 'foreign table' ELSE 'table' END, relname, oid::bigint, '', ''
			FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT relispartition
				AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')
			ORDER BY 1, 2`

// standardList is the List of systems without PostgreSQL's catalogs. The random default of a column identifies a
// table: see sqlkit.Quirks.Distinguish.
const standardList = `SELECT CASE t.table_type WHEN 'VIEW' THEN 'view' ELSE 'table' END, t.table_name,
		max(CASE WHEN c.column_name IN ('time', 'id') THEN c.column_default END), '', ''
	FROM information_schema.tables AS t JOIN information_schema.columns AS c ON c.table_schema = t.table_schema AND c.table_name = t.table_name
	WHERE t.table_schema = current_schema() GROUP BY t.table_name, t.table_type ORDER BY 1, 2`

// minVersion is the first version with date_bin, in the format of server_version_num.
const minVersion = 140000

// fits returns an error if the server does not support the options.
func (d *database) fits(ctx context.Context, c sqlkit.Conn) error {
	if d.variant.quirks.Lack(sqlkit.LacksCatalogs) {
		return c.Exec(ctx, "SELECT 1")
	}
	row, err := sqlkit.QueryRow(ctx, c, `SELECT current_setting('server_version_num')::bigint, current_setting('server_version'),
		current_setting('fsync'), current_setting('full_page_writes'), coalesce(current_schema(), '')`)
	if err != nil {
		return err
	}
	switch {
	case row[0].Int < minVersion:
		return fmt.Errorf("%s has PostgreSQL %s; tsmark needs 14 or newer", d.config.Location(), row[1])
	case row[4].String() == "":
		return fmt.Errorf("%s: no schema of search_path exists; set search_path for the user", d.config.Location())
	case d.options[optionCommit] == on && (row[2].String() != on || row[3].String() != on):
		return fmt.Errorf("%s: its fsync is %s and its full_page_writes %s, so no commit is safe; switch them on, or choose durability=%s",
			d.config.Location(), row[2], row[3], driver.AsShipped)
	}
	if d.variant.Check != nil {
		return d.variant.Check(ctx, c, d.options)
	}
	return nil
}

// Address implements driver.DB.
func (d *database) Address() string { return d.config.Address() }

// settings are the server settings in the description.
var settings = [...]string{
	"shared_buffers", "effective_cache_size", "work_mem", "maintenance_work_mem", "max_wal_size", "checkpoint_timeout", "wal_level", "wal_compression",
	"fsync", "full_page_writes", "synchronous_commit", "synchronous_standby_names", "autovacuum", "jit", "max_parallel_workers_per_gather", "max_connections", "random_page_cost",
	"data_checksums", "default_toast_compression", "server_encoding",
}

// Describe implements driver.DB.
func (d *database) Describe(ctx context.Context) (driver.Description, error) {
	out := driver.Description{Location: d.config.Location(), Settings: make(map[string]string, len(settings)), Elsewhere: "database"}
	if q := d.variant.quirks; q.Lack(sqlkit.LacksCatalogs) {
		row, err := sqlkit.QueryRow(ctx, d.admin, cmp.Or(q.Version, "SELECT version()"))
		if err != nil {
			return driver.Description{}, fmt.Errorf("describing %s: %w", d.variant.System, err)
		}
		out.Version = row[0].String()
		return out, nil
	}
	columns := []string{"current_setting('server_version')", "version()"}
	for _, name := range settings {
		columns = append(columns, fmt.Sprintf("current_setting('%s', true)", name))
	}
	values, err := sqlkit.QueryRow(ctx, d.admin, "SELECT "+strings.Join(columns, ", "))
	if err == nil {
		out.Version, out.StandIn = values[0].String(), standIn(values[1].String(), d.variant.System)
		for i, name := range settings {
			if v := values[i+2]; v.Kind != query.Null {
				out.Settings[name] = v.String()
			}
		}
		if d.variant.Describe != nil {
			err = d.variant.Describe(ctx, d.admin, &out)
		}
	}
	if err != nil {
		return driver.Description{}, fmt.Errorf("describing %s: %w", d.variant.System, err)
	}
	out.Durability, out.Safety = durability(d.options[optionUnlogged] == on, out.Settings)
	return out, nil
}

// standIn describes a PostgreSQL whose version says that it was compiled to WebAssembly, such as
// PGlite. Empty: it is a server.
func standIn(version, system string) string {
	if !strings.Contains(version, "emcc") && !strings.Contains(version, "Emscripten") {
		return ""
	}
	return system + " in PGlite (WebAssembly), not a PostgreSQL server"
}

// durability says when an acknowledged row is on disk.
func durability(unlogged bool, settings map[string]string) (words string, safety driver.Safety) {
	const batch = "each batch is a transaction; "
	switch commit := settings["synchronous_commit"]; {
	case unlogged:
		return "tables are unlogged: a crash of the server empties them", driver.InMemory
	case settings["fsync"] != on:
		return batch + "fsync is off: a crash of the machine loses batches and may destroy the database", driver.InFiles
	case commit == off:
		return batch + "its commit is acknowledged before the write-ahead log is on disk: a crash of the server loses the last batches", driver.InMemory
	case settings["full_page_writes"] != on:
		return batch + "its commit is in the write-ahead log, and forced to disk, before it is acknowledged; " +
			"without full_page_writes a crash of the machine may destroy pages", driver.OnDisk
	case settings["synchronous_standby_names"] != "" && commit != "local":
		return batch + "its commit is in the write-ahead log, forced to disk, and with the standbys as synchronous_commit " + commit + " says, before it is acknowledged", driver.OnDisk
	}
	return batch + "its commit is in the write-ahead log, and forced to disk by fsync, before it is acknowledged", driver.OnDisk
}

// NewQuerier implements driver.DB.
func (d *database) NewQuerier(ctx context.Context, _ int) (driver.Querier, error) {
	q, err := pgwire.NewQuerier(ctx, d.config, pgwire.Protocol(d.options[optionProtocol]))
	if err != nil {
		return nil, fmt.Errorf("opening a connection for reading: %w", d.full(ctx, err))
	}
	q.ReadOnly = readOnly
	return q, nil
}

// readOnly begins a read-only transaction: once it has a snapshot, it cannot become read-write.
const readOnly = "BEGIN READ ONLY"

// CheckText implements driver.DB. A cursor can only be declared for one query, without INTO and without
// statements that change data; declaring it reads no row.
func (d *database) CheckText(ctx context.Context, text string) error {
	return d.admin.Do(ctx, func(c *pgwire.Conn) error {
		_, err := c.QueryReadOnly(ctx, readOnly, "DECLARE tsmark_text NO SCROLL CURSOR FOR\n"+text, nil)
		return err
	})
}

// Footprint implements driver.DB: the tables with their indexes, their partitions and their TOAST
// tables.
func (d *database) Footprint(ctx context.Context) (driver.Footprint, error) {
	l, err := d.Layout()
	if err == nil {
		size := d.variant.Size
		if size == nil {
			size = sizeOf
		}
		if q := d.variant.quirks; q != nil && (q.Size != "" || q.Lack(sqlkit.LacksCatalogs)) {
			return d.FootprintBy(ctx, q, l)
		}
		sizes := []string{"0"}
		for _, t := range l.Tables {
			sizes = append(sizes, size(Regclass(t)))
		}
		var row []query.Value
		if row, err = sqlkit.QueryRow(ctx, d.admin, fmt.Sprintf("SELECT (%s)::bigint", strings.Join(sizes, " + "))); err == nil {
			return driver.Footprint{Bytes: row[0].Int, Without: "the write-ahead log, which all databases of the server share"}, nil
		}
	}
	return driver.Footprint{Bytes: -1}, fmt.Errorf("measuring the tables: %w", err)
}

// sizeOf returns the expression for the size of a table and of its partitions.
func sizeOf(name string) string {
	return fmt.Sprintf("pg_total_relation_size(%s) + coalesce((SELECT sum(pg_total_relation_size(relid)) FROM pg_partition_tree(%[1]s) WHERE parentrelid IS NOT NULL), 0)", name)
}

// ReadMetrics implements driver.DB.
func (d *database) ReadMetrics(ctx context.Context) (map[string]float64, error) {
	names := []string{"wal_bytes_total", "blocks_read_total", "blocks_hit_total", "temp_bytes_total", "commits_total", "connections", "dead_rows"}
	found := make(map[string]float64, len(names))
	if d.options[optionConnections] == connectionsOne {
		return found, nil // it would delay a writer
	}
	values, err := sqlkit.QueryRow(ctx, d.meter, `SELECT (pg_current_wal_insert_lsn() - '0/0')::float8, d.blks_read, d.blks_hit, d.temp_bytes, d.xact_commit, d.numbackends,
			(SELECT coalesce(sum(n_dead_tup), 0)::float8 FROM pg_stat_user_tables)
		FROM pg_stat_database AS d WHERE d.datname = current_database()`)
	if err != nil {
		return nil, fmt.Errorf("reading the server's statistics: %w", err)
	}
	for i, name := range names {
		switch v := values[i]; v.Kind {
		case query.Int:
			found[name] = float64(v.Int)
		case query.Float:
			found[name] = v.Float
		}
	}
	return found, nil
}

// Inspect implements driver.DB.
func (d *database) Inspect(ctx context.Context) error {
	row, err := sqlkit.QueryRow(ctx, d.admin, "SELECT has_schema_privilege(current_schema(), 'CREATE')::int, current_user, current_schema()")
	if err == nil && row[0].Int == 0 {
		err = driver.NewDeniedError(fmt.Errorf("user %s may not make tables in schema %s", row[1], row[2]),
			fmt.Sprintf("GRANT CREATE ON SCHEMA %s TO %s", QuoteIdent(row[2].String()), QuoteIdent(row[1].String())))
	}
	if err != nil {
		return fmt.Errorf("looking at %s: %w", d.config.Location(), err)
	}
	return nil
}

// Create implements driver.DB.
func (d *database) Create(ctx context.Context, schema *series.Schema) error {
	d.mu.Lock()
	d.partitions = make(map[string]bool)
	d.mu.Unlock()
	return d.Tables.Create(ctx, schema)
}

// Join implements driver.DB. Whichever worker needs a partition first creates it, which several
// processes cannot coordinate.
func (d *database) Join(ctx context.Context, schema *series.Schema) error {
	if d.options.Duration(optionPartition) != 0 {
		return fmt.Errorf("several processes cannot make partitions: leave the option %s out", optionPartition)
	}
	return d.Rejoin(ctx, schema)
}

// Drop implements driver.DB. It drops views before the tables that they read.
func (d *database) Drop(ctx context.Context, objects []driver.Object) error {
	err := d.change(ctx, sqlkit.Names(objects), func(c sqlkit.Conn) error {
		var functions []string
		if !d.variant.quirks.Lack(sqlkit.LacksCatalogs) {
			var err error
			if functions, err = keepers(ctx, c, sqlkit.Names(objects)); err != nil {
				return err
			}
		}
		single := d.variant.quirks.Lack(lacksSavepoints) || d.variant.quirks.Lack(sqlkit.LacksTransactions)
		for _, kind := range [...]string{"view", "materialized view", "foreign table", sqlkit.KindTable} {
			var names []string
			for _, o := range objects {
				if o.Kind == kind {
					names = append(names, QuoteIdent(o.Name))
				}
			}
			if err := drop(ctx, c, "DROP "+strings.ToUpper(kind)+" IF EXISTS ", names, single); err != nil {
				return err
			}
		}
		return drop(ctx, c, "DROP FUNCTION IF EXISTS ", functions, single)
	})
	if err != nil {
		return fmt.Errorf("clearing %s: %w", d.config.Location(), err)
	}
	return nil
}

// drop drops all objects in one statement, since they may refer to each other, or one by one if that is
// refused, as by TimescaleDB, and for systems without savepoints.
func drop(ctx context.Context, c sqlkit.Conn, statement string, names []string, single bool) error {
	if single {
		for _, name := range names {
			if err := c.Exec(ctx, statement+name); err != nil {
				return err
			}
		}
		return nil
	}
	if len(names) == 0 {
		return nil
	}
	if err := c.Exec(ctx, "SAVEPOINT together"); err != nil {
		return err
	}
	err := c.Exec(ctx, statement+strings.Join(names, ", "))
	var refused *pgwire.Error
	if len(names) == 1 || !errors.As(err, &refused) || refused.SQLState() == pgwire.StateLocked {
		return err
	}
	if err := c.Exec(ctx, "ROLLBACK TO together"); err != nil {
		return err
	}
	for _, name := range names {
		if err := c.Exec(ctx, statement+name); err != nil {
			return err
		}
	}
	return nil
}

// Close implements driver.DB.
func (d *database) Close() error { return cmp.Or(d.admin.Close(), d.meter.Close()) }

// Grow implements driver.DB: the server refuses rows with columns that a table lacks.
func (d *database) Grow(schema *series.Schema) error { return d.Regrow(schema) }

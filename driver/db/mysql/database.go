package mysql

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// database implements driver.DB.
type database struct {
	sqlkit.Tables
	variant   variant
	options   driver.Options
	config    *config
	admin     *sqlkit.Link[*conn] // for everything but writers and queriers
	meter     *sqlkit.Link[*conn] // for ReadMetrics and FindBlocker, which must not wait for other statements
	system    string              // MySQL or MariaDB
	version   string
	collation string
	locks     time.Duration // longest wait for others' locks; 0: unlimited
	before    []string      // statements that restore the server's settings

	mu         sync.Mutex       // guards the following fields
	partitions map[string]int64 // end of a table's last partition; held while a partition is added
	loads      bool             // the options were set on the server
}

// open connects, and checks that the server supports the options.
func open(ctx context.Context, v variant, env driver.Env, o driver.Options) (*database, error) {
	c := v.config(o)
	if v.quirks.Lack(sqlkit.LacksCatalogs) {
		env.Locks = 0
	}
	own := *c
	own.Config = c.Clone()
	if env.Locks > 0 {
		wait := strconv.Itoa(int(max(1, math.Ceil(env.Locks.Seconds()))))
		own.Params["lock_wait_timeout"], own.Params["innodb_lock_wait_timeout"] = wait, wait
	}
	d := &database{variant: v, options: o, config: c, admin: sqlkit.NewLink(own.connect, false), meter: sqlkit.NewLink(c.connect, false), locks: env.Locks}
	held := types(o)
	var scaled func(column string, factor int64) sqlkit.Figures
	if v.quirks == nil {
		scaled = func(column string, factor int64) sqlkit.Figures {
			return figures("BIGINT", fmt.Sprintf("CAST(round(%s * %d) AS SIGNED)", column, factor))
		}
	}
	d.Tables = sqlkit.Tables{
		Counter: sqlkit.Counter{
			Scaled:  scaled,
			Dialect: v.dialect(o),
			Figures: func(t series.Type, column string) sqlkit.Figures {
				return v.quirks.Figures(t, column, figures(held[t].As, column))
			},
			Text: func(sum string) string { return "CAST(" + sum + " AS CHAR)" },
			Run:  sqlkit.RunBy(d.admin),
		},
		Place: c.location(),
		Own:   d.admin,
		// Tables that tsmark created carry their identity as a comment, which remains when a table is
		// rebuilt.
		List: `SELECT CASE table_type WHEN 'VIEW' THEN 'view' WHEN 'SEQUENCE' THEN 'sequence' ELSE 'table' END, table_name,
			IF(table_comment LIKE 'made by tsmark, %', table_comment, CONCAT(COALESCE(create_time, ''), ' ', table_comment)), '', ''
			FROM information_schema.tables WHERE table_schema = DATABASE() AND table_type <> 'TEMPORARY' ORDER BY table_type DESC, table_name`,
		Described:  true,
		Lay:        func(s *series.Schema) (*sqlkit.Layout, error) { return v.design(o, d.collation).Layout(s) },
		Change:     d.change,
		Undo:       d.Drop,
		Aggregates: aggregates(o),
		Quirks:     v.quirks,
		Atomically: d.atomically, UpdatesJoined: true,
	}
	if v.quirks.Lack(sqlkit.LacksCatalogs) {
		d.List = standardList
	}
	if v.quirks != nil && v.quirks.Objects != "" {
		d.List = v.quirks.Objects
	}
	err := d.fits(ctx)
	if err == nil && env.Create {
		err = d.load(ctx)
	}
	if err != nil {
		_ = d.Close() // return the first error
		return nil, err
	}
	return d, nil
}

// standardList is the List of systems without MySQL's other catalogs: only its comment identifies a table.
const standardList = `SELECT CASE table_type WHEN 'VIEW' THEN 'view' ELSE 'table' END, table_name,
		CASE WHEN table_comment LIKE 'made by tsmark, %' THEN table_comment ELSE '' END, '', ''
	FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY 1, 2`

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
	if d.variant.quirks.Lack(sqlkit.LacksCatalogs) {
		o.PlanAggregate, o.Materialize, o.CountCovered, o.AggregateFootprint = nil, nil, nil, nil
		o.Explain = sqlkit.Explain(d.admin, "EXPLAIN")
		return driver.DB{Required: d, Optional: o}
	}
	o.ReadClock = d.ReadClock
	o.FreeSpace = d.FreeSpace
	o.Advise = d.Advise
	o.EffectiveOptions = d.EffectiveOptions
	o.ReadMetrics = d.ReadMetrics
	o.Backlog = driver.Backlog{Metric: "pages_dirty", What: "pages that are not written to files yet"}
	o.MeasureReads = d.MeasureReads
	o.Explain = func(ctx context.Context, q driver.Request) (string, error) {
		plan, err := sqlkit.Explain(d.admin, "EXPLAIN FORMAT=TREE")(ctx, q)
		if err != nil { // MariaDB has no trees
			return sqlkit.Explain(d.admin, "EXPLAIN FORMAT=JSON")(ctx, q)
		}
		return plan, nil
	}
	o.FindBlocker = d.FindBlocker
	return driver.DB{Required: d, Optional: o}
}

// fits checks the server's version and abilities.
func (d *database) fits(ctx context.Context) error {
	version := "SELECT VERSION()"
	if q := d.variant.quirks; q != nil {
		version = cmp.Or(q.Version, version)
	}
	row, err := sqlkit.QueryRow(ctx, d.admin, version)
	if err != nil {
		return err
	}
	d.version = row[0].String()
	if d.variant.quirks.Lack(sqlkit.LacksCatalogs) {
		d.system, d.collation = d.variant.system, collationMySQL
		return nil
	}
	var major, minor, patch int
	_, _ = fmt.Sscanf(d.version, "%d.%d.%d", &major, &minor, &patch)
	is, least := (major*1000+minor)*1000+patch, 8_000_031
	d.system, d.collation = "MySQL", collationMySQL
	if strings.Contains(d.version, "MariaDB") {
		d.system, d.collation, least = "MariaDB", collationMariaDB, 10_011_000
	}
	if is < least {
		return fmt.Errorf("%s has %s %s; tsmark needs MySQL 8.0.31 or MariaDB 10.11, or newer", d.config.location(), d.system, d.version)
	}
	return nil
}

// EffectiveOptions implements driver.DB. Only a load sets options, because the settings are global. The
// query cache is off in every session.
func (d *database) EffectiveOptions(ctx context.Context) (list []driver.EffectiveOption, err error) {
	rows, err := sqlkit.QueryRows(ctx, d.admin, showCache)
	if err != nil {
		return nil, err
	}
	for _, row := range rows { // empty if the server has no query cache
		list = append(list, driver.EffectiveOption{
			Wanted: cacheOff, Setting: "query_cache_type", Found: row[1].String(),
			Remedy: "a proxy between may drop SET SESSION: connect to the server itself, or turn its query cache off",
		})
	}
	if !d.loads {
		return list, nil
	}
	for _, s := range []struct{ option, name string }{{optionFlushLog, "innodb_flush_log_at_trx_commit"}, {optionSyncBinlog, "sync_binlog"}} {
		if d.options[s.option] == "" {
			continue
		}
		row, err := sqlkit.QueryRow(ctx, d.admin, "SELECT @@GLOBAL."+s.name)
		if err != nil {
			return nil, err
		}
		list = append(list, driver.EffectiveOption{
			Option: s.option, Wanted: d.options[s.option], Setting: s.name, Found: row[0].String(),
			Remedy: "a proxy between may drop SET GLOBAL, or another user may have changed it: connect to the server itself, or set it in the server's configuration",
		})
	}
	return list, nil
}

// load checks that a load can run with the options, and changes the server's settings that have no
// values per connection.
func (d *database) load(ctx context.Context) error {
	if d.variant.quirks.Lack(sqlkit.LacksCatalogs) {
		return nil
	}
	d.loads = true
	for _, want := range []struct{ option, name string }{
		{optionFlushLog, "innodb_flush_log_at_trx_commit"}, {optionSyncBinlog, "sync_binlog"}, {optionMethod, "local_infile"}, {optionMethod, "max_allowed_packet"},
	} {
		row, err := sqlkit.QueryRow(ctx, d.admin, "SELECT @@GLOBAL."+want.name)
		if err != nil {
			return err
		}
		is, value := row[0].String(), d.options[want.option]
		switch {
		case want.name == "max_allowed_packet":
			if value == methodLoad {
				if err := checkPacket(is); err != nil {
					return fmt.Errorf("%s: %w", d.config.location(), err)
				}
			}
		case want.option == optionMethod:
			if is == "0" && value == methodLoad {
				return fmt.Errorf("%s: local_infile is OFF on the server, so it takes no LOAD DATA LOCAL; %s", d.config.location(), letLocalIn)
			}
		case value != "" && value != is:
			if err := d.admin.Exec(ctx, "SET GLOBAL "+want.name+" = "+value); err != nil {
				return fmt.Errorf("%s: %s is %s there, not %s: %w; have it set, or choose durability=%s", d.config.location(), want.name, is, value, err, driver.AsShipped)
			}
			d.before = append(d.before, "SET GLOBAL "+want.name+" = "+is)
		}
	}
	return nil
}

// Address implements driver.DB.
func (d *database) Address() string { return d.config.address() }

// settings are the server settings in the description.
const settings = `'innodb_buffer_pool_size', 'innodb_log_file_size', 'innodb_redo_log_capacity', 'innodb_flush_log_at_trx_commit', 'sync_binlog',
	'log_bin', 'innodb_doublewrite', 'innodb_flush_method', 'innodb_page_size', 'innodb_change_buffering', 'max_allowed_packet', 'max_connections',
	'tmp_table_size', 'sort_buffer_size', 'join_buffer_size', 'transaction_isolation', 'tx_isolation', 'character_set_server', 'version_comment'`

// Describe implements driver.DB.
func (d *database) Describe(ctx context.Context) (driver.Description, error) {
	if d.variant.quirks.Lack(sqlkit.LacksCatalogs) {
		return driver.Description{Version: d.version, Location: d.config.location(), Elsewhere: connection.Database}, nil
	}
	found, err := d.readPairs(ctx, d.admin, "SHOW GLOBAL VARIABLES WHERE Variable_name IN ("+settings+")")
	if err != nil {
		return driver.Description{}, fmt.Errorf("describing %s: %w", d.system, err)
	}
	found["sql_mode"] = sqlMode // tsmark's own
	version, _, _ := strings.Cut(d.version, "-")
	system := ""
	if d.system != "MySQL" {
		system = d.system
	}
	words, safety := durability(found)
	return driver.Description{
		System: system, Version: d.system + " " + version, Location: d.config.location(), Durability: words, Safety: safety, Settings: found, Elsewhere: connection.Database,
	}, nil
}

// readPairs returns a result of names and values.
func (d *database) readPairs(ctx context.Context, l *sqlkit.Link[*conn], text string) (map[string]string, error) {
	rows, err := sqlkit.QueryRows(ctx, l, text)
	found := make(map[string]string, len(rows))
	for _, row := range rows {
		found[strings.ToLower(row[0].String())] = row[1].String()
	}
	return found, err
}

// durability says when an acknowledged row is on disk.
func durability(settings map[string]string) (text string, safety driver.Safety) {
	text = "each batch is a transaction; "
	switch flush := settings["innodb_flush_log_at_trx_commit"]; flush {
	case "0":
		return text + "its commit is acknowledged before the redo log is written: a crash of the server loses those of the last second", driver.InMemory
	case "2":
		return text + "its commit is in the redo log, which is forced to disk once a second: a crash of the machine loses those of the last second", driver.InFiles
	}
	text += "its commit is in the redo log, and forced to disk by fsync, before it is acknowledged"
	if settings["log_bin"] == "ON" && settings["sync_binlog"] != "1" {
		text += fmt.Sprintf("; the binary log is not (sync_binlog %s)", settings["sync_binlog"])
	}
	if settings["innodb_doublewrite"] == "OFF" {
		text += "; without the doublewrite buffer a crash of the machine may destroy pages"
	}
	return text, driver.OnDisk
}

// Create implements driver.DB.
func (d *database) Create(ctx context.Context, schema *series.Schema) error {
	d.mu.Lock()
	d.partitions = make(map[string]int64)
	d.mu.Unlock()
	return d.Tables.Create(ctx, schema)
}

// Join implements driver.DB. Whichever worker needs a partition first splits it off the last one, which
// several processes cannot coordinate. The server may have restarted without the settings of the load.
func (d *database) Join(ctx context.Context, schema *series.Schema) error {
	if d.options.Duration(optionPartition) != 0 {
		return fmt.Errorf("several processes cannot make partitions: leave the option %s out", optionPartition)
	}
	if err := d.load(ctx); err != nil {
		return err
	}
	return d.Rejoin(ctx, schema)
}

// change implements the Change of sqlkit.Tables. If it waits too long for others' locks on the tables,
// the error says who holds them.
func (d *database) change(ctx context.Context, tables []string, do func(sqlkit.Conn) error) error {
	err := d.admin.Do(ctx, func(c *conn) error { return do(c) })
	if number(err) == errLocked {
		err = fmt.Errorf("waited %v for a lock in vain: %s; allow more with --%s", d.locks, cmp.Or(d.holder(ctx, strings.Join(tables, " ")), "it is free now"), limit.StatementFlag)
	}
	return err
}

// Drop implements driver.DB. It drops views before the tables that they read.
func (d *database) Drop(ctx context.Context, objects []driver.Object) error {
	all := make([]string, len(objects))
	for i, o := range objects {
		all[i] = o.Name
	}
	err := d.change(ctx, all, func(c sqlkit.Conn) error {
		for _, kind := range [...]string{"view", sqlkit.KindTable, "sequence"} {
			var names []string
			for _, o := range objects {
				if o.Kind == kind {
					names = append(names, quoteIdent(o.Name))
				}
			}
			if len(names) == 0 {
				continue
			}
			if err := c.Exec(ctx, "DROP "+strings.ToUpper(kind)+" IF EXISTS "+strings.Join(names, ", ")); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("clearing %s: %w", d.config.location(), err)
	}
	return nil
}

// Note implements driver.DB. MySQL has no cast to a text.
func (d *database) Note(ctx context.Context) (string, error) {
	row, err := sqlkit.QueryRow(ctx, d.admin, "SELECT "+sqlkit.NoteColumn+" FROM "+sqlkit.NoteTable)
	if err != nil {
		return "", err
	}
	return row[0].String(), nil
}

// SetNote implements driver.DB. The table is created with the note in it, because creating a table is a
// transaction of its own.
func (d *database) SetNote(ctx context.Context, text string) error {
	if q := d.variant.quirks; q.Lack(sqlkit.LacksTransactions) || q.Lack(sqlkit.LacksTableAs) {
		return d.Tables.SetNote(ctx, text)
	}
	return d.change(ctx, []string{sqlkit.NoteTable}, func(c sqlkit.Conn) error {
		note := literal(text)
		return c.Exec(ctx,
			fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (%s LONGTEXT) ENGINE=InnoDB CHARACTER SET utf8mb4 COLLATE %s SELECT %s AS %[2]s",
				sqlkit.NoteTable, sqlkit.NoteColumn, d.collation, note),
			fmt.Sprintf("UPDATE %s SET %s = %s", sqlkit.NoteTable, sqlkit.NoteColumn, note))
	})
}

// NewQuerier implements driver.DB.
func (d *database) NewQuerier(ctx context.Context, _ int) (driver.Querier, error) {
	return sqlkit.NewQuerier(ctx, d.config.connect)
}

// CheckText implements driver.DB: the server prepares the text, and again as a subquery, which can only
// read and has no INTO.
func (d *database) CheckText(ctx context.Context, text string) error {
	return d.admin.Do(ctx, func(c *conn) error {
		for _, one := range []string{text, sqlkit.Parenthesize("SELECT EXISTS", text)} {
			statement, err := c.prepare(ctx, one)
			if err != nil {
				return err
			}
			if err := statement.Close(); err != nil {
				return c.explain(ctx, err)
			}
		}
		return nil
	})
}

// Settle implements driver.DB. Acknowledged rows are visible. Settle flushes pages from the log to the
// files, which the server would do later, during queries. If the user lacks the privilege for it,
// Settle succeeds without the flush.
func (d *database) Settle(ctx context.Context) error {
	l, err := d.Layout()
	if q := d.variant.quirks; err == nil && q != nil && (len(q.Settle) > 0 || q.Lack(sqlkit.LacksCatalogs)) {
		err = d.admin.Exec(ctx, q.Settling(l.Tables, d.Dialect)...)
	} else if err == nil {
		err = d.admin.Do(ctx, func(c *conn) error {
			err := c.Exec(ctx, "FLUSH TABLES "+names(l)+" FOR EXPORT")
			if unlocked := c.Exec(ctx, "UNLOCK TABLES"); err == nil {
				err = unlocked
			}
			return err
		})
	}
	if n := number(err); n == errNotPermitted || n == errNoRight {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("settling %s: %w", d.system, err)
	}
	return nil
}

// names lists the tables of a layout.
func names(l *sqlkit.Layout) string {
	list := make([]string, len(l.Tables))
	for i, t := range l.Tables {
		list[i] = quoteIdent(t.Name)
	}
	return strings.Join(list, ", ")
}

// steps are driver.Optional\'s Steps.
func (d *database) steps() []driver.Step {
	able := d.variant.steps()
	for i, s := range able {
		able[i].Do = func(ctx context.Context) error {
			l, err := d.Layout()
			var rows [][]query.Value
			if err == nil {
				rows, err = sqlkit.QueryRows(ctx, d.admin, strings.ToUpper(s.Name)+" TABLE "+names(l))
			}
			for _, row := range rows { // table, operation, type and text of a message
				if strings.EqualFold(row[2].String(), "error") {
					err = fmt.Errorf("table %s: %s", row[0], row[3])
				}
			}
			if err != nil {
				return fmt.Errorf("%s's step %s: %w", d.system, s.Name, err)
			}
			return nil
		}
	}
	return able
}

// Footprint implements driver.DB: the blocks of the files of the tables with their indexes if the user
// may see them, otherwise the server's estimate.
func (d *database) Footprint(ctx context.Context) (driver.Footprint, error) {
	l, err := d.Layout()
	if err != nil {
		return driver.Footprint{Bytes: -1}, fmt.Errorf("measuring the tables: %w", err)
	}
	if q := d.variant.quirks; q != nil && (q.Size != "" || q.Lack(sqlkit.LacksCatalogs)) {
		return d.FootprintBy(ctx, q, l)
	}
	files := "INNODB_TABLESPACES"
	if d.system == "MariaDB" {
		files = "INNODB_SYS_TABLESPACES"
	}
	var own, estimated []string
	for _, t := range l.Tables {
		name := d.config.DBName + "/" + t.Name
		own = append(own, fmt.Sprintf("name = %s OR name LIKE %s", literal(name), literal(strings.NewReplacer(`\`, `\\`, "_", `\_`, "%", `\%`).Replace(name)+"#p#%")))
		estimated = append(estimated, literal(t.Name))
	}
	row, err := sqlkit.QueryRow(ctx, d.admin, fmt.Sprintf("SELECT CAST(SUM(allocated_size) AS SIGNED), COUNT(*) FROM information_schema.%s WHERE %s", files, strings.Join(own, " OR ")))
	if number(err) == errNotPermitted || err == nil && row[1].Int < int64(len(own)) {
		row, err = sqlkit.QueryRow(ctx, d.admin, "SELECT CAST(SUM(data_length + index_length) AS SIGNED) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name IN ("+
			strings.Join(estimated, ", ")+")")
	}
	if err != nil {
		return driver.Footprint{Bytes: -1}, fmt.Errorf("measuring the tables: %w", err)
	}
	return driver.Footprint{Bytes: row[0].Int, Without: "the redo, undo and binary logs, which all databases of the server share"}, nil
}

// ReadMetrics implements driver.DB.
func (d *database) ReadMetrics(ctx context.Context) (map[string]float64, error) {
	values := map[string]string{
		"innodb_os_log_written": "redo_log_bytes_total", "innodb_data_written": "data_written_bytes_total", "innodb_data_read": "data_read_bytes_total",
		"innodb_buffer_pool_reads": "pages_missed_total", "innodb_buffer_pool_pages_dirty": "pages_dirty", "innodb_log_waits": "log_waits_total",
		"threads_connected": "connections",
	}
	var list []string
	for name := range values {
		list = append(list, literal(name))
	}
	found, err := d.readPairs(ctx, d.meter, "SHOW GLOBAL STATUS WHERE Variable_name IN ("+strings.Join(list, ", ")+")")
	if err != nil {
		return nil, fmt.Errorf("reading the server's statistics: %w", err)
	}
	figures := make(map[string]float64, len(found))
	for name, value := range found {
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			figures[values[name]] = n
		}
	}
	return figures, nil
}

// Close implements driver.DB. It restores the server's settings.
func (d *database) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	var restored error
	if len(d.before) > 0 {
		if restored = d.admin.Exec(ctx, d.before...); restored != nil {
			restored = fmt.Errorf("restoring the server's settings (%s): %w", strings.Join(d.before, "; "), restored)
		}
	}
	return cmp.Or(restored, d.admin.Close(), d.meter.Close())
}

// Grow implements driver.DB: the server refuses rows with columns that a table lacks.
func (d *database) Grow(schema *series.Schema) error { return d.Regrow(schema) }

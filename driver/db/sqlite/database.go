package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/disk"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// database is an open database file; it implements driver.DB.
type database struct {
	sqlkit.Embedded[*session]
	options driver.Options
	writing chan struct{} // holds an element while a transaction writes: SQLite has one writer at a time
	arrived int64         // rows of clustered tables; whoever writes has it
	made    atomic.Bool   // the journal mode is the option's
}

// open opens the database file.
func open(ctx context.Context, env driver.Env, options driver.Options) (driver.DB, error) {
	return sqlkit.OpenFile(ctx, env, options, "SQLite", defaultFile, openFile)
}

// db returns the database with the optional functions of the system.
func (d *database) db() driver.DB {
	o := d.Embedded.Optional()
	o.Steps = d.steps()
	o.EffectiveOptions = d.EffectiveOptions
	o.Grow = d.Grow
	o.Explain = sqlkit.Explain(&d.Embedded, "EXPLAIN QUERY PLAN")
	return driver.DB{Required: d, Optional: o}
}

func openFile(ctx context.Context, path string, options driver.Options) (driver.DB, error) {
	d := &database{options: options, writing: make(chan struct{}, 1)}
	d.Embedded = sqlkit.Embedded[*session]{
		System: "SQLite", Path: path, Connect: d.connect, Begin: "BEGIN IMMEDIATE",
		Load: func(s *session) sqlkit.Loader { return &loader{d, s} },
		Tables: sqlkit.Tables{
			Counter: sqlkit.Counter{Dialect: newDialect(), Figures: figures, Scaled: func(column string, factor int64) sqlkit.Figures {
				return figures(series.Int, fmt.Sprintf("CAST(round(%s * %d) AS INTEGER)", column, factor))
			}},
			// Triggers have names of their own, and are dropped with their tables. The identity of a
			// table is the statement that created it, which VACUUM does not change. Virtual tables come
			// first: dropping them drops their shadow tables.
			List: `SELECT type, name, coalesce(sql, ''), iif(type = 'index', tbl_name, ''), '' FROM sqlite_schema
				WHERE type IN ('table', 'view', 'index') AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
				ORDER BY sql LIKE 'CREATE VIRTUAL%' DESC, type, name`,
			Lay:        design(options[optionIndex]).Layout,
			Change:     d.change,
			Aggregates: aggregates(),
			Types:      types(), DatesAsDays: true,
		},
	}
	if err := d.Open(ctx); err != nil {
		return driver.DB{}, fmt.Errorf("%s %w", path, err)
	}
	// A file that is not a database fails here.
	if err := d.Exec(ctx, "SELECT count(*) FROM sqlite_schema"); err != nil {
		_ = d.Close()
		return driver.DB{}, fmt.Errorf("%s %w", path, err)
	}
	return d.db(), nil
}

// connect opens a session with the settings of the options.
func (d *database) connect(ctx context.Context) (*session, error) {
	open := openGo
	if d.options[optionDriver] == driverC {
		open = openC
	}
	library, err := open(d.Path)
	if err != nil {
		return nil, err
	}
	s := &session{library: library}
	pragmas := []string{
		"PRAGMA busy_timeout = 10000", // milliseconds, for other processes
		fmt.Sprintf("PRAGMA cache_size = -%d", d.options.Int(optionCacheSize)*1024), // negative: in KiB
		"PRAGMA temp_store = MEMORY",
		"PRAGMA synchronous = " + d.options[optionSynchronous],
	}
	if d.made.Load() {
		pragmas = append(pragmas, d.journal()) // only wal is stored in the file: each connection must set the others
	}
	if err := sqlkit.Exec(ctx, s, pragmas...); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// journal is the statement that chooses the journal.
func (d *database) journal() string { return "PRAGMA journal_mode = " + d.options[optionJournalMode] }

// withLock calls do when no other session writes, and keeps them from it. SQLite's own
// waiting would poll.
func (d *database) withLock(ctx context.Context, do func() error) error {
	if err := d.lock(ctx); err != nil {
		return err
	}
	defer d.unlock()
	return do()
}

func (d *database) lock(ctx context.Context) error {
	select {
	case d.writing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d *database) unlock() { <-d.writing }

// change implements the Change of sqlkit.Tables.
func (d *database) change(ctx context.Context, tables []string, do func(sqlkit.Conn) error) error {
	return d.withLock(ctx, func() error { return d.Transact(ctx, tables, do) })
}

// Describe implements driver.DB.
func (d *database) Describe(ctx context.Context) (driver.Description, error) {
	version, err := sqlkit.QueryRow(ctx, d, "SELECT sqlite_version()")
	effective := make(map[string]string)
	for _, name := range []string{"journal_mode", "synchronous", "page_size", "cache_size", "temp_store", "wal_autocheckpoint"} {
		var value []query.Value
		if err == nil {
			value, err = sqlkit.QueryRow(ctx, d, "PRAGMA "+name)
		}
		if err != nil {
			return driver.Description{}, fmt.Errorf("describing SQLite: %w", err)
		}
		effective[name] = value[0].String()
	}
	effective["synchronous"] = levels()[effective["synchronous"]]
	code := " (Go translation: modernc.org/sqlite)"
	if d.options[optionDriver] == driverC {
		code = " (C code)"
	}
	words, safety := durability(effective["journal_mode"], effective["synchronous"])
	return driver.Description{
		Version:    version[0].String() + code,
		Location:   d.Path,
		Durability: words,
		Safety:     safety,
		Settings:   effective,
		Elsewhere:  sqlkit.Path,
	}, nil
}

// durability says when an acknowledged row is on disk.
func durability(journal, synchronous string) (words string, safety driver.Safety) {
	const batch = "each batch is a transaction; "
	switch {
	case synchronous == "off":
		return batch + "its commit is left to the operating system to write: a crash of the machine loses batches and may destroy the database", driver.InFiles
	case journal == "memory":
		return batch + "its commit is forced to disk by fsync before it is acknowledged, but what undoes it is only in memory: " +
			"a crash in the middle of a commit may destroy the database", driver.OnDisk
	case journal == "wal" && synchronous == "normal":
		return batch + "its commit is in the write-ahead log, which is forced to disk only before it is folded into the database: " +
			"a crash of the machine loses the last batches", driver.InFiles
	case journal == "delete" && synchronous != "extra":
		return batch + "its commit is in the database file, and forced to disk by fsync, before it is acknowledged; the removal of the journal, " +
			"which completes it, is not: a crash of the machine may undo the last batches", driver.InFiles
	case journal == "wal":
		return batch + "its commit is in the write-ahead log, and forced to disk by fsync, before it is acknowledged", driver.OnDisk
	}
	return batch + "its commit is in the database file, and forced to disk by fsync, before it is acknowledged", driver.OnDisk
}

// Create implements driver.DB. The journal is chosen here, since only a file of
// tsmark's is to be changed.
func (d *database) Create(ctx context.Context, schema *series.Schema) error {
	if _, err := d.Lay(schema); err != nil {
		return err
	}
	if err := d.Exec(ctx, d.journal()); err != nil {
		return fmt.Errorf("creating tables in %s: %w", d.Path, err)
	}
	d.made.Store(true)
	return d.Tables.Create(ctx, schema)
}

// Drop implements driver.DB.
func (d *database) Drop(ctx context.Context, objects []driver.Object) error {
	err := d.change(ctx, nil, func(c sqlkit.Conn) error {
		for _, o := range objects {
			if err := c.Exec(ctx, "DROP "+strings.ToUpper(o.Kind)+" IF EXISTS "+quoteIdent(o.Name)); err != nil {
				return fmt.Errorf("dropping %s: %w", o, err)
			}
		}
		return nil
	})
	var left []driver.Object
	if err == nil {
		left, err = d.Objects(ctx)
	}
	if err == nil && !slices.ContainsFunc(left, func(o driver.Object) bool { return !o.Note }) {
		// Only VACUUM shrinks the file, whose size would count in a later load. It would rewrite users'
		// tables, and might renumber their rows, so it runs only in files without them.
		err = d.Exec(ctx, "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)")
	}
	if err != nil {
		return fmt.Errorf("clearing %s: %w", d.Path, err)
	}
	return nil
}

// Settle implements driver.DB. SQLite does not work in the background: Settle only has to checkpoint
// the log.
func (d *database) Settle(ctx context.Context) error {
	err := d.withLock(ctx, func() error {
		state, err := sqlkit.QueryRow(ctx, d, "PRAGMA wal_checkpoint(TRUNCATE)")
		if err == nil && state[0].Int != 0 {
			err = errors.New("a connection is reading the write-ahead log, which cannot be folded into the database")
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("settling SQLite: %w", err)
	}
	return nil
}

// steps are driver.Optional\'s Steps.
func (d *database) steps() []driver.Step {
	able := steps()
	for i := range able {
		statement := strings.ToUpper(able[i].Name)
		able[i].Do = func(ctx context.Context) error {
			if err := d.withLock(ctx, func() error { return d.Exec(ctx, statement) }); err != nil {
				return fmt.Errorf("SQLite's %s: %w", statement, err)
			}
			return nil
		}
	}
	return able
}

// stepVacuum is the step that shrinks the file.
const stepVacuum = "vacuum"

// steps are named after their statements.
func steps() []driver.Step {
	return []driver.Step{
		{Name: "analyze", Help: "statistics of the indexes for the query planner"},
		{Name: stepVacuum, Help: "rewrite the file without gaps"},
	}
}

// Footprint implements driver.DB: the file, its write-ahead log with that
// log's index, and its journal.
func (d *database) Footprint(context.Context) (driver.Footprint, error) {
	size, err := disk.Files(d.Path, d.Path+"-wal", d.Path+"-shm", d.Path+"-journal")
	if err != nil {
		return driver.Footprint{Bytes: -1}, fmt.Errorf("measuring SQLite's files: %w", err)
	}
	return driver.Footprint{Bytes: size.Allocated}, nil
}

// Grow implements driver.DB. Rows get higher numbers than rows that an earlier process stored.
func (d *database) Grow(schema *series.Schema) error {
	err := d.withLock(context.Background(), func() error {
		d.arrived = max(d.arrived, time.Now().UnixNano())
		return nil
	})
	if err != nil {
		return err
	}
	return d.Embedded.Grow(schema)
}

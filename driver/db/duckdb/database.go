//go:build cgo && !light && (linux || darwin) && (amd64 || arm64)

package duckdb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	duck "github.com/duckdb/duckdb-go-bindings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/disk"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/series"
)

// database is an open database file; it implements driver.DB.
type database struct {
	sqlkit.Embedded[*session]
	raw duck.Database
}

// missing says why DuckDB is not available; empty: this build includes it.
const missing = ""

// open opens the database file.
func open(ctx context.Context, env driver.Env, options driver.Options) (driver.DB, error) {
	return sqlkit.OpenFile(ctx, env, options, "DuckDB", defaultFile, openFile)
}

// db returns the database with the optional functions of the system.
func (d *database) db() driver.DB {
	o := d.Embedded.Optional()
	o.Grow = d.Grow
	o.MeasureReads = d.MeasureReads
	o.Explain = sqlkit.Explain(&d.Embedded, "EXPLAIN")
	return driver.DB{Required: d, Optional: o}
}

func openFile(ctx context.Context, path string, options driver.Options) (driver.DB, error) {
	d := new(database)
	d.Embedded = sqlkit.Embedded[*session]{
		System: "DuckDB", Path: path, Connect: d.connect, Begin: "BEGIN TRANSACTION",
		Load: func(s *session) sqlkit.Loader { return &loader{s} },
		Tables: sqlkit.Tables{
			Counter: sqlkit.Counter{
				Dialect: newDialect(),
				Figures: figures,
				Scaled: func(column string, factor int64) sqlkit.Figures {
					return figures(series.Int, fmt.Sprintf("CAST(round(CAST(%s AS DOUBLE) * %d) AS BIGINT)", column, factor))
				},
				Text: func(sum string) string { return "CAST(" + sum + " AS VARCHAR)" }, // a HUGEINT
			},
			// The identity of a table is its columns, and the comment that tsmark gives it: DuckDB
			// numbers tables from scratch each time a file is opened.
			List: `SELECT 'table', table_name, concat_ws(' ', comment, (SELECT string_agg(concat_ws(' ', column_name, data_type, is_nullable), ', ' ORDER BY column_index)
					FROM duckdb_columns() AS c WHERE c.table_oid = t.table_oid AND c.database_oid = t.database_oid)), '', CASE schema_name WHEN 'main' THEN '' ELSE schema_name END
				FROM duckdb_tables() AS t WHERE NOT internal
				UNION ALL
				SELECT 'view', view_name, '', '', CASE schema_name WHEN 'main' THEN '' ELSE schema_name END FROM duckdb_views() WHERE NOT internal
				ORDER BY 1 DESC, 5, 2`,
			Lay:        design().Layout,
			Aggregates: aggregates(),
			Types:      types(),
		},
	}
	var err error
	if d.raw, err = openRaw(path, map[string]string{
		"threads":      options[optionThreads],
		"memory_limit": options[optionMemoryLimit],
		// Measurements must not be interrupted by downloads, and users' texts must not access files,
		// addresses or extensions.
		"autoinstall_known_extensions": "false",
		"autoload_known_extensions":    "false",
		"allow_community_extensions":   "false",
		"enable_external_access":       "false",
		"lock_configuration":           "true",
	}); err != nil {
		return driver.DB{}, err
	}
	if err := d.Open(ctx); err != nil {
		duck.Close(&d.raw)
		return driver.DB{}, err
	}
	return d.db(), nil
}

// openRaw opens the file with the settings, except empty ones.
func openRaw(path string, settings map[string]string) (raw duck.Database, err error) {
	var config duck.Config
	if duck.CreateConfig(&config) != duck.StateSuccess {
		return raw, errors.New("DuckDB has no memory for its settings")
	}
	defer duck.DestroyConfig(&config)
	for name, value := range settings {
		if value != "" && duck.SetConfig(config, name, value) != duck.StateSuccess {
			return raw, fmt.Errorf("DuckDB does not take %s=%s", name, value)
		}
	}
	var message string
	if duck.OpenExt(path, &raw, config, &message) == duck.StateSuccess {
		return raw, nil
	}
	switch {
	case strings.Contains(message, "not a valid DuckDB database file"):
		return raw, fmt.Errorf("%s %w: it is no DuckDB file; give another path", path, driver.ErrExisting)
	case strings.Contains(message, "Could not set lock"):
		return raw, fmt.Errorf("%s %w: another process holds it; end that process or give another path (%s)",
			path, driver.ErrUnreachable, message)
	}
	return raw, fmt.Errorf("%s %w: %s", path, driver.ErrUnreachable, message)
}

// connect opens a session.
func (d *database) connect(context.Context) (*session, error) {
	s := new(session)
	if duck.Connect(d.raw, &s.conn) != duck.StateSuccess {
		return nil, errors.New("DuckDB gives no further connection")
	}
	return s, nil
}

// Describe implements driver.DB.
func (d *database) Describe(ctx context.Context) (driver.Description, error) {
	settings := []string{"threads", "memory_limit", "checkpoint_threshold", "preserve_insertion_order", "default_block_size"}
	columns := []string{"version()"}
	for _, name := range settings {
		columns = append(columns, fmt.Sprintf("current_setting('%s')::VARCHAR", name))
	}
	values, err := sqlkit.QueryRow(ctx, d, "SELECT "+strings.Join(columns, ", "))
	if err != nil {
		return driver.Description{}, fmt.Errorf("describing DuckDB: %w", err)
	}
	effective := make(map[string]string, len(settings))
	for i, name := range settings {
		effective[name] = values[i+1].String()
	}
	return driver.Description{
		Version:  strings.TrimPrefix(values[0].String(), "v"),
		Location: d.Path,
		Durability: "each batch is a transaction; its commit is in the write-ahead log, " +
			"and forced to disk by fsync, before it is acknowledged",
		Safety:    driver.OnDisk,
		Settings:  effective,
		Elsewhere: sqlkit.Path,
	}, nil
}

// Create implements driver.DB.
func (d *database) Create(ctx context.Context, schema *series.Schema) error {
	if err := d.Tables.Create(ctx, schema); err != nil {
		return err
	}
	return d.Exec(ctx, "CHECKPOINT") // before which the blocks of an earlier load are not free
}

// Drop implements driver.DB. A table that others refer to can be dropped only after them, so Drop
// retries as long as any table can be dropped. The error gives the reason for a remaining one.
func (d *database) Drop(ctx context.Context, objects []driver.Object) error {
	var err error
	for left := slices.Clone(objects); len(left) > 0; {
		before := len(left)
		left = slices.DeleteFunc(left, func(o driver.Object) bool {
			in, name := d.Dialect.Ident(cmp.Or(o.Schema, "main")), d.Dialect.Ident(o.Name)
			dropErr := d.Exec(ctx, fmt.Sprintf("DROP %s IF EXISTS %s.%s", strings.ToUpper(o.Kind), in, name))
			if dropErr != nil {
				err = fmt.Errorf("clearing %s: dropping %s: %w", d.Path, o, dropErr)
			}
			return dropErr == nil
		})
		if len(left) == before {
			return err
		}
	}
	return nil
}

// Settle implements driver.DB. DuckDB works in the background only after a commit: Settle only has to
// checkpoint the log.
func (d *database) Settle(ctx context.Context) error {
	if err := d.Exec(ctx, "CHECKPOINT"); err != nil {
		return fmt.Errorf("settling DuckDB: %w", err)
	}
	return nil
}

// Footprint implements driver.DB: the file and its write-ahead log, less the free blocks in the file.
// DuckDB rarely returns these to the file system: otherwise a file that was larger before would count
// with its old size.
func (d *database) Footprint(ctx context.Context) (driver.Footprint, error) {
	values, err := sqlkit.QueryRow(ctx, d, "SELECT free_blocks * block_size FROM pragma_database_size() WHERE database_name = current_database()")
	var size disk.Size
	if err == nil {
		size, err = disk.Files(d.Path, d.Path+".wal")
	}
	if err != nil {
		return driver.Footprint{Bytes: -1}, fmt.Errorf("measuring DuckDB's files: %w", err)
	}
	return driver.Footprint{Bytes: size.Allocated - values[0].Int}, nil
}

// Close implements driver.DB.
func (d *database) Close() error {
	err := d.Embedded.Close()
	duck.Close(&d.raw)
	return err
}

//go:build cgo && (linux || darwin) && (amd64 || arm64)

package duckdb

import (
	"context"
	"errors"
	"fmt"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// ReadMark implements driver.DB.
func (d *database) ReadMark(ctx context.Context) (driver.Mark, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, _, err := d.readStamp(ctx)
	if err != nil {
		return driver.Mark{}, fmt.Errorf("reading the mark: %w", err)
	}
	return s.Mark, nil
}

// WriteMark implements driver.DB.
func (d *database) WriteMark(ctx context.Context, m driver.Mark) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, _, err := d.readStamp(ctx)
	if err == nil {
		s.Mark = m
		err = d.writeStamp(ctx, s)
	}
	if err != nil {
		return fmt.Errorf("writing the mark: %w", err)
	}
	return nil
}

// Prepare implements driver.DB. Tables that tsmark did not make stay,
// even in a marked database.
func (d *database) Prepare(ctx context.Context, schema *series.Schema, m driver.Mark) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.prepare(ctx, schema, m); err != nil {
		return fmt.Errorf("preparing %s: %w", d.path, err)
	}
	return nil
}

// Inspect implements driver.Inspector.
func (d *database) Inspect(ctx context.Context, schema *series.Schema) error {
	if schema == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, _, err := d.replaceable(ctx, schema); err != nil {
		return fmt.Errorf("looking at %s: %w", d.path, err)
	}
	return nil
}

// replaceable returns the layout of a schema, and the names of the tables that
// are dropped before it is made, or an error that wraps driver.ErrForeign. The
// caller holds mu.
func (d *database) replaceable(ctx context.Context, schema *series.Schema) (*layout, []string, error) {
	next, err := newLayout(schema)
	if err != nil {
		return nil, nil, err
	}
	old, present, err := d.readStamp(ctx)
	if err != nil && !errors.Is(err, driver.ErrNoMark) {
		return nil, nil, err
	}
	return next, old.Own(present), d.place().Foreign(old, present, next.names, true)
}

func (d *database) prepare(ctx context.Context, schema *series.Schema, m driver.Mark) error {
	next, old, err := d.replaceable(ctx, schema)
	if err != nil {
		return err
	}
	sql := newDialect()
	statements := []string{"BEGIN TRANSACTION"}
	for _, name := range old {
		statements = append(statements, "DROP TABLE IF EXISTS "+sql.Ident(name))
	}
	statements = append(statements, next.ddl...)
	for _, name := range next.names {
		statements = append(statements, "COMMENT ON TABLE "+sql.Ident(name)+" IS "+sql.Text(driver.Token()))
	}
	for _, s := range statements {
		if err := d.admin.exec(ctx, s); err != nil {
			return d.rollback(ctx, err)
		}
	}
	stamp := driver.Stamp{Mark: m, Tables: next.names}
	present, err := d.objects(ctx)
	if err == nil {
		stamp.Identify(present)
		err = d.writeStamp(ctx, stamp)
	}
	if err != nil {
		return d.rollback(ctx, err)
	}
	// Interrupting a commit would leave open whether it happened.
	if err := d.admin.exec(context.WithoutCancel(ctx), "COMMIT"); err != nil {
		return d.rollback(ctx, err)
	}
	d.layout = next
	// The blocks of an earlier load are free only then.
	return d.admin.exec(ctx, "CHECKPOINT")
}

// rollback undoes the transaction that cause has ended, and returns cause.
func (d *database) rollback(ctx context.Context, cause error) error {
	// It fails where DuckDB rolled back already.
	_ = d.admin.exec(context.WithoutCancel(ctx), "ROLLBACK")
	return cause
}

// tables lists all tables, with what is a table's identity: its columns, and the
// comment that tsmark gives it. DuckDB numbers tables anew each time a file is
// opened.
const tables = `SELECT 'table', schema_name, table_name, concat_ws(' ', comment, (SELECT string_agg(concat_ws(' ', column_name, data_type, is_nullable), ', ' ORDER BY column_index)
		FROM duckdb_columns() AS c WHERE c.table_oid = t.table_oid AND c.database_oid = t.database_oid))
	FROM duckdb_tables() AS t WHERE NOT internal`

// objects returns all tables and views. The caller holds mu.
func (d *database) objects(ctx context.Context) ([]driver.Object, error) {
	var answer query.Answer
	_, err := d.admin.query(ctx, tables+`
		UNION ALL
		SELECT 'view', schema_name, view_name, '' FROM duckdb_views() WHERE NOT internal
		ORDER BY 3`, &answer)
	present := make([]driver.Object, len(answer.Rows))
	for i, row := range answer.Rows {
		present[i] = driver.Object{Name: row[2].String(), Identity: driver.Described(row[3].String())}
	}
	return present, err
}

// readStamp returns what the mark's table holds, and all tables and views. The
// caller holds mu.
func (d *database) readStamp(ctx context.Context) (driver.Stamp, []driver.Object, error) {
	present, err := d.objects(ctx)
	if err != nil {
		return driver.Stamp{}, nil, err
	}
	stamp, err := d.place().ReadStamp(present, func() (string, error) {
		row, err := d.row(ctx, fmt.Sprintf("SELECT %s FROM %s", sqlkit.ContentColumn, sqlkit.MarkTable))
		if err != nil {
			return "", err
		}
		return row[0].String(), nil
	})
	return stamp, present, err
}

// place is the database as messages name it.
func (d *database) place() sqlkit.Place {
	return sqlkit.Place{Name: d.path, Instead: "give another path"}
}

// writeStamp replaces what the mark's table holds. The caller holds mu.
func (d *database) writeStamp(ctx context.Context, s driver.Stamp) error {
	content, err := s.Text()
	if err != nil {
		return err
	}
	return d.admin.exec(ctx, fmt.Sprintf("CREATE OR REPLACE TABLE %s AS SELECT %s AS %s",
		sqlkit.MarkTable, newDialect().Text(content), sqlkit.ContentColumn))
}

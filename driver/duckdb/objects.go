//go:build cgo && (linux || darwin) && (amd64 || arm64)

package duckdb

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

// ownSchema is where tsmark makes its tables.
const ownSchema = "main"

// Objects implements driver.DB. The identity of a table is its columns, and the
// comment that tsmark gives it: DuckDB numbers tables anew each time a file is
// opened.
func (d *database) Objects(ctx context.Context) ([]driver.Object, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var answer query.Answer
	_, err := d.admin.query(ctx, `SELECT 'table', schema_name, table_name, concat_ws(' ', comment, (SELECT string_agg(concat_ws(' ', column_name, data_type, is_nullable), ', ' ORDER BY column_index)
			FROM duckdb_columns() AS c WHERE c.table_oid = t.table_oid AND c.database_oid = t.database_oid))
		FROM duckdb_tables() AS t WHERE NOT internal
		UNION ALL
		SELECT 'view', schema_name, view_name, '' FROM duckdb_views() WHERE NOT internal
		ORDER BY 1 DESC, 2, 3`, &answer) // views before what they look at
	if err != nil {
		return nil, fmt.Errorf("listing what is in %s: %w", d.path, err)
	}
	objects := make([]driver.Object, len(answer.Rows))
	for i, row := range answer.Rows {
		o := object(row[0].String(), row[2].String())
		o.Data, o.Identity = true, driver.Described(row[3].String())
		if in := row[1].String(); in != ownSchema {
			o.Schema = in
		}
		o.Note = o.Kind == kindTable && o.Schema == "" && o.Name == sqlkit.NoteTable
		objects[i] = o
	}
	return objects, nil
}

// Plan implements driver.DB.
func (d *database) Plan(schema *series.Schema) ([]driver.Object, error) {
	l, err := newLayout(schema)
	if err != nil {
		return nil, err
	}
	return l.objects, nil
}

// Create implements driver.DB.
func (d *database) Create(ctx context.Context, schema *series.Schema) error {
	l, err := newLayout(schema)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	sql := newDialect()
	statements := append([]string{"BEGIN TRANSACTION"}, l.ddl...)
	for _, o := range l.objects {
		statements = append(statements, "COMMENT ON TABLE "+sql.Ident(o.Name)+" IS "+sql.Text(driver.Token()))
	}
	for _, s := range statements {
		if err = d.admin.exec(ctx, s); err != nil {
			break
		}
	}
	if err == nil {
		// Interrupting a commit would leave open whether it happened.
		err = d.admin.exec(context.WithoutCancel(ctx), "COMMIT")
	}
	if err != nil {
		_ = d.admin.exec(context.WithoutCancel(ctx), "ROLLBACK") // it fails where DuckDB rolled back already
		return fmt.Errorf("creating tables in %s: %w", d.path, err)
	}
	d.layout = l
	return d.admin.exec(ctx, "CHECKPOINT") // before which the blocks of an earlier load are not free
}

// Drop implements driver.DB. A table that others refer to can be dropped
// only after them, so each is tried again as long as any goes; where one
// remains the error says what hinders it.
func (d *database) Drop(ctx context.Context, objects []driver.Object) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	sql := newDialect()
	var err error
	for left := slices.Clone(objects); len(left) > 0; {
		before := len(left)
		left = slices.DeleteFunc(left, func(o driver.Object) bool {
			in := o.Schema
			if in == "" {
				in = ownSchema
			}
			dropErr := d.admin.exec(ctx, fmt.Sprintf("DROP %s IF EXISTS %s.%s", strings.ToUpper(o.Kind), sql.Ident(in), sql.Ident(o.Name)))
			if dropErr != nil {
				err = fmt.Errorf("clearing %s: dropping %s: %w", d.path, o, dropErr)
			}
			return dropErr == nil
		})
		if len(left) == before {
			return err
		}
	}
	return nil
}

// Note implements driver.DB.
func (d *database) Note(ctx context.Context) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	row, err := d.row(ctx, "SELECT "+sqlkit.NoteColumn+" FROM "+sqlkit.NoteTable)
	if err != nil {
		return "", err
	}
	return row[0].String(), nil
}

// SetNote implements driver.DB.
func (d *database) SetNote(ctx context.Context, text string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.admin.exec(ctx, fmt.Sprintf("CREATE OR REPLACE TABLE %s AS SELECT %s AS %s", sqlkit.NoteTable, newDialect().Text(text), sqlkit.NoteColumn))
}

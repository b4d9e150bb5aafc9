//go:build cgo && (linux || darwin) && (amd64 || arm64)

package duckdb

import (
	"context"
	"errors"
	"fmt"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/target"
	"github.com/tsmark/tsmark/target/sqltarget"
)

// ReadMark implements target.Target.
func (d *database) ReadMark(ctx context.Context) (target.Mark, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, _, err := d.readStamp(ctx)
	if err != nil {
		return target.Mark{}, fmt.Errorf("reading the mark: %w", err)
	}
	return s.Mark, nil
}

// WriteMark implements target.Target.
func (d *database) WriteMark(ctx context.Context, m target.Mark) error {
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

// Prepare implements target.Target. Tables that tsmark did not make stay,
// even in a marked database.
func (d *database) Prepare(ctx context.Context, schema *series.Schema, m target.Mark) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.prepare(ctx, schema, m); err != nil {
		return fmt.Errorf("preparing %s: %w", d.path, err)
	}
	return nil
}

func (d *database) prepare(ctx context.Context, schema *series.Schema, m target.Mark) error {
	next, err := newLayout(schema)
	if err != nil {
		return err
	}
	old, present, err := d.readStamp(ctx)
	if err != nil && !errors.Is(err, target.ErrNoMark) {
		return err
	}
	sql := newDialect()
	statements := []string{"BEGIN TRANSACTION"}
	for _, name := range old.Tables {
		statements = append(statements, "DROP TABLE IF EXISTS "+sql.Ident(name))
	}
	if err := d.place().Foreign(old, present, next.names, true); err != nil {
		return err
	}
	for _, s := range append(statements, next.ddl...) {
		if err := d.admin.exec(ctx, s); err != nil {
			return d.rollback(ctx, err)
		}
	}
	if err := d.writeStamp(ctx, sqltarget.Stamp{Mark: m, Tables: next.names}); err != nil {
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

// readStamp returns what the mark's table holds, and the names of all tables
// and views. The caller holds mu.
func (d *database) readStamp(ctx context.Context) (sqltarget.Stamp, []string, error) {
	var answer query.Answer
	_, err := d.admin.query(ctx, `
		SELECT table_name FROM duckdb_tables() WHERE NOT internal
		UNION ALL
		SELECT view_name FROM duckdb_views() WHERE NOT internal
		ORDER BY 1`, &answer)
	if err != nil {
		return sqltarget.Stamp{}, nil, err
	}
	present := make([]string, len(answer.Rows))
	for i, row := range answer.Rows {
		present[i] = row[0].String()
	}
	stamp, err := d.place().ReadStamp(present, func() (string, error) {
		row, err := d.row(ctx, fmt.Sprintf("SELECT %s FROM %s", sqltarget.ContentColumn, sqltarget.MarkTable))
		if err != nil {
			return "", err
		}
		return row[0].String(), nil
	})
	return stamp, present, err
}

// place is the database as messages name it.
func (d *database) place() sqltarget.Place {
	return sqltarget.Place{Name: d.path, Instead: "give another path"}
}

// writeStamp replaces what the mark's table holds. The caller holds mu.
func (d *database) writeStamp(ctx context.Context, s sqltarget.Stamp) error {
	content, err := s.Text()
	if err != nil {
		return err
	}
	return d.admin.exec(ctx, fmt.Sprintf("CREATE OR REPLACE TABLE %s AS SELECT %s AS %s",
		sqltarget.MarkTable, newDialect().Text(content), sqltarget.ContentColumn))
}

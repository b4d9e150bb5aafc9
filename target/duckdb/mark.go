//go:build cgo && (linux || darwin) && (amd64 || arm64)

package duckdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/target"
)

// stamp is what the mark's table holds, in its only row, as JSON.
type stamp struct {
	Mark   target.Mark `json:"mark"`
	Tables []string    `json:"tables"` // that tsmark made and may drop
}

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
	for _, name := range next.names {
		if slices.Contains(present, name) && !slices.Contains(old.Tables, name) {
			return fmt.Errorf("%w: a table %s; drop it or give another path", target.ErrForeign, name)
		}
	}
	for _, s := range append(statements, next.ddl...) {
		if err := d.admin.exec(ctx, s); err != nil {
			return d.rollback(ctx, err)
		}
	}
	if err := d.writeStamp(ctx, stamp{Mark: m, Tables: next.names}); err != nil {
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
func (d *database) readStamp(ctx context.Context) (stamp, []string, error) {
	var answer query.Answer
	_, err := d.admin.query(ctx, `
		SELECT table_name FROM duckdb_tables() WHERE NOT internal
		UNION ALL
		SELECT view_name FROM duckdb_views() WHERE NOT internal
		ORDER BY 1`, &answer)
	if err != nil {
		return stamp{}, nil, err
	}
	present := make([]string, len(answer.Rows))
	for i, row := range answer.Rows {
		present[i] = row[0].String()
	}
	switch {
	case len(present) == 0:
		return stamp{}, nil, fmt.Errorf("%s %w", d.path, target.ErrNoMark)
	case !slices.Contains(present, markTable):
		return stamp{}, nil, fmt.Errorf("%s %w: %s; give another path", d.path, target.ErrForeign, some(present))
	}
	row, err := d.row(ctx, "SELECT content FROM "+markTable)
	var s stamp
	if err == nil {
		err = json.Unmarshal([]byte(row[0].String()), &s)
	}
	if err != nil {
		return stamp{}, nil, fmt.Errorf("%s %w: its table %s is not as tsmark writes it (%w); give another path",
			d.path, target.ErrForeign, markTable, err)
	}
	return s, present, nil
}

// writeStamp replaces what the mark's table holds. The caller holds mu.
func (d *database) writeStamp(ctx context.Context, s stamp) error {
	content, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return d.admin.exec(ctx, fmt.Sprintf("CREATE OR REPLACE TABLE %s AS SELECT %s AS content",
		markTable, newDialect().Text(string(content))))
}

// some lists the first names.
func some(names []string) string {
	const shown = 3
	if len(names) <= shown {
		return "tables " + strings.Join(names, ", ")
	}
	return fmt.Sprintf("tables %s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}

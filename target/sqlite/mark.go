package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"

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
		err = d.change(ctx, func() error { return d.writeStamp(ctx, s) })
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
	next, err := newLayout(schema, d.index)
	if err != nil {
		return err
	}
	old, present, err := d.readStamp(ctx)
	if err != nil && !errors.Is(err, target.ErrNoMark) {
		return err
	}
	var others []string
	for _, p := range present {
		if p.table != sqltarget.MarkTable && !slices.Contains(old.Tables, p.table) {
			others = append(others, p.name)
		}
	}
	if err := d.place().Foreign(old, others, next.names, true); err != nil {
		return err
	}
	err = d.change(ctx, func() error {
		for _, name := range old.Tables {
			if err := d.admin.exec(ctx, "DROP TABLE IF EXISTS "+quoted(name)); err != nil {
				return err
			}
		}
		if err := d.admin.exec(ctx, next.ddl...); err != nil {
			return err
		}
		return d.writeStamp(ctx, sqltarget.Stamp{Mark: m, Tables: next.tables})
	})
	if err != nil {
		return err
	}
	d.layout = next
	if len(old.Tables) == 0 || len(others) > 0 {
		return nil
	}
	// The file of an earlier load shrinks only so, and would count for this
	// one. Others' tables would be written anew, and might number their rows
	// otherwise.
	return d.admin.exec(ctx, "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)")
}

// change runs do in a transaction, which an error undoes. The caller holds mu.
func (d *database) change(ctx context.Context, do func() error) error {
	if err := d.lock(ctx); err != nil {
		return err
	}
	defer d.unlock()
	if err := d.admin.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := do()
	if err == nil {
		err = d.admin.exec(context.WithoutCancel(ctx), "COMMIT")
	}
	if err != nil {
		d.admin.rollback()
	}
	return err
}

// object is a table, view or index of the database, or a trigger.
type object struct {
	name  string
	table string // that it belongs to; its own name where it is one
}

// readStamp returns what the mark's table holds, and all that is in the
// database. The caller holds mu.
func (d *database) readStamp(ctx context.Context) (sqltarget.Stamp, []object, error) {
	var answer query.Answer
	_, err := d.admin.query(ctx, `SELECT name, tbl_name FROM sqlite_schema WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY 1`, &answer)
	if err != nil {
		return sqltarget.Stamp{}, nil, fmt.Errorf("%s %w", d.path, err)
	}
	present := make([]object, len(answer.Rows))
	names := make([]string, len(answer.Rows))
	for i, row := range answer.Rows {
		present[i] = object{row[0].String(), row[1].String()}
		names[i] = present[i].name
	}
	stamp, err := d.place().ReadStamp(names, func() (string, error) {
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

// writeStamp replaces what the mark's table holds. The caller holds mu, in a
// transaction.
func (d *database) writeStamp(ctx context.Context, s sqltarget.Stamp) error {
	content, err := s.Text()
	if err != nil {
		return err
	}
	return d.admin.exec(ctx,
		"DROP TABLE IF EXISTS "+sqltarget.MarkTable,
		fmt.Sprintf("CREATE TABLE %s AS SELECT %s AS %s", sqltarget.MarkTable, newDialect().Text(content), sqltarget.ContentColumn))
}

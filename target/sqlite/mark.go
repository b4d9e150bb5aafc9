package sqlite

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
	alone := true
	for _, p := range present {
		if p.table == markTable || slices.Contains(old.Tables, p.table) {
			continue
		}
		alone = false
		for _, name := range next.names {
			if strings.EqualFold(name, p.name) {
				return fmt.Errorf("%w: a table or index %s; drop it or give another path", target.ErrForeign, p.name)
			}
		}
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
		return d.writeStamp(ctx, stamp{Mark: m, Tables: next.tables})
	})
	if err != nil {
		return err
	}
	d.layout = next
	if len(old.Tables) == 0 || !alone {
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
func (d *database) readStamp(ctx context.Context) (stamp, []object, error) {
	var answer query.Answer
	_, err := d.admin.query(ctx, `SELECT name, tbl_name FROM sqlite_schema WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY 1`, &answer)
	if err != nil {
		return stamp{}, nil, fmt.Errorf("%s %w", d.path, err)
	}
	present := make([]object, len(answer.Rows))
	marked := false
	for i, row := range answer.Rows {
		present[i] = object{row[0].String(), row[1].String()}
		marked = marked || present[i].name == markTable
	}
	switch {
	case len(present) == 0:
		return stamp{}, nil, fmt.Errorf("%s %w", d.path, target.ErrNoMark)
	case !marked:
		return stamp{}, nil, fmt.Errorf("%s %w: %s; give another path", d.path, target.ErrForeign, some(present))
	}
	row, err := d.row(ctx, "SELECT content FROM "+markTable)
	if err != nil && (ctx.Err() != nil || errors.Is(err, target.ErrUnreachable)) {
		return stamp{}, nil, fmt.Errorf("%s %w", d.path, err)
	}
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

// writeStamp replaces what the mark's table holds. The caller holds mu, in a
// transaction.
func (d *database) writeStamp(ctx context.Context, s stamp) error {
	content, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return d.admin.exec(ctx,
		"DROP TABLE IF EXISTS "+markTable,
		fmt.Sprintf("CREATE TABLE %s AS SELECT %s AS content", markTable, newDialect().Text(string(content))))
}

// some lists the first names.
func some(present []object) string {
	const shown = 3
	var names []string
	for _, p := range present[:min(len(present), shown)] {
		names = append(names, p.name)
	}
	text := "tables " + strings.Join(names, ", ")
	if more := len(present) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

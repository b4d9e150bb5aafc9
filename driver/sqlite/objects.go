package sqlite

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

// Objects implements driver.DB.
func (d *database) Objects(ctx context.Context) ([]driver.Object, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	objects, err := d.objects(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing what is in %s: %w", d.path, err)
	}
	return objects, nil
}

// objects lists the tables, views and indexes; triggers have names of their own,
// and go with their tables. The identity of a table is the statement that made
// it, which VACUUM leaves as it is. Virtual tables come first: they take the
// tables behind them along. The caller holds mu.
func (d *database) objects(ctx context.Context) ([]driver.Object, error) {
	var answer query.Answer
	_, err := d.admin.query(ctx, `SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema
		WHERE type IN ('table', 'view', 'index') AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
		ORDER BY sql LIKE 'CREATE VIRTUAL%' DESC, type, name`, &answer)
	objects := make([]driver.Object, len(answer.Rows))
	for i, row := range answer.Rows {
		o := object(row[0].String(), row[1].String())
		if o.Kind == kindIndex {
			o.Of = row[2].String()
		} else {
			o.Data, o.Identity = true, driver.Described(row[3].String())
		}
		o.Note = o.Kind == kindTable && o.Name == sqlkit.NoteTable
		objects[i] = o
	}
	return objects, err
}

// The kinds of objects that tsmark makes, as sqlite_schema has them.
const (
	kindTable = "table"
	kindIndex = "index"
)

func object(kind, name string) driver.Object {
	return driver.Object{Kind: kind, Name: name, Key: strings.ToLower(name)}
}

// Plan implements driver.DB.
func (d *database) Plan(schema *series.Schema) ([]driver.Object, error) {
	l, err := newLayout(schema, d.index)
	if err != nil {
		return nil, err
	}
	return l.objects, nil
}

// Create implements driver.DB. The journal is chosen here, since only a file of
// tsmark's is to be changed.
func (d *database) Create(ctx context.Context, schema *series.Schema) error {
	l, err := newLayout(schema, d.index)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	journal := "PRAGMA journal_mode = " + d.journal
	err = exec(ctx, d.admin, journal)
	if err == nil {
		err = d.change(ctx, func() error { return exec(ctx, d.admin, l.ddl...) })
	}
	if err != nil {
		return fmt.Errorf("creating tables in %s: %w", d.path, err)
	}
	d.layout = l
	if !slices.Contains(d.pragmas, journal) {
		d.pragmas = append(d.pragmas, journal) // only wal is kept in the file: each connection must be told the others
	}
	return nil
}

// Drop implements driver.DB.
func (d *database) Drop(ctx context.Context, objects []driver.Object) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var left []driver.Object
	err := d.change(ctx, func() (err error) {
		for _, o := range objects {
			if err := exec(ctx, d.admin, "DROP "+strings.ToUpper(o.Kind)+" IF EXISTS "+quoted(o.Name)); err != nil {
				return fmt.Errorf("dropping %s: %w", o, err)
			}
		}
		left, err = d.objects(ctx)
		return err
	})
	if err == nil && !slices.ContainsFunc(left, func(o driver.Object) bool { return !o.Note }) {
		// The file shrinks only so, and would count for a later load. Others' tables
		// would be written anew, and might number their rows otherwise.
		err = exec(ctx, d.admin, "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)")
	}
	if err != nil {
		return fmt.Errorf("clearing %s: %w", d.path, err)
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
	return d.change(ctx, func() error {
		return exec(ctx, d.admin,
			"DROP TABLE IF EXISTS "+sqlkit.NoteTable,
			fmt.Sprintf("CREATE TABLE %s AS SELECT %s AS %s", sqlkit.NoteTable, newDialect().Text(text), sqlkit.NoteColumn))
	})
}

// change runs do in a transaction, which an error undoes. The caller holds mu.
func (d *database) change(ctx context.Context, do func() error) error {
	if err := d.lock(ctx); err != nil {
		return err
	}
	defer d.unlock()
	if err := exec(ctx, d.admin, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := do()
	if err == nil {
		err = exec(context.WithoutCancel(ctx), d.admin, "COMMIT")
	}
	if err != nil {
		d.admin.rollback()
	}
	return err
}

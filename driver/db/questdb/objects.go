package questdb

import (
	"context"
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/poll"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/series"
)

const kindTable = "table"

// kindOf returns the kind of an object in tables() that is not a table with rows of its own.
func kindOf(letter string) string {
	switch letter {
	case "V":
		return "view"
	case "M":
		return "materialized view"
	}
	return kindTable
}

// object is an object on the server. Names differ by more than case.
func object(kind, name string) driver.Object {
	return driver.Object{Kind: kind, Name: name, Key: strings.ToLower(name)}
}

// kindLetters are expressions for the letter of kindOf: since 9.3, from 8.3 to 9.2, and in older versions,
// which lack views.
var kindLetters = []string{"table_type", "CASE WHEN matView THEN 'M' ELSE 'T' END", "'T'"}

// Objects implements driver.DB. QuestDB numbers tables and views when they are created.
func (d *database) Objects(ctx context.Context) ([]driver.Object, error) {
	var rows [][]query.Value
	var err error
	for _, letter := range kindLetters {
		rows, err = d.own.Query(ctx, "SELECT "+letter+" letter, table_name, id FROM tables() WHERE table_name NOT LIKE 'sys.%' ORDER BY table_name")
		if err == nil || !strings.Contains(err.Error(), "Invalid column") {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("listing the objects in QuestDB: %w", err)
	}
	objects := make([]driver.Object, len(rows))
	for i, row := range rows {
		if len(row) != 3 {
			return nil, fmt.Errorf("listing the objects in QuestDB: a list of tables has %d columns; is this QuestDB?", len(row))
		}
		o := object(kindOf(row[0].String()), row[1].String())
		o.Identity, o.Data = row[2].String(), true
		o.Note = o.Kind == kindTable && o.Name == sqlkit.NoteTable
		objects[i] = o
	}
	return objects, nil
}

// Plan implements driver.DB.
func (d *database) Plan(schema *series.Schema) ([]driver.Object, error) {
	return plannedTables(schema), nil
}

// plannedTables returns the tables for a schema.
func plannedTables(schema *series.Schema) []driver.Object {
	objects := make([]driver.Object, len(schema.Tables))
	for i, t := range schema.Tables {
		objects[i] = object(kindTable, tableName(t.Name))
	}
	return objects
}

// Create implements driver.DB. QuestDB has no transactional DDL.
func (d *database) Create(ctx context.Context, schema *series.Schema) error {
	for _, t := range schema.Tables {
		if err := d.own.Exec(ctx, d.settings.tables.ddl(t)); err != nil {
			return fmt.Errorf("creating tables in QuestDB: %w", err)
		}
	}
	return d.Join(ctx, schema)
}

// Join implements driver.DB.
func (d *database) Join(_ context.Context, schema *series.Schema) error {
	d.Prepare(lines().New(schema), schema)
	return nil
}

// Grow implements driver.DB.
func (d *database) Grow(schema *series.Schema) error {
	d.Extend(lines().New(schema), schema)
	return nil
}

// Drop implements driver.DB. It drops views before the tables that they read.
func (d *database) Drop(ctx context.Context, objects []driver.Object) error {
	for _, kind := range []string{kindOf("V"), kindOf("M"), kindTable} {
		for _, o := range objects {
			if o.Kind != kind {
				continue
			}
			if err := d.drop(ctx, o); err != nil {
				return fmt.Errorf("clearing QuestDB: %w", err)
			}
		}
	}
	return nil
}

// drop drops an object. The connections that wrote to a table without a write-ahead log lock it for a
// while.
func (d *database) drop(ctx context.Context, o driver.Object) error {
	bounded, cancel := d.settings.wire.WithTimeout(ctx)
	defer cancel()
	var held error
	err := poll.Wait(bounded, firstLook, longestLook, func() (bool, error) {
		held = d.own.Exec(ctx, "DROP "+strings.ToUpper(o.Kind)+" IF EXISTS "+quoteIdent(o.Name))
		if held != nil && strings.Contains(held.Error(), "could not lock") {
			return false, nil
		}
		return true, held
	})
	if err != nil && err != held {
		return fmt.Errorf("%w; end what uses the table", held)
	}
	return err
}

// Note implements driver.DB.
func (d *database) Note(ctx context.Context) (string, error) {
	rows, err := d.own.Query(ctx, "SELECT "+sqlkit.NoteColumn+" FROM "+sqlkit.NoteTable)
	if err != nil || len(rows) == 0 {
		return "", err
	}
	return rows[0][0].String(), nil
}

// SetNote implements driver.DB. The table has no write-ahead log: an UPDATE is complete when the server
// responds. It rewrites the column before it commits, so a crash leaves either the old note or the new
// one. In a table without a row it changes nothing.
func (d *database) SetNote(ctx context.Context, text string) error {
	err := d.own.Exec(ctx, fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (%s VARCHAR)", sqlkit.NoteTable, sqlkit.NoteColumn))
	if err != nil {
		return err
	}
	rows, err := d.own.Query(ctx, "SELECT count() FROM "+sqlkit.NoteTable)
	if err != nil {
		return err
	}
	literal := newDialect().Text(text)
	if rows[0][0].Int == 0 {
		return d.own.Exec(ctx, fmt.Sprintf("INSERT INTO %s VALUES (%s)", sqlkit.NoteTable, literal))
	}
	return d.own.Exec(ctx, fmt.Sprintf("UPDATE %s SET %s = %s", sqlkit.NoteTable, sqlkit.NoteColumn, literal))
}

// Inspect implements driver.DB. It connects over TCP only: HTTP uses the port and the credentials that
// have been tried already.
func (d *database) Inspect(ctx context.Context) error {
	lines, err := d.Open(ctx)
	if err == nil {
		err = lines.Close()
	}
	if err != nil {
		return fmt.Errorf("looking at QuestDB: %w", err)
	}
	return nil
}

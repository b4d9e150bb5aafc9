package cassandra

import (
	"context"
	"errors"
	"fmt"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/limit"
	"github.com/tsmark/tsmark/series"
)

const kindTable = "table"

// lists are the kinds of objects in a keyspace, with the statement that lists each: name, identity, and
// the table it belongs to.
var lists = []struct{ kind, statement string }{
	{"materialized view", "SELECT view_name, id, base_table_name FROM system_schema.views WHERE keyspace_name = ?"},
	{"index", "SELECT index_name, table_name, table_name FROM system_schema.indexes WHERE keyspace_name = ?"},
	{kindTable, "SELECT table_name, id FROM system_schema.tables WHERE keyspace_name = ?"},
	{"type", "SELECT type_name FROM system_schema.types WHERE keyspace_name = ?"},
	{"aggregate", "SELECT aggregate_name FROM system_schema.aggregates WHERE keyspace_name = ?"},
	{"function", "SELECT function_name FROM system_schema.functions WHERE keyspace_name = ?"},
}

// Objects implements driver.DB. A missing keyspace has no objects.
func (d *database) Objects(ctx context.Context) ([]driver.Object, error) {
	var objects []driver.Object
	for _, list := range lists {
		rows, err := d.runOwn(ctx, list.statement, d.layout.keyspace)
		if err != nil {
			return nil, fmt.Errorf("listing the objects in %s: %w", d.place(), err)
		}
		for _, row := range rows {
			o := driver.Object{Kind: list.kind, Name: row[0].String()}
			if len(row) > 2 {
				o.Of = row[2].String()
			}
			if o.Data = list.kind == kindTable; o.Data {
				o.Identity = row[1].String()
				o.Note = o.Name == noteTable
			}
			objects = append(objects, o)
		}
	}
	return objects, nil
}

// Plan implements driver.DB.
func (d *database) Plan(schema *series.Schema) ([]driver.Object, error) {
	if err := check(d.options, schema); err != nil {
		return nil, err
	}
	var objects []driver.Object
	for _, t := range d.layout.tables(schema) {
		objects = append(objects, driver.Object{Kind: kindTable, Name: t.name})
	}
	return objects, nil
}

// exec runs statements one after the other.
func (d *database) exec(ctx context.Context, texts ...string) error {
	for _, text := range texts {
		if _, err := d.runOwn(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// Create implements driver.DB. It drops the tables created before one that failed.
func (d *database) Create(ctx context.Context, schema *series.Schema) error {
	made, err := d.create(ctx, schema)
	if err != nil {
		longer, cancel := limit.Outlive(ctx)
		defer cancel()
		_ = d.Drop(longer, made) // the caller returns the earlier error
		return fmt.Errorf("creating tables in %s: %w", d.place(), err)
	}
	return d.Join(ctx, schema)
}

// Join implements driver.DB. Each writer registers the spans of a series again.
func (d *database) Join(_ context.Context, schema *series.Schema) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.schema = schema
	return nil
}

func (d *database) create(ctx context.Context, schema *series.Schema) (made []driver.Object, err error) {
	planned, err := d.Plan(schema)
	if err != nil {
		return nil, err
	}
	if err := d.makeKeyspace(ctx); err != nil {
		return nil, err
	}
	for i, t := range d.layout.tables(schema) {
		if err := d.exec(ctx, t.statement); err != nil {
			return made, fmt.Errorf("making table %s: %w", t.name, err)
		}
		made = append(made, planned[i])
	}
	return made, nil
}

// makeKeyspace creates the keyspace, or sets an existing one's use of the commit log to the option.
func (d *database) makeKeyspace(ctx context.Context) error {
	durable, there, err := d.durable(ctx)
	switch wanted := d.options[optionDurableWrites]; {
	case err != nil:
		return err
	case !there:
		return d.exec(ctx, d.layout.makeKeyspace())
	case fmt.Sprint(durable) != wanted:
		return d.exec(ctx, fmt.Sprintf("ALTER KEYSPACE %s WITH durable_writes = %s", ident(d.layout.keyspace), wanted))
	}
	return nil
}

// Drop implements driver.DB.
func (d *database) Drop(ctx context.Context, objects []driver.Object) error {
	for _, list := range lists { // views are dropped before their tables
		for _, o := range objects {
			if o.Kind != list.kind {
				continue
			}
			if err := d.exec(ctx, fmt.Sprintf("DROP %s IF EXISTS %s", o.Kind, d.layout.qualify(o.Name))); err != nil {
				return fmt.Errorf("clearing %s: %w", d.place(), err)
			}
		}
	}
	return nil
}

// Note implements driver.DB.
func (d *database) Note(ctx context.Context) (string, error) {
	rows, err := d.runOwn(ctx, "SELECT content FROM "+d.layout.qualify(noteTable))
	if err == nil && len(rows) != 1 {
		err = errors.New("the table of the note has not one row")
	}
	if err != nil {
		return "", fmt.Errorf("reading the note of %s: %w", d.place(), err)
	}
	return rows[0][0].String(), nil
}

// SetNote implements driver.DB: the row replaces the existing one.
func (d *database) SetNote(ctx context.Context, text string) error {
	_, there, err := d.durable(ctx)
	if err == nil && !there {
		err = d.makeKeyspace(ctx)
	}
	if err == nil {
		err = d.exec(ctx, fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (id int PRIMARY KEY, content text)", d.layout.qualify(noteTable)))
	}
	if err == nil {
		_, err = d.runOwn(ctx, fmt.Sprintf("INSERT INTO %s (id, content) VALUES (0, ?)", d.layout.qualify(noteTable)), text)
	}
	if err != nil {
		return fmt.Errorf("writing the note of %s: %w", d.place(), err)
	}
	return nil
}

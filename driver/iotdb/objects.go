package iotdb

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/iotdb-client-go/v2/client"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/sqlkit"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// The kinds of objects.
const (
	kindPath = "path"
)

// looked is at how many measurements of a path are looked: all devices of a table have
// the same.
const looked = 1000

// Objects implements driver.DB: the paths of the database. All of them are
// in the way: a database of tsmark's goes as a whole. One that is not there holds
// nothing.
func (d *database) Objects(ctx context.Context) ([]driver.Object, error) {
	there, err := d.exists(ctx)
	var objects []driver.Object
	if err == nil && there {
		objects, err = d.paths(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("listing what is in %s: %w", d.place(), err)
	}
	return objects, nil
}

// paths lists what is in the database, which is there.
func (d *database) paths(ctx context.Context) (objects []driver.Object, err error) {
	rows, err := sqlkit.QueryRows(ctx, d.admin, "SHOW CHILD PATHS "+d.root())
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		var n nodes
		if err := n.cut(row[0].Text, strings.Count(d.root(), ".")+1); err != nil || len(n.list) != 1 {
			return nil, fmt.Errorf("%q: %w", row[0].Text, errPath)
		}
		o := driver.Object{Kind: kindPath, Name: n.list[0].String(), Data: true, InTheWay: true}
		if n.list[0].Text == nil {
			o.Name = missing
		}
		if o.Note = o.Name == note; !o.Note {
			if o.Columns, err = d.measured(ctx, o.Name); err != nil {
				return nil, err
			}
		}
		objects = append(objects, o)
	}
	return objects, nil
}

// measured are the measurements of a path, each with its type.
func (d *database) measured(ctx context.Context, name string) ([]string, error) {
	rows, err := sqlkit.QueryRows(ctx, d.admin, fmt.Sprintf("SHOW TIMESERIES %s.%s.** LIMIT %d", d.root(), node(name), looked))
	found := []string{}
	for _, row := range rows {
		_, last := parent(row[0].Text)
		if of := row[3].String() + " " + string(last); !slices.Contains(found, of) {
			found = append(found, of)
		}
	}
	slices.Sort(found)
	return found, err
}

// Plan implements driver.DB. A path has those of its measurements that something was
// written to.
func (d *database) Plan(schema *series.Schema) ([]driver.Object, error) {
	if err := check(d.options, schema); err != nil {
		return nil, err
	}
	var objects []driver.Object
	held := types(d.options)
	for _, t := range schema.Tables {
		columns := []string{}
		for _, m := range measurements(t, t.Fields, held) {
			columns = append(columns, m.kind+" "+node(m.name))
		}
		slices.Sort(columns)
		objects = append(objects, driver.Object{Kind: kindPath, Name: t.Name, Columns: columns})
	}
	return objects, nil
}

// Create implements driver.DB. Measurements come with their rows.
func (d *database) Create(ctx context.Context, schema *series.Schema) error {
	err := d.createDatabase(ctx)
	if err != nil {
		return fmt.Errorf("creating what %s needs: %w", d.place(), err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.schema = schema
	return nil
}

// createDatabase makes the database where it is not there.
func (d *database) createDatabase(ctx context.Context) error {
	err := d.admin.Exec(ctx, "CREATE DATABASE "+d.root())
	if code(err) == client.DatabaseAlreadyExists {
		return nil
	}
	return err
}

// Drop implements driver.DB. A database of which nothing but the note would be left
// goes as a whole and comes back with the note: else files would keep what is deleted
// until they are compacted.
func (d *database) Drop(ctx context.Context, objects []driver.Object) error {
	if err := d.drop(ctx, objects); err != nil {
		return fmt.Errorf("clearing %s: %w", d.place(), err)
	}
	return nil
}

func (d *database) drop(ctx context.Context, objects []driver.Object) error {
	present, err := d.Objects(ctx)
	if err != nil {
		return err
	}
	goes := func(o driver.Object) bool {
		return slices.ContainsFunc(objects, func(gone driver.Object) bool { return gone.Kind == o.Kind && gone.Name == o.Name })
	}
	whole, text := len(present) > 0, ""
	for _, o := range present {
		if o.Note && !goes(o) {
			if text, err = d.Note(ctx); err != nil {
				return err
			}
		}
		whole = whole && (o.Note || goes(o))
	}
	if whole {
		if err := d.admin.Exec(ctx, "DELETE DATABASE "+d.root()); err != nil && code(err) != client.DatabaseNotExist && code(err) != client.PathNotExist {
			return err
		}
	}
	if whole && text != "" {
		return d.SetNote(ctx, text)
	}
	for _, o := range present {
		if whole || !goes(o) {
			continue
		}
		if err := d.admin.Exec(ctx, fmt.Sprintf("DELETE TIMESERIES %s.%s.**", d.root(), node(o.Name))); err != nil {
			return err
		}
	}
	return nil
}

// Note implements driver.DB.
func (d *database) Note(ctx context.Context) (string, error) {
	rows, err := sqlkit.QueryRows(ctx, d.admin, fmt.Sprintf("SELECT %s FROM %s.%s WHERE time = 0", noteContent, d.root(), note))
	if err != nil || len(rows) == 0 {
		return "", err
	}
	return rows[0][len(rows[0])-1].String(), nil
}

// SetNote implements driver.DB: the row takes the place of the one of its time. The
// flush has a kill find the note.
func (d *database) SetNote(ctx context.Context, text string) error {
	err := d.createDatabase(ctx)
	if err == nil {
		err = d.admin.Exec(ctx, fmt.Sprintf("CREATE TIMESERIES %s.%s.%s TEXT", d.root(), note, noteContent))
		if code(err) == client.TimeseriesAlreadyExist {
			err = nil
		}
	}
	if err == nil {
		err = d.admin.Exec(ctx, fmt.Sprintf("INSERT INTO %s.%s(time, %s) VALUES (0, %s)", d.root(), note, noteContent, sql.SingleQuotes.Of(text)))
	}
	if err == nil {
		err = d.flush(ctx)
	}
	if err != nil {
		return fmt.Errorf("writing the note of %s: %w", d.place(), err)
	}
	return nil
}

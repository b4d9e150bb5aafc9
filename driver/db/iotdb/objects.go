package iotdb

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/iotdb-client-go/v2/client"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// Objects implements driver.DB: the paths or tables of the database. All of them are in the way,
// because a database of tsmark's is dropped as a whole. A missing database has no objects.
func (d *database) Objects(ctx context.Context) ([]driver.Object, error) {
	there, err := d.exists(ctx)
	var objects []driver.Object
	if err == nil && there {
		objects, err = d.objects(ctx, d.admin)
	}
	if err != nil {
		return nil, fmt.Errorf("listing the objects in %s: %w", d.place(), err)
	}
	for i := range objects {
		o := &objects[i]
		o.Kind, o.Data, o.InTheWay = d.kind(), true, true
		if o.Note = o.Name == note; o.Note {
			o.Columns = nil
		}
	}
	return objects, nil
}

// Plan implements driver.DB. A path has only the measurements that were written.
func (d *database) Plan(schema *series.Schema) ([]driver.Object, error) {
	if err := check(d.options, schema); err != nil {
		return nil, err
	}
	var objects []driver.Object
	for _, t := range schema.Tables {
		objects = append(objects, driver.Object{Kind: d.kind(), Name: d.objectName(t.Name), Columns: d.columns(t)})
	}
	return objects, nil
}

// Create implements driver.DB. In the tree model, measurements are created by their rows.
func (d *database) Create(ctx context.Context, schema *series.Schema) error {
	err := d.run(ctx, d.makeDatabase())
	for _, t := range schema.Tables {
		if err == nil {
			err = d.forget(ctx, d.admin, t.Name)
		}
	}
	if err == nil {
		err = d.admin.Exec(ctx, d.create(schema)...)
	}
	if err != nil {
		return fmt.Errorf("creating what %s needs: %w", d.place(), err)
	}
	return d.Join(ctx, schema)
}

// Join implements driver.DB. Devices are created by their rows, whichever process writes them.
func (d *database) Join(_ context.Context, schema *series.Schema) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.schema = schema
	return nil
}

// run runs statements. Errors that an object to create exists, or that an object to drop does not, are
// ignored.
func (d *database) run(ctx context.Context, texts ...string) error {
	for _, text := range texts {
		err := d.admin.Exec(ctx, text)
		switch code(err) {
		case client.DatabaseAlreadyExists, client.TimeseriesAlreadyExist, client.DatabaseNotExist, client.PathNotExist:
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Drop implements driver.DB. If only the note would be left, it drops the database and creates it again
// with the note: otherwise the files would keep deleted data until a compaction.
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
	drop := d.remove
	if whole {
		drop = d.forget
		if err := d.run(ctx, d.dropDatabase()); err != nil {
			return err
		}
	}
	for _, o := range present {
		if goes(o) {
			if err := drop(ctx, d.admin, o.Name); err != nil {
				return err
			}
		}
	}
	if whole && text != "" {
		return d.SetNote(ctx, text)
	}
	return nil
}

// Note implements driver.DB.
func (d *database) Note(ctx context.Context) (string, error) {
	rows, err := sqlkit.QueryRows(ctx, d.admin, fmt.Sprintf("SELECT %s FROM %s WHERE time = 0", noteContent, d.path(note)))
	if err != nil || len(rows) == 0 {
		return "", err
	}
	return rows[0][len(rows[0])-1].String(), nil
}

// SetNote implements driver.DB: the row replaces the one with the same time. The flush makes the note
// survive a kill.
func (d *database) SetNote(ctx context.Context, text string) error {
	write := fmt.Sprintf("INSERT INTO %s(time, %s) VALUES (0, %s)", d.path(note), noteContent, sql.SingleQuotes.Wrap(text))
	err := d.run(ctx, d.makeDatabase(), d.makeNote(), write)
	if err == nil {
		err = d.flush(ctx)
	}
	if err != nil {
		return fmt.Errorf("writing the note of %s: %w", d.place(), err)
	}
	return nil
}

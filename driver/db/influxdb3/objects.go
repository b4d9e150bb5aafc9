//go:build !light

package influxdb3

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/httpwire"
	"github.com/tsmark/tsmark/driver/kit/influx"
	"github.com/tsmark/tsmark/driver/kit/lineproto"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/series"
)

// The paths for creating and deleting databases and tables.
const (
	configureDatabase = "/api/v3/configure/database"
	configureTable    = "/api/v3/configure/table"
)

// The columns of the note's table other than content: whether tsmark created the database.
const madeColumn = "made"

// Objects implements driver.DB: the tables. A missing database has no objects.
func (d *database) Objects(ctx context.Context) ([]driver.Object, error) {
	there, err := d.exists(ctx)
	var objects []driver.Object
	if err == nil && there {
		objects, err = d.objects(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("listing the objects in %s: %w", d.location(), err)
	}
	return objects, nil
}

func (d *database) objects(ctx context.Context) ([]driver.Object, error) {
	rows, err := d.own.queryRows(ctx, "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'iox' ORDER BY table_name, ordinal_position")
	if err != nil {
		return nil, err
	}
	var objects []driver.Object
	for _, row := range rows {
		if len(row) != 3 {
			return nil, fmt.Errorf("a list of columns has %d columns; is this InfluxDB 3?", len(row))
		}
		name, column := row[0].String(), row[1].String()
		if len(objects) == 0 || objects[len(objects)-1].Name != name {
			note := name == sqlkit.NoteTable
			objects = append(objects, driver.Object{Kind: sqlkit.KindTable, Name: name, Data: true, Note: note, Columns: []string{}})
		}
		o := &objects[len(objects)-1]
		switch kind := row[2].String(); {
		case o.Note:
			o.Columns = nil
		case strings.HasPrefix(kind, "Dictionary"):
			o.Columns = append(o.Columns, "tag "+column)
		case !strings.HasPrefix(kind, "Timestamp"):
			o.Columns = append(o.Columns, "field "+column)
		}
	}
	return objects, nil
}

// Plan implements driver.DB.
func (d *database) Plan(schema *series.Schema) ([]driver.Object, error) {
	var objects []driver.Object
	for _, t := range schema.Tables {
		columns := []string{"field " + influx.NullField} // for rows without a value
		tags, fields := columnsOf(t)
		for _, tag := range tags {
			columns = append(columns, "tag "+tag)
		}
		for _, f := range fields {
			columns = append(columns, "field "+f.Name)
		}
		objects = append(objects, driver.Object{Kind: sqlkit.KindTable, Name: t.Name, Columns: columns})
	}
	return objects, nil
}

// field is a field in requests of the API.
type field struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// columnsOf returns the tags and the fields of a table.
func columnsOf(t *series.Table) (tags []string, fields []field) {
	tags = []string{}
	for i := range t.Tags {
		if tag := &t.Tags[i]; tag.Numeric() {
			fields = append(fields, field{tag.Key, "float64"})
		} else {
			tags = append(tags, tag.Key)
		}
	}
	names := map[string]string{"boolean": "bool", "integer": "int64", "float": "float64", "string": "utf8"}
	for _, f := range t.Fields {
		fields = append(fields, field{f.Name, names[influx.Types()[f.Type].As]})
	}
	return tags, fields
}

// Create implements driver.DB: it creates the tables with all columns, so that queries find columns
// without values. The database exists, for the note.
func (d *database) Create(ctx context.Context, schema *series.Schema) error {
	for _, t := range schema.Tables {
		tags, fields := columnsOf(t)
		err := d.api.Call(ctx, http.MethodPost, configureTable, nil, map[string]any{"db": d.settings.database, "table": t.Name, "tags": tags, "fields": fields}, nil)
		if err != nil {
			return fmt.Errorf("creating table %s in %s: %w", t.Name, d.location(), err)
		}
	}
	return d.Join(ctx, schema)
}

// Join implements driver.DB.
func (d *database) Join(_ context.Context, schema *series.Schema) error {
	d.Prepare(influx.Lines().New(schema), schema)
	return nil
}

// Grow implements driver.DB.
func (d *database) Grow(schema *series.Schema) error {
	d.Extend(influx.Lines().New(schema), schema)
	return nil
}

// Drop implements driver.DB. If nothing else would be left in a database that tsmark created, it drops
// the database.
func (d *database) Drop(ctx context.Context, objects []driver.Object) error {
	if err := d.drop(ctx, objects); err != nil {
		return fmt.Errorf("clearing %s: %w", d.location(), err)
	}
	return nil
}

func (d *database) drop(ctx context.Context, objects []driver.Object) error {
	present, err := d.Objects(ctx)
	if err != nil {
		return err
	}
	goes := func(o driver.Object) bool {
		return slices.ContainsFunc(objects, func(gone driver.Object) bool { return gone.Name == o.Name })
	}
	left := slices.DeleteFunc(slices.Clone(present), func(o driver.Object) bool { return !o.Note && goes(o) })
	if len(left) == 1 && left[0].Note {
		note, err := d.note(ctx)
		if err != nil {
			return err
		}
		if note.made {
			if err := d.delete(ctx, configureDatabase, url.Values{"db": {d.settings.database}}); err != nil || goes(left[0]) {
				return err
			}
			return d.SetNote(ctx, note.text)
		}
	}
	for _, o := range objects {
		if err := d.delete(ctx, configureTable, url.Values{"db": {d.settings.database}, "table": {o.Name}}); err != nil {
			return err
		}
	}
	return nil
}

// delete deletes an object immediately instead of in some days. A missing object is not an error.
func (d *database) delete(ctx context.Context, path string, what url.Values) error {
	what.Set("hard_delete_at", "now")
	err := d.api.Call(ctx, http.MethodDelete, path, what, nil, nil)
	if errors.Is(err, httpwire.ErrNotFound) {
		return nil
	}
	return err
}

// note is a row of the note's table.
type note struct {
	text string
	made bool  // tsmark created the database
	time int64 // of the row, in nanoseconds
}

// note returns the newest note. InfluxDB does not promise that the later one of two rows with equal
// time wins, so each note has a time of its own.
func (d *database) note(ctx context.Context) (note, error) {
	rows, err := d.own.queryRows(ctx, fmt.Sprintf("SELECT %s, %s, time FROM %s ORDER BY time DESC LIMIT 1", sqlkit.NoteColumn, madeColumn, sqlkit.NoteTable))
	if err != nil || len(rows) == 0 {
		return note{}, err
	}
	if len(rows[0]) != 3 {
		return note{}, fmt.Errorf("table %s is not as tsmark leaves it", sqlkit.NoteTable)
	}
	return note{rows[0][0].String(), rows[0][1].Int != 0, rows[0][2].Int}, nil
}

// Note implements driver.DB.
func (d *database) Note(ctx context.Context) (string, error) {
	n, err := d.note(ctx)
	return n.text, err
}

// SetNote implements driver.DB. It creates the database if it is missing.
func (d *database) SetNote(ctx context.Context, text string) error {
	there, err := d.exists(ctx)
	if err != nil {
		return err
	}
	before := note{made: !there}
	if !there {
		err = d.api.Call(ctx, http.MethodPost, configureDatabase, nil, map[string]string{"db": d.settings.database}, nil)
	} else if objects, listed := d.objects(ctx); listed != nil {
		err = listed
	} else if slices.ContainsFunc(objects, func(o driver.Object) bool { return o.Note }) {
		before, err = d.note(ctx)
	}
	if err != nil {
		return err
	}
	return d.write(ctx, note{text, before.made, max(before.time+1, time.Now().UnixNano())})
}

// write writes a row of the note's table, and returns once it is in the write-ahead log.
func (d *database) write(ctx context.Context, n note) error {
	s := *d.settings
	s.compress = lineproto.Uncompressed
	to, err := s.writes(false).Open(ctx)
	if err != nil {
		return err
	}
	defer to.Close()
	content := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(n.text)
	_, err = to.Send(ctx, [][]byte{fmt.Appendf(nil, `%s %s="%s",%s=%t %d`, sqlkit.NoteTable, sqlkit.NoteColumn, content, madeColumn, n.made, n.time)})
	return err
}

// Settle implements driver.DB. Rows are visible once they are in the write-ahead log, which is written
// in the order of arrival. So once a row of the note's table is acknowledged from the log, all earlier
// rows are visible. A batch that was acknowledged from the log is visible already.
func (d *database) Settle(ctx context.Context) error {
	if !d.settings.noSync {
		return nil
	}
	n, err := d.note(ctx)
	if err == nil && n.time != 0 {
		err = d.write(ctx, n) // writes the note again, unchanged
	}
	if err != nil {
		return fmt.Errorf("settling %s: %w", d.location(), err)
	}
	return nil
}

package influxdb

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/influx"
	"github.com/tsmark/tsmark/driver/kit/poll"
	"github.com/tsmark/tsmark/series"
)

// note is the measurement that holds the note, in the retention policy of the same name, so that no
// other query reads it.
const note = influx.Note

// The kinds of objects in a database, as prefixes of their names.
const (
	measurement = "measurement "
	policy      = "retention policy "
	continuous  = "continuous query "
)

// plain is the retention policy of each new database. It keeps all data.
const plain = "'0s' '168h0m0s' '1' '1'"

// Objects implements driver.DB: continuous queries, retention policies other than the plain one and the
// note's, and measurements. All of them are in the way: a database of tsmark's is dropped as a whole,
// and continuous queries would run on its rows. A missing database has no objects.
func (d *database) Objects(ctx context.Context) ([]driver.Object, error) {
	list := func() (objects []driver.Object, err error) {
		there, err := d.exists(ctx)
		if err == nil && there {
			objects, err = d.objects(ctx)
		}
		return objects, err
	}
	objects, err := list()
	if d.settings.gemini() && beingDropped(err) {
		objects, err = onceDropped(ctx, list)
	}
	if err != nil {
		return nil, fmt.Errorf("listing the objects in %s: %w", d.location(), err)
	}
	return objects, nil
}

func (d *database) objects(ctx context.Context) (objects []driver.Object, err error) {
	show := func(format string, args ...any) (rows []influx.Shown) { // stops at the first error
		if err == nil {
			rows, err = d.table(ctx, fmt.Sprintf(format, args...))
		}
		return rows
	}
	database := influx.Ident(d.settings.database)
	for _, q := range show("SHOW CONTINUOUS QUERIES") {
		if q[influx.SeriesName] == d.settings.database {
			objects = append(objects, driver.Object{Name: continuous + q["name"], InTheWay: true})
		}
	}
	columns := make(map[string][]string) // by measurement: tags, and fields with their types, which are listed by retention policy
	add := func(measurement, column string) {
		if !slices.Contains(columns[measurement], column) {
			columns[measurement] = append(columns[measurement], column)
		}
	}
	for _, row := range show("SHOW TAG KEYS ON %s", database) {
		add(row[influx.SeriesName], "tag "+row["tagKey"])
	}
	for _, p := range show("SHOW RETENTION POLICIES ON %s", database) {
		for _, row := range show("SHOW FIELD KEYS ON %s FROM %s./.*/", database, influx.Ident(p["name"])) {
			add(row[influx.SeriesName], row["fieldType"]+" "+row["fieldKey"])
		}
		usual := 0
		if p["default"] == "true" {
			usual = 1
		}
		does := fmt.Sprintf("'%s' '%s' '%s' '%d'", p["duration"], p["shardGroupDuration"], p["replicaN"], usual)
		if p["name"] != note && (p["name"] != "autogen" || does != plain) {
			objects = append(objects, driver.Object{Name: policy + p["name"], Identity: does, InTheWay: true})
		}
	}
	for _, m := range show("SHOW MEASUREMENTS") {
		name := m["name"]
		objects = append(objects, driver.Object{Name: measurement + name, Columns: columns[name], Data: true, InTheWay: true, Note: name == note})
	}
	return objects, err
}

// Plan implements driver.DB. A measurement has only the columns that were written.
func (d *database) Plan(schema *series.Schema) ([]driver.Object, error) {
	objects := []driver.Object{{Name: policy + "autogen", Identity: plain}}
	switch {
	case d.settings.retention != "":
		objects = append(objects, driver.Object{Name: policy + d.settings.retention})
	case d.settings.shard != "":
		objects[0].Identity = ""
	}
	for _, t := range schema.Tables {
		objects = append(objects, driver.Object{Name: measurement + t.Name, Columns: columnsOf(t)})
	}
	return objects, nil
}

// columnsOf returns the tags of a table's measurement, and its fields with their types.
func columnsOf(t *series.Table) []string {
	kinds := influx.Types()
	columns := []string{kinds[series.Bool].As + " " + influx.NullField} // for rows without a value
	for i := range t.Tags {
		if tag := &t.Tags[i]; tag.Numeric() {
			columns = append(columns, kinds[series.Float].As+" "+tag.Key)
		} else {
			columns = append(columns, "tag "+tag.Key)
		}
	}
	for _, f := range t.Fields {
		columns = append(columns, kinds[f.Type].As+" "+f.Name)
	}
	return columns
}

// Create implements driver.DB: measurements are created by their rows.
func (d *database) Create(ctx context.Context, schema *series.Schema) error {
	s, name, shard := d.settings, influx.Ident(d.settings.database), ""
	if s.shard != "" {
		shard = " SHARD DURATION " + s.shard
	}
	statements := []string{"CREATE DATABASE " + name} // it exists already, for the note
	switch {
	case s.retention != "":
		statements = append(statements, fmt.Sprintf("CREATE RETENTION POLICY %s ON %s DURATION 0s REPLICATION 1%s", influx.Ident(s.retention), name, shard))
	case shard != "":
		statements = append(statements, fmt.Sprintf("ALTER RETENTION POLICY autogen ON %s%s", name, shard))
	}
	if err := d.own.Exec(ctx, statements...); err != nil {
		return fmt.Errorf("creating %s: %w", d.location(), err)
	}
	return d.Join(ctx, schema)
}

// Join implements driver.DB.
func (d *database) Join(_ context.Context, schema *series.Schema) error {
	d.Prepare(d.settings.lines().New(schema), schema)
	return nil
}

// Grow implements driver.DB.
func (d *database) Grow(schema *series.Schema) error {
	d.Extend(d.settings.lines().New(schema), schema)
	return nil
}

// Drop implements driver.DB. If nothing but the note would be left in a database, it drops the database
// and creates it again with the note: otherwise its series file would keep the old series.
func (d *database) Drop(ctx context.Context, objects []driver.Object) error {
	err := d.dropAll(ctx, objects)
	if err != nil {
		return fmt.Errorf("clearing %s: %w", d.location(), err)
	}
	return nil
}

func (d *database) dropAll(ctx context.Context, objects []driver.Object) error {
	present, err := d.Objects(ctx)
	if err != nil {
		return err
	}
	stays := slices.DeleteFunc(present, func(o driver.Object) bool {
		return !o.Note && slices.ContainsFunc(objects, func(gone driver.Object) bool { return gone.Name == o.Name })
	})
	if len(stays) == 1 && stays[0].Note {
		text, goes := "", slices.ContainsFunc(objects, func(gone driver.Object) bool { return gone.Name == stays[0].Name })
		if !goes {
			text, err = d.Note(ctx)
		}
		if err == nil {
			err = d.dropDatabase(ctx)
		}
		if err == nil && text != "" {
			err = d.SetNote(ctx, text)
		}
		return err
	}
	for _, o := range objects {
		if err := d.drop(ctx, o.Name); err != nil {
			return err
		}
	}
	if d.settings.gemini() {
		return d.awaitRemoval(ctx, objects)
	}
	return nil
}

// dropDatabase drops the database, and returns when it no longer exists.
func (d *database) dropDatabase(ctx context.Context) error {
	err := d.own.Exec(ctx, "DROP DATABASE "+influx.Ident(d.settings.database))
	if err == nil && d.settings.gemini() {
		err = d.awaitDrop(ctx)
	}
	return err
}

func (d *database) drop(ctx context.Context, object string) error {
	if name, ok := strings.CutPrefix(object, measurement); ok {
		return d.own.Exec(ctx, "DROP MEASUREMENT "+influx.Ident(name))
	}
	on := " ON " + influx.Ident(d.settings.database)
	if name, ok := strings.CutPrefix(object, policy); ok {
		return d.own.Exec(ctx, "DROP RETENTION POLICY "+influx.Ident(name)+on)
	}
	return d.own.Exec(ctx, "DROP CONTINUOUS QUERY "+influx.Ident(strings.TrimPrefix(object, continuous))+on)
}

// Note implements driver.DB.
func (d *database) Note(ctx context.Context) (string, error) {
	if d.settings.gemini() {
		return d.geminiNote(ctx)
	}
	return d.readNote(ctx)
}

func (d *database) readNote(ctx context.Context) (string, error) {
	rows, err := d.own.Query(ctx, fmt.Sprintf("SELECT content FROM %s.%[1]s", note))
	if missing(err) {
		return "", nil
	}
	if err == nil && len(rows) > 1 {
		err = fmt.Errorf("it has %d points", len(rows))
	}
	if err != nil || len(rows) == 0 {
		return "", err
	}
	return rows[0][1].String(), nil
}

// SetNote implements driver.DB. It overwrites the point of the previous note.
func (d *database) SetNote(ctx context.Context, text string) error {
	name := influx.Ident(d.settings.database)
	err := d.own.Exec(ctx, "CREATE DATABASE "+name, fmt.Sprintf("CREATE RETENTION POLICY %s ON %s DURATION 0s REPLICATION 1", note, name))
	if err != nil {
		return err
	}
	to, err := d.settings.writes(note).Open(ctx)
	if err != nil {
		return err
	}
	defer to.Close()
	_, err = to.Send(ctx, [][]byte{[]byte(note + ` content="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `" 0`)})
	if err != nil || !d.settings.gemini() {
		return err
	}
	return poll.Wait(ctx, geminiLook, geminiLook, func() (bool, error) {
		stored, err := d.Note(ctx)
		return stored == text, err
	})
}

// Inspect implements driver.DB.
func (d *database) Inspect(ctx context.Context) error {
	if _, err := d.own.Query(ctx, "SHOW USERS"); err != nil { // needs the same privileges as a load
		return fmt.Errorf("looking at %s: a load needs a user with all privileges: %w", d.location(), err)
	}
	return nil
}

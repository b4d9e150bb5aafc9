package griddb

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/griddb/client"
	"github.com/tsmark/tsmark/driver/kit/connection"
	"github.com/tsmark/tsmark/series"
)

// Names of containers and of their columns.
const (
	noteContainer  = "tsmark_mark"
	registrySuffix = "_series"
	timeColumn     = "time"
	seriesColumn   = "series"

	// The registry's own columns, which stand before the tags and are called as none is.
	keyColumn       = "_key"       // the first tag, or nothing
	numberColumn    = "_series"    // of the series
	containerColumn = "_container" // where its rows are
	idColumn        = "_id"        // the container's number; -1: it was not made yet
)

// tagColumns is where tags begin in a registry.
const tagColumns = 4

// The limits of containers with blocks of 64 KiB, as servers are shipped.
const (
	maxColumns = 1024
	maxString  = 31 << 10 // bytes of a STRING
)

// layout says where rows are and what containers look like.
type layout struct {
	options   driver.Options
	precision precision
	table     bool // one container for a table
}

func newLayout(o driver.Options) *layout {
	return &layout{options: o, precision: precisions[o[optionPrecision]], table: o[optionLayout] == layoutTable}
}

// clean is a name as containers and columns can have it: other characters become their
// numbers.
func clean(name string) string {
	if client.CheckName(name) == nil {
		return name
	}
	var b strings.Builder
	for _, c := range name {
		if client.NameCharacter(c) {
			b.WriteRune(c)
		} else {
			fmt.Fprintf(&b, "_%x", c)
		}
	}
	return b.String()
}

func registryName(t *series.Table) string { return clean(t.Name) + registrySuffix }

// containerName is the name of a series' container.
func (l *layout) containerName(t *series.Table, of uint32) string {
	if l.table {
		return clean(t.Name)
	}
	return clean(t.Name) + "_" + strconv.FormatUint(uint64(of), 10)
}

// columnType is the type of a column for values of a type.
func columnType(t series.Type) client.Type {
	switch t {
	case series.Bool:
		return client.Bool
	case series.Int32, series.Date:
		return client.Integer
	case series.Float32:
		return client.Float
	case series.Float:
		return client.Double
	case series.Text:
		return client.String
	case series.Blob:
		return client.Blob
	}
	return client.Long
}

// rows returns the container for a table's rows.
func (l *layout) rows(t *series.Table, name string) client.Container {
	c := client.Container{Name: name, Type: client.TimeSeries, Keys: 1}
	if l.table {
		c.Type, c.Keys = client.Collection, 2
		c.Columns = append(c.Columns, client.Column{Name: seriesColumn, Type: client.Integer, NotNull: true})
	}
	c.Columns = append(c.Columns, client.Column{Name: timeColumn, Type: l.precision.kind, NotNull: true})
	for _, f := range t.Fields {
		c.Columns = append(c.Columns, client.Column{Name: clean(f.Name), Type: columnType(f.Type)})
	}
	return c
}

// registry is the container that says where a table's series are. A series is found by
// its first tag without reading all.
func (l *layout) registry(t *series.Table) client.Container {
	c := client.Container{Name: registryName(t), Keys: 2, Columns: []client.Column{
		{Name: keyColumn, Type: client.String, NotNull: true}, {Name: numberColumn, Type: client.Integer, NotNull: true},
		{Name: containerColumn, Type: client.String}, {Name: idColumn, Type: client.Long},
	}}
	for i := range t.Tags {
		kind := client.String
		if t.Tags[i].Numeric() {
			kind = client.Double
		}
		c.Columns = append(c.Columns, client.Column{Name: clean(t.Tags[i].Key), Type: kind})
	}
	return c
}

// note is the container of the note.
func note() client.Container {
	return client.Container{Name: noteContainer, Keys: 1, Columns: []client.Column{
		{Name: "id", Type: client.Integer, NotNull: true}, {Name: "content", Type: client.Blob},
	}}
}

// check returns an error for the parts of a schema that GridDB cannot store.
func check(o driver.Options, s *series.Schema) error {
	switch {
	case o[optionLanguage] == languageSQL && o[optionLayout] != layoutTable:
		return fmt.Errorf("%s=%s: SQL has no name for the containers of many series but a UNION ALL of them all; give %s=%s as well, or leave it out", optionLanguage, languageSQL, optionLayout, layoutTable)
	case o[optionLayout] == layoutSeries && o[optionPrecision] != "ms":
		return fmt.Errorf("%s=%s: GridDB takes no TIMESTAMP(6) or (9) as the row key of a TIME_SERIES; leave it out, or give %s=%s", optionPrecision, o[optionPrecision], optionLayout, layoutTable)
	case client.CheckName(o[connection.Database]) != nil:
		return fmt.Errorf("no database can be called %q: give letters and digits of ASCII by the option %s", o[connection.Database], connection.Database)
	}
	if _, err := members(o); err != nil {
		return err
	}
	l := newLayout(o)
	taken := map[string]string{noteContainer: "that of tsmark's note"}
	for _, t := range s.Tables {
		if t.Name == "" || !utf8.ValidString(t.Name) {
			return fmt.Errorf("a table is called %q, which GridDB cannot have: rename it", t.Name)
		}
		names := []string{registryName(t)}
		if own := clean(t.Name); l.table || strings.EqualFold(own, noteContainer) { // nobody should take one for the other
			names = append(names, own)
		}
		for _, name := range names {
			key := strings.ToLower(name)
			switch {
			case len(name) > client.MaxName-16:
				return fmt.Errorf("table %q has a name of %d characters, too long for GridDB's containers: rename it", t.Name, len(name))
			case taken[key] != "":
				return fmt.Errorf("table %s would have the container %s, as has %s: rename it", t.Name, name, taken[key])
			}
			taken[key] = "table " + t.Name
		}
		if err := checkColumns(l, t); err != nil {
			return err
		}
	}
	return nil
}

// checkColumns returns an error for a table's columns that GridDB cannot store.
func checkColumns(l *layout, t *series.Table) error {
	for i := range t.Fields {
		if f := &t.Fields[i]; f.Free() && f.Room() > maxString {
			return fmt.Errorf("field %s of table %s has texts of up to %d bytes, and a STRING of GridDB's with its blocks of 64 KiB holds %d; leave the field out, or choose another target", f.Name, t.Name, f.Room(), maxString)
		}
	}
	for _, c := range []client.Container{l.rows(t, t.Name), l.registry(t)} {
		if len(c.Columns) > maxColumns {
			return fmt.Errorf("table %s needs a container of %d columns, and GridDB's have %d at most: leave fields out, or measure another database", t.Name, len(c.Columns), maxColumns)
		}
		seen := map[string]bool{}
		for _, column := range c.Columns {
			key := strings.ToLower(column.Name)
			switch {
			case column.Name == "" || len(column.Name) > client.MaxName:
				return fmt.Errorf("table %s has a tag or field called %q, which GridDB cannot have: rename it", t.Name, column.Name)
			case seen[key]:
				return fmt.Errorf("two columns of container %s would be called %s, since GridDB does not tell upper from lower case: rename a tag or field of table %s", c.Name, column.Name, t.Name)
			}
			seen[key] = true
		}
	}
	return nil
}

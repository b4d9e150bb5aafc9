package sqlkit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// Layout is the tables for a schema, and the series that already have their row of tags. All writers
// share it.
type Layout struct {
	Schema  *series.Schema
	Tags    map[*series.Table]*Tags // for each table of the schema; nil if tables are wide
	Tables  []Table
	Objects []driver.Object // the tables and their named indexes
}

// Table is a table that tsmark creates in the database. Names are unquoted.
type Table struct {
	Name string
	Rows bool   // of rows, not of series
	By   string // column by which its rows are found: the number of the series, or the first tag; empty: none
	// Fields are the fields of a table of rows.
	Fields []series.Field
	// Make lists the statements that create the table and its indexes. Indexes lists the names of
	// indexes that could collide with other objects.
	Make    []string
	Indexes []string
}

// Design is how a database declares the tables of a schema.
type Design struct {
	Dialect *sql.Dialect
	// The definitions that follow the names of columns.
	Time   string // of a row: TIMESTAMP NOT NULL
	Series string // the number of a row's series: INTEGER NOT NULL
	Key    string // the same in a table of series: INTEGER PRIMARY KEY
	Text   string // type of a tag
	Number string // type of a numeric tag
	Fields map[series.Type]driver.Stored

	MaxName    int    // bytes of a name; 0: any number
	MaxColumns int    // of a table; 0: any number
	Instead    string // the option that reduces the number of columns and names; empty: none

	// Make sets the statements that create a table with the declared columns.
	Make func(t *Table, columns []string)
}

// The kinds of objects that tsmark makes.
const (
	KindTable = "table"
	KindIndex = "index"
)

// Layout returns the layout of a schema. Its error names the part that does not fit, or the name that
// two tables or columns would share.
func (d *Design) Layout(s *series.Schema) (*Layout, error) {
	l := &Layout{Schema: s}
	if !d.Dialect.Wide {
		l.Tags = TagsOf(s)
	}
	for _, t := range s.Tables {
		by := sql.TagsIDColumn
		if d.Dialect.Wide {
			by = firstTag(t.Tags)
		}
		if err := d.add(l, Table{Name: t.Name, Rows: true, By: by, Fields: t.Fields}, d.ofRows(t)); err != nil {
			return nil, err
		}
		if tags := l.Tags[t]; tags != nil && tags.Of == t {
			columns := d.tags([]column{{sql.IDColumn, d.Key}}, t.Tags)
			if err := d.add(l, Table{Name: tags.Name, By: firstTag(t.Tags)}, columns); err != nil {
				return nil, err
			}
		}
	}
	return l, Distinct(l.Objects)
}

// Check is the Schema of driver.Caps: it returns the error of Layout.
func (d *Design) Check(s *series.Schema) error {
	_, err := d.Layout(s)
	return err
}

func firstTag(tags []series.Tag) string {
	if len(tags) == 0 {
		return ""
	}
	return tags[0].Key
}

// column is a column of a table: its name and its definition.
type column struct{ name, kind string }

// ofRows returns the columns of a table of rows.
func (d *Design) ofRows(t *series.Table) []column {
	list := []column{{cmp.Or(d.Dialect.TimeName, sql.TimeColumn), d.Time}}
	if d.Dialect.Wide {
		list = d.tags(list, t.Tags)
	} else {
		list = append(list, column{sql.TagsIDColumn, d.Series})
	}
	if !d.Dialect.Narrow {
		for i := range t.Fields {
			list = append(list, column{t.Fields[i].Name, d.fieldType(&t.Fields[i])})
		}
		return list
	}
	list = append(list, column{sql.FieldColumn, d.Text + " NOT NULL"})
	for _, name := range d.Dialect.NarrowColumns(t) {
		i := slices.IndexFunc(t.Fields, func(f series.Field) bool { return d.Dialect.NarrowColumn(f.Type) == name })
		list = append(list, column{name, d.Fields[t.Fields[i].Type].As})
	}
	return list
}

// fieldType returns the type of a column of a field's own.
func (d *Design) fieldType(f *series.Field) string {
	return cmp.Or(d.Dialect.DecimalType(f), d.Fields[f.Type].As)
}

func (d *Design) tags(list []column, tags []series.Tag) []column {
	for i := range tags {
		kind := d.Text
		if tags[i].Numeric() {
			kind = d.Number
		}
		list = append(list, column{tags[i].Key, kind})
	}
	return list
}

// add adds a table.
func (d *Design) add(l *Layout, t Table, columns []column) error {
	instead := ""
	if d.Instead != "" {
		instead = ", or choose " + d.Instead
	}
	if d.MaxColumns > 0 && len(columns) > d.MaxColumns {
		return fmt.Errorf("table %s would have %d columns, and %s takes %d; give it fewer tags and fields%s", t.Name, len(columns), d.Dialect.Name, d.MaxColumns, instead)
	}
	if d.MaxName > 0 && len(t.Name) > d.MaxName {
		return fmt.Errorf("table %s: %s cuts names at %d bytes; shorten it", t.Name, d.Dialect.Name, d.MaxName)
	}
	declared, taken := make([]string, len(columns)), make(map[string]bool, len(columns))
	for i, c := range columns {
		if d.MaxName > 0 && len(c.name) > d.MaxName {
			return fmt.Errorf("column %s of table %s: %s cuts names at %d bytes; shorten it", c.name, t.Name, d.Dialect.Name, d.MaxName)
		}
		if taken[d.key(c.name)] {
			return fmt.Errorf("two columns of table %s would be called %s; rename a tag or field%s", t.Name, c.name, instead)
		}
		taken[d.key(c.name)] = true
		declared[i] = d.Dialect.Ident(c.name) + " " + c.kind
	}
	d.Make(&t, declared)
	l.Tables = append(l.Tables, t)
	l.Objects = append(l.Objects, driver.Object{Kind: KindTable, Name: t.Name, Key: d.key(t.Name)})
	for _, name := range t.Indexes {
		l.Objects = append(l.Objects, driver.Object{Kind: KindIndex, Name: name, Key: d.key(name), Of: t.Name})
	}
	return nil
}

// key is equal for names that cannot coexist.
func (d *Design) key(name string) string {
	if d.Dialect.Folds {
		return strings.ToLower(name)
	}
	return name
}

// Distinct returns an error that names a name shared by two of the objects, or by one and the note's
// table.
func Distinct(objects []driver.Object) error {
	for i, o := range objects {
		clashes := func(other driver.Object) bool { return o.Clashes(other) }
		if clashes(driver.Object{Name: NoteTable}) || slices.ContainsFunc(objects[:i], clashes) {
			return fmt.Errorf("two tables or indexes would be called %s: rename a table of the workload", o.Name)
		}
	}
	return nil
}

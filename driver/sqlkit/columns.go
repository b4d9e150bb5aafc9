package sqlkit

import (
	"cmp"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// Columns is how a database declares the columns of tables: what stands behind
// their names.
type Columns struct {
	Dialect *sql.Dialect
	Time    string // of a row: TIMESTAMP NOT NULL
	Series  string // the number of a row's series: INTEGER NOT NULL
	Key     string // the same in a table of series: INTEGER PRIMARY KEY
	Text    string // of a tag
	Number  string // of a tag whose values are numbers
	Fields  map[series.Type]driver.Stored
}

// OfRows returns the declarations of a table of rows: the time, the series or,
// where tables are wide, the tags, and the fields.
func (c *Columns) OfRows(t *series.Table) []string {
	list := []string{c.declare(cmp.Or(c.Dialect.TimeName, sql.TimeColumn), c.Time)}
	if c.Dialect.Wide {
		list = c.tags(list, t.Tags)
	} else {
		list = append(list, c.declare(sql.TagsIDColumn, c.Series))
	}
	for i := range t.Fields {
		list = append(list, c.declare(t.Fields[i].Name, c.Fields[t.Fields[i].Type].As))
	}
	return list
}

// OfSeries returns the declarations of a table of series: their numbers and tags.
func (c *Columns) OfSeries(t *Tags) []string {
	return c.tags([]string{c.declare(sql.IDColumn, c.Key)}, t.Tags)
}

func (c *Columns) tags(list []string, tags []series.Tag) []string {
	for i := range tags {
		kind := c.Text
		if tags[i].Numeric() {
			kind = c.Number
		}
		list = append(list, c.declare(tags[i].Key, kind))
	}
	return list
}

func (c *Columns) declare(name, kind string) string { return c.Dialect.Ident(name) + " " + kind }

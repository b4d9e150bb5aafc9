package sqlite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/sqlkit"
	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// rowColumn numbers the rows of a clustered table in the order of their
// arrival, since a series may have several rows at one time.
const rowColumn = "tsmark_row"

// maxColumns is SQLite's limit of a table.
const maxColumns = 2000

// layout is the tables that a schema becomes, and which series have their
// row of tags. All writers share it.
type layout struct {
	schema  *series.Schema
	tags    map[*series.Table]*sqlkit.Tags // of each table of the schema
	objects []driver.Object                // all tables and indexes made
	ddl     []string                       // the statements that make them

	token string // stands in the statements, by which SQLite describes its tables

	clustered bool
	arrived   int64 // rows of clustered tables; guarded by database.writing
}

// newLayout lays a schema out, with the indexes that the option names. Its
// error names what two tables or indexes would share.
func newLayout(s *series.Schema, index string) (*layout, error) {
	l := &layout{schema: s, tags: sqlkit.TagsOf(s), clustered: index == indexClustered, token: driver.Token()}
	declared := sqlkit.Columns{
		Dialect: newDialect(), Time: "INTEGER NOT NULL", Series: "INTEGER NOT NULL", Key: "INTEGER PRIMARY KEY",
		Text: "TEXT", Number: "REAL", Fields: types(),
	}
	for _, t := range s.Tables {
		columns := declared.OfRows(t)
		if l.clustered {
			columns = slices.Insert(columns, 2, rowColumn+" INTEGER NOT NULL")
		}
		if len(columns) > maxColumns || len(t.Tags) >= maxColumns {
			return nil, fmt.Errorf("table %s would have more than the %d columns that SQLite takes; give it fewer fields and tags", t.Name, maxColumns)
		}
		if l.clustered {
			key := strings.Join([]string{sql.TagsIDColumn, sql.TimeColumn, rowColumn}, ", ")
			l.table(t.Name, append(columns, "PRIMARY KEY ("+key+")"), " WITHOUT ROWID")
		} else {
			l.table(t.Name, columns, "")
		}
		if index == indexTagsTime || index == indexBoth {
			l.index(t.Name, sql.TagsIDColumn, sql.TimeColumn)
		}
		if index == indexTime || index == indexBoth {
			l.index(t.Name, sql.TimeColumn)
		}
		if tags := l.tags[t]; tags.Of == t {
			l.table(tags.Name, declared.OfSeries(tags), "")
			if len(t.Tags) > 0 && index != indexNone {
				l.index(tags.Name, t.Tags[0].Key) // by which series are found
			}
		}
	}
	return l, sqlkit.Distinct(l.objects)
}

// table adds a table.
func (l *layout) table(name string, columns []string, kind string) {
	l.objects = append(l.objects, object(kindTable, name))
	l.ddl = append(l.ddl, fmt.Sprintf("CREATE TABLE %s (/* %s */ %s)%s", quoted(name), l.token, strings.Join(columns, ", "), kind))
}

// index adds an index, which goes with its table.
func (l *layout) index(table string, columns ...string) {
	name := table + "_by_" + strings.Join(columns, "_")
	o := object(kindIndex, name)
	o.Of = table
	l.objects = append(l.objects, o)
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = quoted(c)
	}
	l.ddl = append(l.ddl, fmt.Sprintf("CREATE INDEX %s ON %s (%s)", quoted(name), quoted(table), strings.Join(list, ", ")))
}

// quoted returns a name as it stands in SQL.
func quoted(name string) string { return newDialect().Ident(name) }

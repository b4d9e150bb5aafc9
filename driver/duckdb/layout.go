package duckdb

import (
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/sqlkit"
	"github.com/tsmark/tsmark/series"
)

// layout is the tables that a schema becomes, and which series have their
// row of tags. All writers share it.
type layout struct {
	schema  *series.Schema
	tags    map[*series.Table]*sqlkit.Tags // of each table of the schema
	objects []driver.Object                // all tables made
	ddl     []string                       // the statements that make them
}

const kindTable = "table"

func object(kind, name string) driver.Object {
	return driver.Object{Kind: kind, Name: name, Key: strings.ToLower(name)}
}

// checkSchema returns an error that names what two tables would share.
func checkSchema(s *series.Schema) error {
	_, err := newLayout(s)
	return err
}

// newLayout lays a schema out. Its error names what two tables would share.
func newLayout(s *series.Schema) (*layout, error) {
	l := &layout{schema: s, tags: sqlkit.TagsOf(s)}
	columns := sqlkit.Columns{
		Dialect: newDialect(), Time: "TIMESTAMP NOT NULL", Series: "UINTEGER NOT NULL", Key: "UINTEGER NOT NULL",
		Text: "VARCHAR", Number: "DOUBLE", Fields: types(),
	}
	add := func(name string, columns []string) {
		l.objects = append(l.objects, object(kindTable, name))
		l.ddl = append(l.ddl, fmt.Sprintf("CREATE TABLE %s (%s)", newDialect().Ident(name), strings.Join(columns, ", ")))
	}
	for _, t := range s.Tables {
		add(t.Name, columns.OfRows(t))
		if tags := l.tags[t]; tags.Of == t {
			add(tags.Name, columns.OfSeries(tags))
		}
	}
	return l, sqlkit.Distinct(l.objects)
}

//go:build cgo && (linux || darwin) && (amd64 || arm64)

package duckdb

import (
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/sqlkit"
	"github.com/tsmark/tsmark/query/sql"
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

// newLayout lays a schema out. Its error names what two tables would share.
func newLayout(s *series.Schema) (*layout, error) {
	l := &layout{schema: s, tags: sqlkit.TagsOf(s)}
	dialect, kinds := newDialect(), types()
	add := func(name string, columns []string) {
		l.objects = append(l.objects, object(kindTable, name))
		l.ddl = append(l.ddl, fmt.Sprintf("CREATE TABLE %s (%s)", dialect.Ident(name), strings.Join(columns, ", ")))
	}
	made := make(map[*sqlkit.Tags]bool)
	for _, t := range s.Tables {
		columns := []string{dialect.Ident(sql.TimeColumn) + " TIMESTAMP NOT NULL", dialect.Ident(sql.TagsIDColumn) + " UINTEGER NOT NULL"}
		for _, f := range t.Fields {
			columns = append(columns, dialect.Ident(f.Name)+" "+kinds[f.Type].As)
		}
		add(t.Name, columns)
		if tags := l.tags[t]; !made[tags] {
			made[tags] = true
			columns := []string{dialect.Ident(sql.IDColumn) + " UINTEGER NOT NULL"}
			for _, tag := range t.Tags {
				kind := " VARCHAR"
				if tag.Numeric() {
					kind = " DOUBLE"
				}
				columns = append(columns, dialect.Ident(tag.Key)+kind)
			}
			add(tags.Name, columns)
		}
	}
	return l, sqlkit.Distinct(l.objects)
}

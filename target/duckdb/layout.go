//go:build cgo && (linux || darwin) && (amd64 || arm64)

package duckdb

import (
	"fmt"
	"strings"
	"sync"

	"github.com/tsmark/tsmark/query/sql"
	"github.com/tsmark/tsmark/series"
)

// markTable holds the mark. Its name is tsmark's own in every database.
const markTable = "tsmark_mark"

// layout is the tables that a schema becomes, and which series have their
// row of tags. All writers share it.
type layout struct {
	schema *series.Schema
	tags   map[*series.Table]*tagsTable // of each table of the schema
	names  []string                     // of all tables made, unquoted
	ddl    []string                     // the statements that make them
}

// tagsTable is a table of series.
type tagsTable struct {
	name string // unquoted
	tags []series.Tag

	mu      sync.Mutex
	claimed series.Bitmap // series whose row a writer has written or is writing
}

// newLayout lays a schema out. Its error names what two tables would share.
func newLayout(s *series.Schema) (*layout, error) {
	l := &layout{schema: s, tags: make(map[*series.Table]*tagsTable)}
	dialect := newDialect()
	made := map[string]bool{markTable: true}
	add := func(name string, columns []string) error {
		key := strings.ToLower(name) // DuckDB's names differ by more than case
		if made[key] {
			return fmt.Errorf("two tables would be called %s: rename a table of the workload", name)
		}
		made[key] = true
		l.names = append(l.names, name)
		l.ddl = append(l.ddl, fmt.Sprintf("CREATE TABLE %s (%s)", dialect.Ident(name), strings.Join(columns, ", ")))
		return nil
	}
	byName := make(map[string]*tagsTable)
	for _, t := range s.Tables {
		columns := []string{dialect.Ident(sql.TimeColumn) + " TIMESTAMP NOT NULL", dialect.Ident(sql.TagsIDColumn) + " UINTEGER NOT NULL"}
		for _, f := range t.Fields {
			kind := "BIGINT"
			switch f.Type {
			case series.Int:
			case series.Float:
				kind = "DOUBLE"
			default:
				return nil, fmt.Errorf("field %s of table %s is of type %v; DuckDB is given int and float fields only", f.Name, t.Name, f.Type)
			}
			columns = append(columns, dialect.Ident(f.Name)+" "+kind)
		}
		if err := add(t.Name, columns); err != nil {
			return nil, err
		}
		name := sql.TagsTable(s, t)
		if byName[name] == nil {
			columns := []string{dialect.Ident(sql.IDColumn) + " UINTEGER NOT NULL"}
			for _, tag := range t.Tags {
				kind := " VARCHAR"
				if tag.Numeric() {
					kind = " DOUBLE"
				}
				columns = append(columns, dialect.Ident(tag.Key)+kind)
			}
			if err := add(name, columns); err != nil {
				return nil, err
			}
			byName[name] = &tagsTable{name: name, tags: t.Tags, claimed: make(series.Bitmap, words(s.Series))}
		}
		l.tags[t] = byName[name]
	}
	return l, nil
}

// words returns the length of a bitmap of n series.
func words(n uint32) int { return (int(n) + 63) / 64 }

// claim reports whether the caller is to write the row of the series: true
// once a series.
func (t *tagsTable) claim(s uint32) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.claimed.Has(int(s)) {
		return false
	}
	t.claimed.Set(int(s))
	return true
}

// release takes back the claims of rows that could not be written.
func (t *tagsTable) release(claims []uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range claims {
		t.claimed[s>>6] &^= 1 << (s & 63)
	}
}

package questdb

import (
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/series"
)

// check returns an error for a schema that QuestDB cannot store: names that collide there, and tables
// without the tag in the options.
func (s tableSettings) check(schema *series.Schema) error {
	for _, t := range schema.Tables {
		taken := map[string]bool{timeColumn: true}
		for _, name := range t.ColumnNames() {
			name = columnName(name)
			if key := strings.ToLower(name); taken[key] {
				return fmt.Errorf("two columns of table %s would be called %s: rename a tag or field of the workload", t.Name, name)
			} else {
				taken[key] = true
			}
		}
		if s.dedup != dedupOff && s.dedup != dedupAllTags && t.Tag(s.dedup) == nil {
			return fmt.Errorf("option %s=%s: table %s has no such tag; name one that all tables have, or give %[1]s=%[4]s", optionDedup, s.dedup, t.Name, dedupAllTags)
		}
	}
	return sqlkit.Distinct(plannedTables(schema))
}

// ddl returns the statement that creates a table.
func (s tableSettings) ddl(t *series.Table) string {
	kinds := types()
	columns, keys := []string{timeColumn + " TIMESTAMP"}, []string{timeColumn}
	for _, tag := range t.Tags {
		name, kind := quoteIdent(columnName(tag.Key)), "SYMBOL"
		switch {
		case tag.Numeric():
			kind = "DOUBLE"
		case s.index:
			kind += " INDEX"
		}
		columns = append(columns, name+" "+kind)
		if s.dedup == dedupAllTags || s.dedup == tag.Key {
			keys = append(keys, name)
		}
	}
	for _, f := range t.Fields {
		kind := kinds[f.Type].As
		if f.Type == series.Bool && nullable(t) {
			kind = nullableBool
		}
		columns = append(columns, quoteIdent(columnName(f.Name))+" "+kind)
	}
	text := fmt.Sprintf("CREATE TABLE %s (%s) TIMESTAMP(%s) PARTITION BY %s", quoteIdent(tableName(t.Name)), strings.Join(columns, ", "), timeColumn, s.partitionBy)
	if s.wal {
		text += " WAL"
	} else {
		text += " BYPASS WAL"
	}
	if s.dedup != dedupOff { // a row replaces an earlier one with equal keys
		text += fmt.Sprintf(" DEDUP UPSERT KEYS(%s)", strings.Join(keys, ", "))
	}
	return text
}

// lines is line protocol for QuestDB.
func lines() encode.LineProtocol {
	return encode.LineProtocol{
		Escape: " ,=\\\n\r",
		Table:  tableName,
		Column: columnName,
		// A line must have a tag or a value: these are QuestDB's NULLs.
		Null: func(t series.Type) string {
			switch t {
			case series.Int, series.Int32:
				return "-9223372036854775808i"
			case series.Float, series.Float32:
				return "NaN"
			}
			return ""
		},
		EscapeText: "\n\r",
		Times:      true,
		Singles:    true,
		WholeBools: nullable,
	}
}

// quoteIdent returns a name as an identifier of SQL.
func quoteIdent(name string) string { return newDialect().Ident(name) }

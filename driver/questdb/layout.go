package questdb

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/sqlkit"
	"github.com/tsmark/tsmark/encode"
	"github.com/tsmark/tsmark/series"
)

// layout returns the tables that a schema becomes, and the statements that make
// them. Its error names what tables or columns would share.
func (s *tableSettings) layout(schema *series.Schema) (objects []driver.Object, ddl []string, err error) {
	for _, t := range schema.Tables {
		name := tableName(t.Name)
		columns, err := columnsOf(t, s.symbolCapacity)
		if err != nil {
			return nil, nil, err
		}
		keys, err := s.upsertKeys(t)
		if err != nil {
			return nil, nil, err
		}
		statement := fmt.Sprintf("CREATE TABLE %s (%s) TIMESTAMP(%s) PARTITION BY %s", quoted(name), strings.Join(columns, ", "), timeColumn, s.partitionBy)
		if s.wal {
			statement += " WAL"
		} else {
			statement += " BYPASS WAL"
		}
		if len(keys) > 0 {
			statement += fmt.Sprintf(" DEDUP UPSERT KEYS(%s)", strings.Join(keys, ", "))
		}
		objects, ddl = append(objects, object(kindTable, name)), append(ddl, statement)
	}
	return objects, ddl, sqlkit.Distinct(objects)
}

// lines is line protocol as QuestDB reads it.
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
		Times:      true,
		Singles:    true,
		WholeBools: nullable,
	}
}

// columnsOf returns the columns of a table as they are declared.
func columnsOf(t *series.Table, symbolCapacity int) ([]string, error) {
	kinds := types()
	columns, taken := []string{timeColumn + " TIMESTAMP"}, map[string]bool{timeColumn: true}
	add := func(name, kind string) error {
		name = columnName(name)
		if key := strings.ToLower(name); taken[key] {
			return fmt.Errorf("two columns of table %s would be called %s: rename a tag or field of the workload", t.Name, name)
		} else {
			taken[key] = true
		}
		columns = append(columns, quoted(name)+" "+kind)
		return nil
	}
	symbol := "SYMBOL"
	if symbolCapacity > 0 {
		symbol += fmt.Sprintf(" CAPACITY %d", symbolCapacity)
	}
	for _, tag := range t.Tags {
		kind := symbol
		if tag.Numeric() {
			kind = "DOUBLE"
		}
		if err := add(tag.Key, kind); err != nil {
			return nil, err
		}
	}
	for _, f := range t.Fields {
		kind := kinds[f.Type].As
		if f.Type == series.Bool && nullable(t) {
			kind = nullableBool
		}
		if err := add(f.Name, kind); err != nil {
			return nil, err
		}
	}
	return columns, nil
}

// upsertKeys returns the columns by which a row replaces an earlier one; none:
// it does not.
func (s *tableSettings) upsertKeys(t *series.Table) ([]string, error) {
	keys := []string{timeColumn}
	switch s.dedup {
	case dedupOff:
		return nil, nil
	case dedupAllTags:
		for _, tag := range t.Tags {
			keys = append(keys, quoted(columnName(tag.Key)))
		}
		return keys, nil
	}
	if !slices.ContainsFunc(t.Tags, func(tag series.Tag) bool { return tag.Key == s.dedup }) {
		return nil, fmt.Errorf("option %s=%s: table %s has no such tag; name one that all tables have, or give %[1]s=%[4]s", optionDedup, s.dedup, t.Name, dedupAllTags)
	}
	return append(keys, quoted(columnName(s.dedup))), nil
}

// quoted returns a name as it stands in SQL.
func quoted(name string) string { return newDialect().Ident(name) }

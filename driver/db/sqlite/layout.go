package sqlite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query/sql"
)

// rowColumn numbers the rows of a clustered table in the order of arrival, since a series may have
// several rows of equal time.
const rowColumn = "tsmark_row"

// design is how tables are declared, with the indexes that the option names.
func design(index string) *sqlkit.Design {
	clustered := index == indexClustered
	d := &sqlkit.Design{
		Dialect: newDialect(), Time: "INTEGER NOT NULL", Series: "INTEGER NOT NULL", Key: "INTEGER PRIMARY KEY",
		Text: "TEXT", Number: "REAL", Fields: types(), MaxColumns: 2000,
	}
	if clustered {
		d.MaxColumns--
	}
	d.Make = func(t *sqlkit.Table, columns []string) {
		kind := ""
		if t.Rows && clustered {
			kind = " WITHOUT ROWID"
			columns = slices.Insert(columns, 2, rowColumn+" INTEGER NOT NULL")
			columns = append(columns, fmt.Sprintf("PRIMARY KEY (%s, %s, %s)", sql.TagsIDColumn, sql.TimeColumn, rowColumn))
		}
		// The token is the table's identity: SQLite keeps the statements.
		t.Make = []string{fmt.Sprintf("CREATE TABLE %s (/* %s */ %s)%s", quoteIdent(t.Name), driver.Token(), strings.Join(columns, ", "), kind)}
		switch {
		case t.Rows:
			if index == indexTagsTime || index == indexBoth {
				addIndex(t, sql.TagsIDColumn, sql.TimeColumn)
			}
			if index == indexTime || index == indexBoth {
				addIndex(t, sql.TimeColumn)
			}
		case t.By != "" && index != indexNone:
			addIndex(t, t.By) // by which series are found
		}
	}
	return d
}

// addIndex adds an index to the statements that create a table.
func addIndex(t *sqlkit.Table, columns ...string) {
	name := t.Name + "_by_" + strings.Join(columns, "_")
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = quoteIdent(c)
	}
	t.Indexes = append(t.Indexes, name)
	t.Make = append(t.Make, fmt.Sprintf("CREATE INDEX %s ON %s (%s)", quoteIdent(name), quoteIdent(t.Name), strings.Join(list, ", ")))
}

// aggregates implements continuous aggregates as tables, by series and bucket, that a trigger updates.
func aggregates() *sqlkit.Aggregates {
	table := func(a *sqlkit.Aggregate) string {
		return fmt.Sprintf("CREATE TABLE %s (/* %s */ %s, PRIMARY KEY (%s)) WITHOUT ROWID", a.Ident, driver.Token(),
			strings.Join(a.Names(), ", "), keys(a))
	}
	return &sqlkit.Aggregates{
		Make: func(a *sqlkit.Aggregate) []string { return []string{table(a), a.Fill()} },
		Keep: func(a *sqlkit.Aggregate) []string {
			var values, merged []string
			for _, c := range a.New {
				if values = append(values, c.OfOne()); c.Aggregate != "" {
					merged = append(merged, c.Name+" = "+c.Merge(c.Name, "excluded."+c.Name, "min", "max"))
				}
			}
			return []string{table(a), fmt.Sprintf("CREATE TRIGGER %s AFTER INSERT ON %s BEGIN\n  INSERT INTO %s (%s)\n  VALUES (%s)\n  ON CONFLICT (%s) DO UPDATE SET\n    %s;\nEND",
				quoteIdent(a.Materialized.Name()+"_keep"), a.Rows, a.Ident, strings.Join(a.Names(), ", "), strings.Join(values, ", "), keys(a), strings.Join(merged, ",\n    "))}
		},
	}
}

// keys returns the columns of an aggregate's key: the series first, as in rows.
func keys(a *sqlkit.Aggregate) string {
	names := sql.Keys(a.Columns)
	return strings.Join(append(names[1:], names[0]), ", ")
}

// quoteIdent returns a name as an identifier of SQL.
func quoteIdent(name string) string { return newDialect().Ident(name) }

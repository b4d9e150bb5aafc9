package mysql

import (
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/query/sql"
)

// aggregates implements continuous aggregates as tables that a trigger updates row by row.
func aggregates(o driver.Options) *sqlkit.Aggregates {
	table := func(a *sqlkit.Aggregate) string {
		kind := "UNIQUE INDEX"
		if o[optionLayout] == layoutWide { // tags in wide tables may be NULL, or too long for a key of all of them
			return fmt.Sprintf("CREATE TABLE %s ENGINE=InnoDB COMMENT=%s AS\n%s", a.Ident, literal(driver.Token()), a.Select)
		}
		return fmt.Sprintf("CREATE TABLE %s (%s (%s)) ENGINE=InnoDB COMMENT=%s AS\n%s", a.Ident, kind, keys(a), literal(driver.Token()), a.Select)
	}
	of := &sqlkit.Aggregates{
		Make: func(a *sqlkit.Aggregate) []string { return []string{table(a)} },
		Bytes: func(m *query.Materialized) string {
			return fmt.Sprintf("SELECT CAST(data_length + index_length AS SIGNED) FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = %s", literal(m.Name()))
		},
	}
	if o[optionLayout] == layoutWide {
		of.NotKept = "a summary table of a wide table has no key that a trigger could find its rows by, since tags may be NULL; choose layout=" + layoutNormalized
		return of
	}
	of.Keep = func(a *sqlkit.Aggregate) []string {
		var values, merged []string
		for _, c := range a.New {
			if values = append(values, c.OfOne()); c.Aggregate != "" {
				merged = append(merged, c.Name+" = "+c.Merge(c.Name, "VALUES("+c.Name+")", "LEAST", "GREATEST"))
			}
		}
		return []string{table(a), fmt.Sprintf("CREATE TRIGGER %s AFTER INSERT ON %s FOR EACH ROW\nINSERT INTO %s (%s)\nVALUES (%s)\nON DUPLICATE KEY UPDATE\n  %s",
			quoteIdent(a.Name()+"_keep"), a.Rows, a.Ident, strings.Join(a.Names(), ", "), strings.Join(values, ", "), strings.Join(merged, ",\n  "))}
	}
	return of
}

// keys returns the columns of an aggregate's key: the series first, as in rows.
func keys(a *sqlkit.Aggregate) string {
	names := sql.Keys(a.Columns)
	return strings.Join(append(names[1:], names[0]), ", ")
}

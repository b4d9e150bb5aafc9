package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/query"
	"github.com/tsmark/tsmark/query/sql"
)

// aggregates implements continuous aggregates as tables that a trigger updates once for each statement.
// The trigger's function has a token as its comment, by which Drop recognises it.
func aggregates(o driver.Options) *sqlkit.Aggregates {
	a := &sqlkit.Aggregates{
		Make: func(a *sqlkit.Aggregate) []string {
			return []string{fmt.Sprintf("CREATE TABLE %s AS\n%s", a.Ident, a.Select), uniqueKey(a)}
		},
		Bytes: func(m *query.Materialized) string {
			return fmt.Sprintf("SELECT pg_total_relation_size(%s)", Literal(QuoteIdent(m.Name())))
		},
	}
	if o[optionLayout] == layoutWide {
		a.NotKept = "a summary table of a wide table has no key that a trigger could find its rows by, since tags may be NULL; choose layout=" + layoutNormalized
		return a
	}
	a.Keep = func(a *sqlkit.Aggregate) []string {
		function := QuoteIdent(a.Name() + "_keep")
		var merged []string
		for _, c := range a.Columns {
			if c.Aggregate != "" {
				merged = append(merged, c.Name+" = "+c.Merge(a.Ident+"."+c.Name, "excluded."+c.Name, "least", "greatest"))
			}
		}
		// Sorted, so that statements of several connections do not deadlock.
		rows := strings.Replace(a.Select, "\nFROM "+a.Rows, "\nFROM new_rows", 1)
		fill := fmt.Sprintf("INSERT INTO %s (%s)\n%s\nORDER BY 1, 2\nON CONFLICT (%s) DO UPDATE SET\n  %s;", a.Ident, strings.Join(a.Names(), ", "), rows,
			strings.Join(sql.Keys(a.Columns), ", "), strings.Join(merged, ",\n  "))
		return []string{
			fmt.Sprintf("CREATE TABLE %s AS\n%s", a.Ident, a.Select),
			uniqueKey(a),
			fmt.Sprintf("CREATE FUNCTION %s() RETURNS trigger LANGUAGE plpgsql AS $keep$ BEGIN\n%s\nRETURN NULL;\nEND $keep$", function, fill),
			fmt.Sprintf("COMMENT ON FUNCTION %s() IS %s", function, Literal(driver.Token())),
			fmt.Sprintf("CREATE TRIGGER %s AFTER INSERT ON %s REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION %[1]s()", function, a.Rows),
		}
	}
	return a
}

// uniqueKey returns the statement that creates the key of a summary table.
func uniqueKey(a *sqlkit.Aggregate) string {
	return fmt.Sprintf("CREATE UNIQUE INDEX ON %s (%s)", a.Ident, strings.Join(sql.Keys(a.Columns), ", "))
}

// keepers lists the functions that tsmark created for triggers of tables.
func keepers(ctx context.Context, c sqlkit.Conn, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	tables := make([]string, len(names))
	for i, name := range names {
		tables[i] = Literal(name)
	}
	rows, err := sqlkit.QueryRows(ctx, c, fmt.Sprintf(`SELECT DISTINCT p.oid::regprocedure::text FROM pg_trigger AS t JOIN pg_proc AS p ON p.oid = t.tgfoid JOIN pg_class AS c ON c.oid = t.tgrelid
		WHERE c.relnamespace = current_schema()::regnamespace AND p.pronamespace = c.relnamespace AND c.relname IN (%s) AND obj_description(p.oid, 'pg_proc') LIKE 'made by tsmark, %%'`,
		strings.Join(tables, ", ")))
	if err != nil {
		return nil, fmt.Errorf("looking for triggers: %w", err)
	}
	functions := make([]string, len(rows))
	for i, row := range rows {
		functions[i] = row[0].String()
	}
	return functions, nil
}

// Package duckdb is the driver for DuckDB, which runs in tsmark's own process. Rows are loaded through
// its appender in whole column vectors, and results are read from its result vectors in place.
//
// Each table of the schema becomes a table of rows, and its series a table of tags: see package
// query/sql. A row's tags_id is the number of its series. The additional table tsmark_mark records the
// loaded dataset and the tables that tsmark created.
//
// Tags are in a table of their own because strings longer than 12 bytes cost a call each in the column
// vectors of the C bindings, and a row has ten. Newest rows are found by a join with the newest time of
// each series, which took 10 ms where DISTINCT ON and row_number took more than 500 ms.
package duckdb

import (
	"fmt"
	"strings"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/kit/sqlkit"
	"github.com/tsmark/tsmark/internal/option"
	"github.com/tsmark/tsmark/series"
)

// The names of the options.
const (
	optionThreads     = "threads"
	optionMemoryLimit = "memory_limit"
)

// confinement is the query.Literals.Confinement of its texts.
const confinement = "DuckDB takes nothing but a SELECT, and its access to files, addresses and extensions is locked"

// Driver describes DuckDB. Rendering has no requirements. Open needs a tsmark built with cgo; Missing
// says so otherwise.
func Driver() driver.Driver {
	return driver.Driver{
		Name: "duckdb",
		Help: "DuckDB inside tsmark's process, written through its appender in column vectors",
		Options: []driver.Option{
			sqlkit.PathOption(defaultFile),
			{
				Name:  optionThreads,
				Empty: "one per core",
				Help:  "number of threads of DuckDB",
				Type:  option.AtLeast(1),
			},
			{
				Name:  optionMemoryLimit,
				Empty: "80% of the machine's",
				Help:  "memory limit of DuckDB, such as 4GB",
				Type:  option.Size(),
			},
		},
		Caps:       caps,
		Modules:    []string{"github.com/duckdb/duckdb-go-bindings"},
		Adopts:     driver.AdoptsOwn,
		Place:      func(o driver.Options) string { return driver.FilePlace(o[sqlkit.Path]) },
		Render:     sqlkit.Render(newDialect),
		Literals:   sqlkit.Literals(newDialect, confinement),
		RenderFrom: sqlkit.RenderFrom(newDialect),
		Open:       open,
		Missing:    missing,
	}
}

func caps(driver.Options) driver.Caps {
	return driver.Caps{
		Language:      "SQL",
		Embedded:      true,
		TimePrecision: precision,
		Lacks:         map[series.Trait]string{series.FineTimestamps: "DuckDB's TIMESTAMP, whose unit is 1 µs, does not hold"},
		Schema:        design().Check,
		Types:         types(),
		Changes:       sqlkit.Changes(newDialect(), "", "a checkpoint frees the blocks of row groups without rows"),
	}
}

// design is how tables are declared. The comment of a table is its identity.
func design() *sqlkit.Design {
	return &sqlkit.Design{
		Dialect: newDialect(), Time: "TIMESTAMP NOT NULL", Series: "UINTEGER NOT NULL", Key: "UINTEGER NOT NULL",
		Text: "VARCHAR", Number: "DOUBLE", Fields: types(),
		Make: func(t *sqlkit.Table, columns []string) {
			name := newDialect().Ident(t.Name)
			t.Make = []string{
				fmt.Sprintf("CREATE TABLE %s (%s)", name, strings.Join(columns, ", ")),
				fmt.Sprintf("COMMENT ON TABLE %s IS %s", name, newDialect().Text(driver.Token())),
			}
		},
	}
}

// aggregates implements continuous aggregates as tables.
func aggregates() *sqlkit.Aggregates {
	return &sqlkit.Aggregates{
		Make: func(a *sqlkit.Aggregate) []string {
			return []string{
				fmt.Sprintf("CREATE TABLE %s AS\n%s", a.Ident, a.Select),
				fmt.Sprintf("COMMENT ON TABLE %s IS %s", a.Ident, newDialect().Text(driver.Token())),
			}
		},
		NotKept: "DuckDB has no triggers, by which rows would enter a summary table as they are written",
	}
}

// types are the columns of fields: DuckDB has them all.
func types() map[series.Type]driver.Stored {
	return map[series.Type]driver.Stored{
		series.Bool:      {As: "BOOLEAN"},
		series.Int32:     {As: "INTEGER"},
		series.Int:       {As: "BIGINT"},
		series.Float32:   {As: "FLOAT"},
		series.Float:     {As: "DOUBLE"},
		series.Text:      {As: "VARCHAR"},
		series.Timestamp: {As: "TIMESTAMP"},
		series.Date:      {As: "DATE"},
		series.Blob:      {As: "BLOB"},
	}
}

// defaultFile is the database's name in the run's folder.
const defaultFile = "tsmark.duckdb"

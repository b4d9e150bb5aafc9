//go:build cgo && !light && (linux || darwin) && (amd64 || arm64)

package cli

import (
	"fmt"

	duck "github.com/duckdb/duckdb-go-bindings"
	"github.com/rogpeppe/go-internal/testscript"
)

func cmdDuckDB(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 2, "duckdb FILE SQL…")
	ts.Check(queryDuckDB(ts.MkAbs(args[0]), args[1:]...))
}

// queryDuckDB executes statements in DuckDB itself.
func queryDuckDB(path string, statements ...string) error {
	var db duck.Database
	if duck.Open(path, &db) != duck.StateSuccess {
		return fmt.Errorf("cannot open %s", path)
	}
	defer duck.Close(&db)
	var conn duck.Connection
	if duck.Connect(db, &conn) != duck.StateSuccess {
		return fmt.Errorf("cannot connect to %s", path)
	}
	defer duck.Disconnect(&conn)
	for _, sql := range statements {
		var result duck.Result
		state := duck.Query(conn, sql, &result)
		message := duck.ResultError(&result)
		duck.DestroyResult(&result)
		if state != duck.StateSuccess {
			return fmt.Errorf("%s: %s", sql, message)
		}
	}
	return nil
}

//go:build cgo && !light && (linux || darwin) && (amd64 || arm64)

package cli

import (
	duck "github.com/duckdb/duckdb-go-bindings"
	"github.com/rogpeppe/go-internal/testscript"
)

func cmdDuckDB(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 2, "duckdb FILE SQL…")
	var db duck.Database
	if duck.Open(ts.MkAbs(args[0]), &db) != duck.StateSuccess {
		ts.Fatalf("cannot open %s", args[0])
	}
	defer duck.Close(&db)
	var conn duck.Connection
	if duck.Connect(db, &conn) != duck.StateSuccess {
		ts.Fatalf("cannot connect to %s", args[0])
	}
	defer duck.Disconnect(&conn)
	for _, sql := range args[1:] {
		var result duck.Result
		state := duck.Query(conn, sql, &result)
		message := duck.ResultError(&result)
		duck.DestroyResult(&result)
		if state != duck.StateSuccess {
			ts.Fatalf("%s: %s", sql, message)
		}
	}
}

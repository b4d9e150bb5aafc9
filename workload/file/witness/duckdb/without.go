//go:build !cgo || light || !(linux || darwin) || !(amd64 || arm64)

// Package duckdb is a stub in this build, which has no DuckDB.
package duckdb

import "github.com/tsmark/tsmark/workload/file/witness"

// Library returns nil.
func Library() *witness.DuckDB { return nil }

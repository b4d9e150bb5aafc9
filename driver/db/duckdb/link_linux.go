//go:build cgo && !light && !symbols && (amd64 || arm64)

package duckdb

// The program is a third smaller without names for debuggers, and without the names of DuckDB's functions, which the
// module of its library has the linker export. Stack traces and profiles do not need them; go build -tags symbols
// keeps them.

// #cgo LDFLAGS: -Wl,-s -Wl,--no-export-dynamic
import "C"

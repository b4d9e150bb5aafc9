//go:build cgo && (linux || darwin) && (amd64 || arm64)

package duckdb_test

import (
	"testing"

	"github.com/tsmark/tsmark/target/duckdb"
	"github.com/tsmark/tsmark/target/targettest"
)

func TestConformance(t *testing.T) {
	targettest.Run(t, duckdb.Kind(), map[string]string{"threads": "2", "memory_limit": "1GB"})
}

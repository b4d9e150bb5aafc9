//go:build cgo && !light && (linux || darwin) && (amd64 || arm64)

package duckdb_test

import (
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver/db/duckdb"
)

func TestConformance(t *testing.T) {
	conformance.Run(t, duckdb.Driver(), map[string]string{"threads": "2", "memory_limit": "1GB"})
}

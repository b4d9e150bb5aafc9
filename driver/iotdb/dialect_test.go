package iotdb_test

import (
	"testing"

	"github.com/tsmark/tsmark/driver/conformance"
	"github.com/tsmark/tsmark/driver/iotdb"
)

// The golden file is written again by go test ./driver/iotdb -update.
func TestQueries(t *testing.T) {
	conformance.Queries(t, iotdb.Driver(), nil, "queries.sql", *update)
	conformance.Queries(t, iotdb.Driver(), map[string]string{"model": "table"}, "queries-table.sql", *update)
}

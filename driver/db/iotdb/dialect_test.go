package iotdb_test

import (
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver/db/iotdb"
)

// The golden file is written again by go test ./driver/db/iotdb -update.
func TestQueries(t *testing.T) {
	conformance.Queries(t, iotdb.Driver(), nil, "queries.sql", *update)
	conformance.Queries(t, iotdb.Driver(), map[string]string{"model": "table"}, "queries-table.sql", *update)
}

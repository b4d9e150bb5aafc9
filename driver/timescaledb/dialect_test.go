package timescaledb_test

import (
	"testing"

	"github.com/tsmark/tsmark/driver/conformance"
	"github.com/tsmark/tsmark/driver/timescaledb"
)

// The golden file is written again by go test ./driver/timescaledb -update.
func TestQueries(t *testing.T) {
	conformance.Queries(t, timescaledb.Driver(), nil, "queries.sql", *update)
}

package timescaledb_test

import (
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver/db/timescaledb"
)

// The golden file is written again by go test ./driver/db/timescaledb -update.
func TestQueries(t *testing.T) {
	conformance.Queries(t, timescaledb.Driver(), nil, "queries.sql", *update)
}

package clickhouse_test

import (
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver/db/clickhouse"
)

// The golden files are written again by go test ./driver/db/clickhouse -update.
func TestQueries(t *testing.T) {
	conformance.Queries(t, clickhouse.Driver(), nil, "queries.sql", *update)
	conformance.Queries(t, clickhouse.Driver(), map[string]string{"layout": "normalized"}, "queries-normalized.sql", *update)
}

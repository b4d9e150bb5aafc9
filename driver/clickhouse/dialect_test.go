package clickhouse_test

import (
	"testing"

	"github.com/tsmark/tsmark/driver/clickhouse"
	"github.com/tsmark/tsmark/driver/conformance"
)

// The golden files are written again by go test ./driver/clickhouse -update.
func TestQueries(t *testing.T) {
	conformance.Queries(t, clickhouse.Driver(), nil, "queries.sql", *update)
	conformance.Queries(t, clickhouse.Driver(), map[string]string{"layout": "normalized"}, "queries-normalized.sql", *update)
}

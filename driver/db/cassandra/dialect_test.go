package cassandra_test

import (
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver/db/cassandra"
)

// The golden file is written again by go test ./driver/db/cassandra -update.
func TestQueries(t *testing.T) {
	conformance.Queries(t, cassandra.Driver(), nil, "queries.sql", *update)
	conformance.Queries(t, cassandra.Driver(), map[string]string{"layout": "narrow"}, "queries-narrow.sql", *update)
}

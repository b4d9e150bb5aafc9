package postgres_test

import (
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver/db/postgres"
)

// The golden files are written again by go test ./driver/db/postgres -update.
func TestQueries(t *testing.T) {
	conformance.Queries(t, postgres.Driver(), nil, "queries.sql", *update)
	for _, layout := range []string{"wide", "narrow"} {
		conformance.Queries(t, postgres.Driver(), map[string]string{"layout": layout}, "queries-"+layout+".sql", *update)
	}
}

package postgres_test

import (
	"testing"

	"github.com/tsmark/tsmark/driver/conformance"
	"github.com/tsmark/tsmark/driver/postgres"
)

// The golden files are written again by go test ./driver/postgres -update.
func TestQueries(t *testing.T) {
	conformance.Queries(t, postgres.Kind(), nil, "queries.sql", *update)
	for _, layout := range []string{"wide", "narrow"} {
		conformance.Queries(t, postgres.Kind(), map[string]string{"layout": layout}, "queries-"+layout+".sql", *update)
	}
}

package griddb_test

import (
	"flag"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver/db/griddb"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// The golden files are written again by go test ./driver/db/griddb -run Queries -update.
func TestQueries(t *testing.T) {
	conformance.Queries(t, griddb.Driver(), nil, "queries.sql", *update)
	conformance.Queries(t, griddb.Driver(), map[string]string{"layout": "table", "precision": "us"}, "queries-table.sql", *update)
	conformance.Queries(t, griddb.Driver(), map[string]string{"aggregate": "statements"}, "queries-statements.sql", *update)
	conformance.Queries(t, griddb.Driver(), map[string]string{"layout": "table", "language": "sql"}, "queries-sql.sql", *update)
}

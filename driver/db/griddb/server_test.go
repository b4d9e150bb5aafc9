package griddb_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver/db/griddb"
)

// databases counts the databases that tests have created.
var databases atomic.Int64

// server returns options that lead to a database of the test's own. Others may be given
// as names and values.
func server(t testing.TB, pairs ...string) map[string]string {
	t.Helper()
	name := fmt.Sprintf("test_%d", databases.Add(1))
	return conformance.TestServer(t, griddb.Driver(), griddb.FromEnvironment(append(pairs, "database", name)...)...)
}

// What tsmark check looks at, which no recording has.
func TestCheck(t *testing.T) { conformance.Check(t, griddb.Driver(), server(t)) }

// Several processes that load beside each other, in each layout, which no recording has.
func TestJoins(t *testing.T) {
	for _, layout := range []string{"series", "table"} {
		t.Run(layout, func(t *testing.T) { conformance.Joins(t, griddb.Driver(), server(t, "layout", layout)) })
	}
}

// The suite in each layout.
func TestConformance(t *testing.T) { conformance.Run(t, griddb.Driver(), server(t)) }

// An aggregate of a bucket of a series' is a statement of its own here: fewer rows make
// fewer buckets.
func TestConformanceStatements(t *testing.T) {
	conformance.RunSparse(t, griddb.Driver(), server(t, "aggregate", "statements", "page_size", "50"))
}

func TestConformanceTable(t *testing.T) {
	conformance.Run(t, griddb.Driver(), server(t, "layout", "table", "precision", "ns", "aggregate", "rows"))
}

func TestConformanceSQL(t *testing.T) {
	conformance.Run(t, griddb.Driver(), server(t, "layout", "table", "language", "sql"))
}

func TestConformanceTableStatements(t *testing.T) {
	conformance.Long(t)
	conformance.Run(t, griddb.Driver(), server(t, "layout", "table", "aggregate", "statements"))
}

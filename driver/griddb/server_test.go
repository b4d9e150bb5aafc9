package griddb_test

import (
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"github.com/tsmark/tsmark/driver/conformance"
	"github.com/tsmark/tsmark/driver/griddb"
)

// databases counts those that tests have made.
var databases atomic.Int64

// server returns options that lead to a database of the test's own. Others may be given
// as names and values.
func server(t testing.TB, given ...string) map[string]string {
	t.Helper()
	name := fmt.Sprintf("test_%d", databases.Add(1))
	return conformance.TestServer(t, griddb.Driver(), append(system("database", name), given...)...)
}

// system adds where the system service is, where somebody says so.
func system(given ...string) []string {
	if port := os.Getenv("TSMARK_TEST_GRIDDB_SYSTEM_PORT"); port != "" {
		given = append(given, "system_port", port)
	}
	return given
}

// The suite in each layout.
func TestConformance(t *testing.T) { conformance.Run(t, griddb.Driver(), server(t)) }

func TestConformanceStatements(t *testing.T) {
	conformance.Run(t, griddb.Driver(), server(t, "aggregate", "statements", "in_flight", "3", "page_size", "50"))
}

func TestConformanceTable(t *testing.T) {
	conformance.Run(t, griddb.Driver(), server(t, "layout", "table", "precision", "ns", "aggregate", "rows"))
}

func TestConformanceTableStatements(t *testing.T) {
	conformance.Long(t)
	conformance.Run(t, griddb.Driver(), server(t, "layout", "table", "aggregate", "statements", "consistency", "eventual"))
}

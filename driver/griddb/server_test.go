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

// system adds where the system service and the SQL interface are, where somebody says so.
func system(given ...string) []string {
	for option, variable := range map[string]string{"system_port": "TSMARK_TEST_GRIDDB_SYSTEM_PORT", "sql_port": "TSMARK_TEST_GRIDDB_SQL_PORT"} {
		if port := os.Getenv(variable); port != "" {
			given = append(given, option, port)
		}
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

func TestConformanceSQL(t *testing.T) {
	conformance.Run(t, griddb.Driver(), server(t, "layout", "table", "language", "sql", "page_size", "100"))
}

func TestConformanceTableStatements(t *testing.T) {
	conformance.Long(t)
	conformance.Run(t, griddb.Driver(), server(t, "layout", "table", "aggregate", "statements", "consistency", "eventual"))
}

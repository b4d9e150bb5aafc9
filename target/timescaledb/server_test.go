package timescaledb_test

import (
	"flag"
	"os"
	"testing"

	"github.com/tsmark/tsmark/target/targettest"
	"github.com/tsmark/tsmark/target/timescaledb"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// nativeVariable names a TimescaleDB that is no PGlite, if there is one to test
// against: a database of PostgreSQL's wire protocol, postgres, of the user
// tsmark, which tests may fill and empty.
const nativeVariable = "TSMARK_TEST_TIMESCALEDB_NATIVE"

// server returns the options that lead to the server for tests, and what they
// take from the kind. In servers/ it is PGlite, with one connection at a time.
func server(t *testing.T, given ...string) (map[string]string, []targettest.Limit) {
	t.Helper()
	options := map[string]string{"database": "postgres", "user": "postgres", "password": "postgres", "connections": "one", "method": "insert"}
	limits := []targettest.Limit{targettest.OneConnection}
	if address := os.Getenv(nativeVariable); address != "" {
		t.Setenv("TSMARK_TEST_TIMESCALEDB", address)
		options, limits = map[string]string{"database": "postgres", "user": "tsmark", "password": "pw-of-tests"}, nil
	}
	options["host"], options["port"] = targettest.Address(t, "timescaledb")
	for i := 0; i < len(given); i += 2 {
		options[given[i]] = given[i+1]
	}
	return options, limits
}

func TestConformance(t *testing.T) {
	options, limits := server(t, "integers", "bigint")
	targettest.Run(t, timescaledb.Kind(), options, limits...)
}

func TestConformanceWide(t *testing.T) {
	options, limits := server(t, "integers", "bigint", "layout", "wide")
	targettest.Run(t, timescaledb.Kind(), options, limits...)
}

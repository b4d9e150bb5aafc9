package clickhouse_test

import (
	"flag"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/clickhouse"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// server returns options that lead to a new database of the server for tests. Others
// may be given as names and values.
func server(t testing.TB, pairs ...string) map[string]string {
	t.Helper()
	return conformance.NewDatabase(t, clickhouse.Driver(), "DROP DATABASE IF EXISTS %s SYNC", pairs...)
}

// admin runs statements.
func admin(t testing.TB, options map[string]string, statements ...string) {
	t.Helper()
	conformance.Statements(t, clickhouse.Driver(), options, statements...)
}

// open opens a target.
func open(t testing.TB, options map[string]string) driver.DB {
	t.Helper()
	return conformance.OpenAt(t, clickhouse.Driver(), options)
}

// The suite over each protocol, in each layout.
func TestConformance(t *testing.T) {
	conformance.Run(t, clickhouse.Driver(), server(t, "protocol", "native"))
}

func TestChangesOtherwise(t *testing.T) {
	conformance.Long(t)
	for _, partition := range []string{"day", "none"} {
		t.Run(partition, func(t *testing.T) { conformance.Changes(t, clickhouse.Driver(), server(t, "partition", partition)) })
	}
}

func TestConformanceHTTP(t *testing.T) {
	conformance.Long(t)
	conformance.RunVariant(t, clickhouse.Driver(), server(t, "protocol", "http", "partition", "none"))
}

func TestConformanceNormalized(t *testing.T) {
	conformance.RunLayout(t, clickhouse.Driver(), server(t, "protocol", "http", "layout", "normalized", "codecs", "series"))
}

func TestConformanceNormalizedNative(t *testing.T) {
	conformance.Long(t)
	conformance.RunVariant(t, clickhouse.Driver(), server(t, "protocol", "native", "layout", "normalized", "partition", "day", "fsync", "on"))
}

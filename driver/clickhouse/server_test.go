package clickhouse_test

import (
	"context"
	"flag"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/clickhouse"
	"github.com/tsmark/tsmark/driver/conformance"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// databases counts those that tests have made.
var databases atomic.Int64

// server returns options that lead to a new database of the server for tests. Others
// may be given as names and values.
func server(t testing.TB, given ...string) map[string]string {
	t.Helper()
	name := fmt.Sprintf("test_%d", databases.Add(1))
	first := conformance.TestServer(t, clickhouse.Driver())
	admin(t, first, "DROP DATABASE IF EXISTS "+name+" SYNC", "CREATE DATABASE "+name)
	t.Cleanup(func() { admin(t, first, "DROP DATABASE "+name+" SYNC") })
	return conformance.TestServer(t, clickhouse.Driver(), append([]string{"database", name}, given...)...)
}

// admin runs statements.
func admin(t testing.TB, options map[string]string, statements ...string) {
	t.Helper()
	ctx := context.Background() // not t.Context(): it has ended where the test cleans up
	kind := clickhouse.Driver()
	resolved, err := kind.Resolve(options)
	if err != nil {
		t.Fatal(err)
	}
	db, err := kind.Open(ctx, driver.Env{}, resolved)
	if err != nil {
		t.Fatal(err)
	}
	defer conformance.Close(t, db)
	q, err := db.NewQuerier(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer conformance.Close(t, q)
	for _, s := range statements {
		if _, err := q.Do(ctx, driver.Request{Text: s}, nil); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// The suite over each protocol, in each layout.
func TestConformance(t *testing.T) {
	conformance.Run(t, clickhouse.Driver(), server(t, "protocol", "native"))
}

func TestConformanceHTTP(t *testing.T) {
	conformance.Long(t)
	conformance.Run(t, clickhouse.Driver(), server(t, "protocol", "http", "compression", "none", "partition", "none"))
}

func TestConformanceNormalized(t *testing.T) {
	conformance.Run(t, clickhouse.Driver(), server(t, "protocol", "http", "layout", "normalized", "codecs", "series"))
}

func TestConformanceNormalizedNative(t *testing.T) {
	conformance.Long(t)
	conformance.Run(t, clickhouse.Driver(), server(t, "protocol", "native", "layout", "normalized", "compression", "zstd", "partition", "day", "fsync", "on"))
}

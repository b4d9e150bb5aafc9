package postgres_test

import (
	"context"
	"flag"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/conformance"
	"github.com/tsmark/tsmark/driver/connection"
	"github.com/tsmark/tsmark/driver/pgwire"
	"github.com/tsmark/tsmark/driver/postgres"
)

var background = context.Background()

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// databases counts those that tests have made.
var databases atomic.Int64

// server returns options that lead to a new database of the server for tests.
// Others may be given as names and values.
func server(t testing.TB, given ...string) map[string]string {
	t.Helper()
	name := fmt.Sprintf("test_%d", databases.Add(1))
	first := conformance.TestServer(t, postgres.Driver())
	admin(t, first, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)", "CREATE DATABASE "+name)
	t.Cleanup(func() {
		admin(t, first, "DROP DATABASE "+name+" WITH (FORCE)")
	})
	return conformance.TestServer(t, postgres.Driver(), append([]string{"database", name}, given...)...)
}

// admin runs statements.
func admin(t testing.TB, options map[string]string, statements ...string) {
	t.Helper()
	kind := driver.Driver{Options: pgwire.Options()}
	resolved, err := kind.Resolve(options)
	if err != nil {
		t.Fatal(err)
	}
	config, err := pgwire.NewConfig(connection.Of(resolved))
	if err != nil {
		t.Fatal(err)
	}
	link := pgwire.NewLink(config, false)
	defer conformance.Close(t, link)
	for _, s := range statements {
		// Not t.Context(): it has ended where the test cleans up.
		if err := link.Do(background, func(c *pgwire.Conn) error { return c.Exec(background, s) }); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// The suite with integers that stay integers, in each layout.
func TestConformance(t *testing.T) {
	conformance.Run(t, postgres.Driver(), server(t, "integers", "bigint"))
}

func TestConformanceWide(t *testing.T) {
	conformance.Long(t)
	conformance.Run(t, postgres.Driver(), server(t, "integers", "bigint", "layout", "wide", "protocol", "prepared"))
}

func TestConformanceNarrow(t *testing.T) {
	conformance.Long(t)
	conformance.Run(t, postgres.Driver(), server(t, "integers", "bigint", "layout", "narrow"))
}

// As TSBS has it: integers are doubles. Written by statements, in partitions,
// asked by the simple protocol.
func TestConformanceDefault(t *testing.T) {
	conformance.Run(t, postgres.Driver(), server(t, "method", "insert", "partition", "12h", "protocol", "simple", "unlogged", "on"))
}

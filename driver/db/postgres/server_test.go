package postgres_test

import (
	"flag"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/postgres"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// server returns options that lead to a new database of the server for tests. Others
// may be given as names and values.
func server(t testing.TB, pairs ...string) map[string]string {
	t.Helper()
	return conformance.NewDatabase(t, postgres.Driver(), "DROP DATABASE IF EXISTS %s WITH (FORCE)", pairs...)
}

// admin runs statements.
func admin(t testing.TB, options map[string]string, statements ...string) {
	t.Helper()
	conformance.Statements(t, postgres.Driver(), options, statements...)
}

// open opens a target.
func open(t testing.TB, options map[string]string) driver.DB {
	t.Helper()
	return conformance.OpenAt(t, postgres.Driver(), options)
}

// In a system without PostgreSQL's catalogs, a table of others that equals tsmark's stays.
func TestProfileKeepsOthers(t *testing.T) {
	const profile = "name: x\nsystem: X\ndriver: postgres\nhelp: x\nquirks: {lacks: [catalogs, vacuum]}\n"
	conformance.KeepsOthers(t, postgres.Driver(), profile, server(t), "CREATE TABLE other (LIKE cpu)")
}

// The suite with integers that stay integers, in each layout.
func TestConformance(t *testing.T) {
	conformance.Run(t, postgres.Driver(), server(t, "integers", "bigint"))
}

func TestConformanceWide(t *testing.T) {
	conformance.RunLayout(t, postgres.Driver(), server(t, "integers", "bigint", "layout", "wide", "protocol", "prepared"))
}

// Old rows leave with their partition.
func TestChangesOfPartitions(t *testing.T) {
	conformance.Changes(t, postgres.Driver(), server(t, "partition", "12h"))
}

func TestConformanceNarrow(t *testing.T) {
	conformance.RunLayout(t, postgres.Driver(), server(t, "integers", "bigint", "layout", "narrow"))
}

// As TSBS has it: integers are doubles. Written by statements, in partitions,
// queried by the simple protocol.
func TestConformanceDefault(t *testing.T) {
	conformance.RunVariant(t, postgres.Driver(), server(t, "method", "insert", "partition", "12h", "protocol", "simple", "unlogged", "on"))
}

package mysql_test

import (
	"flag"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/mysql"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// server returns options that lead to a new database of the server for tests. Others
// may be given as names and values.
func server(t testing.TB, pairs ...string) map[string]string {
	t.Helper()
	return conformance.NewDatabase(t, mysql.Driver(), "DROP DATABASE IF EXISTS %s", pairs...)
}

// admin runs statements.
func admin(t testing.TB, options map[string]string, statements ...string) {
	t.Helper()
	conformance.Statements(t, mysql.Driver(), options, statements...)
}

// open opens a target.
func open(t testing.TB, options map[string]string) driver.DB {
	t.Helper()
	return conformance.OpenAt(t, mysql.Driver(), options)
}

// try opens a target for a load, and returns its error.
func try(t testing.TB, options map[string]string) error {
	t.Helper()
	return conformance.TryAt(t, mysql.Driver(), options)
}

// In a system without MySQL's other catalogs, a table of others that equals tsmark's stays.
func TestProfileKeepsOthers(t *testing.T) {
	const profile = "name: x\nsystem: X\ndriver: mysql\nhelp: x\nquirks: {lacks: [catalogs, create-table-as], rows-suffix: 'COMMENT {comment}', tags-suffix: 'COMMENT {comment}'}\n"
	conformance.KeepsOthers(t, mysql.Driver(), profile, server(t), "CREATE TABLE other LIKE cpu", "ALTER TABLE other COMMENT ''")
}

// The suite in each layout, with each form of times and each way to write.
func TestConformance(t *testing.T) {
	conformance.Run(t, mysql.Driver(), server(t))
}

func TestConformanceWide(t *testing.T) {
	conformance.RunLayout(t, mysql.Driver(), server(t, "layout", "wide", "times", "bigint"))
}

func TestConformanceInsert(t *testing.T) {
	conformance.Long(t)
	conformance.RunVariant(t, mysql.Driver(), server(t, "method", "insert", "partition", "12h"))
}

func TestConformanceWideInsert(t *testing.T) {
	conformance.RunWrites(t, mysql.Driver(), server(t, "layout", "wide", "method", "insert", "times", "bigint", "partition", "12h", "index", "tags_time"))
}

// Old rows leave with their partition.
func TestChangesOfPartitions(t *testing.T) {
	conformance.Changes(t, mysql.Driver(), server(t, "partition", "12h"))
}

func TestConformanceNarrow(t *testing.T) {
	conformance.RunLayout(t, mysql.Driver(), server(t, "layout", "narrow"))
}

func TestConformanceNarrowInsert(t *testing.T) {
	conformance.Long(t)
	conformance.RunVariant(t, mysql.Driver(), server(t, "layout", "narrow", "method", "insert", "times", "bigint", "partition", "12h"))
}

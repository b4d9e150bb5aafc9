//go:build cgo && (linux || darwin) && (amd64 || arm64)

package duckdb_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/conformance"
	"github.com/tsmark/tsmark/driver/duckdb"
	"github.com/tsmark/tsmark/series"
)

// What others made is named, and dropped only if it was, whatever refers to
// what. What came up in between stays, and is a reason to refuse.
func TestClear(t *testing.T) {
	db := conformance.Open(t, duckdb.Kind(), "")
	for _, s := range []string{
		"CREATE TABLE cpu (answer INTEGER PRIMARY KEY)", "CREATE TABLE more (of INTEGER REFERENCES cpu (answer))",
		"CREATE SCHEMA side", `CREATE TABLE side."say ""hi""" (a INTEGER)`, "CREATE VIEW seen AS SELECT * FROM cpu",
	} {
		conformance.Ask(t, db, s)
	}
	clearer := db.(driver.Clearer)
	named, err := clearer.Foreign(t.Context(), nil)
	want := []string{`view main.seen`, `table main.cpu`, `table main.more`, `table side."say ""hi"""`}
	if err != nil || !slices.Equal(named, want) {
		t.Fatalf("named %q, %v; want %q", named, err, want)
	}
	conformance.Ask(t, db, "CREATE TABLE later (a INTEGER)")
	if err := clearer.Clear(t.Context(), nil, named); err != nil {
		t.Fatal(err)
	}
	if named, err = clearer.Foreign(t.Context(), nil); err != nil || !slices.Equal(named, []string{`table main.later`}) {
		t.Errorf("left: %q, %v", named, err)
	}
	schema := &series.Schema{Tables: []*series.Table{conformance.Table("a")}, Series: 10}
	if err := db.Prepare(t.Context(), schema, driver.Mark{}); !errors.Is(err, driver.ErrForeign) {
		t.Errorf("with a table that nobody named: %v", err)
	}
	conformance.Ask(t, db, "CREATE TABLE refers (of INTEGER)")
	if err := clearer.Clear(t.Context(), nil, named); err != nil {
		t.Fatal(err)
	}
	conformance.Ask(t, db, "SELECT of FROM refers") // was not named
}

// In a marked file only what has a name that is needed is in the way.
func TestClearBesideMark(t *testing.T) {
	db := conformance.Open(t, duckdb.Kind(), "")
	conformance.Prepare(t, db, 10, conformance.Table("a"))
	conformance.Ask(t, db, "CREATE TABLE stranger (a INTEGER)")
	conformance.Ask(t, db, "CREATE TABLE disk (a INTEGER)")
	disk := conformance.Table("a")
	disk.Name = "disk"
	schema := &series.Schema{Tables: []*series.Table{disk}, Series: 10}
	clearer := db.(driver.Clearer)
	named, err := clearer.Foreign(t.Context(), schema)
	if err != nil || !slices.Equal(named, []string{`table main.disk`}) {
		t.Fatalf("named %q, %v", named, err)
	}
	if err := clearer.Clear(t.Context(), schema, named); err != nil {
		t.Fatal(err)
	}
	if err := db.Prepare(t.Context(), schema, driver.Mark{}); err != nil {
		t.Error(err)
	}
	conformance.Ask(t, db, "SELECT a FROM stranger") // is still there
}

//go:build cgo && !light && (linux || darwin) && (amd64 || arm64)

package duckdb_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/db/duckdb"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
)

// TestClear checks that objects which tsmark did not create are named, and are dropped only if they
// were named, whatever they depend on. An object created in between stays, and the drop is refused.
func TestClear(t *testing.T) {
	db := conformance.Open(t, duckdb.Driver(), "")
	for _, s := range []string{
		"CREATE TABLE cpu (answer INTEGER PRIMARY KEY)", "CREATE TABLE more (of INTEGER REFERENCES cpu (answer))",
		"CREATE SCHEMA side", `CREATE TABLE side."say ""hi""" (a INTEGER)`, "CREATE VIEW seen AS SELECT * FROM cpu",
	} {
		conformance.Query(t, db, s)
	}
	existing := func() ([]string, error) {
		found, err := session.New(db).Existing(t.Context(), nil)
		return session.Names(found), err
	}
	named, err := existing()
	want := []string{`view seen`, `table cpu`, `table more`, `table "side.say \"hi\""`}
	if err != nil || !slices.Equal(named, want) {
		t.Fatalf("named %q, %v; want %q", named, err, want)
	}
	conformance.Query(t, db, "CREATE TABLE later (a INTEGER)")
	if err := session.New(db).Drop(t.Context(), nil, named); err != nil {
		t.Fatal(err)
	}
	if named, err = existing(); err != nil || !slices.Equal(named, []string{`table later`}) {
		t.Errorf("left: %q, %v", named, err)
	}
	schema := &series.Schema{Tables: []*series.Table{conformance.Table("a")}, Series: 10}
	if err := session.New(db).Prepare(t.Context(), schema, session.Mark{}); !errors.Is(err, driver.ErrExisting) {
		t.Errorf("with a table that nobody named: %v", err)
	}
	conformance.Query(t, db, "CREATE TABLE refers (of INTEGER)")
	if err := session.New(db).Drop(t.Context(), nil, named); err != nil {
		t.Fatal(err)
	}
	conformance.Query(t, db, "SELECT of FROM refers") // was not named
}

// TestClearBesideMark checks that in a marked file only objects with a needed name are in the way.
func TestClearBesideMark(t *testing.T) {
	db := conformance.Open(t, duckdb.Driver(), "")
	conformance.Prepare(t, db, 10, conformance.Table("a"))
	conformance.Query(t, db, "CREATE TABLE other (a INTEGER)")
	conformance.Query(t, db, "CREATE TABLE disk (a INTEGER)")
	disk := conformance.Table("a")
	disk.Name = "disk"
	schema := &series.Schema{Tables: []*series.Table{disk}, Series: 10}
	found, err := session.New(db).Existing(t.Context(), schema)
	if err != nil || !slices.Equal(session.Names(found), []string{`table disk`}) {
		t.Fatalf("named %q, %v", found, err)
	}
	if err := session.New(db).Drop(t.Context(), schema, session.Names(found)); err != nil {
		t.Fatal(err)
	}
	if err := session.New(db).Prepare(t.Context(), schema, session.Mark{}); err != nil {
		t.Error(err)
	}
	conformance.Query(t, db, "SELECT a FROM other") // is still there
}

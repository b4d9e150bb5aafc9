package sqlite_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tsmark/tsmark/conformance"
	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/session"
)

// TestClear checks that objects which tsmark did not create are named, and are dropped only if they
// were named. An object created in between stays, and the drop is refused.
func TestClear(t *testing.T) {
	path := file(t, "CREATE TABLE cpu AS SELECT 42 AS answer", `CREATE TABLE "say ""hi""" (a PRIMARY KEY)`,
		"CREATE VIEW seen AS SELECT * FROM cpu", "CREATE INDEX fast ON cpu (answer)", "CREATE VIRTUAL TABLE found USING rtree(id, low, high)")
	db, err := openIn(t, driver.Env{Dir: filepath.Dir(path), Create: true})
	if err != nil {
		t.Fatal(err)
	}
	found, err := session.New(db).Existing(t.Context(), nil)
	named := session.Names(found)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`table cpu`, `table "say \"hi\""`, `view seen`, `table found`} {
		if !slices.Contains(named, want) {
			t.Errorf("%s is not named in %q", want, named)
		}
	}
	conformance.Query(t, db, "CREATE TABLE later AS SELECT 1 AS a")
	if err := session.New(db).Drop(t.Context(), nil, named); err != nil {
		t.Fatal(err)
	}
	if found, err = session.New(db).Existing(t.Context(), nil); err != nil || !slices.Equal(session.Names(found), []string{`table later`}) {
		t.Errorf("left: %q, %v", found, err)
	}
	if _, err := session.New(db).Mark(t.Context()); !errors.Is(err, driver.ErrExisting) {
		t.Errorf("with a table that nobody named: %v", err)
	}
}

// TestClearBesideMark checks that in a marked file only objects with a needed name are in the way.
func TestClearBesideMark(t *testing.T) {
	for name, c := range map[string]struct{ planted, named string }{
		"table": {"CREATE TABLE disk (a)", `table disk`},
		"view":  {"CREATE VIEW disk AS SELECT 1 AS a", `view disk`},
		"index": {"CREATE INDEX disk ON other (a)", `index disk`},
	} {
		t.Run(name, func(t *testing.T) {
			db := open(t, "")
			conformance.Prepare(t, db, 10, conformance.Table("a"))
			conformance.Query(t, db, "CREATE TABLE other (a)")
			conformance.Query(t, db, c.planted)
			disk := conformance.Table("a")
			disk.Name = "disk"
			schema := &series.Schema{Tables: []*series.Table{disk}, Series: 10}
			if err := session.New(db).Prepare(t.Context(), schema, session.Mark{}); !errors.Is(err, driver.ErrExisting) {
				t.Fatalf("prepared over %s: %v", c.planted, err)
			}
			found, err := session.New(db).Existing(t.Context(), schema)
			if err != nil || !slices.Equal(session.Names(found), []string{c.named}) {
				t.Fatalf("named %q, %v", found, err)
			}
			if err := session.New(db).Drop(t.Context(), schema, session.Names(found)); err != nil {
				t.Fatal(err)
			}
			if err := session.New(db).Prepare(t.Context(), schema, session.Mark{}); err != nil {
				t.Error(err)
			}
			conformance.Query(t, db, "SELECT a FROM other") // is still there
		})
	}
}

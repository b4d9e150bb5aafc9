package sqlite_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tsmark/tsmark/driver"
	"github.com/tsmark/tsmark/driver/conformance"
	"github.com/tsmark/tsmark/series"
)

// What others made is named, and dropped only if it was; what came up in
// between stays, and is a reason to refuse.
func TestClear(t *testing.T) {
	path := file(t, "CREATE TABLE cpu AS SELECT 42 AS answer", `CREATE TABLE "say ""hi""" (a PRIMARY KEY)`,
		"CREATE VIEW seen AS SELECT * FROM cpu", "CREATE INDEX fast ON cpu (answer)", "CREATE VIRTUAL TABLE found USING rtree(id, low, high)")
	env := driver.Env{Dir: filepath.Dir(path), Foreign: true}
	db, err := openIn(t, env)
	if err != nil {
		t.Fatal(err)
	}
	clearer := db.(driver.Clearer)
	named, err := clearer.Foreign(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`table cpu`, `table "say ""hi"""`, `view seen`, `table found`} {
		if !slices.Contains(named, want) {
			t.Errorf("%s is not named in %q", want, named)
		}
	}
	conformance.Ask(t, db, "CREATE TABLE later AS SELECT 1 AS a")
	if err := clearer.Clear(t.Context(), nil, named); err != nil {
		t.Fatal(err)
	}
	if named, err = clearer.Foreign(t.Context(), nil); err != nil || !slices.Equal(named, []string{`table later`}) {
		t.Errorf("left: %q, %v", named, err)
	}
	conformance.Close(t, db)
	env.Foreign = false
	if _, err := openIn(t, env); !errors.Is(err, driver.ErrForeign) {
		t.Errorf("with a table that nobody named: %v", err)
	}
}

// In a marked file only what has a name that is needed is in the way.
func TestClearBesideMark(t *testing.T) {
	for name, c := range map[string]struct{ planted, named string }{
		"table": {"CREATE TABLE disk (a)", `table disk`},
		"view":  {"CREATE VIEW disk AS SELECT 1 AS a", `view disk`},
		"index": {"CREATE INDEX disk ON stranger (a)", `index disk`},
	} {
		t.Run(name, func(t *testing.T) {
			db := open(t, "")
			conformance.Prepare(t, db, 10, conformance.Table("a"))
			conformance.Ask(t, db, "CREATE TABLE stranger (a)")
			conformance.Ask(t, db, c.planted)
			disk := conformance.Table("a")
			disk.Name = "disk"
			schema := &series.Schema{Tables: []*series.Table{disk}, Series: 10}
			if err := db.Prepare(t.Context(), schema, driver.Mark{}); !errors.Is(err, driver.ErrForeign) {
				t.Fatalf("prepared over %s: %v", c.planted, err)
			}
			clearer := db.(driver.Clearer)
			named, err := clearer.Foreign(t.Context(), schema)
			if err != nil || !slices.Equal(named, []string{c.named}) {
				t.Fatalf("named %q, %v", named, err)
			}
			if err := clearer.Clear(t.Context(), schema, named); err != nil {
				t.Fatal(err)
			}
			if err := db.Prepare(t.Context(), schema, driver.Mark{}); err != nil {
				t.Error(err)
			}
			conformance.Ask(t, db, "SELECT a FROM stranger") // is still there
		})
	}
}

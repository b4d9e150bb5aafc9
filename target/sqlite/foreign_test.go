package sqlite_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tsmark/tsmark/series"
	"github.com/tsmark/tsmark/target"
	"github.com/tsmark/tsmark/target/targettest"
)

// What others made is named, and dropped only if it was; what came up in
// between stays, and is a reason to refuse.
func TestClear(t *testing.T) {
	path := file(t, "CREATE TABLE cpu AS SELECT 42 AS answer", `CREATE TABLE "say ""hi""" (a PRIMARY KEY)`,
		"CREATE VIEW seen AS SELECT * FROM cpu", "CREATE INDEX fast ON cpu (answer)", "CREATE VIRTUAL TABLE found USING rtree(id, low, high)")
	env := target.Env{Dir: filepath.Dir(path), Foreign: true}
	db, err := openIn(t, env)
	if err != nil {
		t.Fatal(err)
	}
	clearer := db.(target.Clearer)
	named, err := clearer.Foreign(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`table cpu`, `table "say ""hi"""`, `view seen`, `table found`} {
		if !slices.Contains(named, want) {
			t.Errorf("%s is not named in %q", want, named)
		}
	}
	targettest.Ask(t, db, "CREATE TABLE later AS SELECT 1 AS a")
	if err := clearer.Clear(t.Context(), nil, named); err != nil {
		t.Fatal(err)
	}
	if named, err = clearer.Foreign(t.Context(), nil); err != nil || !slices.Equal(named, []string{`table later`}) {
		t.Errorf("left: %q, %v", named, err)
	}
	targettest.Close(t, db)
	env.Foreign = false
	if _, err := openIn(t, env); !errors.Is(err, target.ErrForeign) {
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
			targettest.Prepare(t, db, 10, targettest.Table("a"))
			targettest.Ask(t, db, "CREATE TABLE stranger (a)")
			targettest.Ask(t, db, c.planted)
			disk := targettest.Table("a")
			disk.Name = "disk"
			schema := &series.Schema{Tables: []*series.Table{disk}, Series: 10}
			if err := db.Prepare(t.Context(), schema, target.Mark{}); !errors.Is(err, target.ErrForeign) {
				t.Fatalf("prepared over %s: %v", c.planted, err)
			}
			clearer := db.(target.Clearer)
			named, err := clearer.Foreign(t.Context(), schema)
			if err != nil || !slices.Equal(named, []string{c.named}) {
				t.Fatalf("named %q, %v", named, err)
			}
			if err := clearer.Clear(t.Context(), schema, named); err != nil {
				t.Fatal(err)
			}
			if err := db.Prepare(t.Context(), schema, target.Mark{}); err != nil {
				t.Error(err)
			}
			targettest.Ask(t, db, "SELECT a FROM stranger") // is still there
		})
	}
}

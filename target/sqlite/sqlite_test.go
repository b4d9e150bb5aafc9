package sqlite_test

import (
	"testing"

	"github.com/tsmark/tsmark/target"
	"github.com/tsmark/tsmark/target/sqlite"
	"github.com/tsmark/tsmark/target/targettest"
)

// open opens the database in the folder, or in a new one, with options given
// as names and values.
func open(t testing.TB, dir string, given ...string) target.Target {
	t.Helper()
	return targettest.Open(t, sqlite.Kind(), dir, given...)
}

// openIn opens the default file with the options given as names and values.
func openIn(t *testing.T, env target.Env, given ...string) (target.Target, error) {
	t.Helper()
	kind := sqlite.Kind()
	set := make(map[string]string)
	for i := 0; i < len(given); i += 2 {
		set[given[i]] = given[i+1]
	}
	options, err := kind.Resolve(set)
	if err != nil {
		t.Fatal(err)
	}
	return kind.Open(t.Context(), env, options)
}
